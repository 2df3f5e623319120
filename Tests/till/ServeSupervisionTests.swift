import Foundation
import TestSupport
import Testing

/// The start and the end of `till serve` under a service manager, and beside a database server that is absent.
@Suite struct ServeSupervisionTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    /// The address of a database on a port that nobody listens on.
    private static let absent = "postgres://till:secret@127.0.0.1:1/till"

    @Test func `systemd is told of the start, the life and the end`() async throws {
        let name = till.folder.file("notify").path
        let socket = try MessageSocket(name)
        let service = try await ServeProcess(
            till, environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "300000"])
        var messages: [String] = []
        // The first sign of life may come before the service listens.
        while !messages.contains(where: { $0.hasPrefix("READY=1") }) || !messages.contains("WATCHDOG=1") {
            messages.append(try #require(await socket.next()))
        }
        #expect(await service.end(SIGTERM) == 0)
        var last = await socket.next(within: .seconds(5))
        while last == "WATCHDOG=1" { last = await socket.next(within: .seconds(5)) }
        #expect(last?.hasPrefix("STOPPING=1") == true)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `the start waits for a database, says why, and ends when told to`(signal: Int32) async throws {
        let name = till.folder.file("notify").path
        let socket = try MessageSocket(name)
        let process = try till.process(arguments: ["serve", "--port", "0", "--ledger", Self.absent])
        process.environment?["NOTIFY_SOCKET"] = name
        let errors = till.folder.file("errors")
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardOutput = FileHandle.nullDevice
        let (ends, ending) = AsyncStream<(Process.TerminationReason, Int32)>.makeStream()
        process.terminationHandler = { process in
            ending.yield((process.terminationReason, process.terminationStatus))
            ending.finish()
        }
        try process.launchAlone()
        // Each attempt asks for the time of the next pause, which grows.
        for _ in 0..<2 {
            let message = try #require(await socket.next())
            #expect(message.contains("STATUS=Waiting for the database.") && message.contains("EXTEND_TIMEOUT_USEC="))
        }
        kill(process.processIdentifier, signal)
        for await (reason, status) in ends { #expect(reason == .exit && status == 0) }
        let log = try String(contentsOf: errors, encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains("waiting for the database") }
        #expect(lines.count >= 2)
        #expect(lines.allSatisfy { $0.contains("Connection refused") && $0.contains("warning") }, "\(log)")
        #expect(!log.contains("secret"))
    }

    @Test(arguments: ["0", "1"]) func `a database that stays absent ends the start`(seconds: String) async throws {
        let result = try await till.run(
            "serve", "--port", "0", "--ledger", Self.absent, "--ledger-wait-seconds", seconds, "--json")
        #expect(result.status == 1)
        #expect(result.code == "storageUnreachable")
        #expect(result.error.contains("Connection refused"))
        #expect(result.error.contains("waiting for the database") == (seconds == "1"))
        #expect(!(result.error + result.output).contains("secret"))
    }

    @Test func `an address behind a pooler needs the pooler's`() async throws {
        let result = try await till.run("serve", "--port", "0", "--ledger-direct-url", Self.absent)
        #expect(result.status == 1)
        #expect(result.error.contains("`ledger-direct-url` must be set together with ledger"))
        #expect(!result.error.contains("secret"))
    }
}
