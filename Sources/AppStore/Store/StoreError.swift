import Foundation
import Proofs

/// An error of the store.
package enum StoreError: CodedError, Equatable {
    case productNotFound(String)
    case quantityOutOfRange(Int)
    case transactionNotFound(Int64)
    case illegalTransition(IllegalPaymentTransition)
    /// The transaction has no signed form, because it is neither purchased nor restored.
    case notPurchased(Int64)
    /// No sale has this transaction identifier (`transactionId`).
    case saleNotFound(String)
    case subscriptionNotFound(String)
    case notificationNotFound(UUID)
    /// The action is not possible in the present state. The sentence says why.
    case invalidAction(String)
    case storefrontNotFound(String)
    case accountInvalid(String)
    /// The settings simulate an error of this call.
    case simulated(StoreKitCall, StoreKitFailure)
    case keysUnreadable(path: String)
    /// A key or certificate could not be made, written or used. The reason is from the system or OpenSSL.
    case signingFailed(String)
    case storage(StorageFault)

    package var code: String {
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

    package var message: String {
        switch self {
        case .productNotFound(let identifier):
            "The store sells no product \"\(identifier.prefix(100))\". List the products with `till store products`."
        case .quantityOutOfRange(let quantity): "A payment is for 1 to 10 of a product, not \(quantity)."
        case .transactionNotFound(let identifier):
            "The store has no transaction \(identifier). List the queue with `till store queue`."
        case .illegalTransition(let transition): transition.message
        case .notPurchased(let identifier): "Transaction \(identifier) is not purchased, so it has no signed form."
        case .saleNotFound(let identifier):
            "The store has no sale \"\(identifier.prefix(100))\". List the sales with `till store sales ACCOUNT`."
        case .subscriptionNotFound(let identifier):
            "The transaction \"\(identifier.prefix(100))\" belongs to no subscription."
        case .notificationNotFound(let uuid):
            "The store has no notification \(uuid.uuidString.lowercased()). List them with `till store notifications`."
        case .invalidAction(let reason): reason
        case .storefrontNotFound(let code):
            "There is no storefront \"\(code.prefix(100))\": name the country as ISO 3166-1 does, such as KOR."
        case .accountInvalid(let account):
            "The account \(account.prefix(32).debugDescription) is not valid. Use 1 to "
                + "\(Store.maximumAccountLength) bytes, without control characters."
        case .simulated(let call, let failure):
            "StoreKit's \(call.rawValue) fails with \(failure.rawValue), because the setting storeKitErrors simulates it."
        case .keysUnreadable(let path):
            "The store's signing keys in \(path) are incomplete or damaged. Restore them, or remove the folder to "
                + "make new keys. The service then has to trust the new keys."
        case .signingFailed(let reason): "The store could not sign: \(reason)"
        case .storage(let fault): fault.message
        }
    }
}
