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
            (1...128).contains(identifier.utf8.count), identifier.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.sender = sender
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.identifier = identifier
        self.date = date
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
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
        return stride(from: 0, to: bytes.count, by: 57).map { start in
            Base64.encode(bytes[start..<min(start + 57, bytes.count)])
        }.joined(separator: "\r\n")
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
