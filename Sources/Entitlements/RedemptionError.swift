import Commerce
import Ledger
import Receipts

/// Why nothing of a proof was redeemed.
public enum RedemptionError: CodedError, Equatable {
    /// The proof itself was refused.
    case refused(ProofRefusal)
    /// The proof is authentic, but of a kind that holds no purchase of its own.
    case notRedeemable
    /// The proof is authentic, but no notification.
    case noNotification
    /// Every purchase in the proof is another user's.
    case ownedByAnotherUser
    /// Every purchase in the proof is another user's, and one at least would move if it had not been moved lately.
    case transferTooSoon
    /// Every purchase in the proof is another user's, and one at least by the account token it was made under.
    case appAccountTokenMismatch
    /// The catalog maps none of the proof's products to an item.
    case productUnknown
    /// The account is unknown, or was erased.
    case userUnknown

    public var code: String {
        switch self {
        case .refused(let refusal): refusal.code
        case .notRedeemable: "notRedeemable"
        case .noNotification: "noNotification"
        case .ownedByAnotherUser: "ownedByAnotherUser"
        case .transferTooSoon: "transferTooSoon"
        case .appAccountTokenMismatch: "appAccountTokenMismatch"
        case .productUnknown: "productUnknown"
        case .userUnknown: LedgerError.userUnknown.code
        }
    }

    public var message: String {
        switch self {
        case .refused(let refusal): refusal.message
        case .notRedeemable:
            "The proof is authentic, but it is no purchase; send an app receipt or a signed transaction."
        case .noNotification: "The proof is authentic, but it is no notification of the App Store."
        case .ownedByAnotherUser: "The purchase has been redeemed by another user, and stays theirs."
        case .transferTooSoon:
            "The purchase was moved to another user lately, and stays theirs for now: try again later."
        case .appAccountTokenMismatch:
            "The purchase was made under another user's account token (appAccountToken): redeem it for that user."
        case .productUnknown: "The product is not in this service's catalog; add it, then redeem the same proof again."
        case .userUnknown: LedgerError.userUnknown.message
        }
    }
}
