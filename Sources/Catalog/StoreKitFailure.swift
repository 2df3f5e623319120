import Proofs

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

/// The error of a failed payment (StoreKit, `SKError.Code`, with its raw values).
public enum SKErrorCode: Int, Sendable, NamedCase {
    case unknown = 0
    case clientInvalid = 1
    case paymentCancelled = 2
    case paymentInvalid = 3
    case paymentNotAllowed = 4
    case storeProductNotAvailable = 5
    case cloudServicePermissionDenied = 6
    case cloudServiceNetworkConnectionFailed = 7
    case cloudServiceRevoked = 8
    case privacyAcknowledgementRequired = 9
    case unauthorizedRequestData = 10
    case invalidOfferIdentifier = 11
    case invalidSignature = 12
    case missingOfferParams = 13
    case invalidOfferPrice = 14
    case overlayCancelled = 15
    case overlayInvalidConfiguration = 16
    case overlayTimeout = 17
    case ineligibleForOffer = 18
    case unsupportedPlatform = 19
    case overlayPresentedInBackgroundScene = 20
}
