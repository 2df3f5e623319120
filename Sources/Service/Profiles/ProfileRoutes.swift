import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// Routes for the profiles of users, the nickname and the chosen items, and for their wish lists.
struct ProfileRoutes: OperationGroup {
    static let tag = OperationTag(
        "Profiles", "Nicknames, chosen items and wishes.",
        [
            .checkNickname, .changeProfile, .getProfile, .getOwnProfile, .addWish, .removeWish, .listWishes,
            .listOwnWishes,
        ])
    static let optional = [OptionalOperations(option: "--profiles", operations: operations)]
    let parts: ServiceParts
    private let profiles: ProfileService

    init?(parts: ServiceParts) {
        guard let profiles = parts.till.profiles else { return nil }
        (self.parts, self.profiles) = (parts, profiles)
    }

    private var products: ProductRoutes { ProductRoutes(parts: parts) }

    /// - Parameter group: Routes without authentication.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        // The sign-up form checks nicknames before the user exists.
        group.on(.checkNickname) { request, context in
            let body = try await JSONBody(
                request, context, of: .checkNickname, upTo: JSONBody.sizeWithoutCredential)
            _ = try Nickname(try body.text("nickname"))
            return HTTPResponse.Status.noContent
        }
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.getProfile, .getOwnProfile) { request, context in
            let user = try subjects.user(request, context)
            let json = try await profiles.profile(of: user).json()
            let unknown = try await subjects.unknown(user, to: context, in: profiles.ledger)
            return JSONAnswer.response(bytes: try unknown?.json(beside: json) ?? json)
        }
        group.on(.listWishes, .listOwnWishes) { request, context in
            let user = try subjects.user(request, context)
            let userState = try await profiles.productState(of: user)
            let unknown = try await subjects.unknown(user, to: context, in: profiles.ledger)
            return try products.list(request, context, of: userState, wishedOnly: true, about: unknown)
        }
        group.on(.changeProfile) { request, context in try await change(request, context) }
        group.on(.addWish) { request, context in
            let user = try context.requiredUser
            let product = try products.productForSale(request, context).productIdentifier
            try await profiles.wish(for: product, by: user, newcomers: context.newcomers(for: request))
            return HTTPResponse.Status.noContent
        }
        // A wish can also be removed if the catalog no longer has the product.
        group.on(.removeWish) { _, context in
            let (user, product) = (try context.requiredUser, try context.parameters.text("product"))
            try await profiles.removeWish(for: product, of: user)
            return HTTPResponse.Status.noContent
        }
    }

    private func change(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let body = try await JSONBody(request, context, of: .changeProfile)
        let nickname: NicknameChange =
            switch try body.optionalText("nickname") {
            case .absent: .keep
            case .null: .remove
            case .text(let text): .set(try Nickname(text).text)
            }
        let chosen = try body.optionalObjects("chosen", fields: ["collection", "number"]).map {
            Item(collection: try $0.text("collection"), number: try $0.integer("number"))
        }
        guard Set(chosen.map { ByteKey($0.collection) }).count == chosen.count else {
            throw JSONBody.invalid("The field /chosen must have at most one item of each collection.")
        }
        return try await profiles.change(nickname, chosen: chosen, of: user, newcomers: context.newcomers(for: request))
            .answer()
    }
}

extension Profile: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The profile of a user.", named: "Profile") {
        $0.field("nickname", "2 to 9 characters; absent if the user has no nickname.", \.nickname)
        $0.field(
            "chosen",
            "One item of each collection: the chosen item while the user owns it, otherwise the one everybody owns.",
            \.chosen)
    }
}

extension APIOperation {
    static let checkNickname = APIOperation(
        .post, "/v1/nicknames/check", for: .anybody, usesReserve: true,
        "checkNickname", "Checks whether a nickname is allowed",
        details: "Only with `till serve --profiles`, like all routes for profiles and wishes.",
        body: .json(["nickname": .text("A nickname.", upTo: 256)]).described("A nickname."),
        answers: [.empty("The nickname is allowed.")],
        or: [.refused])

    static let changeProfile = APIOperation(
        .patch, "/v1/me/profile", for: .app,
        "changeProfile", "Changes the profile",
        body: .json([
            "nickname": .text("2 to 9 characters, none of `@#$%`, no digit. Null removes the nickname.", upTo: 256)
                .example("Gardener").nullable.optional,
            "chosen": .array(of: Item.schema, "Owned items, at most one of each collection.").optional,
        ]).described("The service keeps the fields that the request omits."),
        answers: [.json("The profile.", Profile.self).aboutUser],
        or: [.conflict, .refused])

    static let getProfile = APIOperation(
        .get, "/v1/users/{user}/profile", for: .backEnd(.read),
        "getProfile", "Returns the profile",
        answers: [.json("The profile.", Profile.self).aboutUser])

    static let getOwnProfile = getProfile.own("getOwnProfile")

    static let addWish = APIOperation(
        .put, "/v1/me/wishes/{product}", for: .app,
        "addWish", "Adds a product to the wish list",
        parameters: [.app],
        answers: [.empty("The product is on the list.")])

    static let removeWish = APIOperation(
        .delete, "/v1/me/wishes/{product}", for: .app,
        "removeWish", "Removes a product from the wish list",
        answers: [.empty("The product is not on the list.")])

    static let listWishes = APIOperation(
        .get, "/v1/users/{user}/wishes", for: .backEnd(.read),
        "listWishes", "Lists a user's wishes",
        parameters: productSelection(sortedBy: "-wished") + [.ifNoneMatch],
        answers: [.page("A page of products.", of: ProductResource.self)])

    static let listOwnWishes = listWishes.own("listOwnWishes", "Lists the user's wishes")
}
