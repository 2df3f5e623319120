import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A barrier for concurrent requests.
private actor Arrivals {
    private var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait(for all: Int) async {
        count += 1
        guard count < all else {
            for continuation in waiting { continuation.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}

/// The delivery of messages to receivers that accept, refuse, hang or are unreachable, over sockets.
@Suite struct WebhookSenderTests {
    let folder: TemporaryFolder
    let ledger: Ledger
    let clock = ManualClock()
    let webhooks: WebhookService
    let metrics = ServiceMetrics()

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        webhooks = try Self.webhooks(of: ledger, clock)
    }

    private static func webhooks(
        of ledger: Ledger, _ clock: ManualClock, allowingPrivate: Bool = true
    ) throws -> WebhookService {
        EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock), ledger: ledger, clock: clock
        ).webhooks(clock: clock, allowsPrivateAddresses: allowingPrivate)
    }

    private func sender(allowingPrivate: Bool = true) throws -> WebhookSender<WebhookService> {
        try Self.webhooks(of: ledger, clock, allowingPrivate: allowingPrivate).sender(
            metrics: metrics, logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func add(_ url: String) async throws -> WebhookEndpoint {
        try await webhooks.add(try WebhookURL(url, allowsPlain: true), by: "K")
    }

    /// Grants alice an item.
    private func grant(_ identifier: String) async throws {
        let grant = Grant(
            identifier: identifier, item: Item(collection: "sprout", number: 1), reason: "a prize", grantedBy: "K",
            grantedAt: clock.now(), endsAt: nil)
        _ = try await ledger.write {
            try $0.add(
                grant, for: try #require(User(name: "alice")))
        }
    }

    private func deliveries(to endpoint: WebhookEndpoint) async throws -> [WebhookDelivery] {
        try await webhooks.deliveries(to: endpoint.identifier, in: nil, before: nil, limit: 1000)
    }

    /// Runs senders until `body` is done, then stops them.
    private func running(_ senders: WebhookSender<WebhookService>..., body: () async throws -> Void) async throws {
        let group = ServiceGroup(
            services: senders, logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
        async let ended: Void = group.run()
        try await body()
        await group.triggerGracefulShutdown()
        try await ended
    }

    @Test func `an event is delivered once, and signed`() async throws {
        let receiver = try await WebhookReceiver()
        let endpoint = try await add(receiver.url)
        try await running(sender()) {
            for number in 0..<40 { try await grant("g\(number)") }
            await expectEventually { receiver.received.count >= 40 }
        }
        #expect(receiver.received.count == 40)
        #expect(Set(receiver.received.map(\.identifier)).count == 40)
        let delivered = try await deliveries(to: endpoint)
        #expect(delivered.allSatisfy { $0.state == .delivered && $0.attempts == 1 })
        for message in receiver.received {
            let secret = endpoint.secrets(at: clock.now())[0]
            let expected = SignedWebhook(
                Array(message.body.utf8), identifier: message.identifier, secrets: [secret], at: clock.now())
            #expect(expected.headers.last?.value == message.signatures.joined(separator: " "))
            #expect(message.timestamp == String(clock.now().secondsSince1970))
        }
        let body = try #require(receiver.received.first { $0.body.contains("\"g7\"") })
        #expect(
            body.body.hasPrefix(
                #"{"data":{"actor":"key K","grantId":"g7","item":{"collection":"sprout","number":1},"items":[{"#))
        #expect(
            body.body.hasSuffix(
                """
                ],"number":8,"reason":"a prize","subscriptions":[],"user":{"issuer":"","name":"alice"}},\
                "timestamp":"2026-09-21T14:13:20Z","type":"item.given"}
                """))
        #expect(receiver.received.allSatisfy { $0.mediaType == "application/json" })
    }

    @Test func `an endpoint of RevenueCat's format gets its events and its authorization, the same when retried`()
        async throws
    {
        let receiver = try await WebhookReceiver { _, before in before.isEmpty ? 503 : 200 }
        let endpoint = try await webhooks.add(
            try WebhookURL(receiver.url, allowsPlain: true), format: .revenueCat,
            authorization: WebhookAuthorization("Bearer hooks"), by: "K")
        let plain = try await WebhookReceiver()
        _ = try await add(plain.url)
        try await running(sender()) {
            try await grant("g")
            try await expectEventually { try await deliveries(to: endpoint).first?.lastAttempt?.outcome != nil }
            clock.advance(milliseconds: 3_600_000)
            try await expectEventually { try await deliveries(to: endpoint).first?.state == .delivered }
            await expectEventually { !plain.received.isEmpty }
        }
        let received = receiver.received
        #expect(received.count == 2)
        #expect(received.map(\.authorization) == ["Bearer hooks", "Bearer hooks"])
        #expect(Set(received.map(\.body)).count == 1 && Set(received.map(\.identifier)).count == 1)
        let message = try #require(received.first)
        #expect(
            message.body == """
                {"api_version":"1.0","event":{"aliases":["alice"],"app_user_id":"alice",\
                "commission_percentage":null,"country_code":null,"currency":null,"entitlement_id":null,\
                "entitlement_ids":null,"environment":"PRODUCTION","event_timestamp_ms":1790000000000,\
                "expiration_at_ms":null,"id":"\(message.identifier)","is_family_share":false,"metadata":null,\
                "offer_code":null,"original_app_user_id":"alice","original_transaction_id":"g",\
                "period_type":"PROMOTIONAL","presented_offering_id":null,"price":0,\
                "price_in_purchased_currency":0,"product_id":"sprout 1","purchased_at_ms":1790000000000,\
                "renewal_number":null,"store":"PROMOTIONAL","subscriber_attributes":{},\
                "takehome_percentage":null,"tax_percentage":null,"transaction_id":"g",\
                "type":"NON_RENEWING_PURCHASE"}}
                """)
        let expected = SignedWebhook(
            Array(message.body.utf8), identifier: message.identifier, secrets: endpoint.secrets(at: clock.now()),
            at: Timestamp(secondsSince1970: try #require(Int64(message.timestamp))))
        #expect(message.signatures == [try #require(expected.headers.last?.value)])
        // The same event in Till's format has the same identifier, and no authorization.
        #expect(plain.received.map(\.identifier) == [message.identifier])
        #expect(plain.received.map(\.authorization) == [""])
    }

    /// Sixteen messages are sent concurrently. None waits for another's connection, which would use up its timeout.
    @Test func `sixteen messages are sent concurrently`() async throws {
        let receiver = try await WebhookReceiver { [arrivals = Arrivals()] _, _ in
            await arrivals.wait(for: 16)
            return 200
        }
        let endpoint = try await add(receiver.url)
        for number in 0..<16 { try await grant("g\(number)") }
        try await running(sender()) {
            try await expectEventually { try await deliveries(to: endpoint).allSatisfy { $0.state == .delivered } }
        }
        #expect(try await deliveries(to: endpoint).allSatisfy { $0.attempts == 1 })
    }

    /// A host that does not resolve is reached at the given address, and nowhere else.
    @Test(arguments: ["nowhere.invalid", "NoWhere.Invalid", "no_where.invalid", "nowhere.invalid."])
    func `a message goes to the resolved address`(_ host: String) async throws {
        let receiver = try await WebhookReceiver()
        let port = try #require(receiver.url.firstMatch(of: /:([0-9]+)/)?.1)
        let url = try WebhookURL("http://\(host):\(port)/hooks", allowsPlain: true)
        let webhook = SignedWebhook([], identifier: "m", secrets: [], at: clock.now())
        let address = try await WebhookAddress.find(WebhookURL(receiver.url, allowsPlain: true), allowsPrivate: true)
        let answer = try await WebhookConnection(to: url, at: address).send(webhook)
        #expect(answer.status == 204)
        #expect(receiver.received.map(\.identifier) == ["m"])
    }

    /// Three services on one ledger and a slow receiver. No two services send the same message.
    @Test func `several senders do not send the same message`() async throws {
        let receiver = try await WebhookReceiver { _, _ in
            try? await Task.sleep(for: .milliseconds(20))
            return 200
        }
        let endpoint = try await add(receiver.url)
        try await running(sender(), sender(), sender()) {
            for number in 0..<100 { try await grant("g\(number)") }
            try await expectEventually { try await deliveries(to: endpoint).allSatisfy { $0.state == .delivered } }
        }
        #expect(receiver.received.count == 100)
        #expect(Set(receiver.received.map(\.identifier)).count == 100)
    }

    @Test(arguments: [500, 404, 429, 301, 308])
    func `a refused message is retried until it arrives`(_ status: Int) async throws {
        let receiver = try await WebhookReceiver { _, before in before.count < 2 ? status : 299 }
        let endpoint = try await add(receiver.url)
        func lastOutcome() async throws -> (Int?, WebhookDelivery.Outcome?) {
            let delivery = try await deliveries(to: endpoint).first
            return (delivery?.attempts, delivery?.lastAttempt?.outcome)
        }
        try await running(sender()) {
            try await grant("g")
            for attempts in 1...2 {
                try await expectEventually { try await lastOutcome() == (attempts, .answered(status: status)) }
                clock.advance(milliseconds: 3_600_000)
            }
            try await expectEventually { try await lastOutcome() == (3, .answered(status: 299)) }
        }
        #expect(try await deliveries(to: endpoint).first?.state == .delivered)
        let received = receiver.received
        #expect(received.count == 3)
        #expect(Set(received.map(\.identifier)).count == 1)
        #expect(Set(received.map(\.body)).count == 1)
        #expect(Set(received.map(\.timestamp)).count == 3)
        #expect(Set(received.flatMap(\.signatures)).count == 3)
    }

    @Test func `the duration of an attempt and the beginning of the answer are recorded`() async throws {
        // More than the sender reads of a body.
        let receiver = try await WebhookReceiver(body: [UInt8](repeating: 0x61, count: 100_000)) { _, _ in
            try await Task.sleep(for: .milliseconds(20))
            return 500
        }
        let silent = try await WebhookReceiver()
        let (long, empty) = (try await add(receiver.url), try await add(silent.url))
        try await running(sender()) {
            try await grant("g")
            for endpoint in [long, empty] {
                try await expectEventually { try await deliveries(to: endpoint).first?.lastAttempt?.outcome != nil }
            }
        }
        let delivery = try await #require(deliveries(to: long).first)
        let attempts = try await webhooks.attempts(of: delivery)
        #expect(attempts.map(\.response) == [String(repeating: "a", count: 1024)])
        #expect(attempts.map(\.outcome) == [.answered(status: 500)])
        #expect(try #require(attempts.first?.milliseconds) >= 20)
        let accepted = try await #require(deliveries(to: empty).first?.lastAttempt)
        #expect(accepted.response == nil && accepted.milliseconds != nil)
        #expect(
            try await webhooks.delivery(delivery.messageIdentifier, to: long.identifier).lastAttempt == attempts.first)
        await #expect(throws: WebhookError.messageNotFound) { try await webhooks.delivery("m", to: long.identifier) }
    }

    @Test func `the messages of a period are sent again`() async throws {
        let receiver = try await WebhookReceiver()
        let endpoint = try await add(receiver.url)
        let start = clock.now()
        for number in 0..<3 {
            try await grant("g\(number)")
            clock.advance(milliseconds: 1000)
        }
        let leased = try await webhooks.lease(try #require(try webhooks.due(for: endpoint, limit: 9)))
        try await webhooks.record(leased.map { webhooks.result(of: $0, .answered(status: 200)) })
        let end = Timestamp(millisecondsSince1970: start.millisecondsSince1970 + 2000)
        let replayed = try await webhooks.replay(to: endpoint.identifier, from: start, until: end, by: "K")
        #expect(replayed.count == 2 && replayed.last == nil)
        let changes = try await webhooks.changes(of: endpoint.identifier, limit: 9)
        #expect(changes.first { $0.event == .messagesReplayed }?.detail == "2")
        #expect(try await webhooks.replay(to: endpoint.identifier, from: start, until: end, by: "K").count == 0)
        await #expect(throws: WebhookError.notFound) {
            _ = try await webhooks.replay(to: "wh_none", from: start, until: end, by: "K")
        }
    }

    @Test func `an undeliverable message is given up, and can be replayed`() async throws {
        let isWell = Mutex(false)
        let receiver = try await WebhookReceiver { _, _ in isWell.withLock { $0 } ? 200 : 503 }
        let endpoint = try await add(receiver.url)
        try await grant("g")
        // All other attempts are simulated.
        for _ in WebhookSchedule.delays {
            let leased = try await webhooks.lease(try #require(try webhooks.due(for: endpoint, limit: 9)))
            try await webhooks.record(leased.map { webhooks.result(of: $0, .unanswered(code: "timedOut")) })
            clock.advance(milliseconds: 2 * 86_400_000)
        }
        try await running(sender()) {
            try await expectEventually { try await deliveries(to: endpoint).first?.state == .failed }
            #expect(receiver.received.count == 1)
            let failed = try await #require(try deliveries(to: endpoint).first)
            #expect(failed.attempts == WebhookSchedule.delays.count + 1)
            #expect(failed.nextAttemptAt == nil)
            isWell.withLock { $0 = true }
            #expect(
                try await webhooks.replay(failed.messageIdentifier, to: endpoint.identifier, by: "K").state == .pending)
            try await expectEventually { try await deliveries(to: endpoint).first?.state == .delivered }
        }
        #expect(receiver.received.count == 2)
    }

    /// An unreachable and a hanging receiver do not delay the others.
    @Test func `an unreachable receiver does not delay the others`() async throws {
        let gone = try await WebhookReceiver()
        let url = gone.url.replacing(/:[0-9]+/, with: ":1")
        let hanging = try await WebhookReceiver { _, _ in
            try await Task.sleep(for: .seconds(3600))
            return 200
        }
        let well = try await WebhookReceiver()
        let (first, second, third) = (
            try await add(url), try await add(hanging.url), try await add(well.url)
        )
        try await running(sender()) {
            try await grant("g1")
            await expectEventually { hanging.received.count == 1 }
            try await expectEventually {
                try await deliveries(to: first).first?.lastAttempt?.outcome == .unanswered(code: "unreachable")
            }
            for number in 2...50 { try await grant("g\(number)") }
            try await expectEventually { try await deliveries(to: third).filter { $0.state == .delivered }.count == 50 }
        }
        #expect(try await deliveries(to: second).contains { $0.lastAttempt?.outcome == .unanswered(code: "timedOut") })
        #expect(try await deliveries(to: first).filter { $0.attempts > 0 }.count < 40)
    }

    /// The address is private in every spelling, and by its name.
    @Test(arguments: ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
    func `nothing is sent to a private address`(_ host: String) async throws {
        let receiver = try await WebhookReceiver()
        let port = try #require(receiver.url.firstMatch(of: /:([0-9]+)/)?.1)
        let endpoint = try await webhooks.add(
            try WebhookURL("https://\(host):\(port)/hooks", allowsPlain: false), by: "K")
        try await grant("g")
        try await running(sender(allowingPrivate: false)) {
            try await expectEventually {
                try await deliveries(to: endpoint).first?.lastAttempt?.outcome == .unanswered(code: "addressPrivate")
            }
        }
        #expect(try await deliveries(to: endpoint).first?.state == .pending)
    }

    @Test func `both secrets sign during a replacement`() async throws {
        let receiver = try await WebhookReceiver()
        let endpoint = try await add(receiver.url)
        let replaced = try await webhooks.replaceSecret(of: endpoint.identifier, keepingPreviousFor: 60, by: "K")
        await #expect(throws: WebhookError.secretBeingReplaced) {
            try await webhooks.replaceSecret(of: endpoint.identifier, keepingPreviousFor: 60, by: "K")
        }
        try await running(sender()) {
            try await grant("g1")
            await expectEventually { receiver.received.count == 1 }
            clock.advance(milliseconds: 60_000)
            try await grant("g2")
            await expectEventually { receiver.received.count == 2 }
            // A stolen secret can be replaced at once.
            _ = try await webhooks.replaceSecret(of: endpoint.identifier, keepingPreviousFor: 0, by: "K")
            try await grant("g3")
            await expectEventually { receiver.received.count == 3 }
        }
        #expect(replaced.secrets(at: Timestamp(secondsSince1970: 0)).count == 2)
        #expect(receiver.received.map(\.signatures.count) == [2, 1, 1])
        #expect(Set(receiver.received.flatMap(\.signatures)).count == 4)
    }
}
