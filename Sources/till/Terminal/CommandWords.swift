import ArgumentParser
import Vocabulary

/// A command with arguments that an option may name, too: `till owned alice`, or `till owned --user alice`.
///
/// The parser sees such an argument in its position alone. It declares the option for the help and for the completions.
protocol PositionedOptions: ParsableCommand {
    /// The places of the options among the arguments.
    static var positions: [String: ArgumentPosition] { get }
}

enum ArgumentPosition {
    case first
    case last
}

/// The words of a command line after `till`, as the parser reads them.
enum CommandWords {
    /// Accepted words that the help does not show.
    private static let others = [
        // The parser's own word.
        "--help-all": "--help-hidden",
        "--app": "--bundle-id", "--expires": "--until", "--package-name": "--package",
        "--key": "--app-store-key", "--key-id": "--app-store-key-id", "--issuer-id": "--app-store-issuer-id",
    ]

    /// Replaces accepted words by those of the parser, and moves the values of options to their positions.
    static func parsed(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        var words = words[..<end].map(replaced) + words[end...]
        let (command, path) = command(named: words)
        for (option, position) in (command as? any PositionedOptions.Type)?.positions ?? [:] {
            guard let value = remove(option, from: &words) else { continue }
            words.insert(value, at: position == .first ? path.count : words.endIndex)
        }
        // The subscription may stand before its action.
        if command is PlaySubscriptionCommand.Type, words.indices.contains(path.count + 1),
            Int(words[path.count]) != nil
        {
            words.swapAt(path.count, path.count + 1)
        }
        return words
    }

    private static func replaced(_ word: String) -> String {
        let name = word.prefix { $0 != "=" }
        return others[String(name)].map { $0 + word.dropFirst(name.count) } ?? word
    }

    /// Removes an option with its value.
    ///
    /// - Returns: The value; nil without one, and for one that begins with a hyphen, which the parser reports.
    private static func remove(_ option: String, from words: inout [String]) -> String? {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        guard let place = words[..<end].firstIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else {
            return nil
        }
        let isPair = words[place] == option
        guard !isPair || place + 1 < end else { return nil }
        let value = isPair ? words[place + 1] : String(words[place].dropFirst(option.count + 1))
        guard !value.hasPrefix("-"), isPair || !value.isEmpty else { return nil }
        words.removeSubrange(place...(isPair ? place + 1 : place))
        return value
    }

    /// The command that the words call, with its path. A group with a default command stands for it.
    static func command(named words: some Collection<String>) -> (command: any ParsableCommand.Type, path: [String]) {
        var (command, path): (any ParsableCommand.Type, [String]) = (TillCommand.self, [])
        for name in words.prefix(while: { !$0.hasPrefix("-") }) {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == name }) else { break }
            (command, path) = (next, path + [name])
        }
        return (command.configuration.defaultSubcommand ?? command, path)
    }
}

/// The user of a command, in its position or as `--user`.
struct UserArgument: ParsableArguments {
    @Argument(help: .user)
    var user: User

    @Option(name: .customLong("user"), help: .user)
    var named: User?
}

/// A command about one user.
protocol NamesUser: PositionedOptions {
    var subject: UserArgument { get }
}

extension NamesUser {
    static var positions: [String: ArgumentPosition] { ["--user": .first] }

    var user: User { subject.user }
}

/// The file that a command creates, in its position or as `--out`.
struct OutputArgument: ParsableArguments {
    @Argument(help: .out)
    var file: String

    @Option(name: .customLong("out"), help: .out)
    var named: String?
}

/// A command that creates a file, which its last argument names.
protocol NamesOutput: PositionedOptions {}

extension NamesOutput {
    static var positions: [String: ArgumentPosition] { ["--out": .last] }
}
