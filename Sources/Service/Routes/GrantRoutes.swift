import Entitlements
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The routes for grants without a purchase, and for revoking them.
struct GrantRoutes: OperationGroup {
    static let tag = OperationTag(
        "Grants", "Items without a purchase, and purchases revoked or moved by the team.",
        [
            .listUserGrants, .grantItem, .revokeGrant, .revokeTransaction, .reinstateTransaction, .moveTransaction,
            .moveTransactionOfAnybody,
        ])
    static let errors: [any RuledError] = [GrantError.endPassed]
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listUserGrants) { request, context in
            let (user, service) = (try subjects.user(request, context), service.limited(to: context))
            let keys = try await service.ledger.apiKeyNames()
            return try await RequestedPage(request).answer(
                naming: keys, at: \.sequence,
                ifEmpty: { try await subjects.unknown(user, to: context, in: service.ledger) }
            ) { before, limit in
                try await service.grants(of: user, before: before, limit: limit)
            }
        }
        group.on(.grantItem) { request, context in try await grant(request, context) }
        group.on(.revokeGrant) { request, context in
            let (user, service) = (try subjects.user(request, context), service.limited(to: context))
            let identifier = try context.parameters.text("grant")
            let (reason, caller) = (try await reason(request, context), try context.requiredCaller.name)
            let revoked = try await subjects.changing(user, context, in: service.ledger) {
                try await service.revoke(grant: identifier, of: user, reason: reason, by: caller)
            }
            return try revoked.answer(naming: try await service.ledger.apiKeyNames())
        }
        group.on(.revokeTransaction) { request, context in
            try await change(.revoke(reason: try await reason(request, context)), request, context)
        }
        group.on(.reinstateTransaction) { request, context in
            try await change(.reinstate(reason: try await reason(request, context)), request, context)
        }
        group.on(.moveTransaction) { request, context in
            let user = try subjects.user(request, context)
            return try await subjects.changing(user, context, in: service.ledger) {
                try await move(of: user, request, context)
            }
        }
        group.on(.moveTransactionOfAnybody) { request, context in try await move(of: nil, request, context) }
    }

    /// - Parameter user: The owner; nil for any.
    private func move(of user: User?, _ request: Request, _ context: ServiceContext) async throws -> Response {
        let purchase = try NamedPurchase(request, context)
        let body = try await JSONBody(request, context, of: .moveTransaction)
        let moved = try await service.limited(to: context).move(
            transaction: purchase.identifier, origin: purchase.origin, in: purchase.app, of: user,
            to: try subjects.user(namedIn: body), reason: try Reason.read(body), by: try context.requiredCaller.name)
        return try moved.answer(naming: try await service.ledger.apiKeyNames())
    }

    private func change(
        _ change: PurchaseChange,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let user = try subjects.user(request, context)
        let purchase = try NamedPurchase(request, context)
        let changed = try await subjects.changing(user, context, in: service.ledger) {
            try await service.limited(to: context).change(
                change, ofTransaction: purchase.identifier, origin: purchase.origin, in: purchase.app, of: user,
                by: try context.requiredCaller.name)
        }
        return try changed.answer(naming: try await service.ledger.apiKeyNames())
    }

    private func grant(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (user, service) = (try subjects.user(request, context), service.limited(to: context))
        let caller = try context.requiredCaller
        let body = try await JSONBody(request, context, of: .grantItem)
        let item = try body.object("item", fields: ["collection", "number"])
        let granted = Item(collection: try item.text("collection"), number: try item.integer("number"))
        let reason = try Reason.read(body)
        let endsAt = try body.optionalDate("endsAt")
        return try await subjects.idempotentRequests.answer(request, context, about: user, body: body) {
            try service.newGrant(of: granted, reason: reason, endsAt: endsAt, by: caller.name)
        } recording: {
            try await service.give($0, to: user, keeping: $1)
        }
    }

    private func reason(_ request: Request, _ context: ServiceContext) async throws -> String {
        try Reason.read(try await JSONBody(request, context, of: .revokeGrant))
    }
}

extension Grant: AnswerObject, Listed {
    package static let listName = "grants"
    package static let answerFields = AnswerFields<Self>("An item given without a purchase.", named: "Grant") {
        $0.field("grantId", .uuid("Its identifier."), \.identifier)
        $0.field("item", \.item)
        $0.field("reason", "Why, in the team's own words.", \.reason)
        $0.field("grantedBy", "The identifier of the API key.", \.grantedBy)
        $0.keyName("grantedByName", \.grantedBy)
        $0.field("grantedAt", "When.", \.grantedAt)
        $0.field("endsAt", "From when on it counts no more; absent where it lasts.", \.endsAt)
        $0.field("revocation", \.revocation)
    }
}

/// A revocation by the team, of a grant or of a transaction.
extension Revocation: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A revocation by the team.", named: "Revocation") {
        $0.field("revokedAt", "The time of the revocation.", \.revokedAt)
        $0.field("reason", "The reason, in the team's own words.", \.reason)
        $0.field("revokedBy", "The identifier of the API key; `till` for a rule of the settings.", \.revokedBy)
        $0.keyName(
            "revokedByName",
            note: "The name of the API key; absent if the service does not have the key and in answers to users.",
            \.revokedBy)
    }
}

extension APIOperation {
    static let listUserGrants = APIOperation(
        .get, "/v1/users/{user}/grants", for: .backEnd(.read), isPerApp: true,
        "listUserGrants", "What was given without a purchase, newest first",
        answers: [.page("A page of grants, newest first.", of: Grant.self).aboutUser])

    static let grantItem = APIOperation(
        .post, "/v1/users/{user}/grants", for: .backEnd(.grant), isPerApp: true,
        "grantItem", "Gives an item without a purchase",
        parameters: [.idempotencyKey],
        body: .json([
            "item": Item.schema,
            "reason": .text("Why, in the team's own words.", length: 1...500),
            "endsAt": .anyTime("From when on it counts no more. RFC 3339; fractions of a second are cut off.")
                .example("2100-01-01T00:00:00Z").nullable.optional,
        ]).described("A grant."),
        answers: [.json("The grant.", Grant.self, status: 201)])

    static let revokeGrant = APIOperation(
        .put, "/v1/users/{user}/grants/{grant}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeGrant", "Revokes a grant",
        body: .json(.reason),
        answers: [.json("The grant.", Grant.self)])

    private static let namedPurchase: [Parameter] = [
        .origin, .path("transaction", "The transaction's identifier.", example: "2000000000000001"), .app,
    ]

    static let revokeTransaction = APIOperation(
        .put, "/v1/users/{user}/transactions/{transaction}/revocation", for: .backEnd(.grant), isPerApp: true,
        "revokeTransaction", "Revokes a purchase, regardless of the store",
        parameters: namedPurchase,
        body: .json(.reason),
        answers: [.json("The transaction.", RedeemedTransaction.self)],
        or: [.conflict])

    static let reinstateTransaction = APIOperation(
        .put, "/v1/users/{user}/transactions/{transaction}/reinstatement", for: .backEnd(.grant), isPerApp: true,
        "reinstateTransaction", "Reinstates a purchase that the team has revoked",
        parameters: namedPurchase,
        body: .json(.reason),
        answers: [.json("The transaction.", RedeemedTransaction.self)],
        or: [.conflict])

    static let moveTransaction = APIOperation(
        .put, "/v1/users/{user}/transactions/{transaction}/owner", for: .backEnd(.grant), isPerApp: true,
        "moveTransaction", "Moves a purchase to another user, with its renewals",
        parameters: namedPurchase,
        body: owner,
        answers: [.json("The transaction of the new owner.", RedeemedTransaction.self)],
        or: [.conflict, .refused])

    static let moveTransactionOfAnybody = APIOperation(
        .put, "/v1/transactions/{transaction}/owner", for: .backEnd(.grant), isPerApp: true,
        "moveTransactionOfAnybody", "Moves a purchase to another user, whoever owns it, such as an erased user",
        parameters: namedPurchase,
        body: owner,
        answers: [.json("The transaction of the new owner.", RedeemedTransaction.self)],
        or: [.conflict, .refused])
}

extension Schema {
    static let reason = Schema.object("The reason of a revocation.", named: "Reason").fields([
        "reason": .text("The reason, in the team's own words.", length: 1...500)
    ]).closed
}
