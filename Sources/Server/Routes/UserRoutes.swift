import Commerce
import Entitlements
import Foundation
import HTTPTypes
import Hummingbird

/// What concerns one user: proofs go in; items, transactions and the account token come out. A back end names the user; the
/// user's own app is known by its token, and is served by the same code.
struct UserRoutes: Sendable {
    let service: EntitlementService
    let work: BlockingWork
    let idempotentRequests: IdempotentRequests
    /// Whose tokens apps present; nil where none are accepted.
    let issuer: String?

    /// - Parameter group: Routes under `/v1/users/:user`.
    func addForBackEnds(to group: RouterGroup<ServiceContext>) {
        addReading(to: group.for(.backEnd(.read)))
        let redeeming = group.for(.backEnd(.redeem))
        addRedeeming(to: redeeming)
        redeeming.put { request, context in try await setAccountToken(of: try user(request, context), request) }
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        let own = group.for(.app)
        addReading(to: own)
        addRedeeming(to: own)
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.get { request, context in
            let user = try user(request, context)
            return try await accountToken(of: user)
        }
        group.get("items") { request, context in
            let user = try user(request, context)
            return try JSONAnswer.response(ItemList(items: try await work.run { try service.items(of: user) }))
        }
        group.get("transactions") { request, context in
            try await transactions(of: try user(request, context), Page(request))
        }
    }

    private func addRedeeming(to group: RouterGroup<ServiceContext>) {
        group.post("receipts") { request, context in
            try await redeem(field: "receipt", request, for: try user(request, context), from: context.caller)
        }
        group.post("transactions") { request, context in
            try await redeem(field: "signedTransaction", request, for: try user(request, context), from: context.caller)
        }
    }

    private struct ItemList: Encodable {
        let items: [Item]
    }

    private struct Account: Encodable {
        /// What the app puts into its purchases (StoreKit's `appAccountToken`), in lowercase.
        let appAccountToken: String

        init(appAccountToken: UUID) {
            self.appAccountToken = appAccountToken.uuidString.lowercased()
        }
    }

    private func redeem(
        field: String,
        _ request: Request,
        for user: User,
        from caller: Caller?
    ) async throws -> Response {
        let body = try await JSONBody(request)
        let proof = Array(try body.text(field).utf8)
        return try await idempotentRequests.answer(request, from: caller, body: body.bytes) {
            try JSONAnswer.encode(try await work.run { try service.redeem(proof, for: user) })
        }
    }

    private func transactions(of user: User, _ page: Page) async throws -> Response {
        let before = try page.last.map { text in
            guard let sequence = Int64(text) else { throw Problem.parameter("cursor", "what nextCursor said") }
            return sequence
        }
        // One more than is shown, to know whether there is another page.
        let found = try await work.run { try service.transactions(of: user, before: before, limit: page.size + 1) }
        let shown = found.prefix(page.size)
        let isLast = shown.count == found.count
        return try JSONAnswer.response(
            TransactionList(
                transactions: shown.map(TransactionResource.init),
                nextCursor: isLast ? nil : shown.last.map { Page.cursor(after: String($0.sequence)) }))
    }

    private func accountToken(of user: User) async throws -> Response {
        try JSONAnswer.response(
            Account(appAccountToken: try await work.run { try service.appAccountToken(of: user) }))
    }

    private func setAccountToken(of user: User, _ request: Request) async throws -> Response {
        guard let token = UUID(uuidString: try await JSONBody(request).text("appAccountToken")) else {
            throw Problem(
                status: .badRequest, code: "bodyInvalid", detail: "The field /appAccountToken has to be a UUID.")
        }
        switch try await work.run({ try service.setAppAccountToken(token, of: user) }) {
        case .set: return try JSONAnswer.response(Account(appAccountToken: token))
        case .hasAnother:
            throw Problem(
                status: .conflict, code: "appAccountTokenSet",
                detail: "The user has another account token, and purchases may name it: read it and use it.")
        case .ofAnotherUser:
            throw Problem(
                status: .conflict, code: "appAccountTokenTaken",
                detail: "Another user has this account token: make a new UUID for each user.")
        }
    }

    private func user(_ request: Request, _ context: ServiceContext) throws -> User {
        if case .app(let user) = context.caller { return user }
        let name = try context.parameters.require("user")
        let issuer = request.uri.queryParameters["issuer"].map(String.init)
        guard issuer == nil || issuer == self.issuer else {
            throw Problem.parameter("issuer", "the issuer whose tokens the service accepts (jwt-issuer), or left out")
        }
        guard let user = name.removingPercentEncoding.flatMap({ User(issuer: issuer ?? "", name: $0) }) else {
            throw Problem(
                status: .badRequest, code: "userInvalid",
                detail: "A user's name has 1 to \(User.maximumLength) bytes, without spaces or control characters.")
        }
        return user
    }
}
