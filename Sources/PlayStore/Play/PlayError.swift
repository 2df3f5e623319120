import HTTPSupport
import Proofs

/// An error of the local Google Play to its customers and its commands. `PublisherError` is what Google's API answers.
package enum PlayError: LocalStoreError, Equatable {
    case appNotFound(String)
    case productNotFound(String)
    case quantityOutOfRange(Int, maximum: Int)
    case purchaseNotFound(String)
    case notificationNotFound(Int64)
    /// The action is not possible in the present state. The sentence says why.
    case invalidAction(String)
    case accountInvalid(String)
    /// An identifier of the app for an account or a profile, which is too long or empty.
    case obfuscatedIdentifierInvalid
    case keysUnreadable(path: String)
    /// A key could not be made, written or used. The reason is from the system or OpenSSL.
    case signingFailed(String)
    case storage(StorageFault)

    package var rule: ErrorRule {
        switch self {
        case .appNotFound(let name):
            ErrorRule(
                "appUnknown", .notFound,
                "The local Play has no app \"\(name.prefix(100))\". Name it at the start: `till play --package-name com.example.app`.",
                korean: "로컬 Play에 이 앱이 없습니다.")
        case .productNotFound(let identifier):
            ErrorRule(
                "productNotFound", .notFound,
                "The local Play sells no product \"\(identifier.prefix(100))\" in this form. List the products with "
                    + "`till play products`.",
                korean: "이 식별자의 상품이 없습니다.")
        case .quantityOutOfRange(let quantity, let maximum):
            ErrorRule(
                "quantityOutOfRange", .unprocessable,
                "A purchase of this product is for 1 to \(maximum), not \(quantity). Only a purchase option with "
                    + "multiQuantityEnabled sells several.",
                korean: "한 번에 살 수 있는 개수가 아닙니다.")
        case .purchaseNotFound(let name):
            ErrorRule(
                "transactionNotFound", .notFound,
                "The local Play has no purchase \"\(name.prefix(100))\". List them with `till play purchases`.",
                korean: "이 식별자의 거래가 없습니다.")
        case .notificationNotFound(let number):
            ErrorRule(
                "notificationNotFound", .notFound,
                "The local Play has no notification \(number). List them with `till play notifications`.",
                korean: "이 식별자의 알림이 없습니다.")
        case .invalidAction(let reason):
            ErrorRule("invalidAction", .conflict, hasReason: true, reason, korean: "지금 상태에서는 할 수 없는 작업입니다.")
        case .accountInvalid(let account):
            ErrorRule(
                "accountInvalid", .unprocessable,
                "The account \(account.prefix(32).debugDescription) is not valid. Use 1 to "
                    + "\(LocalAccount.maximumLength) bytes, without control characters.",
                korean: "쓸 수 없는 계정입니다. 제어 문자 없이 1~\(LocalAccount.maximumLength)바이트로 입력하세요.")
        case .obfuscatedIdentifierInvalid:
            ErrorRule(
                "accountInvalid", .unprocessable,
                "An obfuscated account or profile identifier has 1 to \(GooglePlay.maximumObfuscatedLength) characters.",
                korean: "난독화된 식별자는 1~\(GooglePlay.maximumObfuscatedLength)자로 입력하세요.")
        case .keysUnreadable(let path):
            ErrorRule(
                "keysUnreadable", .failed, hasReason: true,
                "The key \(path) of the local Play is damaged. Restore it, or remove it to make a new one.",
                korean: "로컬 Play의 서명 키가 손상되었습니다.")
        case .signingFailed(let reason):
            ErrorRule(
                "signingFailed", .failed, hasReason: true, "The local Play could not sign: \(reason)",
                korean: "로컬 Play가 서명하지 못했습니다.")
        case .storage(let fault): fault.rule
        }
    }
}
