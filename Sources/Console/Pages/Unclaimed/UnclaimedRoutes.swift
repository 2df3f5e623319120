import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The purchases that nobody has redeemed.
struct UnclaimedRoutes: Sendable {
    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("unclaimed") { request, _ in try await list(request) }
        pages.get("unclaimed/:transaction") { request, context in
            let purchase = try await purchase(
                context.parameters.text("transaction"), origin: try request.query("origin"),
                in: try request.query("app"))
            return UnclaimedPurchasePage(context: context, purchase: purchase).page
        }
        pages.post("unclaimed/:transaction/assignment", .support) { _, context in
            guard let origin = Origin(rawValue: try context.form.text("origin")) else {
                throw ConsoleForm.invalid("origin", "the origin of the purchase")
            }
            let user = try await user(context.form)
            _ = try await services.entitlements.assign(
                unclaimed: try context.parameters.text("transaction"), origin: origin,
                in: try context.form.requiredText("app"), to: user, reason: try context.form.reason(),
                by: try context.requiredMember.caller)
            return ConsolePath("unclaimed", query: ["done": Notice.assigned.rawValue])
        }
    }

    private func list(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        func parameter(_ name: String) throws -> String? {
            let text = try request.query(name)?.trimmingCharacters(in: .whitespaces)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        let (search, app) = (try parameter("transaction"), try parameter("app"))
        let found = try await services.entitlements.unclaimedPurchases(
            ofTransaction: search, in: app, after: try page.position { UnclaimedPurchase.Position($0) },
            limit: page.size + 1)
        let (shown, next) = page.part(of: found) { $0.position.description }
        return UnclaimedPage(
            apps: services.entitlements.apps.all.map(\.bundleIdentifier), search: search, app: app, purchases: shown,
            expectedCount: try await services.entitlements.expectedPurchaseCount(
                upTo: UnclaimedPage.maximumExpected), nextCursor: next
        ).page
    }

    private func purchase(_ identifier: String, origin: String?, in app: String?) async throws -> UnclaimedPurchase {
        let found = try await services.entitlements.unclaimedPurchases(
            ofTransaction: identifier, in: app, after: nil, limit: 100
        ).filter { purchase in
            ByteKey(purchase.transactionIdentifier) == ByteKey(identifier)
                && (origin == nil || purchase.origin.rawValue == origin)
        }
        guard let purchase = found.first else { throw AssignmentError.purchaseNotFound }
        guard found.count == 1 else { throw AssignmentError.purchaseAmbiguous }
        return purchase
    }

    /// The user that a form names by the name or the account token. The console creates no user from a misspelled name.
    private func user(_ form: ConsoleForm) async throws -> User {
        let text = try form.requiredText("user", upTo: User.maximumCustomerLength)
        let issuer = try form.text("issuer", upTo: User.maximumIssuerLength)
        // Of all issuers, this one has the longest names.
        let name = User(issuer: User.customerIssuer, name: text).map { ByteKey($0.name) }
        let found = try await services.entitlements.users(matching: text, after: nil, limit: 100).filter { known in
            let isNamed = ByteKey(known.user.name) == name || known.appAccountToken == UUID(uuidString: text)
            return isNamed && (issuer.isEmpty || ByteKey(known.user.issuer) == ByteKey(issuer))
        }
        guard let user = found.first?.user else { throw Problem.userNotFound }
        guard found.count == 1 else {
            throw Problem(
                status: .conflict, code: "userAmbiguous",
                detail: "Several issuers have a user of this name. Fill in the issuer, or use the account token.")
        }
        return user
    }
}
