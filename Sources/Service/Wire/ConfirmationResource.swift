/// The answer to the token of a mailed link that confirms an address.
package struct ConfirmationResource: Codable, Sendable {
    package enum Outcome: String, Codable, Sendable {
        /// The address of the account is verified.
        case verified
        /// The account has the new address.
        case changed
        /// The change awaits the confirmation at the other address.
        case waitsForOther
    }

    package let outcome: Outcome
}
