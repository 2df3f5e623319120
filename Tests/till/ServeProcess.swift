import Foundation
import HTTPSupport
import Synchronization
import TestSupport
import Testing

/// A process of `till serve` for one test.
final class ServeProcess: Sendable {
    let url: URL
    private let process: Process
    private let folder: URL
    private let ended: AsyncStream<Int32>
    private let errors: URL

    /// The log so far.
    var log: String {
        get throws { try String(contentsOf: errors, encoding: .utf8) }
    }

    var processIdentifier: Int32 { process.processIdentifier }

    struct NotListening: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts the service on a free port and waits until it listens.
    ///
    /// - Parameter command: `store` for the store alone.
    init(
        _ till: TillProcess,
        _ arguments: [String] = [],
        command: String = "serve",
        environment: [String: String] = [:]
    ) async throws {
        let process = try till.process(arguments: [command, "--port", "0"] + arguments)
        process.environment = process.environment?.merging(environment) { $1 }
        let output = Pipe()
        let errors = till.folder.file("\(UUID().uuidString).err")
        try Data().write(to: errors)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        let (ended, ending) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.launchAlone()
        // Only the child has the write end now, so reading ends when the child exits.
        try output.fileHandleForWriting.close()
        let (pieces, arriving) = AsyncStream<String>.makeStream()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            arriving.yield(String(decoding: data, as: UTF8.self))
            if data.isEmpty { arriving.finish() }
        }
        defer { output.fileHandleForReading.readabilityHandler = nil }
        var line = ""
        for await piece in pieces {
            line += piece
            if line.contains("\n") { break }
        }
        guard let address = line.split(separator: "\n").first?.split(separator: " ").last,
            let url = URL(string: address.trimmingCharacters(in: .newlines)),
            url.port != nil
        else {
            throw NotListening(description: line + (try String(contentsOf: errors, encoding: .utf8)))
        }
        self.url = url
        self.process = process
        self.ended = ended
        folder = till.folder.url
        self.errors = errors
    }

    deinit {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    }

    /// Kills the process, as a crash would, and does not wait.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// Sends a signal and waits for the exit.
    ///
    /// - Returns: The exit status; negative for the signal that ended it.
    func end(_ signal: Int32) async -> Int32 {
        Foundation.kill(process.processIdentifier, signal)
        var status: Int32 = 0
        for await value in ended { status = value }
        return status
    }

    struct Answer: JSONReadable {
        let status: Int
        /// The unparsed header fields, one on each line.
        let head: String
        let body: Data

        var jsonData: Data { body }

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }

        /// The value of a header field.
        func field(_ name: String) -> String? {
            head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
                .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The account token that an app gives the purchases of a user.
    func accountToken(of user: String, key: String) async throws -> String {
        try await curl("/v1/users/\(user)/account-token", key: key, options: ["--request", "PUT"])
            .decoded(AppAccountTokenResource.self).appAccountToken
    }

    /// Sends a request with curl, an independent client.
    ///
    /// - Parameter address: Another server of the process.
    func curl(
        _ path: String, key: String? = nil, body: String? = nil, options: [String] = [], at address: URL? = nil
    ) async throws -> Answer {
        let output = folder.appending(path: "\(UUID().uuidString).body")
        let status = folder.appending(path: "\(UUID().uuidString).status")
        let head = folder.appending(path: "\(UUID().uuidString).head")
        try Data().write(to: status)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["curl", "--silent", "--max-time", "30", "--output", output.path, "--dump-header", head.path]
            + ["--write-out", "%{http_code}"] + options
            + (key.map { ["--header", "Authorization: Bearer \($0)"] } ?? [])
            + (body.map { ["--data-binary", $0] } ?? []) + [(address ?? url).absoluteString + path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: status)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        return Answer(
            status: Int(try String(contentsOf: status, encoding: .utf8)) ?? 0,
            head: (try? String(contentsOf: head, encoding: .utf8)) ?? "",
            body: (try? Data(contentsOf: output)) ?? Data())
    }
}
