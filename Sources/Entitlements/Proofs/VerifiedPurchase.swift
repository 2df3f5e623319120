import Commerce
import Receipts

/// The purchase that a verified signed transaction states, with what the ledger knows of it.
public struct VerifiedPurchase: Hashable, Sendable {
    public let environment: AppStoreEnvironment
    public let productIdentifier: String
    /// Nil if neither the App Store nor the catalog states it.
    public let type: ProductType?
    /// The end by the proof, the catalog or the ledger, whichever is the latest; nil for a purchase without an end.
    public let expiresAt: Timestamp?
    /// True if the proof, a notification or the team has revoked the transaction.
    public let isRevoked: Bool
    /// True if a user has redeemed the transaction.
    public let isRedeemed: Bool
    /// True if the ledger's latest period of the purchase is of the same product, and its user owns it.
    public let isOwned: Bool

    package init(
        environment: AppStoreEnvironment = .sandbox,
        productIdentifier: String,
        type: ProductType?,
        expiresAt: Timestamp? = nil,
        isRevoked: Bool = false,
        isRedeemed: Bool = false,
        isOwned: Bool = false
    ) {
        self.environment = environment
        self.productIdentifier = productIdentifier
        self.type = type
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
        self.isRedeemed = isRedeemed
        self.isOwned = isOwned
    }
}

/// The rules that derive the purchase from the proof and the ledger.
extension VerifiedPurchase {
    /// - Parameters:
    ///   - claim: The claim of the proof, by the catalog.
    ///   - status: The status of the purchase in the ledger; nil if nobody has redeemed it.
    ///   - transactions: The redeemed transactions of the purchase.
    ///   - parkedRevocation: The revocation of a transaction that nobody has redeemed, as a notification has stated it.
    package init(
        _ claim: Claim,
        _ type: ProductType?,
        _ environment: AppStoreEnvironment,
        status: PurchaseStatus?,
        _ transactions: [RedeemedTransaction],
        parkedRevocation: Timestamp? = nil
    ) {
        let own = transactions.first {
            $0.transactionIdentifier.hasSameBytes(as: claim.transactionIdentifier)
                && $0.productIdentifier.hasSameBytes(as: claim.productIdentifier)
        }
        // The App Store may state the period under another identifier, too.
        let standing = own ?? transactions.first { PurchaseEvent.isOne(claim, $0) }
        // A restored non-consumable has another identifier than the purchase that was refunded.
        let related = type == .nonConsumable ? transactions : standing.map { [$0] } ?? []
        // An upgraded period has ended, whatever it states.
        let isUpgraded = [claim.facts, standing?.facts].contains { $0?.bool(.isUpgraded) == true }
        let ends = [claim.expiresAt ?? claim.facts?.date(.expiresDate), standing?.expiresAt, standing?.graceEndsAt]
            .compactMap(\.self)
        var seats = SeatAdditions()
        let periods = transactions.sorted { $0.purchaseDate < $1.purchaseDate }.filter { !seats.adds($0) }
        let later =
            type == .autoRenewableSubscription ? periods.filter { $0.purchaseDate > claim.purchaseDate } : []
        let end = ends.max().map { end in min(end, later.map(\.purchaseDate).min() ?? end) }
        // In an app receipt, and after a proration, an upgrade is a revocation.
        let revokedAt = [claim.revocationDate, parkedRevocation].compactMap(\.self).first
        let isReplaced =
            revokedAt.map { date in
                later.contains {
                    EntitlementDecision.Successor($0)
                        .replaces(claim.productIdentifier, from: claim.purchaseDate, revokedAt: date)
                }
            } ?? false
        self.init(
            environment: environment, productIdentifier: claim.productIdentifier, type: type,
            expiresAt: isUpgraded ? claim.purchaseDate : end,
            isRevoked: revokedAt != nil && !isReplaced && !isUpgraded
                || related.contains { $0.revocationDate != nil || $0.revocation != nil },
            isRedeemed: standing != nil,
            isOwned: status.map {
                $0.state.isOwned && $0.productIdentifier.hasSameBytes(as: claim.productIdentifier)
            } ?? false)
    }
}
