/// A call of StoreKit's that can be made to fail (StoreKitTest, `SKTestSession.setSimulatedError`).
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

    /// The failures that it can have.
    public var failures: [StoreKitFailure] {
        switch self {
        case .purchase: StoreKitFailure.generic + StoreKitFailure.ofPurchase
        case .verification: StoreKitFailure.ofVerification
        case .loadProducts, .appStoreSync, .subscriptionStatus, .appTransaction, .manageSubscriptionsSheet,
            .refundRequestSheet, .offerCodeRedeemSheet:
            StoreKitFailure.generic
        }
    }
}

/// What a call of StoreKit's fails with: a case of `StoreKitError`, `Product.PurchaseError` or
/// `VerificationResult.VerificationError`, by its name there.
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

    /// `StoreKitError`, in the order of the SDK.
    public static let generic: [StoreKitFailure] = [
        .unknown, .userCancelled, .networkError, .systemError, .notAvailableInStorefront, .notEntitled, .unsupported,
    ]
    /// `Product.PurchaseError`, in the order of the SDK.
    public static let ofPurchase: [StoreKitFailure] = [
        .invalidQuantity, .productUnavailable, .purchaseNotAllowed, .ineligibleForOffer, .invalidOfferIdentifier,
        .invalidOfferPrice, .invalidOfferSignature, .missingOfferParameters,
    ]
    /// `VerificationResult.VerificationError`, in the order of the SDK.
    public static let ofVerification: [StoreKitFailure] = [
        .revokedCertificate, .invalidCertificateChain, .invalidDeviceVerification, .invalidEncoding, .invalidSignature,
        .missingRequiredProperties,
    ]
}
