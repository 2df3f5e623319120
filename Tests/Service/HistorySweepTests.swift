import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The ends that time alone brings, at a service whose clock jumps.
@Suite struct HistorySweepTests {
    private static let day: Int64 = 86_400

    private final class Failures: Sendable {
        let count = Mutex(0)
    }

    private struct Handler: LogHandler {
        let failures: Failures
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { failures.count.withLock { $0 += 1 } }
    }

    let garden: TestGarden
    let service: EntitlementService

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    private func reconciler(_ client: AppStoreServerClient) -> Reconciler {
        service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
    }

    /// Sells a subscription of a month, which renews.
    private func subscribe(_ name: String) async throws -> String {
        let bought = try garden.buy("garden.premium.monthly", account: name)
        _ = try await service.redeem(
            Array(try garden.store.signedTransaction(bought.identifier).utf8), for: try #require(User(name: name)))
        return try #require(bought.purchase?.transactionIdentifier)
    }

    /// Sends the notifications about some subscriptions to the service.
    private func notify(of originals: String...) async throws {
        for notification in try garden.store.notifications()
        where notification.originalTransactionIdentifier.map(originals.contains) ?? false {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    private func events(_ name: String) async throws -> [String] {
        let user = try #require(User(name: name))
        return try await service.ledger.read { try $0.audit(of: user, after: 0, limit: 100) }.map {
            $0.entry.event.rawValue
        }
    }

    private func fails(_ sweep: inout HistorySweep, _ reconcilers: [Reconciler]) async -> Bool {
        do { try await sweep.run(service, reconcilers) } catch { return true }
        return false
    }

    @Test func `after a jump of the clock, the App Store is asked before an end is reported`() async throws {
        for name in ["alice", "bob"] { _ = try await subscribe(name) }
        let cancelled = try await subscribe("carol")
        _ = try garden.store.advance(seconds: 60)
        try garden.store.setAutoRenew(false, of: cancelled)
        try await notify(of: cancelled)
        try await garden.withStore { client in
            var sweep = HistorySweep()
            try await sweep.run(service, [reconciler(client)])
            _ = try garden.store.advance(seconds: 40 * Self.day)
            for _ in 0..<3 {
                try await sweep.run(service, [reconciler(client)])
                garden.clock.advance(milliseconds: 61_000)
            }
        }
        for name in ["alice", "bob"] { #expect(try await events(name) == ["granted", "granted"]) }
        #expect(try await events("carol") == ["granted", "autoRenewDisabled", "expired"])
    }

    @Test(arguments: [true, false])
    func `after a jump of the clock, the App Store is asked before a coming end is told`(hasKey: Bool) async throws {
        let (alices, bobs) = (try await subscribe("alice"), try await subscribe("bob"))
        _ = try garden.store.advance(seconds: 60)
        for subscription in [alices, bobs] { try garden.store.setAutoRenew(false, of: subscription) }
        try await notify(of: alices, bobs)
        try await garden.withStore { client in
            let reconcilers = hasKey ? [reconciler(client)] : []
            var sweep = HistorySweep()
            try await sweep.run(service, reconcilers)
            // The service is down, and misses the notification.
            _ = try garden.store.advance(seconds: 60)
            try garden.store.setAutoRenew(true, of: bobs)
            _ = try garden.store.advance(seconds: 29 * Self.day)
            try await sweep.run(service, reconcilers)
            if !hasKey {
                #expect(try await events("alice") == ["granted", "autoRenewDisabled"])
                // It comes within a minute of the start.
                try await notify(of: bobs)
            }
            for _ in 0..<2 {
                garden.clock.advance(milliseconds: 61_000)
                try await sweep.run(service, reconcilers)
            }
        }
        #expect(try await events("alice") == ["granted", "autoRenewDisabled", "endsSoon"])
        #expect(try await events("bob") == ["granted", "autoRenewDisabled", "autoRenewEnabled"])
    }

    @Test func `the App Store is asked at once for the period that has replaced an upgraded one`() async throws {
        let bought = try garden.buy("garden.basic.monthly", account: "alice")
        let alice = try #require(User(name: "alice"))
        _ = try await service.redeem(
            Array(try garden.store.signedTransaction(bought.identifier).utf8), for: alice)
        try await garden.withStore { client in
            var sweep = HistorySweep()
            try await sweep.run(service, [reconciler(client)])
            _ = try garden.store.advance(seconds: 60)
            _ = try garden.buy("garden.premium.monthly", account: "alice")
            // The app presents the old period, and the notification is lost.
            _ = try await service.redeem(
                Array(try garden.store.signedTransaction(bought.identifier).utf8), for: alice)
            #expect(try await events("alice") == ["granted"])
            try await sweep.run(service, [reconciler(client)])
        }
        #expect(Set(try await events("alice")) == ["granted", "productChanged"])
        #expect(try await events("alice").count == 3)
        #expect(try await service.subscriptions(of: alice).map(\.productIdentifier) == ["garden.premium.monthly"])
    }

    @Test func `without an App Store key, an end waits a minute for its notifications`() async throws {
        let renewed = try await subscribe("alice")
        _ = try await subscribe("bob")
        var sweep = HistorySweep()
        try await sweep.run(service, [])
        _ = try garden.store.advance(seconds: 40 * Self.day)
        try await sweep.run(service, [])
        garden.clock.advance(milliseconds: 50_000)
        try await sweep.run(service, [])
        #expect(try await events("bob") == ["granted"])
        // Bob's notification was lost.
        try await notify(of: renewed)
        garden.clock.advance(milliseconds: 11_000)
        try await sweep.run(service, [])
        #expect(try await events("alice") == ["granted", "granted"])
        #expect(try await events("bob") == ["granted", "expired"])
    }

    @Test func `a start is a jump of the clock`() async throws {
        _ = try await subscribe("alice")
        _ = try garden.store.advance(seconds: 40 * Self.day)
        var sweep = HistorySweep()
        try await sweep.run(service, [])
        #expect(try await events("alice") == ["granted"])
    }

    @Test func `a jump of a customer's clock delays this customer's end until its notifications can arrive`()
        async throws
    {
        for name in ["alice", "bob"] { _ = try await subscribe(name) }
        let cancelled = try await subscribe("carol")
        var sweep = HistorySweep()
        try await sweep.run(service, [])
        _ = try garden.store.advance(seconds: 60)
        try garden.store.setAutoRenew(false, of: cancelled)
        try await notify(of: cancelled)
        for name in ["alice", "carol"] { _ = try garden.store.advance(.seconds(40 * Self.day), of: name) }
        try await sweep.run(service, [])
        #expect(try await events("alice") == ["granted"])
        #expect(try await events("carol").last == "expired")
        // Alice's notification was lost.
        garden.clock.advance(milliseconds: 61_000)
        try await sweep.run(service, [])
        #expect(try await events("alice") == ["granted", "expired"])
        #expect(try await events("bob") == ["granted"])
    }

    @Test func `a clock that runs reports an end an hour later`() async throws {
        _ = try await subscribe("alice")
        let alice = try #require(User(name: "alice"))
        let end = try #require(try await service.subscriptions(of: alice).first?.until)
        var sweep = HistorySweep()
        try await sweep.run(service, [])
        _ = try garden.store.advance(seconds: end.secondsSince1970 - garden.store.now.secondsSince1970 - 200)
        for _ in 0..<16 {
            try await sweep.run(service, [])
            #expect(try await events("alice") == ["granted"])
            garden.clock.advance(milliseconds: 240_000)
        }
        try await sweep.run(service, [])
        #expect(try await events("alice") == ["granted", "expired"])
    }

    @Test func `a stop of the service does not wait for the answer of the App Store`() async throws {
        _ = try await subscribe("alice")
        _ = try garden.store.advance(seconds: 40 * Self.day)
        let (questions, ask) = AsyncStream<Void>.makeStream()
        let (answers, answer) = AsyncStream<Void>.makeStream()
        let router = Router()
        router.get("/inApps/v1/subscriptions/:id") { _, _ in
            ask.yield()
            for await _ in answers {}
            return HTTPResponse.Status.internalServerError
        }
        try await garden.withServer(router) { client in
            let failures = Failures()
            let schedule = HistorySweep.schedule(
                service, [reconciler(client)], logger: Logger(label: "tests") { _ in Handler(failures: failures) })
            let group = ServiceGroup(
                services: [schedule], logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
            async let ended: Void = group.run()
            for await _ in questions { break }
            await group.triggerGracefulShutdown()
            try await ended
            answer.finish()
            // The App Store's silence would be a failure after half a minute.
            #expect(failures.count.withLock(\.self) == 0)
        }
        #expect(try await events("alice") == ["granted"])
    }

    @Test func `an end waits up to an hour while the App Store does not answer`() async throws {
        _ = try await subscribe("alice")
        let router = Router()
        router.get("/inApps/v1/subscriptions/:id") { _, _ in HTTPResponse.Status.internalServerError }
        try await garden.withServer(router) { client in
            var sweep = HistorySweep()
            try await sweep.run(service, [reconciler(client)])
            _ = try garden.store.advance(seconds: 40 * Self.day)
            let hasFailed = await fails(&sweep, [reconciler(client)])
            #expect(hasFailed)
            for _ in 0..<59 {
                garden.clock.advance(milliseconds: 60_000)
                _ = await fails(&sweep, [reconciler(client)])
                #expect(try await events("alice") == ["granted"])
            }
            for _ in 0..<2 {
                garden.clock.advance(milliseconds: 61_000)
                try await sweep.run(service, [reconciler(client)])
            }
            #expect(try await events("alice") == ["granted", "expired"])
        }
    }
}
