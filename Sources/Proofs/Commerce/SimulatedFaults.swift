/// A fault of the next notification of a local store. It tests the server that receives the notification.
package enum NotificationFault: Hashable, Sendable, Codable {
    /// The store sends the notification once more after its delivery.
    case duplicate
    /// The store sends the notification after the one that follows it.
    case reorder
    /// The store sends the notification late by this number of seconds.
    case delay(seconds: Int64)
    /// The store never sends the notification, but the history has it.
    case drop

    package var name: String {
        switch self {
        case .duplicate: "duplicate"
        case .reorder: "reorder"
        case .drop: "drop"
        case .delay(let seconds): "delay:\(seconds)"
        }
    }

    /// - Parameter name: `duplicate`, `reorder`, `drop`, or `delay:SECONDS`.
    /// - Returns: Nil for any other name.
    package init?(name: String) {
        switch name {
        case "duplicate": self = .duplicate
        case "reorder": self = .reorder
        case "drop": self = .drop
        default:
            guard name.hasPrefix("delay:"), let seconds = Int64(name.dropFirst(6)), (0...31_536_000).contains(seconds)
            else { return nil }
            self = .delay(seconds: seconds)
        }
    }
}

/// A StoreKit call for which tests can simulate an error (StoreKitTest, `SKTestSession.setSimulatedError`).
public enum StoreKitCall: String, Sendable, CaseIterable, Codable, CodingKeyRepresentable {
    case loadProducts
    case purchase
    case verification
    case appStoreSync
    case subscriptionStatus
    case appTransaction
    case manageSubscriptionsSheet
    case refundRequestSheet
    case offerCodeRedeemSheet

    /// The possible failures of the call.
    public var failures: [StoreKitFailure] {
        switch self {
        case .purchase: StoreKitFailure.generic + StoreKitFailure.ofPurchase
        case .verification: StoreKitFailure.ofVerification
        case .refundRequestSheet: StoreKitFailure.generic + StoreKitFailure.ofRefundRequest
        case .loadProducts, .appStoreSync, .subscriptionStatus, .appTransaction, .manageSubscriptionsSheet,
            .offerCodeRedeemSheet:
            StoreKitFailure.generic
        }
    }
}

/// The failure of a StoreKit call: a case of `StoreKitError`, `Product.PurchaseError`,
/// `VerificationResult.VerificationError` or `Transaction.RefundRequestError` with the same name.
public enum StoreKitFailure: String, Sendable, CaseIterable, Codable {
    case unknown
    case userCancelled
    case networkError
    case systemError
    case notAvailableInStorefront
    case notEntitled
    case unsupported
    case invalidQuantity
    case productUnavailable
    case purchaseNotAllowed
    case ineligibleForOffer
    case invalidOfferIdentifier
    case invalidOfferPrice
    case invalidOfferSignature
    case missingOfferParameters
    case revokedCertificate
    case invalidCertificateChain
    case invalidDeviceVerification
    case invalidEncoding
    case invalidSignature
    case missingRequiredProperties
    case duplicateRequest
    case failed
    case ineligible

    /// The cases of `StoreKitError`, in the order of the SDK.
    public static let generic: [StoreKitFailure] = [
        .unknown, .userCancelled, .networkError, .systemError, .notAvailableInStorefront, .notEntitled, .unsupported,
    ]
    /// The cases of `Product.PurchaseError`, in the order of the SDK.
    public static let ofPurchase: [StoreKitFailure] = [
        .invalidQuantity, .productUnavailable, .purchaseNotAllowed, .ineligibleForOffer, .invalidOfferIdentifier,
        .invalidOfferPrice, .invalidOfferSignature, .missingOfferParameters,
    ]
    /// The cases of `Transaction.RefundRequestError`. The SDK of iOS 27 added the last one.
    public static let ofRefundRequest: [StoreKitFailure] = [.duplicateRequest, .failed, .ineligible]
    /// The cases of `VerificationResult.VerificationError`, in the order of the SDK.
    public static let ofVerification: [StoreKitFailure] = [
        .revokedCertificate, .invalidCertificateChain, .invalidDeviceVerification, .invalidEncoding, .invalidSignature,
        .missingRequiredProperties,
    ]
}
