import HTTPSupport
import HTTPTypes

extension APIOperation {
    static let seedApp = [seedLogIn, seedJoin, seedWithdraw, seedShop, seedWear, seedRedeem]

    static let seedLogIn = ofSeedApp(
        .get, "", "seedLogIn", "Returns the member", answers: [.json("The member.", SeedAppMember.self), notMember])

    static let seedJoin = ofSeedApp(
        .post, "", "seedJoin", "Signs up",
        body: .form([
            "phoneNumber": .text("A phone number."),
            "FCMtoken": .text("The device's token for push messages."),
            "nick": .text("A nickname."),
            "birth": .text("A date."),
            "email": .text("An e-mail address."),
            "gender": .integer("The gender, in the app's numbers."),
        ]),
        answers: [
            .empty("The user is a member now.", status: 200), .empty("The user is a member already.", status: 201),
            .empty("The nickname is not allowed.", status: 202),
        ])

    static let seedWithdraw = ofSeedApp(
        .post, "/withdraw", "seedWithdraw", "Erases the member",
        answers: [.empty("The member is erased.", status: 200), notMember])

    static let seedShop = ofSeedApp(
        .get, "/shop/myinfo", "seedShop", "Returns the owned and the worn items",
        answers: [.json("The member.", SeedAppMember.self), notMember])

    static let seedWear = ofSeedApp(
        .post, "/shop/item", "seedWear", "Sets the worn sprout and background",
        body: .form([
            "sesac": .integer("The sprout's number."), "background": .integer("The background's number."),
        ]),
        answers: [
            .empty("The choice is saved.", status: 200),
            .empty("The member does not own one of them. Nothing was saved.", status: 201), notMember,
        ])

    static let seedRedeem = ofSeedApp(
        .post, "/shop/ios", "seedRedeem", "Redeems an app receipt",
        body: .form([
            "receipt": .text("The app receipt, in base64."), "product": .text("The product's identifier."),
        ]),
        answers: [
            .empty("The member owns the product's item.", status: 200), .empty("The receipt was refused.", status: 201),
            notMember,
        ])

    private static let notMember = Answer.empty("The user is not a member.", status: 406)

    /// An operation of the app's own. Its answers have no problem documents.
    private static func ofSeedApp(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ name: String,
        _ summary: String,
        body: RequestBody? = nil,
        answers: [Answer]
    ) -> APIOperation {
        APIOperation(
            method, "/v1/user" + path, for: nil, ignoresUnknownParameters: true, name, summary,
            details: "Only with `till serve --seed-app`, which serves the app that Till began with in its own format.",
            parameters: [
                .header("idtoken", "The user's token, which this app sends in a header of its own.", isRequired: true)
            ],
            body: body,
            answers: answers + [
                .empty("The token is refused or has expired.", status: 401), .empty("The service failed.", status: 500),
                .empty("A header or a field is missing or invalid.", status: 501),
            ],
            or: [.tooManyRequests])
    }
}
