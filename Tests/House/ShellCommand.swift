import Foundation
import TestSupport

/// A program that runs to its end.
struct ShellCommand {
    struct Result {
        let status: Int32
        let output: Data
        let errors: String
    }

    /// - Parameter arguments: The program, found in PATH, and its arguments.
    static func run(_ arguments: [String]) async throws -> Result {
        let folder = try TemporaryFolder()
        let (output, errors) = (folder.file("output"), folder.file("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            status: process.terminationStatus, output: try Data(contentsOf: output),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }
}
