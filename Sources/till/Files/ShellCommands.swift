import ArgumentParser
import Foundation

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration("version", "Print the version of Till.", examples: "till version")

    @Flag(help: .json)
    var json = false

    func run() throws {
        let terminal = Terminal(isJSON: json)
        try terminal.result(TillCommand.version, ["version": TillCommand.version])
        try terminal.finish()
    }
}

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "completion", "Print a script that completes commands and options in your shell.",
        "The packages install these scripts. Elsewhere, write one to where your shell reads it.",
        examples: """
            till completion bash > till.bash
            till completion zsh > _till
            till completion fish > till.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell.rawValue) else {
            throw ValidationError("The argument parser writes no script for \(shell.rawValue).")
        }
        try Terminal.copy(Data((TillCommand.completionScript(for: shell) + "\n").utf8))
    }
}
