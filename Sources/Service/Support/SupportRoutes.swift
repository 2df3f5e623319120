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

    /// - Parameter group: Routes under `/v1`.
    func add(to group: RouterGroup<ServiceContext>) {
        // A user belongs to no app.
        group.for(.backEnd(.support)).get("users") { request, _ in try await users(request) }
        let support = group.for(.backEnd(.support), isPerApp: true)
        support.get("transactions/:transaction") { request, context in try await purchases(request, context) }
        support.get("users/:user/story") { request, context in
            try await story(of: try subjects.user(request, context, ofAnyIssuer: true), request, context)
        }
        support.get("users/:user/items/:collection/:number/explanation") { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            let item = Item(
                collection: try context.parameters.text("collection"), number: try Self.number(context))
            let explanation = try await service.limited(to: context).explanation(of: item, for: user)
            return try JSONAnswer.response(ExplanationResource(explanation))
        }
        support.get("unclaimed") { request, context in try await unclaimed(request, context) }
        group.for(.backEnd(.grant), isPerApp: true).post("unclaimed/:transaction/assignment") { request, context in
            try await assign(request, context)
        }
    }

    private static func number(_ context: ServiceContext) throws -> Int {
        guard let number = Int(try context.parameters.text("number")), number >= 0 else { throw Problem.pathUnknown }
        return number
    }

    private func users(_ request: Request) async throws -> Response {
        guard let text = try request.query("search"), !text.isEmpty else {
            throw Problem.parameter("search", "the beginning of a user's name, or an account token")
        }
        return try await Page(request).answer(
            from: { cursor in
                let parts = cursor.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 ? User(issuer: String(parts[0]), name: String(parts[1])) : nil
            },
            { last, limit in try await service.ledger.read { try $0.users(matching: text, after: last, limit: limit) }
            },
            named: { "\($0.user.issuer)\n\($0.user.name)" }
        ) { KnownUserResource($0) }
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
        let keys = try await service.ledger.apiKeyNames()
        return try JSONAnswer.response(
            PurchaseLookup(
                purchases: purchases.map { KnownPurchaseResource($0, naming: keys) },
                unclaimed: unclaimed.map { UnclaimedPurchaseResource($0) }))
    }

    private func story(of user: User, _ request: Request, _ context: ServiceContext) async throws -> Response {
        let (page, service) = (try Page(request), service.limited(to: context))
        let keys = try await service.ledger.apiKeyNames()
        return try await page.answer(
            from: { StoryEntry.Position($0) },
            { position, limit in try await service.story(of: user, before: position, limit: limit) },
            named: \.position.description
        ) { StoryEntryResource($0, naming: keys) }
    }

    private func unclaimed(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (page, service) = (try Page(request), service.limited(to: context))
        let (search, app) = (try request.query("search"), try RequestedApps.name(of: request, context))
        return try await page.answer(
            from: { UnclaimedPurchase.Position($0) },
            { last, limit in
                try await service.unclaimedPurchases(ofTransaction: search, in: app, after: last, limit: limit)
            }, named: \.position.description
        ) { UnclaimedPurchaseResource($0) }
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
