import ArgumentParser
import Foundation
import Synchronization

/// What a command says: its result on standard output, its error on standard error.
struct Console: Sendable {
    let isJSON: Bool

    /// Whether something could not be written; for the whole process, since there is one standard output.
    private static let outputFailed = Atomic(false)

    /// A line for a person; silent where JSON was asked for.
    func line(_ text: String) {
        guard !isJSON else { return }
        output(text)
    }

    /// The command's result as JSON; silent where it was not asked for.
    func json(_ value: some Encodable) throws {
        guard isJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        output(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// A remark that is not the result, on standard error.
    func note(_ text: String) {
        remark("till: \(text)")
    }

    /// A line on standard error, as it is.
    func remark(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Says why the command did not do what it was asked, and ends it with status 1.
    func fail(code: String, message: String) throws -> Never {
        try json(["code": code, "message": message])
        try end(message)
    }

    /// Ends a command, whose result was told, with a reason and status 1.
    func end(_ message: String) throws -> Never {
        note(message)
        throw ExitCode(1)
    }

    /// Ends the command with status 1 when its result could not be written, as to a full disk.
    func finish() throws {
        guard Self.outputFailed.load(ordering: .relaxed) else { return }
        note("The result could not be written: check the disk that standard output goes to.")
        throw ExitCode(1)
    }

    /// Written at once, so that what was said is seen even if the process is killed next.
    private func output(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
        } catch {
            // A reader that has seen enough is no failure.
            if errno != EPIPE { Self.outputFailed.store(true, ordering: .relaxed) }
        }
    }
}
