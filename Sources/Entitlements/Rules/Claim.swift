import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

/// The statement of a verified proof about one transaction, from a user or from the App Store.
package struct Claim: Hashable, Sendable, Codable {
    /// The bundle identifier of the app. The encoded form omits it: a parked claim's row has the number of the app.
    package internal(set) var app = ""
    package let origin: Origin
    package private(set) var transactionIdentifier: String
    /// The identifier in the proof, if the purchase event stands under another one; nil otherwise.
    private(set) var otherIdentifier: String?
    package let originalTransactionIdentifier: String
    /// The original transaction of another purchase under the same token of Google Play, or of the subscription before it was migrated
    /// (`previousOriginalTransactionId`); nil if there is none.
    let chainTransactionIdentifier: String?
    package let productIdentifier: String
    package let quantity: Int
    package let purchaseDate: Timestamp
    /// The date of the refund or revocation, at the latest that of the signature. A revoked claim grants nothing, and ends an
    /// earlier grant of the transaction at once.
    package let revocationDate: Timestamp?
    /// The reason in Apple's numbers (`revocationReason`); nil if the proof has none.
    package let revocationReason: Int?
    /// True if all transactions with the same original are one restored purchase. A statement about one then covers all.
    package let repeatsOriginal: Bool
    /// The date of the signature, or of the answer. Of two statements about a transaction, the later one wins.
    package let signedAt: Timestamp
    /// The number of the question that Google Play has answered; 0 for a signed statement.
    package let statementNumber: Int64
    /// The account token of the purchase, which names its owner; nil if the proof has none.
    package let appAccountToken: UUID?
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
    /// The signed bytes; nil if the service does not store proofs.
    package let proof: KeptProof?
    /// The SHA-256 of the first and the last certificate of the proof's chain; nil for a claim without a proof.
    package let fingerprints: VerifiedProof.Fingerprints?
    /// The granted item; nil if the catalog does not have the product, or it adds to a balance.
    package private(set) var item: Item?
    /// The amount that one unit adds to a balance; nil if the product grants an item.
    package private(set) var credit: Credit?
    /// The end of the purchased period; nil for none.
    package private(set) var expiresAt: Timestamp?
    /// The fixed period of the product, to which the end belongs; nil for another benefit.
    package private(set) var period: SubscriptionPeriod?
    /// The App Store's statement about a grace period; nil if the proof has none.
    package private(set) var grace: Grace?
    /// The other facts of the proof; nil for a claim without a proof.
    package private(set) var facts: TransactionFacts?
    /// The last statement about the renewal of the subscription; nil if the proof has none.
    package private(set) var renewal: StatedRenewal?
    /// True if the store has replaced the charge, and does not state the end of its paid time. The encoded form omits it: it has the end.
    package var keepsEnd = false

    private enum CodingKeys: CodingKey {
        case origin, transactionIdentifier, originalTransactionIdentifier, chainTransactionIdentifier,
            productIdentifier, quantity, purchaseDate
        case revocationDate, revocationReason, repeatsOriginal, signedAt, statementNumber, appAccountToken, proofDigest,
            proof
        case fingerprints, item, credit, expiresAt, period, grace, facts, renewal
    }

    /// A statement of the App Store about the grace period of a subscription.
    package struct Grace: Hashable, Sendable, Codable {
        /// Nil if there is no grace period.
        package let endsAt: Timestamp?
        /// True if a grace period that is known is over at `endsAt`, and there is none otherwise.
        var isOver = false
        /// The place of the statement, if it differs from that of a parked claim; nil otherwise.
        var order: StatementOrder?

        package static func until(_ end: Timestamp?) -> Grace { Grace(endsAt: end) }

        package static func over(at end: Timestamp) -> Grace { Grace(endsAt: end, isOver: true) }
    }

    func with(grace: Grace?, facts: TransactionFacts?, renewal: StatedRenewal?) -> Claim {
        var claim = self
        (claim.grace, claim.facts, claim.renewal) = (grace, facts, renewal)
        return claim
    }

    /// The longest grace period of the App Store, in days (App Store Connect API, `SubscriptionGracePeriodDuration`).
    private static let longestGraceDays: Int64 = 28

    /// The claim with the grace period that the type of a notification tells of, though the renewal information has no date: it goes on
    /// until the App Store states that it is over (App Store Server Notifications, DID_FAIL_TO_RENEW with GRACE_PERIOD,
    /// GRACE_PERIOD_EXPIRED and EXPIRED).
    func completed(by notification: ResponseBodyV2DecodedPayload) -> Claim {
        guard let renewal, renewal.facts[.gracePeriodExpiresDate] == nil, revocationDate == nil, grace == nil,
            let end = expiresAt
        else { return self }
        var claim = self
        switch (
            NotificationTypeV2(rawValue: notification.notificationType),
            notification.subtype.flatMap(Subtype.init(rawValue:))
        ) {
        case (.didFailToRenew, .gracePeriod):
            claim.grace = Grace(endsAt: end.adding(days: Self.longestGraceDays), order: renewal.order)
        case (.gracePeriodExpired, _), (.didFailToRenew, _), (.expired, _):
            // The renewal information states the end, and is signed shortly before the notification.
            claim.grace = Grace(endsAt: renewal.statedAt, isOver: true, order: renewal.order)
        default: break
        }
        return claim
    }

    /// The claim about the same purchase event under another identifier.
    func with(transactionIdentifier: String) -> Claim {
        var claim = self
        claim.otherIdentifier = otherIdentifier ?? self.transactionIdentifier
        claim.transactionIdentifier = transactionIdentifier
        return claim
    }

    /// The claim by the current catalog, which may differ from the one at the time of parking.
    func valued(by benefit: Benefit?) -> Claim {
        var claim = self
        let benefit = benefit?.rented(facts)
        (claim.item, claim.credit) = (benefit?.item, benefit?.credit)
        claim.period = benefit?.period(ofUnits: quantity)
        claim.expiresAt = benefit?.end(
            from: purchaseDate, ofUnits: quantity, paidUntil: expiresAt ?? facts?.date(.expiresDate))
        return claim
    }

    /// The claim with the end that is known of its charge.
    func ending(at end: Timestamp?, _ stated: StatedValue?) -> Claim {
        var claim = self
        claim.keepsEnd = false
        claim.expiresAt = end
        claim.facts?[.expiresDate] = stated
        if end == nil, claim.facts?.bool(.isRental) == true {
            claim.facts?[.isRental] = nil
            claim.facts?[.type] = nil
        }
        return claim
    }

    /// The claim with the end that the App Store has stated, also if the catalog does not have the product.
    var endingAsStated: Claim {
        var claim = self
        claim.expiresAt = expiresAt ?? facts?.date(.expiresDate)
        return claim
    }

    /// The place among all statements about the transaction.
    package var order: StatementOrder { StatementOrder(number: statementNumber, date: signedAt) }

    /// True if the catalog has a benefit for the product.
    var isKnown: Bool { item != nil || credit != nil }

    package init(
        app: String,
        origin: Origin,
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        chainTransactionIdentifier: String? = nil,
        productIdentifier: String,
        quantity: Int,
        purchaseDate: Timestamp,
        revocationDate: Timestamp?,
        revocationReason: Int? = nil,
        repeatsOriginal: Bool = false,
        signedAt: Timestamp,
        statementNumber: Int64 = 0,
        appAccountToken: UUID? = nil,
        proofDigest: [UInt8],
        proof: KeptProof? = nil,
        fingerprints: VerifiedProof.Fingerprints? = nil,
        item: Item?,
        credit: Credit? = nil,
        expiresAt: Timestamp? = nil,
        period: SubscriptionPeriod? = nil,
        grace: Grace? = nil,
        facts: TransactionFacts? = nil,
        renewal: StatedRenewal? = nil
    ) {
        self.app = app
        self.origin = origin
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.chainTransactionIdentifier = chainTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate.map { min($0, signedAt) }
        self.revocationReason = revocationReason
        self.repeatsOriginal = repeatsOriginal
        self.signedAt = signedAt
        self.statementNumber = statementNumber
        self.appAccountToken = appAccountToken
        self.proofDigest = proofDigest
        self.proof = proof
        self.fingerprints = fingerprints
        self.item = item
        self.credit = credit
        self.expiresAt = expiresAt
        self.period = period
        self.grace = grace
        self.facts = facts
        self.renewal = renewal
    }

    /// The claim of a redeemed transaction that its owner presents again, or that a store takes back.
    ///
    /// - Parameters:
    ///   - revocation: Nil to state no new one.
    ///   - statement: The facts that a store states anew, with the number and the date of the statement; nil for none.
    ///   - catalog: Nil for an app that the service does not sell.
    /// - Throws: `BrokenInvariant` for a transaction that was read without its app.
    init(
        repeating transaction: RedeemedTransaction, revoked revocation: EntitlementService.StatedRevocation?,
        stating statement: (facts: TransactionFacts, number: Int64, date: Timestamp)? = nil,
        granting catalog: Catalog?
    ) throws(BrokenInvariant) {
        let isRestated = revocation == nil && statement != nil
        let benefit = catalog?.benefit(of: transaction.productIdentifier)?.rented(transaction.facts)
        self.init(
            app: try transaction.seller, origin: transaction.origin,
            transactionIdentifier: transaction.transactionIdentifier,
            originalTransactionIdentifier: transaction.originalTransactionIdentifier,
            productIdentifier: transaction.productIdentifier, quantity: transaction.quantity,
            purchaseDate: transaction.purchaseDate,
            revocationDate: isRestated ? transaction.revocationDate : revocation?.date,
            revocationReason: isRestated ? transaction.revocationReason : revocation?.reason,
            // Every statement is later than one that says nothing new, and none is later than a voided purchase.
            signedAt: revocation?.statedAt ?? statement?.date ?? Timestamp(millisecondsSince1970: 0),
            statementNumber: revocation.map { _ in StatementOrder.lastNumber } ?? statement?.number ?? 0,
            proofDigest: [UInt8](repeating: 0, count: 32), item: benefit?.item, credit: benefit?.credit,
            // The ledger's end of a fixed period follows from the other purchases, too.
            expiresAt: benefit?.end(ofFixedPeriodFrom: transaction.purchaseDate, ofUnits: transaction.quantity)
                ?? transaction.expiresAt,
            period: benefit?.period(ofUnits: transaction.quantity), facts: statement?.facts)
    }
}

extension Benefit {
    /// The benefit of a purchase with some facts. A rental gives the item until its end, also of a product that is otherwise bought for
    /// good, or for the fixed period of the catalog.
    func rented(_ facts: TransactionFacts?) -> Benefit {
        facts?.bool(.isRental) == true ? item.map { .itemWhilePaid($0) } ?? self : self
    }

    /// Nil if the product grants an item.
    var credit: Credit? {
        if case .credit(let credit) = self { credit } else { nil }
    }

    /// The fixed period of so many units; nil for another benefit. "The quantity applies to consumable Apple In-App Purchases and
    /// non-renewing subscriptions" (developer.apple.com/documentation/storekit/product/purchaseoption/quantity(_:)).
    func period(ofUnits quantity: Int) -> SubscriptionPeriod? {
        if case .itemFor(_, let period) = self { period.bought(quantity) } else { nil }
    }

    /// The end of the fixed period of a purchase, if nothing else runs; nil for another benefit.
    func end(ofFixedPeriodFrom purchaseDate: Timestamp, ofUnits quantity: Int) -> Timestamp? {
        period(ofUnits: quantity).map { FixedPeriod($0, of: item).end(from: purchaseDate) }
    }

    /// The end of the benefit of a purchase; nil for none.
    ///
    /// - Parameter expiresAt: The end of the paid period; nil if none is stated.
    func end(from purchaseDate: Timestamp, ofUnits quantity: Int, paidUntil expiresAt: Timestamp?) -> Timestamp? {
        switch self {
        case .itemFor: end(ofFixedPeriodFrom: purchaseDate, ofUnits: quantity)
        // Without an end, the claim would be valid forever.
        case .itemWhilePaid: expiresAt ?? purchaseDate
        case .item, .credit: nil
        }
    }
}
