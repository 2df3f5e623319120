import Proofs

/// The error of an assignment of an unclaimed purchase.
package enum AssignmentError: CodedError, Equatable {
    /// No such purchase is known, or a user has redeemed it.
    case purchaseNotFound
    /// Two origins use the same identifier.
    case purchaseAmbiguous
    /// The origin is not accepted for the user.
    case originNotAccepted(Origin)
    /// The usual checks refuse the purchase.
    case refused(Redemption.Result)

    package var code: String {
        switch self {
        case .purchaseNotFound: "unclaimedPurchaseNotFound"
        case .purchaseAmbiguous: "transactionAmbiguous"
        case .originNotAccepted: "originNotAccepted"
        case .refused(let result): result.rawValue
        }
    }

    package var message: String {
        switch self {
        case .purchaseNotFound:
            "No unclaimed purchase has this transaction. `GET /v1/transactions/{id}` returns the user who has redeemed it."
        case .purchaseAmbiguous:
            "Unclaimed purchases of two origins have this identifier. Name one in the query parameter origin."
        case .originNotAccepted(let origin): "Purchases from \(origin.rawValue) are not accepted for this user."
        case .refused(let result): RefusalRemedy(code: result.rawValue)?.cause ?? "The purchase is refused."
        }
    }
}
