/// A request to the team's own mailer to send a mail.
package struct MailRequest: Codable, Sendable {
    /// The purpose of a mail.
    package enum Kind: String, Codable, Sendable {
        case verification = "mail.verification"
        case reset = "mail.reset"
        case addressChange = "mail.addressChange"
        case newAddress = "mail.newAddress"
    }

    /// The mail, as text and in its parts.
    package struct Content: Codable, Sendable {
        /// The recipient.
        package let to: String
        /// The sender, from the setting `mail-from`.
        package let from: String
        /// The language of the text, such as `en`.
        package let language: String
        package let subject: String
        package let text: String
        /// The link in the mail.
        package let link: String
        /// The secret in the link.
        package let token: String
        /// RFC 3339, UTC.
        package let linkExpiresAt: String
        /// The new address, if the mail is about a change of address.
        var newEmail: String?
    }

    package let type: Kind
    /// The time of the request (RFC 3339, UTC).
    package let timestamp: String
    package let data: Content
}
