import Foundation
import Synchronization
import TestSupport
import Testing

private enum FailOver {
    /// A script; nil where there are no two servers.
    static let command = ProcessInfo.processInfo.environment["TILL_FAIL_OVER"]
}

/// Two services on one ledger in PostgreSQL whose primary is killed under load, and whose synchronous standby takes its place.
/// `make test-postgres` has the two servers, and the command that does it.
@Suite(.enabled(if: FailOver.command != nil)) struct FailOverTests {
    /// Of the primary and the standby.
    private static let address = ProcessInfo.processInfo.environment["TILL_POSTGRES_PAIR"] ?? ""
    private static let sales = 1500

    @Test func whatWasAnsweredOutlivesThePrimaryAndNothingIsThereTwice() async throws {
        let command = try #require(FailOver.command)
        let till = try TillProcess(hasKeys: false)
        let load = try await SalesLoad(Self.sales, of: till, ["--ledger", Self.address])
        func serve() async throws -> ServeProcess {
            try await ServeProcess(
                till, ["--log-level", "warning"],
                environment: ["TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_LEDGER": Self.address])
        }
        let services = [try await serve(), try await serve()]
        let urls = services.map(\.url)
        let moment = Int.random(in: 100..<Self.sales - 500)
        let (reached, isReached) = AsyncStream<Void>.makeStream()
        async let failOver: Void = {
            for await _ in reached { break }
            try await Tool.run("bash", [command], in: till.folder.url)
        }()
        // Each sale goes to both services, as devices do that have not heard an answer.
        var answered = try await load.redeem(load.sales.flatMap { [$0, $0] }, at: urls) { count in
            if count >= moment { isReached.yield() }
        }
        try await failOver
        let before = answered.count
        var waiting = load.sales.filter { !answered.contains($0) }
        while !waiting.isEmpty {
            // What is answered no more is handed in again, as a device does.
            answered.formUnion(try await load.redeem(waiting, at: urls.reversed()))
            waiting = load.sales.filter { !answered.contains($0) }
        }
        for service in services {
            #expect(try await load.redeemed(at: service).sorted() == load.sales.map(\.transaction))
        }
        print(
            "Failed over after \(moment) answers; \(before) of \(Self.sales) answered at the first attempt, all there once."
        )
        for service in services { #expect(await service.end(SIGTERM) == 0) }
        let checked = try await till.run("ledger", "check", "--ledger", Self.address)
        #expect(checked.status == 0, "\(checked.output)")
    }
}
