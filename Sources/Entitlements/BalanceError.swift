import Commerce

/// Why nothing was spent.
public enum BalanceError: CodedError, Equatable {
    case balanceUnknown(String)
    /// What the user has is less.
    case balanceTooLow(name: String, amount: Int)
    /// Another spending of the user has the same idempotency key.
    case idempotencyKeyReused

    public var code: String {
        switch self {
        case .balanceUnknown: "balanceUnknown"
        case .balanceTooLow: "balanceTooLow"
        case .idempotencyKeyReused: "idempotencyKeyReused"
        }
    }

    public var message: String {
        switch self {
        case .balanceUnknown(let name): "No product of the catalog adds to a balance \"\(name.prefix(100))\"."
        case .balanceTooLow(let name, let amount): "The user has \(amount) of \(name): nothing was spent."
        case .idempotencyKeyReused:
            "Another spending of this user was requested with this Idempotency-Key: make a new key for each."
        }
    }
}
