import Foundation
import TestSupport

/// A command of the command line, as `--experimental-dump-help` describes it.
struct HelpCommand: Decodable {
    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let valueName: String?
        let names: [Name]?
        let abstract: String?
    }

    let commandName: String
    private let arguments: [Argument]?
    private let defaultSubcommand: String?
    let discussion: String?
    let subcommands: [HelpCommand]?

    /// This command and its subcommands, by their words: `till receipt export`.
    func all(below path: [String] = []) -> [(path: [String], command: HelpCommand)] {
        let path = path + [commandName]
        return [(path, self)]
            + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { $0.all(below: path) }
    }

    /// The long options of the command, and those of its default subcommand.
    var options: Set<String> {
        let own = (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map { "--\($0.name)" }
        let standard = subcommands?.first { $0.commandName == defaultSubcommand }?.options ?? []
        return standard.union(own)
    }

    /// The meaning of each long option: its help up to the first parenthesis, in which a command says what is special to it.
    var meanings: [String: String] {
        var meanings: [String: String] = [:]
        for argument in arguments ?? [] {
            let meaning = (argument.abstract ?? "").replacing(#/ \(.*/#, with: "").replacing(#/\.$/#, with: "")
            for name in argument.names ?? [] where name.kind == "long" { meanings[name.name] = meaning }
        }
        return meanings
    }

    /// The command that the words of a line call; this one if the first word is no subcommand.
    func called(by words: some Collection<Substring>) -> HelpCommand {
        guard let word = words.first, let next = subcommands?.first(where: { $0.commandName == word }) else {
            return self
        }
        return next.called(by: words.dropFirst())
    }

    /// True if the command has subcommands.
    var isGroup: Bool { !(subcommands ?? []).isEmpty }

    /// The unchanged lines of the examples.
    var exampleLines: [String] {
        (discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("  ") }.map(String.init)
    }

    /// The examples; a line that ends in a backslash and the next one are one example.
    var examples: [String] {
        exampleLines.joined(separator: "\n").replacing(/[ ]*\\\n[ ]*/, with: " ").split(separator: "\n").map { line in
            line.replacing(/[ ]{2,}#.*/, with: "").trimmingCharacters(in: .whitespaces)
        }
    }

    /// The words of the first example after `till`, up to a pipe or a redirection.
    var exampleArguments: [String] {
        DocumentedSession.arguments(of: (examples.first ?? "").prefix { !"|>".contains($0) })
    }

    /// True if the only argument is a user of some issuer.
    private var isAboutUserAlone: Bool {
        !isGroup && options.contains("--issuer")
            && (arguments ?? []).filter { $0.kind == "positional" }.map(\.valueName) == ["user"]
    }

    /// The words of the commands with a user as their only argument, but for those of a device. They ask about test purchases.
    static func aboutUsers(of till: TillProcess) async throws -> [[String]] {
        try await all(of: till).filter { $0.command.isAboutUserAlone }.map { path, command in
            path.dropFirst() + (command.options.contains("--environment") ? ["--environment", "sandbox"] : [])
        }.filter { ![["resume"], ["restore"]].contains($0) }
    }

    private struct Root: Decodable {
        let command: HelpCommand
    }

    /// All commands of the binary.
    static func all(of till: TillProcess) async throws -> [(path: [String], command: HelpCommand)] {
        try await root(of: till).all()
    }

    /// `till` itself.
    static func root(of till: TillProcess) async throws -> HelpCommand {
        let dump = try await till.run("--experimental-dump-help")
        return try JSONDecoder().decode(Root.self, from: Data(dump.output.utf8)).command
    }
}
