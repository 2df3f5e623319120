import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

struct MCPCommand: Command {
    static let configuration = CommandConfiguration(
        "mcp", "Let an AI agent ask a running service, by the Model Context Protocol (MCP).",
        """
        An MCP client starts the command, and speaks with it over standard input and output, one message a line. The log is on standard error. \
        The API key in $TILL_API_KEY decides which tools there are. The key needs the scope read, and support for questions about customers, \
        figures for sales, metrics for the health of the service. The scopes grant and stores add tools that act. \
        Each of these needs a reason, and a confirmation that repeats what it is about.
        """,
        examples: "till mcp --server http://127.0.0.1:8080")

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try require(
            ProcessInfo.variable("TILL_TOKEN") == nil,
            "TILL_TOKEN is the token of one user. Put an API key into TILL_API_KEY in its place.")
        guard let client = try service.client() else {
            throw ValidationError("Name the running service with --server, and put its API key into TILL_API_KEY.")
        }
        var (session, input) = (try MCPSession(client), InputLines())
        // A client that wants several answers at once sends the requests one after another: the service is near.
        while let line = try input.next() {
            guard let answer = await session.answer(to: line) else { continue }
            try Terminal.copy(Data(answer.compactBytes + [InputLines.end]))
        }
    }
}

/// The lines of standard input.
struct InputLines {
    /// The longest line that is read whole, in bytes.
    static let maximumLength = 1 << 20
    fileprivate static let end = UInt8(ascii: "\n")
    private static let pieceSize = 1 << 16

    /// The bytes that were read after the last line.
    private var waiting: ArraySlice<UInt8> = []

    /// The next line without its end, or nil at the end of the input. A longer line is one byte longer than the limit: its rest is lost.
    mutating func next() throws(CommandError) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            let end = waiting.firstIndex(of: Self.end)
            line += waiting[..<(end ?? waiting.endIndex)].prefix(Self.maximumLength + 1 - line.count)
            if let end {
                waiting = waiting[(end + 1)...]
                return line
            }
            waiting = try Self.piece()
            if waiting.isEmpty { return line.isEmpty ? nil : line }
        }
    }

    /// The next bytes, as soon as there are some; empty at the end. The thread waits, because nothing else is to be done meanwhile.
    private static func piece() throws(CommandError) -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: pieceSize)
        var count = read(STDIN_FILENO, &bytes, pieceSize)
        while count < 0, errno == EINTR { count = read(STDIN_FILENO, &bytes, pieceSize) }
        guard count >= 0 else {
            throw CommandError("fileUnreadable", "Standard input cannot be read: \(String(cString: strerror(errno))).")
        }
        return bytes[..<count]
    }
}
