import Commerce

/// The error of an assignment of an unclaimed purchase.
public enum AssignmentError: CodedError, Equatable {
    /// Nobody has stated such a purchase, or a user has redeemed it.
    case purchaseNotFound
    /// Two origins use the same identifier.
    case purchaseAmbiguous
    /// Purchases of the origin do not count for the user.
    case originNotAccepted(Origin)
    /// The usual checks refuse the purchase.
    case refused(Redemption.Result)

    public var code: String {
        switch self {
        case .purchaseNotFound: "unclaimedPurchaseNotFound"
        case .purchaseAmbiguous: "transactionAmbiguous"
        case .originNotAccepted: "originNotAccepted"
        case .refused(let result): result.rawValue
        }
    }

    public var message: String {
        switch self {
        case .purchaseNotFound:
            "No unclaimed purchase has this transaction. `GET /v1/transactions/{id}` says who has redeemed it."
        case .purchaseAmbiguous:
            "Unclaimed purchases of two origins have this identifier: name one with the query parameter origin."
        case .originNotAccepted(let origin): "Purchases from \(origin.rawValue) do not count for this user."
        case .refused(let result): RefusalRemedy(code: result.rawValue)?.cause ?? "The purchase is refused."
        }
    }
}
