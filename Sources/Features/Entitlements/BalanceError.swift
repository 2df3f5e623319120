import Proofs

/// The error of a spending. Nothing was spent.
package enum BalanceError: CodedError, Equatable {
    case balanceUnknown(String)
    /// The balance is lower than the amount.
    case balanceTooLow(name: String, amount: Int)
    /// Another spending of the user has the same idempotency key.
    case idempotencyKeyReused

    package var code: String {
        switch self {
        case .balanceUnknown: "balanceUnknown"
        case .balanceTooLow: "balanceTooLow"
        case .idempotencyKeyReused: "idempotencyKeyReused"
        }
    }

    package var message: String {
        switch self {
        case .balanceUnknown(let name):
            "No product of the catalog adds to a balance \"\(name.prefix(100))\". Use a name from GET …/balances."
        case .balanceTooLow(let name, let amount): "The user has only \(amount) of \"\(name)\". Nothing was spent."
        case .idempotencyKeyReused:
            "Another spending of this user has this Idempotency-Key. Create a new key for each spending."
        }
    }
}
