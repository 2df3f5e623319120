import Catalog
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

package enum StoreError: LocalStoreError, Equatable {
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
    /// The store cannot send this notification on demand. The sentence says why.
    case notificationInvalid(String)
    /// The action is not possible in the present state. The sentence says why.
    case invalidAction(String)
    case storefrontNotFound(String)
    /// The locale of a retention message.
    case localeInvalid(String)
    case accountInvalid(String)
    /// The account has bought nothing, so it has no time of its own.
    case accountUnknown(String)
    case simulated(StoreKitCall, StoreKitFailure)
    case keysUnreadable(path: String)
    /// A key or certificate could not be made, written or used. The reason is from the system or OpenSSL.
    case signingFailed(String)
    case storage(StorageFault)

    package var rule: ErrorRule {
        switch self {
        case .productNotFound(let identifier):
            ErrorRule(
                "productNotFound", .notFound,
                "The store sells no product \"\(identifier.prefix(100))\". List the products with `till store products`.",
                korean: "이 식별자의 상품이 없습니다.")
        case .quantityOutOfRange(let quantity):
            ErrorRule(
                "quantityOutOfRange", .unprocessable, "A payment is for 1 to 10 of a product, not \(quantity).",
                korean: "한 번에 1개에서 10개까지 살 수 있습니다.")
        case .transactionNotFound(let identifier):
            ErrorRule(
                "transactionNotFound", .notFound,
                "The store has no transaction \(identifier). List the queue with `till store queue`.",
                korean: "이 식별자의 거래가 없습니다.")
        case .illegalTransition(let transition): transition.rule
        case .notPurchased(let identifier):
            ErrorRule(
                "notPurchased", .conflict,
                "Transaction \(identifier) is not purchased, so it has no signed form.",
                korean: "구매되지 않은 거래이므로 서명된 형식이 없습니다.")
        case .saleNotFound(let identifier):
            ErrorRule(
                "transactionNotFound", .notFound,
                "The store has no sale \"\(identifier.prefix(100))\". List the sales with `till store sales ACCOUNT`.",
                korean: "이 식별자의 거래가 없습니다.")
        case .subscriptionNotFound(let identifier):
            ErrorRule(
                "subscriptionNotFound", .notFound,
                "The transaction \"\(identifier.prefix(100))\" belongs to no subscription.",
                korean: "구독에 속하지 않는 거래입니다.")
        case .notificationNotFound(let uuid):
            ErrorRule(
                "notificationNotFound", .notFound,
                "The store has no notification \(uuid.uuidString.lowercased()). List them with `till store notifications`.",
                korean: "스토어에 이 식별자의 알림이 없습니다.")
        case .notificationInvalid(let reason):
            ErrorRule(
                "notificationInvalid", .unprocessable, hasReason: true, reason,
                korean: "스토어가 요청에 따라 보낼 수 없는 알림입니다.")
        case .invalidAction(let reason):
            ErrorRule("invalidAction", .conflict, hasReason: true, reason, korean: "지금 상태에서는 할 수 없는 작업입니다.")
        case .storefrontNotFound(let code):
            ErrorRule(
                "storefrontNotFound", .unprocessable,
                "There is no storefront \"\(code.prefix(100))\": name the country as ISO 3166-1 does, such as KOR.",
                korean: "이 코드의 스토어프런트가 없습니다. KOR과 같은 ISO 3166-1 국가 코드를 입력하세요.")
        case .localeInvalid(let locale):
            ErrorRule(
                "localeInvalid", .unprocessable,
                "The locale \(locale.prefix(32).debugDescription) is not valid. Name a language, and a region after a hyphen, "
                    + "such as en-US.",
                korean: "쓸 수 없는 로캘입니다. en-US처럼 언어와 지역을 하이픈으로 이어 입력하세요.")
        case .accountInvalid(let account): LocalAccount.rule(ofInvalid: account)
        case .accountUnknown(let account): LocalAccount.rule(ofUnknown: account, buyingWith: "till store")
        case .simulated(let call, let failure):
            ErrorRule(
                "storeKitError", .conflict, hasReason: true,
                "StoreKit's \(call.rawValue) fails with \(failure.rawValue), because the setting storeKitErrors simulates "
                    + "it.",
                korean: "스토어의 설정이 StoreKit의 오류를 흉내 내고 있습니다.")
        case .keysUnreadable(let path):
            ErrorRule(
                "keysUnreadable", .failed, hasReason: true,
                "The store's signing keys in \(path) are incomplete or damaged. Restore them, or remove the folder to "
                    + "make new keys. The service then has to trust the new keys.",
                korean: "스토어의 서명 키가 불완전하거나 손상되었습니다.")
        case .signingFailed(let reason):
            ErrorRule(
                "signingFailed", .failed, hasReason: true, "The store could not sign: \(reason)",
                korean: "스토어가 서명하지 못했습니다.")
        case .storage(let fault): fault.rule
        }
    }
}
