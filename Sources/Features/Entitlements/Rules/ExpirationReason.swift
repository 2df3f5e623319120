import Proofs

/// The reason for the end of a subscription, by Apple's `expirationIntent`.
package enum ExpirationReason: String, Sendable, CaseIterable {
    case customerCancelled
    case billingError
    case customerDidNotConsentToPriceIncrease
    case productNotAvailable
    case other

    /// - Parameter intent: Apple's number; nil if the App Store has stated none.
    init?(intent: Int64?) {
        switch intent.flatMap({ Int(exactly: $0) }).flatMap(ExpirationIntent.init(rawValue:)) {
        case .customerCancelled: self = .customerCancelled
        case .billingError: self = .billingError
        case .customerDidNotConsentToPriceIncrease: self = .customerDidNotConsentToPriceIncrease
        case .productNotAvailable: self = .productNotAvailable
        case .other: self = .other
        case nil: return nil
        }
    }
}
