import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Logging
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A service whose clock is set while it runs.
@Suite struct ClockWatchTests {
    private static let tenDays: Int64 = 10 * 86_400_000
    private static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private let garden: TestGarden
    private let clock = ManualClock()
    private let service: EntitlementService

    init() throws {
        garden = try TestGarden()
        clock.advance(milliseconds: garden.store.now.millisecondsSince1970 - clock.now().millisecondsSince1970)
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(clock: clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: clock)
    }

    private func setReconciled() async throws {
        let moment = clock.now()
        try await service.ledger.write { try $0.setReconciled("store", until: moment, findings: [:]) }
    }

    private var reconciledUntil: Timestamp? {
        get async throws { try await service.ledger.read { try $0.checkpoint(ofReconciliation: "store") }?.until }
    }

    @Test func `a time of a clock that was ahead is forgotten at the start, and when the clock goes back`() async throws
    {
        clock.advance(milliseconds: Self.tenDays)
        try await setReconciled()
        clock.advance(milliseconds: -Self.tenDays)
        var watch = ClockWatch()
        try await watch.look(at: service, after: .zero, logger: Self.logger)
        #expect(try await reconciledUntil == nil)
        // The correction of a running clock is no jump.
        clock.advance(milliseconds: 4000)
        try await setReconciled()
        clock.advance(milliseconds: -1000)
        try await watch.look(at: service, after: .seconds(5), logger: Self.logger)
        #expect(try await reconciledUntil == clock.now().adding(milliseconds: 1000))
        clock.advance(milliseconds: Self.tenDays)
        try await watch.look(at: service, after: .seconds(6), logger: Self.logger)
        try await setReconciled()
        try await watch.look(at: service, after: .seconds(7), logger: Self.logger)
        #expect(try await reconciledUntil == clock.now())
        clock.advance(milliseconds: -Self.tenDays)
        try await watch.look(at: service, after: .seconds(8), logger: Self.logger)
        #expect(try await reconciledUntil == nil)
    }

    @Test func `a run before the ledger is mended does not go on from the checkpoint of a clock ahead`() async throws {
        let (service, clock) = (service, clock)
        try await garden.withStore { client in
            let reconciler = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
            // Of two services, one may be some seconds ahead.
            for (ahead, isKnown) in [(1000, true), (Self.tenDays, false)] {
                let moment = clock.now().adding(milliseconds: ahead)
                try await service.ledger.write {
                    try $0.setReconciled("notifications of \(client.url.absoluteString)", until: moment, findings: [:])
                }
                #expect(try await (reconciler.checkpoint(of: .notifications) != nil) == isKnown)
            }
        }
    }

    @Test func `an end that only a clock ahead has recorded comes again at its time`() async throws {
        let alice = try #require(User(name: "alice"))
        let bought = try garden.buy("garden.premium.monthly", account: "alice")
        clock.advance(milliseconds: 1000)
        _ = try await service.redeem(
            Array(try garden.store.signedTransaction(bought.identifier).utf8), for: alice)
        func ends() async throws -> Int {
            try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 100) }
                .count { $0.entry.event == .expired }
        }
        clock.advance(milliseconds: 4 * Self.tenDays)
        _ = try await service.recordDueStates()
        #expect(try await service.items(of: alice).allSatisfy { $0.item.collection != "plus" })
        #expect(try await ends() == 1)
        clock.advance(milliseconds: -4 * Self.tenDays)
        #expect(try await service.items(of: alice).contains { $0.item.collection == "plus" })
        #expect(try await service.mendTimes(to: clock.now()) == ["purchase_state.changes_at": 1])
        _ = try await service.recordDueStates()
        #expect(try await ends() == 1)
        #expect(try await service.mendTimes(to: clock.now()) == [:])
        clock.advance(milliseconds: 4 * Self.tenDays)
        _ = try await service.recordDueStates()
        #expect(try await ends() == 2)
    }

    @Test func `a clock behind the notifications of a store ends nothing early`() async throws {
        _ = try garden.buy("garden.premium.monthly", account: "alice")
        clock.advance(milliseconds: 1000)
        for notification in try garden.store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
        let accounts = AccountService(ledger: service.ledger, clock: clock, cost: .minimal)
        let entrance = try await accounts.open(try EmailAddress("mint@example.com"), passwordHash: "h")
        let end = try await service.ledger.read { try $0.sessions(of: entrance.account.user) }.map(\.endsAt)
        try await setReconciled()
        clock.advance(milliseconds: -Self.tenDays)
        #expect(try await service.mendTimes(to: clock.now()) == ["reconciliation.reconciled_until": 1])
        #expect(try await service.ledger.read { try $0.sessions(of: entrance.account.user) }.map(\.endsAt) == end)
    }
}
