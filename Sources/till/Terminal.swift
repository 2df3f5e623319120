import ArgumentParser
import Foundation
import Synchronization

/// The output of a command: its result on standard output, its error on standard error.
struct Terminal: Sendable {
    let isJSON: Bool

    /// True if a write to standard output has failed. The process has one standard output, so the flag is global.
    private static let outputFailed = Atomic(false)

    /// Prints a line for a person, unless the command prints JSON.
    func line(_ text: String) {
        guard !isJSON else { return }
        output(text)
    }

    /// Prints the command's result as JSON, unless the command prints text.
    func json(_ value: some Encodable) throws {
        guard isJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        output(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints a remark on standard error.
    func note(_ text: String) {
        errorLine("till: \(text)")
    }

    /// Prints a line on standard error, unchanged.
    func errorLine(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Prints the reason of a failure, and ends the command with status 1.
    func fail(code: String, message: String) throws -> Never {
        try json(["code": code, "message": message])
        try end(message)
    }

    /// Ends a command that has printed its result, with a reason and status 1.
    func end(_ message: String) throws -> Never {
        note(message)
        throw ExitCode(1)
    }

    /// Ends the command with status 1 if its result could not be written, for instance to a full disk.
    func finish() throws {
        guard Self.outputFailed.load(ordering: .relaxed) else { return }
        note("The result could not be written: check the disk that standard output goes to.")
        throw ExitCode(1)
    }

    /// Writes without a buffer, so that the output is complete even if the process is killed next.
    private func output(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            // A reader that closes the pipe early is no failure.
            if errno != EPIPE { Self.outputFailed.store(true, ordering: .relaxed) }
        }
    }
}
