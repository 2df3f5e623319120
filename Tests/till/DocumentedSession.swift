import Foundation

/// The files that the reader of a document writes.
struct DocumentedSession {
    /// The content of each file, by its path: blocks such as ```` ```json Garden/Items.json ````.
    private(set) var files: [String: String] = [:]

    init(page: String) {
        let parts = page.components(separatedBy: "\n```")
        // A page begins outside a block, so every second part is a block.
        for block in stride(from: 1, to: parts.count, by: 2).map({ parts[$0] }) {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            let words = lines[0].split(separator: " ").map(String.init)
            if words.count == 2 { files[words[1]] = lines.dropFirst().joined(separator: "\n") + "\n" }
        }
    }

    /// The arguments of a call of `till`, without quotes and the comment behind it.
    static func arguments(of line: some StringProtocol) -> [String] {
        let command = String(line.prefix { $0 != "#" })
        return command.matches(of: /"([^"]*)"|\S+/).dropFirst().map { String($0.1 ?? $0.0) }
    }
}
