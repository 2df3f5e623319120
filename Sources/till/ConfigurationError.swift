import Proofs

/// An error for a setting that the service cannot use.
struct ConfigurationError: CodedError {
    let message: String

    var code: String { "configurationInvalid" }
}

extension ConfigurationError {
    /// - Parameters:
    ///   - expected: A noun phrase, or an instruction: "set together with accounts".
    ///   - layer: The place that has the value; nil if no place has it.
    init(setting: Setting, expected: String, in layer: SettingsLayer?) {
        var suggestion = ""
        if case .choice(let names) = setting.kind {
            suggestion = layer?.texts[setting.name].map { Suggestion.sentence(for: $0, among: names) } ?? ""
        }
        message =
            "`\(setting.name)` must be \(expected)\(layer.map { "; \($0.statement(of: setting))" } ?? "")."
            + suggestion
    }

    /// - Parameters:
    ///   - unknown: The name of a setting that does not exist.
    ///   - line: Its line; nil if unknown.
    init(file: String, unknown: String, among known: some Sequence<String>, line: Int? = nil) {
        message =
            "The configuration file \(file) has\(line.map { ", in line \($0)," } ?? "") the unknown setting "
            + "\"\(unknown.prefix(100))\"."
            + "\(Suggestion.sentence(for: unknown, among: known)) Remove it or correct its name."
    }

    init(file: String, problem: String) {
        message = "The configuration file \(file) \(problem)."
    }
}
