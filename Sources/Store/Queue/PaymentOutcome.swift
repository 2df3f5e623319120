import Commerce

/// How the store shall let a payment end, chosen by whoever tests an app.
public enum PaymentOutcome: Hashable, Sendable {
    case purchased
    /// Waits for approval (Ask to Buy).
    case deferred
    /// Fails, until the customer has resolved something outside the app; then it is purchased after all.
    case interrupted
    case failed(SKErrorCode)

    /// Short names for the failures met most often.
    private static let shortNames: [String: SKErrorCode] = [
        "cancelled": .paymentCancelled, "notAllowed": .paymentNotAllowed, "notAvailable": .storeProductNotAvailable,
    ]

    /// - Parameter name: `purchased`, `deferred`, `interrupted`, `cancelled`, `notAllowed`, `notAvailable`, or an `SKError` by its name.
    /// - Returns: nil for any other name.
    public init?(name: String) {
        switch name {
        case "purchased": self = .purchased
        case "deferred": self = .deferred
        case "interrupted": self = .interrupted
        default:
            guard let error = Self.shortNames[name] ?? SKErrorCode(name: name) else { return nil }
            self = .failed(error)
        }
    }

    public var name: String {
        switch self {
        case .purchased: "purchased"
        case .deferred: "deferred"
        case .interrupted: "interrupted"
        case .failed(let error): error.name
        }
    }
}
