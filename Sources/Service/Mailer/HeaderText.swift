import Proofs

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
