import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Routes for one user: redeem proofs, and read items, rights, subscriptions, transactions and the account token. A back end
/// names the user in the path. An app's user is named by its token. Both share the code.
struct UserRoutes: Sendable {
    let service: EntitlementService
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects
    let metrics: ServiceMetrics

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.setUserAccountToken) { request, context in
            try await setAccountToken(of: try subjects.user(request, context), request, context)
        }
        group.on(.readUser, .readMe) { request, context in
            let user = try subjects.user(request, context)
            return try await accountToken(of: user)
        }
        group.on(.listUserItems, .listMeItems) { request, context in
            let user = try subjects.user(request, context)
            let items = try await service.limited(to: context).items(of: user)
            return CacheableAnswer(
                JSONAnswer.encode(.object(["items": .array(items.map(\.json))])), type: "application/json"
            ).response(to: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.on(.listUserRights, .listOwnRights) { request, context in
            let user = try subjects.user(request, context)
            let rights = try await service.limited(to: context).rights(
                of: user, in: try RequestedApps.name(of: request, context))
            return CacheableAnswer(
                JSONAnswer.encode(.object(["rights": .array(rights.filter(\.isActive).map(\.json))])),
                type: "application/json"
            ).response(to: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.on(.listUserSubscriptions, .listOwnSubscriptions) { request, context in
            let subscriptions = try await service.limited(to: context)
                .subscriptions(of: try subjects.user(request, context))
            return try JSONAnswer.response(
                List(subscriptions.map { UserSubscriptionResource($0) }))
        }
        group.on(.listUserTransactions, .listMeTransactions) { request, context in
            // The names of keys are the team's.
            let keys = try context.requiredCaller.isBackEnd ? await service.ledger.apiKeyNames() : [:]
            return try await transactions(
                of: try subjects.user(request, context), in: try RequestedApps.name(of: request, context),
                Page(request), naming: keys, service.limited(to: context))
        }
        group.on(.redeemUserReceipt, .redeemMeReceipt) { request, context in
            try await redeem(
                field: "receipt", request, context, for: try subjects.user(request, context))
        }
        group.on(.redeemUserTransaction, .redeemMeTransaction) { request, context in
            try await redeem(
                field: "signedTransaction", request, context, for: try subjects.user(request, context))
        }
    }

    private func redeem(
        field: String,
        _ request: Request,
        _ context: ServiceContext,
        for user: User
    ) async throws -> Response {
        let caller = try context.requiredCaller
        let newcomers = context.newcomers(for: request)
        let body = try await JSONBody(
            request, context, fields: [field], upTo: JSONBody.sizeWithProof)
        let proof = try body.proof(field)
        let redemption = ProofRedemption(by: caller, service, metrics, newcomers: newcomers)
        return try await idempotentRequests.answer(
            request, from: caller, about: user, body: body.bytes, admits: { try $0.admits($1, about: $2, newcomers) }
        ) { pending in
            let keeping = pending.map { pending -> ProofRedemption.Keeping in
                (pending.key, { pending.answer(JSONAnswer.encode($0.json)) })
            }
            switch try await redemption.redeem(proof, for: user, keeping: keeping) {
            case .kept(let earlier): return .replayed(earlier)
            case .redeemed(let redeemed):
                let json = JSONAnswer.encode(redeemed.json)
                return pending.map { .kept($0.answer(json)) } ?? .new(json)
            }
        }
    }

    /// - Parameter keys: The names of API keys by their identifiers.
    private func transactions(
        of user: User,
        in app: String?,
        _ page: Page,
        naming keys: [String: String],
        _ service: EntitlementService
    ) async throws -> Response {
        try await page.answer(
            { before, limit in
                try await service.transactions(of: user, in: app, before: before, limit: limit)
            }, number: \.sequence
        ) { TransactionResource($0, naming: keys) }
    }

    private func accountToken(of user: User) async throws -> Response {
        try JSONAnswer.response(
            AppAccountTokenResource(try await service.appAccountToken(of: user)))
    }

    private func setAccountToken(
        of user: User,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let body = try await JSONBody(request, context, of: .setUserAccountToken)
        guard let token = UUID(uuidString: try body.text("appAccountToken")), !token.isPlaceholder else {
            throw JSONBody.invalid("The field /appAccountToken must be a UUID of the user's own, not of zeros.")
        }
        switch try await service.setAppAccountToken(
            token, of: user, isCorrection: try body.flag("isCorrection"))
        {
        case .set: return try JSONAnswer.response(AppAccountTokenResource(token))
        case .hasAnother:
            throw Problem(
                status: .conflict, code: "appAccountTokenSet",
                detail:
                    "The user has another account token, which purchases may contain. Read that token and use it, or add "
                    + "\"isCorrection\": true.")
        case .ofAnotherUser:
            throw Problem(
                status: .conflict, code: "appAccountTokenTaken",
                detail:
                    "Another user has this account token. Create a new UUID for each user, or add \"isCorrection\": true "
                    + "to take it from that user.")
        }
    }
}

/// The account token of a user.
package struct AppAccountTokenResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self, named: "Account", "A user.").noting([
        "appAccountToken": .uuid("The token that the app sets on its purchases, in lowercase.")
    ])

    package let appAccountToken: String

    init(_ token: UUID) {
        appAccountToken = token.uuidString.lowercased()
    }
}

/// The current state of a user's subscription.
package struct UserSubscriptionResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "subscriptions"
    package static let schema = Schema(
        of: Self.self, named: "UserSubscription", "A subscription with its current state."
    ).noting([
        "originalTransactionId": "The purchase.",
        "productId": "The product of the last period.",
        "state": .one(
            of: [
                "trial", "introductory", "active", "willNotRenew", "gracePeriod", "billingRetry", "expired",
                "revoked", "upgraded",
            ], "The state. The user owns nothing by it in `billingRetry` and later states."),
        "since": .time("The start of the latest run of periods without a gap."),
        "until": .time("The end of the last period, or of its grace period."),
        "renews":
            "Absent if the App Store has not stated it. False for a commitment that the customer lets end, though its next periods follow.",
        "nextProductId": "The product of the next period.",
        "expirationReason": .one(
            of: ExpirationReason.self, "The reason for the end; absent if the App Store has stated none."),
    ])

    package let originalTransactionId: String
    package let origin: Origin
    package let productId: String
    package let state: String
    package let since: String
    package let until: String?
    package let renews: Bool?
    package let nextProductId: String?
    package let expirationReason: String?

    init(_ status: PurchaseStatus) {
        originalTransactionId = status.originalTransactionIdentifier
        origin = status.origin
        productId = status.productIdentifier
        state = status.state.rawValue
        since = status.since.rfc3339
        until = status.until?.rfc3339
        renews = status.renews
        nextProductId = status.nextProductIdentifier
        expirationReason = status.expirationReason?.rawValue
    }
}

/// A redeemed transaction.
package struct TransactionResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "transactions"
    package static let schema = Schema(of: Self.self, named: "Transaction", "A redeemed transaction.").noting([
        "bundleId": "The bundle identifier of the app that sold it.",
        "transactionId": "The transaction's identifier.",
        "originalTransactionId": "The identifier of the original transaction.",
        "productId": "The product.",
        "quantity": .integer(in: 1 ... .max),
        "purchaseDate": .time("The time of the purchase."),
        "redeemedAt": .time("The time of the redemption."),
        "revocationDate": .time("The time of the App Store's refund or revocation; absent if there was none."),
        "revocationReason": "The reason in Apple's numbers: 1 for a problem with the app, 0 for another reason.",
        "expiresDate": .time("The end of the purchased period; absent for a purchase without an end."),
        "facts": .transactionFacts,
    ])

    package let bundleId: String?
    package let transactionId: String
    package let originalTransactionId: String
    package let productId: String
    package let quantity: Int
    package let origin: Origin
    package let purchaseDate: String
    package let redeemedAt: String
    package let expiresDate: String?
    package let revocationDate: String?
    /// Apple's reason: 1 for a problem with the app, 0 for another reason. Nil without a reason.
    package let revocationReason: Int?
    /// The team's own revocation. Nil if there is none.
    package let revocation: RevocationResource?
    /// The facts that the App Store has stated, under its own names. Facts that it has not stated are absent.
    package let facts: [String: JSONContent]

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ transaction: RedeemedTransaction, naming keys: [String: String] = [:]) {
        bundleId = transaction.app
        transactionId = transaction.transactionIdentifier
        originalTransactionId = transaction.originalTransactionIdentifier
        productId = transaction.productIdentifier
        quantity = transaction.quantity
        origin = transaction.origin
        purchaseDate = transaction.purchaseDate.rfc3339
        redeemedAt = transaction.redeemedAt.rfc3339
        expiresDate = transaction.expiresAt?.rfc3339
        revocationDate = transaction.revocationDate?.rfc3339
        revocationReason = transaction.revocationReason
        revocation = transaction.revocation.map { RevocationResource($0, naming: keys) }
        facts = transaction.facts.content
    }
}
