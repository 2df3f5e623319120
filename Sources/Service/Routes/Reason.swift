import HTTPSupport

/// Why a team does something, in its own words, as requests give it.
enum Reason {
    /// In characters.
    private static let maximumLength = 500

    static func read(_ body: JSONBody) throws(Problem) -> String {
        let reason = try body.text("reason", upTo: 4 * maximumLength)
        // What cannot be seen could hide what can.
        let isLegible = reason.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard (1...maximumLength).contains(reason.unicodeScalars.count), isLegible else {
            throw JSONBody.invalid(
                "The field /reason has to have 1 to \(maximumLength) characters, all of them legible.")
        }
        return reason
    }
}
