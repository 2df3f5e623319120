import Commerce

/// How the store shall let a payment end, chosen by whoever tests an app.
public enum PaymentOutcome: Hashable, Sendable {
    case purchased
    /// Waits for approval (Ask to Buy).
    case deferred
    case failed(SKErrorCode)

    /// Short names for the failures met most often.
    private static let shortNames: [String: SKErrorCode] = [
        "cancelled": .paymentCancelled, "notAllowed": .paymentNotAllowed, "notAvailable": .storeProductNotAvailable,
    ]

    /// - Parameter name: `purchased`, `deferred`, `cancelled`, `notAllowed`, `notAvailable`, or an `SKError` by its name.
    /// - Returns: nil for any other name.
    public init?(name: String) {
        switch name {
        case "purchased": self = .purchased
        case "deferred": self = .deferred
        default:
            guard let error = Self.shortNames[name] ?? SKErrorCode(name: name) else { return nil }
            self = .failed(error)
        }
    }

    public var name: String {
        switch self {
        case .purchased: "purchased"
        case .deferred: "deferred"
        case .failed(let error): error.name
        }
    }
}
