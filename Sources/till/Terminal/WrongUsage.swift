import ArgumentParser
import Vocabulary

/// The report of a command line that the parser or a command's `validate` refuses: the mistake, then the remedy.
struct WrongUsage {
    /// The parts of the parser's reports after which the form of the command helps.
    private static let formReports = [
        "Missing expected argument", "Missing one of:", "Missing required subcommand", "Unexpected argument",
        " unexpected arguments: ",
    ]
    /// The parts of its other reports. The reports of a command name the remedy themselves.
    private static let valueReports = [
        "Missing value for", "Unknown option", "Invalid option", "The value '", "Value to be set", "The option '",
    ]
    private static let code = "usageInvalid"

    /// The mistake in one line.
    private let message: String
    /// The lines for a person after it: the form of the command, and the command that prints its help.
    private let hints: [String]
    /// True if the command line asks for JSON.
    private let isJSON: Bool

    /// - Parameters:
    ///   - message: The message of the parser.
    ///   - report: The message with the parser's own hints.
    ///   - arguments: The words of the command line after `till`.
    init(_ message: String, inReport report: String, of arguments: [String]) {
        // The parser quotes arguments, whose line breaks are not those of its report.
        let quoted = arguments.flatMap { [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init) }
        let shown = { (text: String) in quoted.reduce(text) { $0.replacing($1, with: $1.shown(as: .line)) } }
        let (message, words) = (shown(message), arguments.prefix { $0 != "--" })
        let (group, path) = CommandWords.command(named: words)
        var (sentence, hints) = (message, [String]())
        let needsForm = Self.formReports.contains(where: message.contains)
        if let unknown = Self.unknownCommand(in: words, by: message) {
            (sentence, hints) = (unknown.message, [Self.help(of: unknown.path)])
        } else if needsForm || Self.valueReports.contains(where: message.hasPrefix) {
            let lines = report.split(separator: "\n").map(String.init)
            if message.hasPrefix("Unknown option") || needsForm,
                let unknown = Self.unknownOption(in: words, of: group)
            {
                sentence = unknown
            } else {
                let reported = lines.first { $0.hasPrefix("Help:") }.flatMap { $0.firstMatch(of: /> +(.+)/)?.1 }
                let (named, meaning) = Self.described(message, by: group)
                sentence = Self.joined(Self.hyphenated(named, in: words) ?? named)
                if let meaning = reported.map(String.init) ?? meaning { sentence += " \(meaning)" }
                if needsForm { hints = lines.filter { $0.hasPrefix("Usage:") } }
            }
            hints.append(Self.help(of: path))
        }
        self.message = shown(sentence)
        self.hints = hints
        isJSON = words.contains("--json")
    }

    func show() {
        let terminal = Terminal(isJSON: isJSON)
        try? terminal.report(["code": Self.code, "message": message])
        terminal.errorPage((["Error: \(message)"] + hints).joined(separator: "\n"))
    }

    private static func help(of path: [String]) -> String {
        "  See '\((["till"] + path).joined(separator: " ")) --help' for more information."
    }

    /// A report as one sentence. The parser lists the accepted values in lines.
    private static func joined(_ report: String) -> String {
        let parts = report.split(separator: "\n").map { $0.replacing(#/^ +- /#, with: "") }
        let sentence = String(parts.first ?? "").replacing("one of the following:", with: "one of")
        let values = parts.dropFirst().joined(separator: ", ")
        let text = sentence + (values.isEmpty ? "" : " " + values)
        return text.hasSuffix(".") ? text : text + "."
    }

    /// The message for an unknown command, with the nearest known one, which the parser does not suggest.
    ///
    /// - Returns: Nil if every command is known. The path is that of the group.
    private static func unknownCommand(
        in words: some Collection<String>, by message: String
    ) -> (message: String, path: [String])? {
        var (group, path): (any ParsableCommand.Type, [String]) = (TillCommand.self, [])
        for name in words.prefix(while: { !$0.hasPrefix("-") }) {
            let commands = group.configuration.subcommands
            guard !commands.isEmpty else { return nil }
            if let next = commands.first(where: { $0._commandName == name }) {
                (group, path) = (next, path + [name])
                continue
            }
            // A default command with arguments takes the name as its first one, unless its arguments follow `--`.
            let standard = group.configuration.defaultSubcommand
            let isTaken = standard?.helpMessage().contains("\nARGUMENTS:") ?? false
            guard !isTaken || message.contains("unexpected argument") && message.contains("'\(name)'") else {
                return nil
            }
            let (prefix, wrong) = (path.map { "\($0) " }.joined(), path.map { "\($0) " }.joined() + name)
            let suggestion = Suggestion.sentence(for: wrong, among: commands.map { prefix + $0._commandName })
            return ("There is no command \"\(wrong.prefix(100))\".\(suggestion)", path)
        }
        return nil
    }

    /// The message for an unknown option, with the nearest known one. The parser reports a missing argument before the misspelt option
    /// that caused it, and suggests options that are far from it.
    private static func unknownOption(
        in words: some Collection<String>, of command: any ParsableCommand.Type
    ) -> String? {
        let options = command.helpMessage(includeHidden: true, columns: 1000)
            .matches(of: /(?m)^ +(?:-[a-z], )?(--[a-z0-9-]+)(?:\/(--[a-z0-9-]+))?/)
            .flatMap { [String($0.1)] + ($0.2.map { [String($0)] } ?? []) }
        let given = words.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
        guard let unknown = given.first(where: { !options.contains($0) }) else { return nil }
        let suggestion = Suggestion.nearest(to: unknown, among: options).map { ". Did you mean '\($0)'?" } ?? ""
        return "Unknown option '\(unknown.prefix(100))'\(suggestion)"
    }

    /// The message with the form of its option, and the option's help. The parser leaves both out for options of `--help-all`.
    private static func described(
        _ message: String, by command: any ParsableCommand.Type
    ) -> (message: String, meaning: String?) {
        guard let option = message.firstMatch(of: /'(--[a-z-]+)'/)?.1,
            let help = command.helpMessage(includeHidden: true, columns: 1000)
                .matches(of: /(?m)^ +(--[a-z-]+)( <[^>]+>)\s+(.+)$/).first(where: { $0.1 == option })
        else { return (message, nil) }
        return (message.replacing("'\(option)'", with: "'\(option)\(help.2)'"), String(help.3))
    }

    /// The message for a value that begins with a hyphen, which the parser takes for an option, or for an empty one.
    private static func hyphenated(_ message: String, in words: some Collection<String>) -> String? {
        let words = Array(words)
        if let missing = message.wholeMatch(of: /Missing value for '(--[a-z-]+)( <.+>)?'/) {
            let name = String(missing.1)
            let argument = "'\(name)\(missing.2 ?? "")'"
            if words.contains("\(name)=") { return "The value '' is invalid for \(argument)" }
            guard let index = words.firstIndex(of: name), words.indices.contains(index + 1),
                words[index + 1].hasPrefix("-"), !words[index + 1].hasPrefix("--")
            else { return nil }
            let value = words[index + 1]
            return value.prefixMatch(of: /-[0-9]/) != nil
                ? "The value '\(value)' is invalid for \(argument)"
                : "\(message). A value that begins with a hyphen follows an equals sign: \(name)=\(value)"
        }
        if let missing = message.wholeMatch(of: /Missing expected argument ('<.+>')/),
            let value = words.first(where: { $0.prefixMatch(of: /-[0-9]/) != nil })
        {
            return "The value '\(value)' is invalid for \(missing.1)"
        }
        return nil
    }
}
