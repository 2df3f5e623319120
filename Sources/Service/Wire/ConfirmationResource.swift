/// The answer to the token of a mailed link that confirms an address.
public struct ConfirmationResource: Codable, Sendable {
    public enum Outcome: String, Codable, Sendable {
        /// The address of the account is verified.
        case verified
        /// The account has the new address.
        case changed
        /// The change awaits the confirmation at the other address.
        case waitsForOther
    }

    public let outcome: Outcome

    public init(outcome: Outcome) {
        self.outcome = outcome
    }
}
