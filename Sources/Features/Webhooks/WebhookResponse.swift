/// The beginning of the body of a receiver's answer, as text.
package struct WebhookResponse: Hashable, Sendable {
    /// The largest number of bytes that are read of a body, and of the text in UTF-8.
    package static let maximumLength = 1024

    package let text: String

    /// - Parameter bytes: The beginning of the body. Invalid UTF-8 and NUL become the replacement character.
    /// - Returns: Nil for an empty body.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        var text = ""
        var length = 0
        for scalar in String(decoding: bytes.prefix(Self.maximumLength), as: UTF8.self).unicodeScalars {
            // PostgreSQL's texts have no NUL.
            let kept: Unicode.Scalar = scalar == "\0" ? "\u{FFFD}" : scalar
            // A replacement is longer than the byte that it replaces.
            length += String(kept).utf8.count
            guard length <= Self.maximumLength else { break }
            text.unicodeScalars.append(kept)
        }
        self.text = text
    }
}
