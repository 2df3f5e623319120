/// The result of a confirmation.
package enum Confirmation: String, Sendable {
    /// The address of the account is verified.
    case verified
    /// The account has the new address.
    case changed
    /// The change waits for the confirmation at the other address.
    case waitsForOther
}
