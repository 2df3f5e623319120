import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// Routes for the profiles of users, the nickname and the chosen items, and for their wish lists.
struct ProfileRoutes: Sendable {
    let profiles: ProfileService
    let products: ProductRoutes
    let subjects: Subjects

    /// - Parameter group: Routes under `/v1`, without authentication.
    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        // The sign-up form checks nicknames before the user exists.
        group.post("nicknames/check") { request, context in
            let body = try await JSONBody(
                request, context, fields: ["nickname"], upTo: JSONBody.sizeWithoutCredential)
            _ = try Nickname(try body.text("nickname"))
            return HTTPResponse.Status.noContent
        }
    }

    /// - Parameters:
    ///   - user: Routes under `/v1/users/:user`.
    ///   - me: Routes under `/v1/me`.
    func add(to user: RouterGroup<ServiceContext>, _ me: RouterGroup<ServiceContext>) {
        let own = me.for(.app)
        for group in [user.for(.backEnd(.read)), own] {
            group.get("profile") { request, context in
                try JSONAnswer.response(try await profiles.profile(of: try subjects.user(request, context)))
            }
            group.get("wishes") { request, context in
                let userState = try await profiles.productState(of: try subjects.user(request, context))
                return try products.list(request, context, of: userState, wishedOnly: true)
            }
        }
        own.patch("profile") { request, context in try await change(request, context) }
        own.put("wishes/:product") { request, context in
            let user = try context.requiredUser
            let product = try products.productForSale(request, context).productIdentifier
            try await profiles.wish(for: product, by: user, newcomers: context.newcomers(for: request))
            return HTTPResponse.Status.noContent
        }
        // A wish can also be removed if the catalog no longer has the product.
        own.delete("wishes/:product") { _, context in
            let (user, product) = (try context.requiredUser, try context.parameters.text("product"))
            try await profiles.removeWish(for: product, of: user)
            return HTTPResponse.Status.noContent
        }
    }

    private func change(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try context.requiredUser
        let body = try await JSONBody(request, context, fields: ["nickname", "chosen"])
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
        return try JSONAnswer.response(
            try await profiles.change(nickname, chosen: chosen, of: user, newcomers: context.newcomers(for: request)))
    }
}
