import Commerce
import Entitlements
import Hummingbird
import Ledger

/// What a team gives a user without a purchase, and takes back.
struct GrantRoutes: Sendable {
    /// The longest reason, in characters.
    private static let maximumReasonLength = 500

    let service: EntitlementService
    let work: BlockingWork
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects

    /// - Parameter group: Routes under `/v1/users/:user`.
    func add(to group: RouterGroup<ServiceContext>) {
        group.for(.backEnd(.read)).get("grants") { request, context in
            let user = try subjects.user(request, context)
            return try await Page(request).answer(
                { before, limit in
                    try await work.run { try service.grants(of: user, before: before, limit: limit) }
                }, number: \.sequence
            ) { GrantList(grants: $0.map(GrantResource.init), nextCursor: $1) }
        }
        let granting = group.for(.backEnd(.grant))
        granting.post("grants") { request, context in try await grant(request, context) }
        granting.put("grants/:grant/revocation") { request, context in
            let user = try subjects.user(request, context)
            let identifier = try context.parameters.require("grant")
            let (reason, caller) = (try await Self.reason(JSONBody(request)), try context.requiredCaller.name)
            return try JSONAnswer.response(
                GrantResource(
                    try await work.run {
                        try service.revoke(grant: identifier, of: user, reason: reason, by: caller)
                    }))
        }
        granting.put("transactions/:transaction/revocation") { request, context in
            let user = try subjects.user(request, context)
            let identifier = try context.parameters.require("transaction")
            let (reason, caller) = (try await Self.reason(JSONBody(request)), try context.requiredCaller.name)
            return try JSONAnswer.response(
                TransactionResource(
                    try await work.run {
                        try service.revoke(transaction: identifier, of: user, reason: reason, by: caller)
                    }))
        }
        granting.delete("transactions/:transaction/revocation") { request, context in
            let user = try subjects.user(request, context)
            let identifier = try context.parameters.require("transaction")
            return try JSONAnswer.response(
                TransactionResource(
                    try await work.run { try service.reinstate(transaction: identifier, of: user) }))
        }
    }

    private func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let user = try subjects.user(request, context)
        let caller = try context.requiredCaller
        let body = try await JSONBody(request)
        let item = try body.object("item")
        let granted = Item(collection: try item.text("collection"), number: try item.integer("number"))
        let reason = try Self.reason(body)
        let endsAt = try body.optionalDate("endsAt")
        return try await idempotentRequests.answer(request, from: caller, body: body.bytes, status: .created) {
            let grant = try await work.run {
                try service.grant(granted, to: user, reason: reason, endsAt: endsAt, by: caller.name)
            }
            return try JSONAnswer.encode(GrantResource(grant))
        }
    }

    private static func reason(_ body: JSONBody) throws(Problem) -> String {
        let reason = try body.text("reason")
        guard (1...maximumReasonLength).contains(reason.count),
            !reason.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw JSONBody.invalid(
                "The field /reason has to have 1 to \(maximumReasonLength) characters, and none that controls.")
        }
        return reason
    }
}
