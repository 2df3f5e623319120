import Commerce

/// A setting cannot be used as it stands.
struct ConfigurationError: CodedError {
    let message: String

    init(message: String) {
        self.message = message
    }

    init(setting: String, expected: String) {
        message = "The setting \(setting) has to be \(expected)."
    }

    /// - Parameter unknown: The name of a setting that does not exist.
    init(file: String, unknown: String, among known: some Sequence<String>) {
        message =
            "The configuration file \(file) has the unknown setting \"\(unknown.prefix(100))\"."
            + "\(Suggestion.sentence(for: unknown, among: known)) Remove it or correct its name."
    }

    init(file: String, problem: String) {
        message = "The configuration file \(file) \(problem)."
    }

    var code: String { "configurationInvalid" }
}
