import HTTPSupport

/// The reason that a person gives for a change, in the person's own words.
enum GivenReason {
    /// The maximum length, in Unicode scalars.
    static let maximumLength = 500

    /// Reads the reason in a form.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    static func read(_ form: ConsoleForm, _ field: String = "reason") throws(Problem) -> String {
        let reason = try form.text(field, upTo: 4 * maximumLength)
        // Invisible characters could hide part of the text.
        let isLegible = reason.unicodeScalars.allSatisfy {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        guard (1...maximumLength).contains(reason.unicodeScalars.count), isLegible else {
            throw ConsoleForm.invalid(field, "1 to \(maximumLength) visible characters, without line breaks")
        }
        return reason
    }

    static func field(_ name: String = "reason") -> HTML {
        Field.text(
            name, Phrase("Reason", "이유"), maximumLength: maximumLength, isRequired: true,
            note: Phrase("The audit log keeps it with your name.", "감사 로그에 이름과 함께 남습니다."))
    }
}
