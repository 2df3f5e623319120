import Foundation
import TestSupport

/// The commands in the `console` blocks of a document, and the files that its reader writes.
struct DocumentedSession {
    struct Step {
        let arguments: [String]
        /// The output that the document shows, stable.
        let output: String
    }

    /// The content of each file, by its path: blocks such as ```` ```json Garden/Items.json ````.
    private(set) var files: [String: String] = [:]
    /// The calls of `till`, in their order.
    private(set) var steps: [Step] = []

    init(page: String) {
        let parts = page.components(separatedBy: "\n```")
        // A page begins outside a block, so every second part is a block.
        for block in stride(from: 1, to: parts.count, by: 2).map({ parts[$0] }) {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ").map(String.init)
            if words == ["console"] {
                add(lines.dropFirst())
            } else if words.count == 2 {
                files[words[1]] = lines.dropFirst().joined(separator: "\n") + "\n"
            }
        }
    }

    private mutating func add(_ lines: ArraySlice<Substring>) {
        for place in lines.indices where lines[place].hasPrefix("$ till ") {
            let output = lines[(place + 1)...].prefix { !$0.hasPrefix("$ ") }
            steps.append(
                Step(
                    arguments: Self.arguments(of: lines[place].dropFirst("$ ".count)),
                    output: Self.stable(output.joined(separator: "\n") + "\n")))
        }
    }

    /// The arguments of a call of `till`, without quotes and the comment behind it.
    static func arguments(of line: some StringProtocol) -> [String] {
        let command = String(line.prefix { $0 != "#" })
        return command.matches(of: /"([^"]*)"|\S+/).dropFirst().map { String($0.1 ?? $0.0) }
    }

    /// An output with one number for each transaction, in the order of their appearance, and one time.
    static func stable(_ output: String) -> String {
        var numbers: [Substring: Int] = [:]
        return output.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "TIME")
            .replacing(/\b\d{16}\b/) { match in
                let number = numbers[match.0] ?? numbers.count + 1
                numbers[match.0] = number
                return "TRANSACTION \(number)"
            }
    }
}
