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
            return CacheableAnswer.response(
                JSONAnswer.encode(.object(["items": .array(items.map(\.json))])), type: "application/json",
                for: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.on(.listUserRights, .listOwnRights) { request, context in
            let user = try subjects.user(request, context)
            let rights = try await service.limited(to: context).rights(
                of: user, in: try RequestedApps.name(of: request, context))
            return CacheableAnswer.response(
                JSONAnswer.encode(.object(["rights": .array(rights.filter(\.isActive).map(\.json))])),
                type: "application/json", for: request, headers: [.cacheControl: "private, no-cache"])
        }
        group.on(.listUserSubscriptions, .listOwnSubscriptions) { request, context in
            let subscriptions = try await service.limited(to: context)
                .subscriptions(of: try subjects.user(request, context))
            return try JSONAnswer.response(
                List(subscriptions.map { UserSubscriptionResource($0) }))
        }
        group.on(.listUserTransactions, .listMeTransactions) { request, context in
            // The names of keys are the team's.
            let keys = try context.requiredCaller.isBackEnd ? await service.apiKeyNames() : [:]
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
        let body = try await JSONBody(request, context, fields: ["appAccountToken", "isCorrection"])
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
package struct AppAccountTokenResource: Codable, Sendable {
    /// The UUID that the app puts into its purchases (StoreKit's `appAccountToken`), in lowercase.
    package let appAccountToken: String

    init(_ token: UUID) {
        appAccountToken = token.uuidString.lowercased()
    }
}

/// The current state of a user's subscription.
package struct UserSubscriptionResource: Codable, Listed, Sendable {
    package static let listName = "subscriptions"

    package let originalTransactionId: String
    package let origin: Origin
    /// The product of the last period.
    package let productId: String
    /// `trial`, `introductory`, `active`, `willNotRenew`, `gracePeriod`, `billingRetry`, `expired`, `revoked` or `upgraded`.
    package let state: String
    /// The start of the uninterrupted periods. Dates are RFC 3339, UTC.
    package let since: String
    /// The end of the last period, or of its grace period.
    package let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it. False for a commitment that the customer lets end,
    /// though its next periods follow.
    package let renews: Bool?
    /// The product of the next period.
    package let nextProductId: String?
    /// The reason for the expiration.
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
package struct TransactionResource: Codable, Listed, Sendable {
    package static let listName = "transactions"

    /// The bundle identifier of the app that sold the product.
    package let bundleId: String?
    package let transactionId: String
    package let originalTransactionId: String
    package let productId: String
    package let quantity: Int
    package let origin: Origin
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    package let redeemedAt: String
    /// The end of the period. Nil if the purchase has no end.
    package let expiresDate: String?
    /// The date of the App Store's revocation. Nil if the purchase is not revoked.
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
