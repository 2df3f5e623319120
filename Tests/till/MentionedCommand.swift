import ArgumentParser
import Foundation
import TestSupport
import till

/// A call of `till` that a message, the help or a document names.
struct MentionedCommand: CustomStringConvertible {
    /// The file with the text.
    let path: String
    /// The words after `till`. Interpolated values are `1`.
    let words: [String]
    /// True for the whole call: on a line of its own, or between backquotes. In prose, other words may follow.
    let isCode: Bool

    var description: String { "\(path): till \(words.joined(separator: " "))" }

    /// The calls of all sources and documents.
    static func all() throws -> [MentionedCommand] {
        let files = try [
            Project.files("Sources", suffix: ".swift"), Project.files("Sources", suffix: ".json"),
            Project.files("Sources", suffix: ".md"), Project.files("Documentation", suffix: ".md"),
            ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Keys/README.md"],
        ].flatMap(\.self)
        return try files.flatMap { path in
            // A call may go on in the next line, or stand in a comment.
            let lines = try Project.text(path).replacing(/[ ]*\\+\n[ ]*/, with: " ").replacing(" -->", with: "")
                .split(separator: "\n")
            return lines.flatMap { path.hasSuffix(".swift") ? calls(ofSource: $0, path) : calls(ofPage: $0, path) }
        }
    }

    /// The parser's refusal of the call, as far as the text gives its arguments; nil if the parser accepts it.
    var refusal: String? {
        do {
            _ = try TillCommand.command(of: words)
            return nil
        } catch {
            let message = TillCommand.message(for: error)
            // Capital letters stand for a value. A server's key is in the environment.
            let isOpen =
                message.hasPrefix("Missing expected argument")
                || message.contains(/^Missing value for '(--[a-z-]+)/) && message.contains("'\(words.last ?? "")")
                || message.hasPrefix("Put the service's API key into TILL_API_KEY")
                || message.hasPrefix("Name a key of the App Store with --app-store-key")
                || message.contains(/^The value '[A-Z-]+' is invalid/)
            return TillCommand.exitCode(for: error) == .validationFailure && !isOpen ? message : nil
        }
    }

    private static func calls(ofSource line: Substring, _ path: String) -> [MentionedCommand] {
        let line = line.trimmingCharacters(in: .whitespaces)
        // The patterns are slow, and few lines name a command.
        guard !line.hasPrefix("//"), line.contains("till ") || line.contains("hint(\"") else { return [] }
        let hints = line.matches(of: /hint\("([a-z-]+)"((?:, (?:"[^"]*"|[A-Za-z.]+(?:\([A-Za-z.]*\))?)(?=[,)]))*)/)
            .map { hint in
                let arguments = hint.2.split(separator: ", ").map { text in
                    text.hasPrefix("\"") ? text.trimmingCharacters(in: ["\""]) : "1"
                }
                return MentionedCommand(path: path, words: [String(hint.1)] + arguments, isCode: true)
            }
        let text = line.replacing(/\\\((?:[^()]|\([^()]*\))*\)/, with: "1")
        let isCall = text.hasPrefix("till ") && !text.hasPrefix("till = ")
        return hints + (isCall ? [call(text, path)] : calls(inProse: text, path))
    }

    private static func calls(ofPage line: Substring, _ path: String) -> [MentionedCommand] {
        guard line.contains("till ") else { return [] }
        for beginning in ["    till ", "$ till "] where line.hasPrefix(beginning) {
            return [call(String(line.dropFirst(beginning.count - "till ".count)), path)]
        }
        return calls(inProse: String(line), path)
    }

    private static func calls(inProse text: String, _ path: String) -> [MentionedCommand] {
        let code = text.matches(of: /`(till [a-z][^`]*)`/).map { call(String($0.1), path) }
        // One sentence may name two calls.
        let outside = text.replacing(/`[^`]*`/, with: "").replacing(" till ", with: "| till ")
        let prose = outside.matches(of: /(?:^|[\s"(\/=])till ([a-z][^"`#|)]*)/).map { match in
            // Punctuation, or a Korean particle, ends a word.
            let words = match.1.split(separator: " ").map {
                String($0.prefix { $0.isASCII && !".,;:".contains($0) })
            }
            return MentionedCommand(path: path, words: words, isCode: false)
        }
        return code + prose
    }

    /// The call that a shell would make of a line, up to a pipe, a redirection or a comment.
    private static func call(_ line: String, _ path: String) -> MentionedCommand {
        let command = line.prefix(
            upTo: line.firstMatch(of: /\s+#|\ (?:\||>|<|&|&&|2>)(?:\ |$)|\)/)?.range.lowerBound ?? line.endIndex)
        let words = command.matches(of: /"([^"]*)"|'([^']*)'|\S+/).map { String($0.1 ?? $0.2 ?? $0.0) }
        return MentionedCommand(path: path, words: Array(words.dropFirst()), isCode: true)
    }
}
