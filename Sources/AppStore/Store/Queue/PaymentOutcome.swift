import Proofs

/// The outcome of a payment, chosen by the tester of an app.
package enum PaymentOutcome: Hashable, Sendable {
    case purchased
    /// Waits for approval (Ask to Buy).
    case deferred
    /// Fails until the customer has resolved an issue outside the app, then is purchased.
    case interrupted
    case failed(SKErrorCode)

    /// Short names for the most common failures.
    private static let shortNames: [String: SKErrorCode] = [
        "cancelled": .paymentCancelled, "notAllowed": .paymentNotAllowed, "notAvailable": .storeProductNotAvailable,
    ]

    /// - Parameter name: `purchased`, `deferred`, `interrupted`, `cancelled`, `notAllowed`, `notAvailable`, or an `SKError` by its name.
    /// - Returns: Nil for any other name.
    package init?(name: String) {
        switch name {
        case "purchased": self = .purchased
        case "deferred": self = .deferred
        case "interrupted": self = .interrupted
        default:
            guard let error = Self.shortNames[name] ?? SKErrorCode(name: name) else { return nil }
            self = .failed(error)
        }
    }

    package var name: String {
        switch self {
        case .purchased: "purchased"
        case .deferred: "deferred"
        case .interrupted: "interrupted"
        case .failed(let error): error.name
        }
    }
}
