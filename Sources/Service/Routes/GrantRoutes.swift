import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The routes for grants without a purchase, and for revoking them.
struct GrantRoutes: Sendable {
    let service: EntitlementService
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listUserGrants) { request, context in
            let (user, service) = (try subjects.user(request, context), service.limited(to: context))
            let keys = try await service.ledger.apiKeyNames()
            return try await Page(request).answer(
                { before, limit in
                    try await service.grants(of: user, before: before, limit: limit)
                }, number: \.sequence
            ) { GrantResource($0, naming: keys) }
        }
        group.on(.grantItem) { request, context in try await grant(request, context) }
        group.on(.revokeGrant) { request, context in
            let (user, service) = (try subjects.user(request, context), service.limited(to: context))
            let identifier = try context.parameters.text("grant")
            let (reason, caller) = (try await reason(request, context), try context.requiredCaller.name)
            let revoked = try await service.revoke(grant: identifier, of: user, reason: reason, by: caller)
            return try JSONAnswer.response(GrantResource(revoked, naming: try await service.ledger.apiKeyNames()))
        }
        group.on(.revokeTransaction) { request, context in
            try await change(.revoke(reason: try await reason(request, context)), request, context)
        }
        group.on(.reinstateTransaction) { request, context in
            try await change(.reinstate(), request, context)
        }
    }

    private func change(
        _ change: PurchaseChange,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let user = try subjects.user(request, context)
        let purchase = try NamedPurchase(request, context)
        let changed = try await service.limited(to: context).change(
            change, ofTransaction: purchase.identifier, origin: purchase.origin, in: purchase.app, of: user,
            by: try context.requiredCaller.name)
        return try JSONAnswer.response(TransactionResource(changed, naming: try await service.ledger.apiKeyNames()))
    }

    private func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (user, service) = (try subjects.user(request, context), service.limited(to: context))
        let caller = try context.requiredCaller
        let body = try await JSONBody(request, context, of: .grantItem)
        let item = try body.object("item", fields: ["collection", "number"])
        let granted = Item(collection: try item.text("collection"), number: try item.integer("number"))
        let reason = try Reason.read(body)
        let endsAt = try body.optionalDate("endsAt")
        let keys = try await service.ledger.apiKeyNames()
        return try await idempotentRequests.answer(
            request, from: caller, about: user, body: body.bytes, status: .created
        ) { pending in
            let grant = try service.newGrant(of: granted, reason: reason, endsAt: endsAt, by: caller.name)
            let json = try JSONAnswer.encode(GrantResource(grant, naming: keys))
            let answer = pending?.answer(json)
            let earlier = try await service.give(grant, to: user, keeping: answer, for: pending?.key)
            return earlier.map { .replayed($0) } ?? answer.map { .kept($0) } ?? .new(json)
        }
    }

    private func reason(_ request: Request, _ context: ServiceContext) async throws -> String {
        try Reason.read(try await JSONBody(request, context, of: .revokeGrant))
    }
}

/// An item that the team has given to a user without a purchase.
package struct GrantResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "grants"
    package static let schema = Schema(of: Self.self, named: "Grant", "An item given without a purchase.").noting([
        "grantId": .uuid("Its identifier."),
        "reason": "Why, in the team's own words.",
        "grantedBy": "The identifier of the API key.",
        "grantedByName": "The name of the API key; absent if the service does not have the key.",
        "grantedAt": .time("When."),
        "endsAt": .time("From when on it counts no more; absent where it lasts."),
    ])

    package let grantId: String
    package let item: Item
    package let reason: String
    package let grantedBy: String
    package let grantedByName: String?
    package let grantedAt: String
    package let endsAt: String?
    /// Nil until the team revokes the grant.
    package let revocation: RevocationResource?

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ grant: Grant, naming keys: [String: String] = [:]) {
        grantId = grant.identifier
        item = grant.item
        reason = grant.reason
        grantedBy = grant.grantedBy
        grantedByName = keys[grant.grantedBy]
        grantedAt = grant.grantedAt.rfc3339
        endsAt = grant.endsAt?.rfc3339
        revocation = grant.revocation.map { RevocationResource($0, naming: keys) }
    }
}

/// A revocation by the team, of a grant or of a transaction.
package struct RevocationResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "Revocation", "A revocation by the team.").noting([
        "revokedAt": .time("The time of the revocation."),
        "reason": "The reason, in the team's own words.",
        "revokedBy": "The identifier of the API key.",
        "revokedByName":
            "The name of the API key; absent if the service does not have the key and in answers to users.",
    ])

    package let revokedAt: String
    package let reason: String
    package let revokedBy: String
    package let revokedByName: String?

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ revocation: Revocation, naming keys: [String: String] = [:]) {
        revokedAt = revocation.revokedAt.rfc3339
        reason = revocation.reason
        revokedBy = revocation.revokedBy
        revokedByName = keys[revocation.revokedBy]
    }
}

extension APIOperation {
    static let grants = [
        listUserGrants, grantItem, revokeGrant, revokeTransaction, reinstateTransaction,
    ]

    static let listUserGrants = APIOperation(
        .get, "/v1/users/{user}/grants", for: .backEnd(.read), isPerApp: true,
        "listUserGrants", "What was given without a purchase, newest first",
        answers: [.page("A page of grants, newest first.", of: GrantResource.self)])

    static let grantItem = APIOperation(
        .post, "/v1/users/{user}/grants", for: .backEnd(.grant), isPerApp: true,
        "grantItem", "Gives an item without a purchase",
        parameters: [.idempotencyKey],
        body: .json([
            "item": Item.schema,
            "reason": .text("Why, in the team's own words.", length: 1...500),
            "endsAt": .anyTime("From when on it counts no more. RFC 3339; fractions of a second are cut off.")
                .nullable
                .optional,
        ]).described("A grant."),
        answers: [.json("The grant.", GrantResource.self, status: 201)])

    static let revokeGrant = APIOperation(
        .put, "/v1/users/{user}/grants/{grant}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeGrant", "Revokes a grant",
        body: .json(.reason),
        answers: [.json("The grant.", GrantResource.self)])

    static let revokeTransaction = APIOperation(
        .put, "/v1/users/{user}/transactions/{transaction}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeTransaction", "Revokes a purchase, regardless of the App Store",
        parameters: [
            .origin, .path("transaction", "The transaction's identifier.", example: "2000000000000001"), .app,
        ],
        body: .json(.reason),
        answers: [.json("The transaction.", TransactionResource.self)],
        or: [.conflict])

    static let reinstateTransaction = APIOperation(
        .delete, "/v1/users/{user}/transactions/{transaction}/revocation", for: .backEnd(.grant), isPerApp: true,
        "reinstateTransaction", "Reinstates a purchase that the team has revoked",
        parameters: [
            .origin, .path("transaction", "The transaction's identifier.", example: "2000000000000001"), .app,
        ],
        answers: [.json("The transaction.", TransactionResource.self)],
        or: [.conflict])
}

extension Schema {
    static let reason = Schema.object("The reason of a revocation.", named: "Reason").fields([
        "reason": .text("The reason, in the team's own words.", length: 1...500)
    ]).closed
}
