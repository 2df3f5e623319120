import Foundation
import TestSupport

/// A `till serve` process.
final class AttackedService: Sendable {
    struct NotListening: Error, CustomStringConvertible {
        let description: String
    }

    /// The end of the process after SIGTERM.
    struct End: Sendable {
        let duration: Duration
        /// The exit status; negative for the signal that ended the process.
        let status: Int32
    }

    static let gracePeriod = Duration.seconds(5)
    /// The service is killed if it has not ended so long after SIGTERM.
    private static let endLimit = Duration.seconds(30)

    let port: Int
    private let process: Process
    private let ended: AsyncStream<Int32>
    private let errors: URL

    var processIdentifier: Int32 { process.processIdentifier }

    /// The last lines that the service has logged.
    var log: String {
        ((try? String(contentsOf: errors, encoding: .utf8)) ?? "").split(separator: "\n").suffix(8)
            .joined(separator: "\n")
    }

    /// Starts the service on a free port and waits until it listens.
    init(_ fixture: AttackFixture, options: [String]) async throws {
        let process = try fixture.process(
            ["serve", "--port", "0", "--log-level", "error"]
                + ["--grace-seconds", String(Self.gracePeriod.components.seconds)] + options)
        let output = Pipe()
        errors = fixture.folder.file("\(UUID().uuidString).err")
        try Data().write(to: errors)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        let (ended, ending) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            ending.finish()
        }
        try process.launchAlone()
        // Only the child keeps the write end open, so reading ends with the child.
        try output.fileHandleForWriting.close()
        let line = await Self.firstLine(of: output.fileHandleForReading)
        guard let address = line.split(separator: " ").last, let port = URL(string: String(address))?.port else {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            throw NotListening(description: line + ((try? String(contentsOf: errors, encoding: .utf8)) ?? ""))
        }
        self.port = port
        self.process = process
        self.ended = ended
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private static func firstLine(of handle: FileHandle) async -> String {
        let (pieces, arriving) = AsyncStream<String>.makeStream()
        handle.readabilityHandler = { handle in
            let data = handle.availableData
            arriving.yield(String(decoding: data, as: UTF8.self))
            if data.isEmpty { arriving.finish() }
        }
        defer { handle.readabilityHandler = nil }
        var text = ""
        for await piece in pieces {
            text += piece
            if text.contains("\n") { break }
        }
        return String(text.prefix { $0 != "\n" })
    }

    /// Sends SIGTERM and waits for the end of the process.
    func end() async -> End {
        let startedAt = ContinuousClock.now
        if process.isRunning { kill(process.processIdentifier, SIGTERM) }
        let killing = Task { [process] in
            try await Task.sleep(for: Self.endLimit)
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        var status: Int32 = 0
        for await value in ended { status = value }
        killing.cancel()
        return End(duration: ContinuousClock.now - startedAt, status: status)
    }
}
