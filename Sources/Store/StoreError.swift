import Commerce
import Foundation

/// Why the store does not do what it was asked.
public enum StoreError: CodedError, Equatable {
    case productNotFound(String)
    case quantityOutOfRange(Int)
    case transactionNotFound(Int64)
    case illegalTransition(IllegalPaymentTransition)
    /// Only a transaction that is purchased or restored has a signed form.
    case notPurchased(Int64)
    /// No sale has this number (`transactionId`).
    case saleNotFound(String)
    case subscriptionNotFound(String)
    case notificationNotFound(UUID)
    /// What was asked for cannot be done as things stand; the sentence says why.
    case invalidAction(String)
    case storefrontNotFound(String)
    case accountInvalid(String)
    /// A call fails because the settings say so.
    case simulated(StoreKitCall, StoreKitFailure)
    case keysUnreadable(path: String)
    /// A key or certificate could not be made, written or used; the reason is the system's or OpenSSL's.
    case signingFailed(String)
    case storage(StorageFault)

    public var code: String {
        switch self {
        case .productNotFound: "productNotFound"
        case .quantityOutOfRange: "quantityOutOfRange"
        case .transactionNotFound: "transactionNotFound"
        case .illegalTransition(let transition): transition.code
        case .notPurchased: "notPurchased"
        case .saleNotFound: "transactionNotFound"
        case .subscriptionNotFound: "subscriptionNotFound"
        case .notificationNotFound: "notificationNotFound"
        case .invalidAction: "invalidAction"
        case .storefrontNotFound: "storefrontNotFound"
        case .accountInvalid: "accountInvalid"
        case .simulated: "storeKitError"
        case .keysUnreadable: "keysUnreadable"
        case .signingFailed: "signingFailed"
        case .storage(let fault): fault.code
        }
    }

    public var message: String {
        switch self {
        case .productNotFound(let identifier):
            "The store sells no product \"\(identifier.prefix(100))\": see the identifiers with till store products."
        case .quantityOutOfRange(let quantity): "A payment is for 1 to 10 of a product, not \(quantity)."
        case .transactionNotFound(let identifier):
            "The store has no transaction \(identifier): see the numbers with till store queue."
        case .illegalTransition(let transition): transition.message
        case .notPurchased(let identifier): "Transaction \(identifier) is not purchased, so there is nothing to sign."
        case .saleNotFound(let identifier): "The store has sold nothing under the number \"\(identifier.prefix(100))\"."
        case .subscriptionNotFound(let identifier):
            "The transaction \"\(identifier.prefix(100))\" belongs to no subscription."
        case .notificationNotFound(let uuid): "The store has no notification \(uuid.uuidString.lowercased())."
        case .invalidAction(let reason): reason
        case .storefrontNotFound(let code):
            "There is no storefront \"\(code.prefix(100))\": name the country as ISO 3166-1 does, such as KOR."
        case .accountInvalid(let account):
            "The account \(account.prefix(32).debugDescription) is not valid: name it in 1 to "
                + "\(Store.maximumAccountLength) bytes, without control characters."
        case .simulated(let call, let failure):
            "StoreKit's \(call.rawValue) fails with \(failure.rawValue), as the store's settings say (storeKitErrors)."
        case .keysUnreadable(let path):
            "The store's signing keys in \(path) are incomplete or damaged: restore them, or remove the folder to have "
                + "new ones made, which the service then has to trust."
        case .signingFailed(let reason): "The store could not sign: \(reason)"
        case .storage(let fault): fault.message
        }
    }
}
