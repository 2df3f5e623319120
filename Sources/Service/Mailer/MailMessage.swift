import Foundation
import Proofs

/// A message in plain text to one recipient.
package struct MailMessage: Sendable {
    /// The longest subject, in bytes.
    static let maximumSubjectLength = 512
    /// The longest text, in bytes.
    static let maximumTextLength = 128 * 1024

    package let sender: MailAddress
    package let recipient: MailAddress
    package let subject: String
    package let text: String
    /// The part before the `@` in the Message-ID: the same for each attempt to send the message.
    let identifier: String
    let date: Timestamp

    /// - Parameter identifier: Letters, digits, `-`, `_` and `.`.
    /// - Returns: Nil for a subject or an identifier that a header field can't have, or a message that is too long.
    package init?(
        from sender: MailAddress,
        to recipient: MailAddress,
        subject: String,
        text: String,
        identifier: String,
        date: Timestamp
    ) {
        guard subject.utf8.count <= Self.maximumSubjectLength, text.utf8.count <= Self.maximumTextLength,
            !subject.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
            (1...128).contains(identifier.utf8.count),
            identifier.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-_.".utf8.contains($0) })
        else { return nil }
        self.sender = sender
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.identifier = identifier
        self.date = date
    }

    /// The message as it goes over the line (RFC 5322), with CRLF at the end of each line.
    package func encoded() -> [UInt8] {
        let fields = [
            "From: \(HeaderText.mailbox(sender))",
            "To: \(HeaderText.mailbox(recipient))",
            "Subject: \(HeaderText.encode(subject, after: "Subject: ".utf8.count))",
            "Date: \(Self.header(date))",
            "Message-ID: <\(identifier)@\(sender.domain)>",
            // Suppresses automatic replies (RFC 3834).
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: base64",
        ]
        return Array((fields + ["", Self.base64Lines(text), ""]).joined(separator: "\r\n").utf8)
    }

    /// The text in lines of 76 characters (RFC 2045 section 6.8). Each line of the text itself ends in CRLF.
    private static func base64Lines(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "\r") {
            if byte == UInt8(ascii: "\n") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return Data(bytes).base64EncodedString(
            options: [.lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed])
    }

    /// A date in the form of RFC 5322, in UTC.
    private static func header(_ date: Timestamp) -> String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // 2027-01-31T12:00:00Z, perhaps with a fraction of a second.
        let text = date.rfc3339
        let day = ((date.secondsSince1970 / 86_400) % 7 + 7) % 7
        let parts = text.prefix(10).split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), months.indices.contains(month - 1) else { return text }
        return "\(days[Int(day)]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(text.dropFirst(11).prefix(8)) +0000"
    }
}

/// Texts in the header fields of a message.
enum HeaderText {
    /// The longest line, in bytes (RFC 5322 section 2.1.1).
    private static let maximumLineLength = 76
    /// The bytes of UTF-8 in one encoded word, so that it fits on the line of `Subject: ` (RFC 2047 section 2).
    private static let maximumWordLength = 39

    static func mailbox(_ address: MailAddress) -> String {
        guard let name = address.name else { return address.address }
        return "\(phrase(name)) <\(address.address)>"
    }

    /// The text unchanged if it is plain ASCII and fits on the line, else in encoded words (RFC 2047).
    ///
    /// - Parameter start: The characters that its line has already.
    static func encode(_ text: String, after start: Int) -> String {
        guard isPlain(text, after: start) else { return encodedWords(text) }
        return text
    }

    /// The name of a mailbox: quoted, or in encoded words.
    private static func phrase(_ name: String) -> String {
        guard isPlain(name, after: "Subject: \"\"".utf8.count) else { return encodedWords(name) }
        return "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func isPlain(_ text: String, after start: Int) -> Bool {
        start + text.utf8.count <= maximumLineLength && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && !text.contains("=?")
    }

    /// Each word has whole characters, and a line of its own.
    private static func encodedWords(_ text: String) -> String {
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > maximumWordLength { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?utf-8?B?\(Base64.encode($0))?=" }.joined(separator: "\r\n ")
    }
}

/// A mailbox: an address, and the name that a reader sees beside it.
package struct MailAddress: Hashable, Sendable {
    /// The longest address and the longest name, in bytes.
    package static let maximumLength = 254

    /// An address in ASCII, such as `no-reply@example.com`.
    package let address: String
    /// Nil for a mailbox without a name.
    package let name: String?

    /// The part of the address after the `@`.
    package var domain: String { String(address.drop { $0 != "@" }.dropFirst()) }

    /// - Parameter text: An address, or a name and an address in angle brackets: `Garden <no-reply@example.com>`.
    /// - Returns: Nil for a text of another form, or with a control character.
    package init?(_ text: String) {
        guard text.utf8.count <= 2 * Self.maximumLength + 3,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        guard text.utf8.last == UInt8(ascii: ">"), let bracket = text.lastIndex(of: "<") else {
            self.init(name: nil, address: text)
            return
        }
        // Two mailboxes in a row are no name and an address.
        guard !text[..<bracket].utf8.contains(where: { "<>".utf8.contains($0) }) else { return nil }
        let name = text[..<bracket].drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
        self.init(name: name.isEmpty ? nil : String(name), address: String(text[bracket...].dropFirst().dropLast()))
    }

    private init?(name: String?, address: String) {
        let parts = address.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), address.utf8.count <= Self.maximumLength,
            address.utf8.allSatisfy(Self.isAllowed),
            parts[1].allSatisfy({ $0.isASCIILetterOrDigit || "-.".utf8.contains($0) }),
            (name?.utf8.count ?? 0) <= Self.maximumLength
        else { return nil }
        self.name = name
        self.address = address
    }

    /// Visible ASCII, without the characters that end an address in a header field or a command.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"<>()[]\\,;:\"".utf8.contains(byte)
    }
}
