import Catalog
import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The shop routes of the app that Till began with, in that app's own format: the header `idtoken`, forms as bodies, statuses
/// as answers.
struct SeedAppRoutes: OperationGroup {
    static let sprouts = "sprout"
    static let backgrounds = "background"

    static let tag = OperationTag(
        "Seed app", "The app that Till began with, in its own format.",
        [.seedLogIn, .seedJoin, .seedWithdraw, .seedShop, .seedWear, .seedRedeem])
    static let optional = [OptionalOperations(option: "--seed-app", operations: operations)]
    let parts: ServiceParts
    private let profiles: ProfileService

    init?(parts: ServiceParts) {
        guard let profiles = parts.till.seedApp else { return nil }
        (self.parts, self.profiles) = (parts, profiles)
    }

    func addUnauthenticated(to open: RouterGroup<ServiceContext>) {
        let group = open.group().add(middleware: SeedAppMiddleware(authentication: settings.authentication))
        if let limits = parts.limits { group.add(middleware: limits) }
        group.on(.seedLogIn, .seedShop) { _, context in try await show(context) }
        let held = group.for(.app)
        held.on(.seedJoin) { request, context in try await join(request, context) }
        group.on(.seedWithdraw) { _, context in try await withdraw(context) }
        held.on(.seedWear) { request, context in try await wear(request, context) }
        group.on(.seedRedeem) { request, context in try await redeem(request, context) }
    }

    /// A member as the app shows them, as one snapshot.
    ///
    /// - Throws: `SeedAppStatus`, `noMember`.
    private func member(_ user: User) async throws -> SeedAppMember {
        let free = profiles.catalogs.ownedByEverybody
        let member = try await service.ledger.read { transaction -> SeedAppMember? in
            guard let record = try transaction.member(of: user) else { return nil }
            let profile = try profiles.snapshot(of: user, transaction)
            return SeedAppMember(
                user: user, record: record, profile: profiles.profile(profile),
                items: Set(profile.items + free).sorted(),
                transactionIdentifiers: try transaction.transactions(of: user, before: nil, limit: .max)
                    .map(\.transactionIdentifier))
        }
        guard let member else { throw SeedAppStatus.noMember }
        return member
    }

    private func show(_ context: ServiceContext) async throws -> Response {
        try await member(try context.requiredUser).answer(headers: [.cacheControl: "no-store"])
    }

    private func join(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(request, context)
        let (phoneNumber, email) = (try form.text("phoneNumber"), try form.text("email"))
        let (fcmToken, birth) = (try form.text("FCMtoken", upTo: 4096), try form.text("birth"))
        let (gender, moment) = (try form.integer("gender"), service.clock.now())
        guard let nickname = try? Nickname(try form.text("nick")) else { throw SeedAppStatus.nicknameRefused }
        let isNew = try await service.ledger.write { transaction in
            guard
                try transaction.join(
                    user, phoneNumber: phoneNumber, email: email, fcmToken: fcmToken, birth: birth, gender: gender,
                    at: moment)
            else { return false }
            _ = try transaction.changeProfile(of: user, .set(nickname.text), accepting: [], at: moment)
            return true
        }
        return (isNew ? SeedAppStatus.done : .refused).response
    }

    private func withdraw(_ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        _ = try await member(user)
        _ = try await service.ledger.write { try $0.erase(user, by: .user, at: service.clock.now()) }
        return SeedAppStatus.done.response
    }

    private func wear(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(request, context)
        let chosen = [
            Item(collection: Self.sprouts, number: try form.integer("sesac")),
            Item(collection: Self.backgrounds, number: try form.integer("background")),
        ]
        _ = try await member(user)
        do {
            _ = try await profiles.change(.keep, chosen: chosen, of: user)
        } catch ProfileError.itemNotOwned {
            return SeedAppStatus.refused.response
        }
        return SeedAppStatus.done.response
    }

    /// Redeems all purchases of the receipt. The answer is about the product that the app has named.
    private func redeem(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let form = try await SeedAppForm(
            request, context, upTo: SeedAppForm.sizeWithReceipt)
        let (proof, product) = (try form.base64("receipt"), try form.text("product"))
        _ = try await member(user)
        let app = service.apps.first
        let sent = RedemptionRequest(
            proof, for: user, by: try context.requiredCaller.actor, of: app.bundleIdentifier,
            at: context.appNetwork(of: request), refusals: .counted)
        do {
            let redeemed = try await door.redeem(sent).decision.redemption
            let isOwned = app.catalog.benefit(of: product)?.item.map(redeemed.items.contains) ?? false
            return (isOwned ? SeedAppStatus.done : .refused).response
        } catch let error as RedemptionError where error != .userUnknown {
            context.notes.code = error.code
            return SeedAppStatus.refused.response
        }
    }
}

/// A form as the seed's own app sends it (`application/x-www-form-urlencoded`).
struct SeedAppForm {
    /// The largest form with a receipt, in bytes.
    static let sizeWithReceipt = BodyBudget.largestBody
    /// The longest text of a field, in bytes.
    private static let maximumLength = 256

    private let form: URLEncodedForm

    /// - Parameter maximumSize: The largest form read, in bytes.
    /// - Throws: `SeedAppStatus`, `clientError`, for an invalid form; `Problem`, `tooBusy`.
    init(_ request: Request, _ context: ServiceContext, upTo maximumSize: Int = JSONBody.standardSize) async throws {
        let bytes: [UInt8]
        do {
            bytes = try await RequestBytes.collect(request, context, upTo: maximumSize)
        } catch let problem as Problem where problem.status == 503 {
            throw problem
        } catch {
            throw SeedAppStatus.clientError
        }
        guard let form = try await BlockingWork.process(bytes.count, { URLEncodedForm(bytes) }) else {
            throw SeedAppStatus.clientError
        }
        self.form = form
    }

    /// A required text.
    ///
    /// - Parameter maximumLength: The longest text, in bytes of UTF-8.
    func text(_ name: String, upTo maximumLength: Int = Self.maximumLength) throws(SeedAppStatus) -> String {
        guard let bytes = form[name], bytes.count <= maximumLength, !bytes.contains(0),
            let text = String(strictUTF8: bytes[...])
        else { throw .clientError }
        return text
    }

    func integer(_ name: String) throws(SeedAppStatus) -> Int {
        guard let number = Int(try text(name)) else { throw .clientError }
        return number
    }

    /// A required text in base64. Some clients send a plus sign unencoded, and some insert line breaks.
    func base64(_ name: String) throws(SeedAppStatus) -> [UInt8] {
        guard let bytes = form[name], !bytes.isEmpty else { throw .clientError }
        return bytes.compactMap { byte in
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): nil
            case UInt8(ascii: " "): UInt8(ascii: "+")
            default: byte
            }
        }
    }
}

/// The statuses that answer the seed's own app. The meaning of 201 and 202 depends on the route.
enum SeedAppStatus: Int, Error {
    case done = 200
    /// The user is already a member, an item is not owned, or a receipt is refused.
    case refused = 201
    case nicknameRefused = 202
    case tokenRefused = 401
    case noMember = 406
    case serverError = 500
    /// A header or a field is missing or invalid.
    case clientError = 501

    var response: Response { Response(status: .init(code: rawValue)) }
}

/// Authenticates the user by the header `idtoken`, and maps errors to the app's own statuses.
struct SeedAppMiddleware: RouterMiddleware {
    let authentication: Authentication

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        do {
            guard let name = HTTPField.Name.idToken, let token = request.headers[name], !token.isEmpty else {
                throw SeedAppStatus.clientError
            }
            var context = context
            context.caller = try await authentication.caller(presenting: token)
            // Erasing an account of the service needs its password, which this app does not know.
            guard case .app(let user, _) = context.caller, user.issuer != User.accountIssuer else {
                throw SeedAppStatus.tokenRefused
            }
            return try await next(request, context)
        } catch let status as SeedAppStatus {
            return status.response
        } catch {
            let problem = ProblemMiddleware.problem(of: error, context)
            switch problem.status {
            case 401: return SeedAppStatus.tokenRefused.response
            case 429: return try problem.response()
            default: return SeedAppStatus.serverError.response
            }
        }
    }
}

/// A member in the JSON of the seed's own app: a user who has signed up there, with the fields of its form. Fields that Till does not
/// use have the values of a new member.
struct SeedAppMember: AnswerObject, Sendable {
    static let answerFields = AnswerFields<Self>(
        "A member, in the JSON of the app that Till began with.", named: "SeedAppUser"
    ) {
        let (text, number) = ("The identifier in the app's form." as Schema, "The value of a new member." as Schema)
        let empty = ("Always empty." as Schema).example(.array([]))
        // 24 hexadecimal digits, in the form of a document database's identifier.
        $0.field("_id", text) {
            DigestAlgorithm.sha256.digest(of: Array("\($0.user.issuer)\n\($0.user.name)".utf8)).prefix(12).hexadecimal
        }
        $0.field("__v", number) { _ in 0 }
        // The token's `sub`.
        $0.field("uid", text, \.user.name)
        $0.field("phoneNumber", text, \.record.phoneNumber)
        $0.field("email", text, \.record.email)
        $0.field("FCMtoken", text, \.record.fcmToken)
        $0.field("nick", text) { $0.profile.nickname ?? "" }
        $0.field("birth", text, \.record.birth)
        $0.field("gender", number, \.record.gender)
        $0.field("study", text) { _ in "" }
        $0.field("comment", empty) { _ in [String]() }
        $0.field("reputation", "Always nine zeros.") { _ in [Int](repeating: 0, count: 9) }
        $0.field("sesac", "The number of the worn item.") { $0.chosen(SeedAppRoutes.sprouts) }
        $0.field("sesacCollection", "The numbers of the owned items.") { $0.owned(SeedAppRoutes.sprouts) }
        $0.field("background", "The number of the worn item.") { $0.chosen(SeedAppRoutes.backgrounds) }
        $0.field("backgroundCollection", "The numbers of the owned items.") { $0.owned(SeedAppRoutes.backgrounds) }
        $0.field("purchaseToken", empty) { _ in [String]() }
        $0.field("transactionId", "The redeemed transactions, newest first.", \.transactionIdentifiers)
        $0.field("reviewedBefore", empty) { _ in [String]() }
        $0.field("reportedNum", number) { _ in 0 }
        $0.field("reportedUser", empty) { _ in [String]() }
        $0.field("dodgepenalty", number) { _ in 0 }
        $0.field("dodgeNum", number) { _ in 0 }
        $0.field("ageMin", number) { _ in 18 }
        $0.field("ageMax", number) { _ in 65 }
        $0.field("searchable", number) { _ in 1 }
        // RFC 3339 with milliseconds.
        $0.field("createdAt", text) { $0.record.joinedAt.rfc3339.replacing("Z", with: ".000Z") }
    }

    let user: User
    let record: MemberRecord
    let profile: Profile
    /// The owned items, with those that everybody owns, in order.
    let items: [Item]
    /// The identifiers of the redeemed transactions, newest first.
    let transactionIdentifiers: [String]

    private func chosen(_ collection: String) -> Int {
        profile.chosen.first { $0.collection == collection }?.number ?? 0
    }

    private func owned(_ collection: String) -> [Int] {
        items.filter { $0.collection == collection }.map(\.number)
    }
}

extension APIOperation {
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
        body: HTTPSupport.RequestBody? = nil,
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
