import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing

/// The real binary, run in a data directory of one test.
struct TillProcess {
    let folder: TemporaryFolder
    /// The program that runs the binary, with its arguments; empty for the binary alone.
    var launcher: [String] = []

    /// - Parameter hasKeys: True if the store starts with keys. Making them takes seconds.
    init(hasKeys: Bool = true) throws {
        folder = try TemporaryFolder()
        if hasKeys { try TestShop.installKeys(in: folder.folder("data/store")) }
    }

    struct Result: JSONReadable {
        let status: Int32
        /// The signal that ended the process; nil if it exited.
        let signal: Int32?
        let output: String
        let error: String

        var jsonData: Data { Data(output.utf8) }

        /// The standard output as a JSON object of any form.
        func json() throws -> [String: JSONContent] { try decoded() }

        /// The error code of a failed command; nil for another output.
        var code: String? { try? decoded(Failure.self).code }

        private struct Failure: Decodable {
            let code: String
        }
    }

    @discardableResult
    func run(_ arguments: String..., input: String? = nil) async throws -> Result {
        try await run(arguments: arguments, input: input)
    }

    /// The binary, about to run in the data directory.
    func process(arguments: [String]) throws -> Process {
        let process = Process()
        let command = launcher + [try Self.binary.path] + arguments
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TILL_DATA": folder.folder("data").path]) { $1 }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    func run(
        arguments: [String],
        input: String? = nil,
        output: FileHandle? = nil,
        environment: [String: String] = [:]
    ) async throws -> Result {
        let process = try process(arguments: arguments)
        process.environment = process.environment?.merging(environment) { $1 }
        // Files need no reader while the process runs, unlike pipes.
        let name = UUID().uuidString
        let files = try ["in", "out", "err"].map { suffix in
            let file = folder.file("\(name).\(suffix)")
            try Data((suffix == "in" ? input ?? "" : "").utf8).write(to: file)
            return file
        }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try output ?? FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        let wasKilled = process.terminationReason == .uncaughtSignal
        return Result(
            status: process.terminationStatus, signal: wasKilled ? process.terminationStatus : nil,
            output: try String(contentsOf: files[1], encoding: .utf8),
            error: try String(contentsOf: files[2], encoding: .utf8))
    }

    /// The URL of the binary. The build puts it beside the test bundle.
    private static var binary: URL {
        get throws {
            var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            while folder.path != "/" {
                let candidate = folder.appending(path: "till", directoryHint: .notDirectory)
                if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
                folder = folder.deletingLastPathComponent()
            }
            throw BinaryMissing()
        }
    }

    struct BinaryMissing: Error {}
}

extension TillProcess {
    /// Makes an API key.
    ///
    /// - Parameter scopes: The scopes of the key; none for the default.
    /// - Returns: The key.
    func makeKey(_ scopes: String..., person: String? = nil) async throws -> String {
        let made = try await run(
            arguments: ["keys", "make", "tests", "--json"] + scopes.flatMap { ["--scope", $0] }
                + (person.map { ["--person", $0] } ?? []))
        return try made.decoded(MadeKey.self).key
    }
}
