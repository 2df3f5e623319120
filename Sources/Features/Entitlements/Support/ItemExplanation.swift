import Proofs

/// The reason why a user owns an item or does not.
package struct ItemExplanation: Hashable, Sendable {
    package enum Cause: String, Sendable, CaseIterable {
        case owned
        case familyShared
        /// A seat that another customer has paid for.
        case assigned
        case gracePeriod
        case granted
        /// Everybody owns the item.
        case ownedByEverybody
        case expired
        case renewalFailed
        case refunded
        case revokedByAppStore
        case revokedByTeam
        case upgraded
        /// The subscription has another product now, which does not grant the item.
        case productChanged
        /// Bought in an origin that is not accepted for this user, such as the sandbox.
        case originNotAccepted
        case grantEnded
        case grantTakenBack
        case refused
        case transferredToAnotherUser
        /// An import has recorded a purchase of the customer at another server. Nobody has sent its proof.
        case expected
        /// Nobody has redeemed the purchase. Its account token is unknown or absent.
        case unclaimed
        case neverBought
        /// No product of the catalog grants the item.
        case notInCatalog
    }

    package let item: Item
    package let isOwned: Bool
    package let cause: Cause
    /// The reason in one or two sentences.
    package let sentence: String
    /// The remedy; nil if none is needed.
    package let remedy: String?
    /// The time at which the cause took effect; nil if there is none.
    package let since: Timestamp?
    package let until: Timestamp?
    /// The transaction or the grant of the explanation.
    package let reference: String?
    package let origin: Origin?
    /// The owner of a purchase that was refused to this user.
    package let otherOwner: User?
    /// The product of the purchase. If the user has bought none, the products that grant the item, or none.
    package let products: [String]
    /// The team's reason for a revocation, the code of a refusal, or the reason for the end of a subscription; nil without one.
    package let reason: String?
    /// True if the item renews.
    package let renews: Bool

    init(
        _ item: Item,
        _ cause: Cause,
        isOwned: Bool = false,
        _ sentence: String,
        remedy: String? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil,
        reference: String? = nil,
        origin: Origin? = nil,
        otherOwner: User? = nil,
        products: [String] = [],
        reason: String? = nil,
        renews: Bool = false
    ) {
        self.item = item
        self.isOwned = isOwned
        self.cause = cause
        self.sentence = sentence
        self.remedy = remedy
        self.since = since
        self.until = until
        self.reference = reference
        self.origin = origin
        self.otherOwner = otherOwner
        self.products = products
        self.reason = reason
        self.renews = renews
    }
}
