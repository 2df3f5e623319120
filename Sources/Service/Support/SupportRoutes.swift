import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// Routes for the support team: find users and purchases, explain items, and assign unclaimed purchases.
struct SupportRoutes: Sendable {
    let service: EntitlementService
    let subjects: Subjects
    let orders: OrderLookup

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.searchUsers) { request, _ in try await users(request) }
        group.on(.findTransaction) { request, context in try await purchases(request, context) }
        group.on(.tellStory) { request, context in
            try await story(of: try subjects.user(request, context, ofAnyIssuer: true), request, context)
        }
        group.on(.explainItem) { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            let item = Item(
                collection: try context.parameters.text("collection"), number: try Self.number(context))
            let explanation = try await service.limited(to: context).explanation(of: item, for: user)
            return try JSONAnswer.response(ExplanationResource(explanation))
        }
        group.on(.listUnclaimed) { request, context in try await unclaimed(request, context) }
        group.on(.assignUnclaimed) { request, context in try await assign(request, context) }
    }

    private static func number(_ context: ServiceContext) throws -> Int {
        guard let number = Int(try context.parameters.text("number")), number >= 0 else { throw Problem.pathUnknown }
        return number
    }

    private func users(_ request: Request) async throws -> Response {
        guard let text = try request.query("search"), !text.isEmpty else {
            throw Problem.parameter("search", "the beginning of a user's name, or an account token")
        }
        let page = try Page(request)
        let last = try page.position { cursor in
            let parts = cursor.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? User(issuer: String(parts[0]), name: String(parts[1])) : nil
        }
        let found = try await service.users(matching: text, after: last, limit: page.size + 1)
        let (shown, next) = page.part(of: found) { "\($0.user.issuer)\n\($0.user.name)" }
        return try JSONAnswer.response(
            List(shown.map { KnownUserResource($0) }, nextCursor: next))
    }

    private func purchases(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let identifier = try context.parameters.text("transaction")
        let (app, service) = (try RequestedApps.name(of: request, context), service.limited(to: context))
        let purchases = try await service.purchases(ofTransaction: identifier).filter {
            app?.hasSameBytes(as: $0.app ?? "") ?? true
        }
        let unclaimed = try await service.unclaimedPurchases(
            ofTransaction: identifier, in: app, after: nil, limit: 100)
        guard !purchases.isEmpty || !unclaimed.isEmpty else {
            if let order = OrderIdentifier(identifier), let found = try await orders.purchases(of: order, in: app) {
                return try JSONAnswer.response(found)
            }
            throw Problem(
                status: .notFound, code: "transactionUnknown",
                detail: "No transaction, original transaction or order has this identifier.")
        }
        let keys = try await service.apiKeyNames()
        return try JSONAnswer.response(
            PurchaseLookup(
                purchases: purchases.map { KnownPurchaseResource($0, naming: keys) },
                unclaimed: unclaimed.map { UnclaimedPurchaseResource($0) }))
    }

    private func story(of user: User, _ request: Request, _ context: ServiceContext) async throws -> Response {
        let page = try Page(request)
        let position = try page.position { StoryEntry.Position($0) }
        let entries = try await service.limited(to: context).story(of: user, before: position, limit: page.size + 1)
        let (shown, next) = page.part(of: entries) { $0.position.description }
        let keys = try await service.apiKeyNames()
        return try JSONAnswer.response(
            List(shown.map { StoryEntryResource($0, naming: keys) }, nextCursor: next))
    }

    private func unclaimed(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let page = try Page(request)
        let last = try page.position { UnclaimedPurchase.Position($0) }
        let found = try await service.limited(to: context).unclaimedPurchases(
            ofTransaction: try request.query("search"), in: try RequestedApps.name(of: request, context), after: last,
            limit: page.size + 1)
        let (shown, next) = page.part(of: found) { $0.position.description }
        return try JSONAnswer.response(
            List(shown.map { UnclaimedPurchaseResource($0) }, nextCursor: next))
    }

    private func assign(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let purchase = try NamedPurchase(request, context)
        let body = try await JSONBody(request, context, fields: ["user", "issuer", "reason"])
        var issuer: String?
        if case .text(let text) = try body.optionalText("issuer") { issuer = text }
        let user = try subjects.user(named: try body.text("user", upTo: User.maximumCustomerLength), issuer: issuer)
        let result = try await service.limited(to: context).assign(
            unclaimed: purchase.identifier, origin: purchase.origin, in: purchase.app, to: user,
            reason: try Reason.read(body), by: try context.requiredCaller.name)
        return try JSONAnswer.response(
            AssignmentResource(transactionId: purchase.identifier, user: UserName(user), result: result.rawValue))
    }
}
