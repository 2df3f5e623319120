import Ledger
import Proofs

/// The state of a subscription or another purchase at a moment.
package enum PurchaseState: String, Sendable, CaseIterable, SQLConvertible {
    /// In a free trial.
    case trial
    /// In a period with the lower price of an introductory offer.
    case introductory
    /// In a paid period. The subscription renews, or the store has not stated whether it does, or the plan is prepaid.
    case active
    /// In a paid period. It is the last one, or of the last commitment, unless the customer turns renewal on again.
    case willNotRenew
    /// Not charged, but still owned. The App Store retries until the grace period ends.
    case gracePeriod
    /// Not charged, and not owned. The App Store still retries.
    case billingRetry
    /// Paused by the customer, and not owned. Google Play charges again at the end of the pause.
    case paused
    /// Over, for a subscription or a purchase with an end.
    case expired
    /// A subscription that the App Store has revoked, or any purchase that the team has revoked.
    case revoked
    /// A subscription replaced by one of a higher level.
    case upgraded
    /// Bought by the user, or assigned to the user as a seat.
    case owned
    /// A consumable, added to a balance.
    case consumed
    /// A purchase without renewal that the App Store has refunded.
    case refunded
    /// Bought by a member of the customer's family.
    case familyShared
    /// Stated by the App Store, but redeemed by nobody.
    case unclaimed

    /// True if the user owns the benefit.
    package var isOwned: Bool {
        switch self {
        case .trial, .introductory, .active, .willNotRenew, .gracePeriod, .owned, .consumed, .familyShared: true
        case .billingRetry, .paused, .expired, .revoked, .upgraded, .refunded, .unclaimed: false
        }
    }

    /// True for a subscription that is not owned now, and that returns without another purchase when it is charged.
    package var mayReturn: Bool { self == .billingRetry || self == .paused }

    /// True if the App Store or the team has taken the last period back, or an upgrade has ended it.
    var isTakenBack: Bool { [.revoked, .refunded, .upgraded].contains(self) }

    /// - Parameters:
    ///   - type: The type of the product; nil if neither the App Store nor the catalog has it.
    init(of last: PurchasePeriod, _ type: ProductType?, _ next: NextStep, at moment: Timestamp) {
        if last.isRevokedByTeam {
            self = .revoked
        } else if type == .autoRenewableSubscription {
            self = Self.ofSubscription(last, next, at: moment)
        } else if last.isRevoked {
            // Apple withdraws family sharing and seats from members, and refunds only the buyer.
            self = last.terms.isPaidByAnother ? .revoked : .refunded
        } else if type == .consumable {
            self = .consumed
        } else if let end = last.expiresAt, end <= moment {
            self = .expired
        } else {
            self = last.terms.isFamilyShared ? .familyShared : .owned
        }
    }

    private static func ofSubscription(_ last: PurchasePeriod, _ next: NextStep, at moment: Timestamp) -> PurchaseState
    {
        if last.isRevoked { return .revoked }
        switch next {
        case .grace: return .gracePeriod
        case .onHold: return .billingRetry
        case .paused: return .paused
        case .renews, .ends, .prepaid, .unknown: break
        }
        let end = last.expiresAt.map { max($0, last.graceEndsAt ?? $0) }
        if let end, end <= moment { return last.terms.isUpgraded ? .upgraded : .expired }
        if last.terms.isTrial { return .trial }
        if last.terms.isIntroductory { return .introductory }
        if case .ends = next { return .willNotRenew }
        return .active
    }
}

/// A purchase event of a subscription: the first purchase or one renewal.
///
/// The App Store identifies the event (`webOrderLineItemId`). Transactions of one event have the same original transaction,
/// product, and beginning or end. Dates count by the second, because app receipts state no fraction. Transactions that share a
/// period because of added seats have one end, so only the beginning tells their events.
struct PurchaseEvent: Hashable {
    private enum Bound: Hashable {
        case beginning, end
    }

    private let original: TransactionKey
    private let identifier: ByteKey
    private let product: ByteKey
    private let bound: Bound
    private let second: Int64

    /// The event of a transaction, by its beginning and by its end. Empty if the App Store has not stated it.
    static func events(of transaction: EntitlementFacts.Transaction) -> [PurchaseEvent] {
        events(
            transaction.event, of: transaction.originalKey, transaction.productIdentifier,
            from: transaction.purchaseDate, to: transaction.isAdditional ? nil : transaction.status.expiresAt)
    }

    static func events(of claim: Claim) -> [PurchaseEvent] {
        events(
            claim.facts?.text(.webOrderLineItemId), of: claim.originalKey, claim.productIdentifier,
            from: claim.purchaseDate,
            to: claim.facts?[.additionalTransactionReason] == nil ? claim.expiresAt : nil)
    }

    private static func events(
        _ identifier: String?,
        of original: TransactionKey,
        _ product: String,
        from beginning: Timestamp,
        to end: Timestamp?
    ) -> [PurchaseEvent] {
        guard let identifier else { return [] }
        return [(Bound.beginning, beginning), (.end, end)].compactMap { bound, date in
            date.map {
                PurchaseEvent(
                    original: original, identifier: ByteKey(identifier), product: ByteKey(product), bound: bound,
                    second: $0.secondsSince1970)
            }
        }
    }
}
