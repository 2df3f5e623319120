import Foundation
import Synchronization
import TestSupport
import Testing

/// The service, killed in the middle of its work.
@Suite struct CrashTests {
    private static let salesInRound = 300
    private static let rounds = ProcessInfo.processInfo.environment["TILL_CRASH_ROUNDS"].flatMap(Int.init) ?? 2

    let till: TillProcess
    private let load: SalesLoad

    init() async throws {
        till = try TillProcess(hasKeys: false)
        load = try await SalesLoad(Self.rounds * Self.salesInRound, of: till, usesDoor: true)
    }

    private func serve() async throws -> ServeProcess {
        try await ServeProcess(
            till, ["--log-level", "warning", "--doors", "revenuecat"],
            environment: [
                "TILL_REQUESTS_PER_MINUTE": "1000000", "TILL_PUBLIC_KEY_REQUESTS_PER_MINUTE": "1000000",
                "TILL_ADDRESS_REQUESTS_PER_MINUTE": "1000000",
            ])
    }

    /// Rounds on one ledger, each with new sales. `make crash-test` runs more of them.
    @Test func `a kill under load loses no answered redemption, and grants none twice`() async throws {
        var answered: Set<SalesLoad.Sale> = []
        for round in 0..<Self.rounds {
            let due = Array(load.sales[round * Self.salesInRound..<(round + 1) * Self.salesInRound])
            // The kill can come at any moment of the load, even the first or the last.
            let moment = Int.random(in: 1..<Self.salesInRound)
            let server = try await serve()
            let isKilled = Mutex(false)
            // A device without an answer sends a proof again, so the test sends each sale twice.
            answered.formUnion(
                await load.redeem(zip(due, due).flatMap { [$0, $1] }, at: [server.url]) { count in
                    let isFirst = isKilled.withLock { killed in
                        defer { killed = killed || count >= moment }
                        return count >= moment && !killed
                    }
                    if isFirst { server.kill() }
                })
            #expect(isKilled.withLock { $0 }, "round \(round)")
            #expect(await server.end(SIGKILL) == -SIGKILL)

            let next = try await serve()
            let kept = try await load.redeemed(at: next)
            #expect(Set(kept).count == kept.count, "round \(round), killed after \(moment) answers")
            #expect(
                Set(answered.map(\.transaction)).subtracting(kept) == [],
                "round \(round), killed after \(moment) answers")
            #expect(await next.end(SIGKILL) == -SIGKILL)
            print(
                "Round \(round): killed after \(moment) answers; \(answered.count) acknowledged so far, all there once."
            )
        }
        // A device sends each unanswered proof again. In the end the ledger has each sale once.
        let last = try await serve()
        #expect(await load.redeem(load.sales, at: [last.url]).count == load.sales.count)
        #expect(try await load.redeemed(at: last).sorted() == load.sales.map(\.transaction))
        #expect(await last.end(SIGTERM) == 0)
        let checked = try await till.run("ledger", "check")
        #expect(checked.status == 0, "\(checked.output)")
    }
}
