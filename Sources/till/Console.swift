import ArgumentParser
import Foundation

/// What a command says: its result on standard output, its error on standard error.
struct Console: Sendable {
    let isJSON: Bool

    /// A line for a person; silent where JSON was asked for.
    func line(_ text: String) {
        guard !isJSON else { return }
        write(text + "\n", to: .standardOutput)
    }

    /// The command's result as JSON; silent where it was not asked for.
    func json(_ value: some Encodable) throws {
        guard isJSON else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n", to: .standardOutput)
    }

    /// Says why the command did not do what it was asked, and ends it with status 1.
    func fail(code: String, message: String) throws -> Never {
        try json(["code": code, "message": message])
        write("till: \(message)\n", to: .standardError)
        throw ExitCode(1)
    }

    /// Written at once, so that what was said is seen even if the process is killed next.
    private func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to tell when the reader has gone.
        try? handle.write(contentsOf: Data(text.utf8))
    }
}
