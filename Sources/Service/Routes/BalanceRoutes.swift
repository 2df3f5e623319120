import Commerce
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Wire

/// What a user has of consumables, and what the team's back end spends of it.
struct BalanceRoutes: Sendable {
    /// The most that is spent at once.
    private static let maximumAmount = 1_000_000_000

    let service: EntitlementService
    let subjects: Subjects

    /// - Parameter group: Routes under `/v1/users/:user`.
    func addForBackEnds(to group: RouterGroup<ServiceContext>) {
        addReading(to: group.for(.backEnd(.read)))
        group.for(.backEnd(.spend)).post("balances/:balance/spendings") { request, context in
            try await spend(request, context)
        }
    }

    /// - Parameter group: Routes under `/v1/me`.
    func addForApps(to group: RouterGroup<ServiceContext>) {
        addReading(to: group.for(.app))
    }

    private func addReading(to group: RouterGroup<ServiceContext>) {
        group.get("balances") { request, context in
            let user = try subjects.user(request, context)
            let balances = try await service.balances(of: user)
            return try JSONAnswer.response(BalanceList(balances: balances.map { BalanceResource($0) }))
        }
    }

    private func spend(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try subjects.user(request, context)
        let caller = try context.requiredCaller
        let balance = try context.parameters.text("balance")
        let body = try await JSONBody(request, context, fields: ["amount", "reason"])
        let amount = try body.integer("amount")
        guard (1...Self.maximumAmount).contains(amount) else {
            throw JSONBody.invalid("The field /amount has to be from 1 to \(Self.maximumAmount).")
        }
        let reason = try Reason.read(body)
        let request = try IdempotentRequests.key(of: request).map { key in
            Spending.Request(
                idempotencyKey: key, digest: IdempotentRequests.digest(of: request, body: body.bytes))
        }
        let spending = service.newSpending(of: amount, from: balance, reason: reason, by: caller.name, for: request)
        let spent = try await service.spend(spending, for: user)
        var headers: HTTPFields = [:]
        if spent.isRepeated, let name = IdempotentRequests.replayedHeader { headers[name] = "true" }
        return JSONAnswer.response(
            bytes: try JSONAnswer.encode(SpendingResource(spent)), status: .created, headers: headers)
    }
}
