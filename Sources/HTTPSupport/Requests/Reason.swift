/// The reason that a team gives for a change, in its own words.
package enum Reason {
    /// The longest reason, in characters.
    package static let maximumLength = 500
    /// The longest reason, in bytes of UTF-8.
    package static let maximumSize = 4 * maximumLength
    /// The rule for reasons, as the end of a sentence.
    package static let rule = "1 to \(maximumLength) visible characters, without line breaks"

    /// True if a text can be a reason. Invisible characters could hide a part of it.
    package static func isReason(_ text: String) -> Bool {
        (1...maximumLength).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }

    package static func read(_ body: JSONBody) throws(Problem) -> String {
        let reason = try body.text("reason", upTo: maximumSize)
        guard isReason(reason) else { throw JSONBody.invalid("The field /reason must have \(rule).") }
        return reason
    }
}
