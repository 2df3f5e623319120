import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import TestSupport
import Testing

/// The forwarding of notifications to further servers, over sockets.
@Suite struct NotificationForwardingTests {
    private let garden: TestGarden
    private let ledger: Ledger
    private let metrics = ServiceMetrics()
    private let logger = Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })

    init() throws {
        garden = try TestGarden()
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
    }

    private func forwarding(to urls: String...) throws -> NotificationForwarding {
        NotificationForwarding(
            to: try urls.map { ForwardingTarget(try WebhookURL($0, allowsPlain: true)) }, from: ledger,
            clock: garden.clock)
    }

    private func service(_ forwarding: NotificationForwarding) throws -> EntitlementService {
        EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger, clock: garden.clock,
            onNotification: forwarding.enqueue(_:body:))
    }

    /// Sends a request to the route for the App Store.
    private func post(_ body: String, to service: EntitlementService) async throws -> Int {
        let routes = ServiceRoutes(
            Till(service), RouteSettings(.apiKeys(ledger.apiKeys(clock: garden.clock)), metrics: metrics))
        return try await Application(router: routes.router()).test(.router) { client in
            try await client.execute(
                uri: "/v1/notifications/apple", method: .post, body: ByteBuffer(string: body)
            ) { $0.status.code }
        }
    }

    /// Runs a sender until `body` is done, then stops it.
    private func running(_ forwarding: NotificationForwarding, body: () async throws -> Void) async throws {
        let sender = forwarding.sender(allowsPrivateAddresses: true, metrics: metrics, logger: logger)
        let group = ServiceGroup(services: [sender], logger: logger)
        async let ended: Void = group.run()
        try await body()
        await group.triggerGracefulShutdown()
        try await ended
    }

    private func notification() throws -> String {
        try garden.buy("garden.gate", account: UUID().uuidString)
        return try #require(try garden.store.notifications().last).signedPayload
    }

    @Test func `each server receives each verified notification once, byte for byte`() async throws {
        let (first, second) = (try await WebhookReceiver(), try await WebhookReceiver())
        let forwarding = try forwarding(to: first.url, second.url)
        let service = try service(forwarding)
        // The white space and the further member are the App Store's.
        let signed = try notification()
        let body = "{ \"signedPayload\" : \"\(signed)\",\n\t\"more\": 1 }\n"
        try await running(forwarding) {
            #expect(try await post(body, to: service) == 200)
            // It is known now, and a refused one is not Apple's.
            #expect(try await post(body, to: service) == 200)
            let forged = String(signed.dropLast(8)) + "AAAAAAAA"
            #expect(try await post("{\"signedPayload\":\"\(forged)\"}", to: service) == 422)
            await expectEventually { first.received.count == 1 && second.received.count == 1 }
            try await expectEventually { try await forwarding.waiting().allSatisfy { $0.count == 0 } }
            // The known one stays away although it is no longer in the queue.
            #expect(try await post(body, to: service) == 200)
            #expect(try await forwarding.waiting().map(\.count) == [0, 0])
        }
        for receiver in [first, second] {
            #expect(receiver.received.map(\.body) == [body])
            #expect(receiver.received.map(\.identifier) == [""] && receiver.received.map(\.authorization) == [""])
        }
        let text = metrics.text(queueDepth: 0)
        #expect(text.contains("till_notification_forwards_total{outcome=\"delivered\",code=\"\"} 2\n"))
    }

    @Test func `a server receives the notifications of its apps alone`() async throws {
        let (garden, other) = (try await WebhookReceiver(), try await WebhookReceiver())
        func target(_ receiver: WebhookReceiver, _ apps: Set<String>) throws -> ForwardingTarget {
            ForwardingTarget(try WebhookURL(receiver.url, allowsPlain: true), apps: apps)
        }
        let forwarding = NotificationForwarding(
            to: [
                try target(other, ["com.example.orchard"]),
                try target(garden, ["com.example.orchard", self.garden.bundleIdentifier]),
            ], from: ledger, clock: self.garden.clock)
        let signed = try notification()
        try await running(forwarding) {
            _ = try await service(forwarding).receive(notification: Array(signed.utf8))
            await expectEventually { !garden.received.isEmpty }
            try await expectEventually { try await forwarding.waiting().allSatisfy { $0.count == 0 } }
        }
        #expect(other.received.isEmpty)
    }

    @Test func `a notification that was fetched later is forwarded in the App Store's form`() async throws {
        let receiver = try await WebhookReceiver()
        let forwarding = try forwarding(to: receiver.url)
        let signed = try notification()
        try await running(forwarding) {
            _ = try await service(forwarding).receive(notification: Array(signed.utf8))
            await expectEventually { !receiver.received.isEmpty }
        }
        #expect(receiver.received.map(\.body) == ["{\"signedPayload\":\"\(signed)\"}"])
    }

    @Test func `a server that fails gets the notification again, and does not hold up another one`() async throws {
        let failing = try await WebhookReceiver { _, before in before.count < 2 ? 503 : 200 }
        let working = try await WebhookReceiver()
        let forwarding = try forwarding(to: failing.url, working.url)
        let service = try service(forwarding)
        let body = "{\"signedPayload\":\"\(try notification())\"}"
        try await running(forwarding) {
            #expect(try await post(body, to: service) == 200)
            await expectEventually { working.received.count == 1 }
            for attempts in 1...2 {
                // The result is recorded by then, with the next attempt.
                await expectEventually {
                    metrics.text(queueDepth: 0).contains(
                        "till_notification_forwards_total{outcome=\"retried\",code=\"status5xx\"} \(attempts)\n")
                }
                #expect(try await forwarding.waiting()[0].lastOutcome == "status5xx")
                garden.clock.advance(milliseconds: 3_600_000)
            }
            try await expectEventually { try await forwarding.waiting()[0].count == 0 }
        }
        #expect(failing.received.map(\.body) == [body, body, body])
        #expect(working.received.count == 1)
    }

    @Test func `two services do not send the same notification`() async throws {
        let forwarding = try forwarding(to: "https://b.example/apple")
        let target = try #require(forwarding.targets.first)
        _ = try await service(forwarding).receive(notification: Array(try notification().utf8))
        #expect(try await forwarding.dueEndpoints() == [target])
        let due = try #require(try await forwarding.due(for: target, limit: 9))
        #expect(due.count == 1)
        let leased = try await forwarding.lease(due)
        #expect(leased.map(\.attempts) == [1])
        #expect(try await forwarding.lease(due).isEmpty)
        #expect(try await forwarding.dueEndpoints().isEmpty)
        // Both have sent it if the first service stopped: then the later result does not undo the earlier one.
        garden.clock.advance(milliseconds: 61_000)
        let again = try await forwarding.lease(try #require(try await forwarding.due(for: target, limit: 9)))
        try await forwarding.record(again.map { forwarding.result(of: $0, .unanswered(code: "timedOut")) })
        try await forwarding.record(leased.map { forwarding.result(of: $0, .answered(status: 200)) })
        #expect(try await forwarding.waiting().map(\.lastOutcome) == ["timedOut"])
    }

    @Test func `a notification is given up after thirty days`() async throws {
        let forwarding = try forwarding(to: "https://b.example/apple")
        let target = try #require(forwarding.targets.first)
        _ = try await service(forwarding).receive(notification: Array(try notification().utf8))
        var (attempts, isGivenUp) = (0, false)
        while !isGivenUp, attempts < 100 {
            let leased = try await forwarding.lease(try #require(try await forwarding.due(for: target, limit: 9)))
            guard !leased.isEmpty else {
                garden.clock.advance(milliseconds: 3_600_000)
                continue
            }
            attempts += 1
            let results = leased.map { forwarding.result(of: $0, .answered(status: 404)) }
            try await forwarding.record(results)
            isGivenUp = results.contains(where: \.isGivenUp)
        }
        #expect(isGivenUp && (30...40).contains(attempts), "\(attempts)")
        #expect(try await forwarding.waiting().map(\.count) == [0])
    }

    @Test func `what waits for a server that the settings no longer name is deleted`() async throws {
        let forwarding = try forwarding(to: "https://b.example/apple")
        _ = try await service(forwarding).receive(notification: Array(try notification().utf8))
        garden.clock.advance(milliseconds: 30 * 86_400_000)
        #expect(try await !forwarding.deleteExpired())
        #expect(try await forwarding.waiting().map(\.count) == [1])
        garden.clock.advance(milliseconds: 2 * 86_400_000)
        #expect(try await !forwarding.deleteExpired())
        #expect(try await forwarding.waiting().map(\.count) == [0])
    }

    @Test func `the queue has no address, which may have a secret`() throws {
        let target = ForwardingTarget(try WebhookURL("https://b.example:8443/hooks/s3cret", allowsPlain: false))
        #expect(target.host == "b.example:8443")
        #expect(!target.identifier.contains("s3cret") && target.identifier.count == 24)
    }
}
