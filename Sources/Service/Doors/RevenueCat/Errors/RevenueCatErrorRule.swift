/// The rule for an error of Till at an endpoint that the SDK asks only once more after a status from 500.
package struct RevenueCatErrorRule: Hashable, Sendable {
    /// The reason why nothing is lost.
    package enum Safety: String, CaseIterable, Sendable {
        /// The store has not signed the proof, so nobody has paid for it.
        case notSigned
        /// The proof is of no purchase.
        case noPurchase
        /// The ledger has the purchase, and its owner keeps it.
        case keptByOwner
        /// The SDK keeps the transaction, and sends it at the next start of the app.
        case sentAgain
        /// The same, until the operator has corrected the configuration.
        case sentAgainUntilConfigured
        /// The same, until the customer of the purchase has logged in.
        case sentAgainUntilLogIn
        /// The use cases of this door have no such error. If one occurs, the SDK keeps the transaction.
        case doesNotOccur

        /// True if the refusal is permanent. Only then the SDK may finish the transaction.
        package var isPermanent: Bool {
            switch self {
            case .notSigned, .noPurchase, .keptByOwner: true
            case .sentAgain, .sentAgainUntilConfigured, .sentAgainUntilLogIn, .doesNotOccur: false
            }
        }

        /// The sentence for the documentation.
        package var sentence: String {
            switch self {
            case .notSigned: "The store has not signed the proof, so nobody has paid for it."
            case .noPurchase: "The proof is of no purchase."
            case .keptByOwner: "The ledger has the purchase, and its owner keeps it."
            case .sentAgain: "The SDK keeps the transaction and sends it again."
            case .sentAgainUntilConfigured:
                "The SDK keeps the transaction and sends it again until the operator has corrected the configuration."
            case .sentAgainUntilLogIn:
                "The SDK keeps the transaction and sends it again until the right customer has logged in."
            case .doesNotOccur: "The error does not occur here. If it does, the SDK keeps the transaction."
            }
        }
    }

    package let number: RevenueCatErrorNumber
    package let safety: Safety

    /// The rule of an unknown code: the transaction is sent again.
    static let unknown = RevenueCatErrorRule(number: .internalError, safety: .sentAgain)

    /// True if no later event can change the refusal with a code of Till.
    static func isPermanent(_ code: String) -> Bool { byCode[code]?.safety.isPermanent ?? false }
}
