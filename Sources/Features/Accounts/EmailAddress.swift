import Proofs

/// The e-mail address of an account. Its form allows mail to be sent to it (RFC 5321 section 4.1.2, without quotes, comments or
/// addresses in brackets).
package struct EmailAddress: Hashable, Sendable {
    /// The longest address, in bytes (RFC 5321 section 4.5.3.1.3, without the angle brackets).
    package static let maximumLength = 254

    /// The address as the user wrote it, without surrounding spaces.
    package let text: String
    /// The address in lower case. It identifies the account.
    package var lowercase: String { text.lowercased() }

    /// - Throws: `AccountError`, `emailTooLong` or `emailInvalid`.
    package init(_ text: String) throws(AccountError) {
        // Some keyboards add a space after a completed word.
        let text = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard text.utf8.count <= Self.maximumLength else { throw .emailTooLong }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else { throw .emailInvalid }
        self.text = text
    }

    private static func isLocalPart(_ text: Substring) -> Bool {
        let symbols = Set("!#$%&'*+/=?^_`{|}~-".utf8)
        return text.utf8.count <= 64
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
                !atom.isEmpty && atom.utf8.allSatisfy { isLetterOrDigit($0) || symbols.contains($0) }
            }
    }

    /// True for at least two labels, of which the last is not a number.
    private static func isDomain(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
            && labels.last?.utf8.contains { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension Password {
    /// - Parameter email: The address of the account; nil for an account without one.
    package init(_ text: String, of email: EmailAddress?) throws(PasswordError) {
        let names = email.map { [$0.lowercase, String($0.lowercase.prefix { $0 != "@" })] }
        try self.init(text, unlike: names ?? [])
    }
}
