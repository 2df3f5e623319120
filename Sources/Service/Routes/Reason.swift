import HTTPSupport

/// The reason that a team gives for a change, in its own words.
enum Reason {
    /// The longest reason, in characters.
    private static let maximumLength = 500

    static func read(_ body: JSONBody) throws(Problem) -> String {
        let reason = try body.text("reason", upTo: 4 * maximumLength)
        // Invisible characters could hide part of the text.
        let isLegible = reason.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard (1...maximumLength).contains(reason.unicodeScalars.count), isLegible else {
            throw JSONBody.invalid(
                "The field /reason must have 1 to \(maximumLength) visible characters, without line breaks.")
        }
        return reason
    }
}
