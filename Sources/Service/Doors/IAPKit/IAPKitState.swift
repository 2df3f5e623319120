import Features
import Proofs

/// The state of a purchase in the protocol of IAPKit. The protocol's states of other stores do not occur.
package enum IAPKitState: String, CaseIterable, Sendable {
    case entitled = "ENTITLED"
    /// A consumable that no user has redeemed.
    case readyToConsume = "READY_TO_CONSUME"
    /// A consumable that a user has redeemed. The app must not give it again.
    case consumed = "CONSUMED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    /// Not signed by the App Store, or another product than the expected one or the one in the ledger.
    case inauthentic = "INAUTHENTIC"

    /// True if the app may give what was bought.
    package var isValid: Bool { self == .entitled || self == .readyToConsume }

    package init(of purchase: VerifiedPurchase, at moment: Timestamp) {
        if purchase.isConflicting {
            self = .inauthentic
        } else if purchase.isRevoked {
            self = .canceled
        } else if purchase.type == .consumable {
            self = purchase.isRedeemed ? .consumed : .readyToConsume
        } else if let end = purchase.expiresAt, end <= moment {
            // The ledger may know a later period.
            self = purchase.isOwned ? .entitled : .expired
        } else {
            self = .entitled
        }
    }
}
