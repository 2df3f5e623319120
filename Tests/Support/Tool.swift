import Foundation

/// A program of the system, against which tests compare Till.
package enum Tool {
    package struct Failure: Error, CustomStringConvertible {
        let command: String
        let status: Int32
        let error: String

        package var description: String { "\(command) ended with \(status): \(error)" }
    }

    /// Runs a program to its end.
    package static func run(_ name: String, _ arguments: [String], in folder: URL) async throws {
        let process = process(name, arguments, in: folder)
        let errors = folder.appending(path: "\(UUID().uuidString).errors")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        guard process.terminationStatus == 0 else {
            throw Failure(
                command: name, status: process.terminationStatus, error: try String(contentsOf: errors, encoding: .utf8)
            )
        }
    }

    static func process(_ name: String, _ arguments: [String], in folder: URL) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
