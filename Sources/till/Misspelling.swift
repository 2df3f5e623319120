import ArgumentParser
import Commerce

/// An unknown command or option in arguments that the parser has refused.
///
/// The parser reports the first problem it meets, such as a missing `--user` beside a misspelt `--usr`, and suggests no command.
struct Misspelling {
    /// A sentence with the unknown name in quotes and the nearest known one.
    let message: String
    /// The command whose help describes the known names.
    let command: String

    /// - Parameters:
    ///   - arguments: The arguments without the name of the program.
    ///   - root: The command of the program.
    /// - Returns: Nil if every command and option is known.
    init?(in arguments: [String], of root: any ParsableCommand.Type) {
        var type = root
        var path = [root._commandName]
        var rest = arguments[...]
        while let name = rest.first, !name.hasPrefix("-"), !type.configuration.subcommands.isEmpty {
            guard let next = type.configuration.subcommands.first(where: { $0._commandName == name }) else {
                let group = path.dropFirst().map { $0 + " " }.joined()
                let known = type.configuration.subcommands.map { group + $0._commandName }
                let unknown = group + name
                command = path.joined(separator: " ")
                message =
                    "There is no command \"\(unknown.prefix(100))\"."
                    + Suggestion.sentence(for: unknown, among: known)
                return
            }
            type = next
            path.append(name)
            rest = rest.dropFirst()
        }
        if let standard = type.configuration.defaultSubcommand { type = standard }
        let help = type.helpMessage(includeHidden: true, columns: 1000)
        let options = help.matches(of: /(?m)^ +(?:-[a-z], )?(--[a-z0-9-]+)/).map { String($0.1) } + ["--help"]
        let given = rest.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
        guard let unknown = given.first(where: { !options.contains(String($0)) }) else { return nil }
        command = path.joined(separator: " ")
        let isPositional = help.contains("\n  <\(unknown.dropFirst(2))> ")
        message =
            "There is no option \"\(unknown.prefix(100))\"."
            + (isPositional
                ? " Write the \(unknown.dropFirst(2)) without it: \(command) <\(unknown.dropFirst(2))>."
                : Suggestion.sentence(for: String(unknown), among: options))
    }
}
