import Ledger
import Proofs

/// The error of a redemption. Nothing of the proof was redeemed.
package enum RedemptionError: CodedError, Equatable {
    /// The proof itself was refused.
    case refused(ProofRefusal)
    /// The proof is authentic, but not of a purchase.
    case notRedeemable
    /// The proof is authentic, but not a notification.
    case noNotification
    /// Another user owns every purchase of the proof.
    case ownedByAnotherUser
    /// Another user owns every purchase of the proof. At least one could be transferred if its last transfer were not too
    /// recent.
    case transferTooSoon
    /// Another user owns every purchase of the proof. At least one has that user's account token.
    case appAccountTokenMismatch
    /// The catalog maps none of the proof's products to an item.
    case productUnknown
    /// The ledger has another product under the identifier of the transaction.
    case transactionConflict
    /// The account is unknown, or was erased.
    case userUnknown
    /// The name stands for no user.
    case userBlocked

    package var code: String {
        switch self {
        case .refused(let refusal): refusal.code
        case .notRedeemable: "notRedeemable"
        case .noNotification: "noNotification"
        case .ownedByAnotherUser: "ownedByAnotherUser"
        case .transferTooSoon: "transferTooSoon"
        case .appAccountTokenMismatch: "appAccountTokenMismatch"
        case .productUnknown: "productUnknown"
        case .transactionConflict: "transactionConflict"
        case .userUnknown: LedgerError.userUnknown.code
        case .userBlocked: LedgerError.userBlocked.code
        }
    }

    package var message: String {
        switch self {
        case .refused(let refusal): refusal.message
        case .notRedeemable:
            "The proof is authentic, but not of a purchase. Send an app receipt or a signed transaction."
        case .noNotification:
            "The proof is authentic, but not a notification of the App Store. Send purchases to the user's transactions."
        case .ownedByAnotherUser: "Another user has redeemed the purchase and keeps it. Log in as that user."
        case .transferTooSoon:
            "Another user owns the purchase since a recent transfer. Try again later."
        case .appAccountTokenMismatch:
            "The purchase has another user's account token (appAccountToken). Redeem it for that user."
        case .productUnknown: "The product is not in the service's catalog. Add it, then redeem the same proof again."
        case .transactionConflict:
            "The ledger has another product under the identifier of this transaction. Look at both in the user's story."
        case .userUnknown: LedgerError.userUnknown.message
        case .userBlocked: LedgerError.userBlocked.message
        }
    }
}
