/// A request to the team's own mailer to send a mail.
public struct MailRequest: Codable, Sendable {
    /// The purpose of a mail.
    public enum Kind: String, Codable, Sendable {
        case verification = "mail.verification"
        case reset = "mail.reset"
        case addressChange = "mail.addressChange"
        case newAddress = "mail.newAddress"
    }

    /// The mail, as text and in its parts.
    public struct Content: Codable, Sendable {
        /// The recipient.
        public let to: String
        /// The sender, from the setting `mail-from`.
        public let from: String
        /// The language of the text, such as `en`.
        public let language: String
        public let subject: String
        public let text: String
        /// The link in the mail.
        public let link: String
        /// The secret in the link.
        public let token: String
        /// RFC 3339, UTC.
        public let linkExpiresAt: String
        /// The new address, if the mail is about a change of address.
        public let newEmail: String?

        public init(
            to: String,
            from: String,
            language: String,
            subject: String,
            text: String,
            link: String,
            token: String,
            linkExpiresAt: String,
            newEmail: String? = nil
        ) {
            self.to = to
            self.from = from
            self.language = language
            self.subject = subject
            self.text = text
            self.link = link
            self.token = token
            self.linkExpiresAt = linkExpiresAt
            self.newEmail = newEmail
        }
    }

    public let type: Kind
    /// The time of the request (RFC 3339, UTC).
    public let timestamp: String
    public let data: Content

    public init(type: Kind, timestamp: String, data: Content) {
        self.type = type
        self.timestamp = timestamp
        self.data = data
    }
}
