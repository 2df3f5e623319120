import Catalog
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Endpoints of RevenueCat's format and the facts of their messages, in either database.
@Suite struct RevenueCatWebhookLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let service: WebhookService

    init() throws {
        fixture = try LedgerFixture()
        service = try fixture.ledger.webhooks(
            of: Apps(App(try Catalog(folder: Project.products))), clock: ManualClock(Self.now))
    }

    private func add(_ identifier: String, _ format: WebhookFormat) async throws -> WebhookEndpoint {
        let endpoint = WebhookEndpoint(
            identifier: identifier, url: "https://example.com/\(identifier)", format: format, createdAt: Self.now,
            createdBy: "K", secret: [UInt8](repeating: 1, count: 32),
            authorization: WebhookAuthorization("Bearer \(identifier)"))
        #expect(try await ledger.write { try $0.add(endpoint, upTo: 2) })
        return endpoint
    }

    /// A period of the subscription that began with the transaction "1".
    private func period(
        _ transaction: String,
        from start: Int64,
        revoked: Timestamp? = nil,
        signedAt: Int64 = 0
    ) -> Claim {
        claim(
            transaction, original: "1", bought: Self.later(start), revoked: revoked, signedAt: Self.later(signedAt),
            expiresAt: Self.later(start + 100),
            facts: TransactionFacts([
                .type: .text(ProductType.autoRenewableSubscription.rawValue), .price: .integer(4990),
                .currency: .text("USD"),
            ]))
    }

    private func deliveries(to endpoint: WebhookEndpoint) async throws -> [WebhookDelivery] {
        try await ledger.read { try $0.webhookDeliveries(to: endpoint.identifier, in: nil, before: nil, limit: 100) }
    }

    /// The messages to an endpoint: user, type and reference.
    private func messages(to endpoint: WebhookEndpoint) async throws -> [String] {
        let deliveries = try await deliveries(to: endpoint)
        return zip(deliveries, try await service.contents(of: deliveries, to: endpoint)).map { delivery, content in
            "\(delivery.name) \(content?.type ?? "none") \(delivery.entry.reference)"
        }.sorted()
    }

    private func text(_ type: String, to endpoint: WebhookEndpoint) async throws -> String? {
        let deliveries = try await deliveries(to: endpoint)
        for content in try await service.contents(of: deliveries, to: endpoint) where content?.type == type {
            if case .revenueCat(let event) = content { return event.text }
        }
        return nil
    }

    @Test func `a format and an authorization are stored, and Standard Webhooks is the default`() async throws {
        let events = try await add("rc", .revenueCat)
        #expect(try await ledger.read { try $0.webhookEndpoint("rc") } == events)
        let plain = WebhookEndpoint(
            identifier: "till", url: "https://example.com", createdAt: Self.now, createdBy: "K",
            secret: [UInt8](repeating: 2, count: 32))
        #expect(try await ledger.write { try $0.add(plain, upTo: 2) })
        let found = try await ledger.read { try $0.webhookEndpoint("till") }
        #expect(found == plain && found?.format == .standard && found?.authorization == nil)
        let changed = try await service.change(
            "till", authorization: .set(WebhookAuthorization("Basic x")), by: "K")
        #expect(changed.authorization?.value == "Basic x")
        let removed = try await service.change("rc", authorization: .set(nil), by: "K")
        #expect(removed.authorization == nil && removed.format == .revenueCat)
        await #expect(throws: WebhookError.notFound) {
            _ = try await service.change("none", authorization: .set(nil), by: "K")
        }
        #expect(try fixture.problems() == [])
    }

    @Test func `each change of a subscription has one event, also after its transfer`() async throws {
        let endpoint = try await add("rc", .revenueCat)
        _ = try await redeem(period("1", from: 0), period("2", from: 100), for: alice)
        _ = try await redeem(period("2", from: 100), for: bob)
        #expect(
            try await messages(to: endpoint) == ["alice INITIAL_PURCHASE 1", "alice RENEWAL 2"])
        let renewal = try #require(try await text("RENEWAL", to: endpoint))
        #expect(renewal.contains(#""price":4.99"#) && renewal.contains(#""app_id":"com.example.app""#))
        _ = try await redeem(period("2", from: 100), for: bob, under: .transfer(pauseSeconds: 0))
        _ = try await notify("1", period("2", from: 100, revoked: Self.later(1), signedAt: 1))
        _ = try await notify("2", period("2", from: 100, signedAt: 2))
        #expect(
            try await messages(to: endpoint) == [
                "alice INITIAL_PURCHASE 1", "alice RENEWAL 2", "alice TRANSFER 1", "bob CANCELLATION 2",
                "bob REFUND_REVERSED 2",
            ])
        let transfer = try #require(try await text("TRANSFER", to: endpoint))
        #expect(transfer.contains(#""transferred_from":["alice"],"transferred_to":["bob"]"#))
        // The facts of the purchase are those of its present owner.
        #expect(try await text("RENEWAL", to: endpoint) == renewal)
    }

    @Test func `a refund of the last period ends the access, and one of an earlier period has no message`() async throws
    {
        let (events, messages) = (try await add("rc", .revenueCat), try await add("till", .standard))
        _ = try await redeem(period("1", from: 0), period("2", from: 100), for: alice)
        _ = try await notify("1", period("1", from: 0, revoked: Self.later(150), signedAt: 150))
        #expect(try await self.messages(to: events) == ["alice INITIAL_PURCHASE 1", "alice RENEWAL 2"])
        _ = try await notify("2", period("2", from: 100, revoked: Self.later(160), signedAt: 160))
        #expect(
            try await self.messages(to: events) == [
                "alice CANCELLATION 2", "alice EXPIRATION 2", "alice INITIAL_PURCHASE 1", "alice RENEWAL 2",
            ])
        let end = try #require(try await text("EXPIRATION", to: events))
        #expect(end.contains(#""expiration_reason":"CUSTOMER_SUPPORT""#) && end.contains(#""price":0"#))
        #expect(
            try await self.messages(to: messages) == [
                "alice purchase.refunded 1", "alice purchase.refunded 2", "alice subscription.purchased 1",
                "alice subscription.renewed 2",
            ])
        #expect(try fixture.problems() == [])
    }

    @Test func `the messages of one event are sent, listed, and sent again one by one`() async throws {
        let endpoint = try await add("rc", .revenueCat)
        _ = try await redeem(period("1", from: 0), for: alice)
        _ = try await notify("1", period("1", from: 0, revoked: Self.later(50), signedAt: 50))
        let all = try await deliveries(to: endpoint)
        #expect(all.count == 3 && Set(all.map(\.messageIdentifier)).count == 3)
        // Pages of one end within the event.
        var (listed, position): ([WebhookDelivery], WebhookDeliveryNumber?) = ([], nil)
        while let next = try await service.deliveries(to: "rc", about: alice, before: position, limit: 1).first {
            listed.append(next)
            let number = WebhookDeliveryNumber(next)
            #expect(WebhookDeliveryNumber(number.description) == number)
            position = number
        }
        #expect(listed.map(\.messageIdentifier).sorted() == all.map(\.messageIdentifier).sorted())
        // The attempt of one changes none of the others.
        let due = try #require(try await service.due(for: endpoint, limit: 9))
        let types = try await service.types(of: due, to: endpoint)
        #expect(types.filter { $0 != "INITIAL_PURCHASE" } == ["CANCELLATION", "EXPIRATION"])
        #expect(Set(due.map(\.event)).count == 2)
        let leased = try await service.lease(due)
        #expect(leased.count == 3)
        try await service.record([
            service.result(of: leased[0], .answered(status: 200)),
            service.result(of: leased[1], .answered(status: 500)),
        ])
        let states = try await deliveries(to: endpoint).map { ($0.messageIdentifier, $0.state) }
        #expect(states.filter { $0.1 == .delivered }.map(\.0) == [leased[0].messageIdentifier])
        #expect(try await service.attempts(of: leased[1]).map(\.outcome) == [.answered(status: 500)])
        #expect(try await service.replay(about: alice, to: "rc", by: "K") == 1)
        #expect(["", "x", "1 TEST", "1 CANCELLATION x"].allSatisfy { WebhookDeliveryNumber($0) == nil })
    }

    @Test func `endpoints of both formats get their own events of a change, with one identifier`() async throws {
        let (events, messages) = (try await add("rc", .revenueCat), try await add("till", .standard))
        _ = try await redeem(period("1", from: 0), for: alice)
        _ = try await redeem(period("1", from: 0), for: bob, under: .transfer(pauseSeconds: 0))
        #expect(try await self.messages(to: events) == ["alice INITIAL_PURCHASE 1", "alice TRANSFER 1"])
        #expect(
            try await self.messages(to: messages) == [
                "alice purchase.transferredOut 1", "alice subscription.purchased 1", "bob purchase.transferredIn 1",
            ])
        let known = Set(try await deliveries(to: messages).map(\.messageIdentifier))
        #expect(known.isSuperset(of: try await deliveries(to: events).map(\.messageIdentifier)))
    }

    @Test func `an endpoint receives the types and the app of its filter alone, also after a change`() async throws {
        let formats: [(String, WebhookFormat, [String])] = [
            ("renewals", .standard, ["subscription.renewed"]), ("ends", .slack, ["purchase.expired"]),
            ("rc", .revenueCat, ["INITIAL_PURCHASE", "EXPIRATION"]),
        ]
        for (name, format, types) in formats {
            let endpoint = WebhookEndpoint(
                identifier: name, url: "https://example.com/", format: format, createdAt: Self.now, createdBy: "K",
                secret: [UInt8](repeating: 1, count: 32), types: try WebhookTypes(types, of: format))
            #expect(try await ledger.write { try $0.add(endpoint, upTo: 9) })
        }
        let elsewhere = WebhookEndpoint(
            identifier: "elsewhere", url: "https://example.com/", createdAt: Self.now, createdBy: "K",
            secret: [UInt8](repeating: 1, count: 32), app: "com.example.other")
        #expect(try await ledger.write { try $0.add(elsewhere, upTo: 9) })
        _ = try await redeem(period("1", from: 0), period("2", from: 100), for: alice)
        _ = try await notify("2", period("2", from: 100, revoked: Self.later(160), signedAt: 160))
        func sent(_ name: String) async throws -> [String] {
            let endpoint = try await service.endpoint(name)
            let due = try #require(try await service.due(for: endpoint, limit: 9))
            return zip(due, try await service.types(of: due, to: endpoint)).map {
                "\($1 ?? "none") \($0.entry.reference)"
            }
        }
        // The purchase decides the type of the first period, so it is dropped when it is due.
        let waiting = try await ledger.read {
            try $0.webhookDeliveries(to: "renewals", in: .pending, before: nil, limit: 9)
        }
        #expect(waiting.map(\.entry.reference).sorted() == ["1", "2"])
        #expect(try await sent("renewals") == ["subscription.renewed 2"])
        for name in ["ends", "elsewhere"] { #expect(try await sent(name) == []) }
        #expect(try await sent("rc") == ["INITIAL_PURCHASE 1", "EXPIRATION 2"])
        #expect(
            try await ledger.read { try $0.webhookDeliveries(to: "renewals", in: nil, before: nil, limit: 9) }.count
                == 1)
        let changed = try await service.change(
            "renewals", types: .set(try WebhookTypes(["item.given"], of: .standard)), by: "K")
        #expect(changed.types?.names == ["item.given"])
        #expect(try await sent("renewals") == [])
        await #expect(throws: WebhookError.appUnknown("com.example.other")) {
            _ = try await service.change("ends", app: .set("com.example.other"), by: "K")
        }
        // The keys for the app may not see the messages about another one.
        let narrowed = try await service.change(
            "rc", app: .set("com.memolease.sesac1"), types: .set(nil), by: "K")
        #expect(narrowed.app == "com.memolease.sesac1" && narrowed.types == nil)
        #expect(try await deliveries(to: narrowed).isEmpty)
        let changes = try await service.changes(of: "renewals", limit: 9)
        #expect(changes.map(\.event) == [.filterChanged] && changes.map(\.detail) == ["item.given"])
        #expect(try fixture.problems() == [])
    }

    @Test func `a customer who logs in has the anonymous id as an alias`() async throws {
        let endpoint = try await add("rc", .revenueCat)
        let identifier = "$RCAnonymousID:00000000000000000000000000000001"
        let (ghost, mint) = (
            try #require(CustomerIdentifier(identifier)).user, try #require(CustomerIdentifier("Mint Sprout")).user
        )
        _ = try await redeem(claim("8"), for: mint)
        _ = try await redeem(claim("9"), for: ghost)
        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(9)) }
        let transfer = try #require(try await text("TRANSFER", to: endpoint))
        #expect(
            transfer.contains(
                #""transferred_from":["\#(identifier)"],"transferred_to":["Mint Sprout"]"#))
        let purchase = try #require(try await text("NON_RENEWING_PURCHASE", to: endpoint))
        #expect(purchase.contains(#""aliases":["Mint Sprout","\#(identifier)"]"#))
        #expect(purchase.contains(#""app_user_id":"Mint Sprout""#))
    }

    @Test func `a delivery that was read before a log-in names the present customer`() async throws {
        let endpoint = try await add("rc", .revenueCat)
        let identifier = "$RCAnonymousID:00000000000000000000000000000001"
        let ghost = try #require(CustomerIdentifier(identifier)).user
        let mint = try #require(CustomerIdentifier("Mint Sprout")).user
        _ = try await redeem(claim("9"), for: ghost)
        let delivery = try #require(try await deliveries(to: endpoint).first)
        #expect(delivery.name == ghost.name)
        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(9)) }
        guard case .revenueCat(let event) = try await service.content(of: delivery, to: endpoint) else {
            Issue.record("there is no message")
            return
        }
        #expect(event.text.contains(#""aliases":["Mint Sprout","\#(identifier)"]"#))
        #expect(event.text.contains(#""app_user_id":"Mint Sprout""#))
        #expect(event.text.contains(#""original_app_user_id":"Mint Sprout""#))
    }

    @Test(arguments: [9, 10, 60]) func `a message lists ten ids, and says if there are more`(count: Int) async throws {
        let endpoint = try await add("rc", .revenueCat)
        let mint = try #require(CustomerIdentifier("mint")).user
        _ = try await redeem(claim("8"), for: mint)
        for number in 0..<count {
            let digits = String(number + 1_000_000_000)
            let ghost = try #require(
                CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32 - digits.count) + digits)
            ).user
            _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(9)) }
        }
        let purchase = try #require(try await text("NON_RENEWING_PURCHASE", to: endpoint))
        #expect(purchase.ranges(of: "$RCAnonymousID:").count == 9)
        #expect(purchase.contains(#""has_more_aliases":true"#) == (count > 9))
        _ = try await redeem(claim("8"), for: bob, under: .transfer(pauseSeconds: 0))
        let transfer = try #require(try await text("TRANSFER", to: endpoint))
        #expect(transfer.ranges(of: "$RCAnonymousID:").count == 9)
        #expect(transfer.contains(#""has_more_aliases":true"#) == (count > 9))
    }
}
