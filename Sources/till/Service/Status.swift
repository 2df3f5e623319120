import ArgumentParser
import Foundation
import HTTPSupport
import Logging
import Proofs

/// A program that listens for a data directory, with the addresses of its parts.
///
/// It keeps a locked file in the folder `running`. The lock ends with the process, however that ends, so a file that can be locked is a
/// leftover.
struct RunningServer: Codable {
    let process: Int32
    let startedAt: Timestamp
    /// The address of the service; nil for a store alone.
    var service: URL?
    var appStore: URL?
    var googlePlay: URL?

    init(service: URL? = nil, appStore: URL? = nil, googlePlay: URL? = nil) {
        (process, startedAt) = (ProcessInfo.processInfo.processIdentifier, SystemClock().now())
        (self.service, self.appStore, self.googlePlay) = (service, appStore, googlePlay)
    }

    /// Writes the file of this process. A server without one works, too, so a failure is only logged.
    func announce(in data: DataDirectory, logger: Logger) {
        do {
            try FileManager.default.createDirectory(
                at: data.runningFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let bytes = try JSONEncoder().encode(self)
            // Open until the process ends. A child process must not hold the lock.
            let descriptor = open(
                Self.file(in: data, process: process).path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0o600)
            guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw POSIXError(.EIO) }
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: bytes)
        } catch {
            logger.warning("till status cannot show this program", metadata: ["folder": "\(data.runningFolder.path)"])
        }
    }

    /// Removes the file of this process.
    static func withdraw(from data: DataDirectory) {
        unlink(file(in: data, process: ProcessInfo.processInfo.processIdentifier).path)
    }

    /// The programs that run, the oldest first.
    ///
    /// - Throws: `PermissionDenied`.
    static func all(in data: DataDirectory) throws -> [RunningServer] {
        guard try data.runningFolder.exists() else { return [] }
        try data.runningFolder.requireReading()
        return try FileManager.default.contentsOfDirectory(at: data.runningFolder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }.compactMap(Self.running)
            .sorted { ($0.startedAt, $0.process) < ($1.startedAt, $1.process) }
    }

    /// The program of a file; nil if it has ended.
    private static func running(_ file: URL) -> RunningServer? {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK,
            let bytes = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd()
        else { return nil }
        return try? JSONDecoder().decode(RunningServer.self, from: bytes)
    }

    private static func file(in data: DataDirectory, process: Int32) -> URL {
        data.runningFolder.file("\(process).json")
    }
}

extension DataDirectory {
    fileprivate var runningFolder: URL { folder.folder("running") }
}

struct Status: Command {
    static let configuration = CommandConfiguration(
        "status", "List the service and the local stores of the data directory, with their addresses and clocks.",
        "A local store without an address does not listen. `till buy` uses it all the same.",
        examples: """
            till status
            till status --json
            """)

    @OptionGroup var common: CommonOptions

    /// A part of the data directory in the output.
    private struct Part: Encodable, Listed {
        static let listName = "servers"

        /// service, appStore or googlePlay.
        let kind: String
        let url: String?
        let port: Int?
        let process: Int32?
        let startedAt: String?
        /// The time by which subscriptions end there.
        let now: String

        init(_ kind: String, at url: URL? = nil, of server: RunningServer? = nil, now: Timestamp) {
            (self.kind, self.url, port) = (kind, url?.absoluteString, url?.port)
            (process, startedAt) = (server?.process, server?.startedAt.rfc3339)
            self.now = now.rfc3339
        }

        var name: String { ["appStore": "App Store", "googlePlay": "Google Play"][kind] ?? kind }
    }

    func perform() async throws {
        let data = common.dataDirectory
        let running = try RunningServer.all(in: data)
        let clocks = try data.clocks
        var parts = running.compactMap { server in
            server.service.map { url in
                let hasStores = server.appStore != nil || server.googlePlay != nil
                return Part("service", at: url, of: server, now: (hasStores ? clocks.current : SystemClock()).now())
            }
        }
        parts += Self.parts("appStore", \.appStore, of: running, clocks.appStore?.clock)
        parts += Self.parts("googlePlay", \.googlePlay, of: running, clocks.play?.clock)
        terminal.line("Data directory: \(data.folder.absoluteURL.path)")
        try terminal.list(
            ["SERVER", "ADDRESS", "PROCESS", "SINCE", "CLOCK"], parts,
            orElse: "Nothing runs here. `till serve` starts a service, `till store` and `till play` a local store."
        ) { [$0.name, $0.url, $0.process.map { String($0) }, $0.startedAt, $0.now] }
    }

    /// The programs that serve a local store, or the store alone; empty without the store.
    private static func parts(
        _ kind: String, _ address: KeyPath<RunningServer, URL?>, of running: [RunningServer], _ clock: (any WallClock)?
    ) -> [Part] {
        guard let clock else { return [] }
        let parts = running.compactMap { server in
            server[keyPath: address].map { Part(kind, at: $0, of: server, now: clock.now()) }
        }
        return parts.isEmpty ? [Part(kind, now: clock.now())] : parts
    }
}
