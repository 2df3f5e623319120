import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Webhook endpoints and their deliveries, in either database.
@Suite struct WebhookLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func endpoint(_ identifier: String, createdAt: Timestamp = now) -> WebhookEndpoint {
        WebhookEndpoint(
            identifier: identifier, url: "https://example.com/\(identifier)", createdAt: createdAt, createdBy: "K",
            secret: secret(1))
    }

    private func secret(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private func deliveries(
        to endpoint: String = "a",
        in state: WebhookDelivery.State? = nil
    ) async throws -> [WebhookDelivery] {
        try await ledger.read { try $0.webhookDeliveries(to: endpoint, in: state, before: nil, limit: 100) }
    }

    private func service(at moment: Timestamp = now, over ledger: Ledger? = nil) throws -> WebhookService {
        try (ledger ?? self.ledger).webhooks(
            of: Apps(App(try Catalog(folder: Project.products))), clock: ManualClock(moment))
    }

    private func lease(
        from ledger: Ledger? = nil,
        at moment: Timestamp = now,
        limit: Int = 100
    ) async throws -> [WebhookDelivery] {
        let service = try service(at: moment, over: ledger)
        return try await service.lease(
            try await service.due(for: try await service.endpoint("a"), limit: limit) ?? [])
    }

    private func words(_ deliveries: [WebhookDelivery]) -> Set<String> {
        Set(deliveries.map { "\($0.name) \($0.number) \($0.entry.event.rawValue) \($0.entry.reference)" })
    }

    @Test func `each endpoint gets every grant, revocation and transfer`() async throws {
        _ = try await redeem(claim("0"), for: alice)
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 2) })
        #expect(try await ledger.write { try $0.add(endpoint("b"), upTo: 2) })
        #expect(try await !ledger.write { try $0.add(endpoint("c"), upTo: 2) })
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), for: alice)
        // A refusal, a repeated redemption and a spending make no delivery.
        _ = try await redeem(claim("1"), for: bob)
        _ = try await redeem(claim("1"), for: alice)
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 4, reason: "a hat", spentBy: "K", spentAt: Self.now)
        _ = try await ledger.write {
            try $0.spend(
                spending, for: alice, accepting: Set(Origin.allCases))
        }
        #expect(try await redeem(claim("1"), for: bob, under: .transfer(pauseSeconds: 0)) == [.granted])
        _ = try await notify("1", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: "a prize", grantedBy: "K", grantedAt: Self.now, endsAt: nil)
        _ = try await ledger.write { try $0.add(grant, for: bob) }
        let expected: Set = [
            "alice 2 granted 1", "alice 3 granted 2", "alice 5 transferredOut 1", "bob 2 transferredIn 1",
            "bob 3 revoked 1", "bob 4 itemGiven g",
        ]
        await #expect(words(try deliveries()) == expected)
        await #expect(words(try deliveries(to: "b")) == expected)
        let messages = try await deliveries().map(\.messageIdentifier)
        #expect(Set(messages).count == expected.count)
        #expect(try await deliveries(to: "b").map(\.messageIdentifier) == messages)
        try await service().remove("b", by: "K")
        await #expect(throws: WebhookError.notFound) { try await service().remove("b", by: "K") }
        #expect(try await ledger.read { try $0.webhookEndpoint("b") } == nil)
        #expect(try await ledger.read { try $0.webhookEndpoints() }.map(\.identifier) == ["a"])
        #expect(try await service(at: Self.later(9)).dueEndpoints().map(\.identifier) == ["a"])
        _ = try await redeem(claim("7"), for: alice)
        #expect(try await deliveries(to: "b").count == expected.count)
        #expect(try await deliveries().count == expected.count + 1)
        #expect(try await ledger.write { try $0.deleteWebhookMessages(before: Self.later(9), limit: 4) } == 4)
        #expect(try await ledger.write { try $0.deleteWebhookMessages(before: Self.later(9), limit: 4) } == 2)
        #expect(try await deliveries(to: "b").isEmpty)
        #expect(try await deliveries().count == expected.count + 1)
        #expect(try fixture.problems() == [])
    }

    @Test func `a delivery has the name of the API key that acted, the same when it is sent`() async throws {
        let key = APIKeyRecord(
            identifier: "K", name: "desk", scopes: [], key: "k",
            createdAt: Self.now)
        try await ledger.write { try $0.add(key) }
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), for: alice)
        for (identifier, caller) in [("g", "K"), ("h", "L")] {
            let grant = Grant(
                identifier: identifier, item: Self.sprout1, reason: "a prize", grantedBy: caller, grantedAt: Self.now,
                endsAt: nil)
            _ = try await ledger.write {
                try $0.add(grant, for: bob)
            }
        }
        let expected: [String: String?] = ["1": nil, "g": "desk", "h": nil]
        for deliveries in [try await deliveries(), try await lease()] {
            let names = deliveries.map { ($0.entry.reference, $0.actorName) }
            #expect(Dictionary(uniqueKeysWithValues: names) == expected)
            #expect(Set(deliveries.map(\.name)) == ["alice", "bob"])
        }
    }

    /// A delivery is committed together with its event.
    @Test func `a failed use case makes no delivery`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        let grant = Grant(
            identifier: "g", item: Self.sprout1, reason: "a prize", grantedBy: "K", grantedAt: Self.now, endsAt: nil)
        _ = try await ledger.write { try $0.add(grant, for: bob) }
        let errors = ledger.together([
            { _ = try $0.redeem([claim("1")], for: alice, at: Self.now) },
            {
                // Its identifier is taken.
                _ = try $0.add(grant, for: bob)
            },
        ])
        #expect(errors.map { $0 == nil } == [true, false])
        #expect(words(try await deliveries()).filter { $0.hasPrefix("alice") } == ["alice 1 granted 1"])
    }

    @Test func `a webhook is due while one of its own messages is due`() async throws {
        for identifier in ["a", "b", "c"] {
            #expect(try await ledger.write { try $0.add(endpoint(identifier), upTo: 3) })
        }
        #expect(try await service().dueEndpoints().isEmpty)
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        #expect(try await service().dueEndpoints().map(\.identifier) == ["a", "b", "c"])
        #expect(try await lease(limit: 1).count == 1)
        #expect(try await service().dueEndpoints().map(\.identifier) == ["a", "b", "c"])
        #expect(try await lease().count == 1)
        #expect(try await service().dueEndpoints().map(\.identifier) == ["b", "c"])
        try await service().remove("b", by: "K")
        #expect(try await service().dueEndpoints().map(\.identifier) == ["c"])
        #expect(try await service(at: Self.later(61)).dueEndpoints().map(\.identifier) == ["a", "c"])
    }

    @Test func `a delivery is leased to one service at a time`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), claim("2"), claim("3"), for: alice)
        #expect(try await service().dueEndpoints().map(\.identifier) == ["a"])
        let first = try await lease(limit: 2)
        #expect(first.map(\.attempts) == [1, 1])
        #expect(first.allSatisfy { $0.lastAttempt?.at == Self.now && $0.lastAttempt?.outcome == nil })
        let other = try fixture.again()
        let second = try await lease(from: other)
        #expect(second.count == 1)
        #expect(Set((first + second).map(\.messageIdentifier)).count == 3)
        #expect(try await lease(from: other).isEmpty)
        #expect(try await service().dueEndpoints().isEmpty)
        try await service().record(
            first.map { DeliveryResult(of: $0, .answered(status: 200), nextAttemptAt: nil) })
        // The service that leased the third delivery is gone.
        let again = try await lease(at: Self.later(60))
        #expect(again.map(\.messageIdentifier) == second.map(\.messageIdentifier))
        #expect(again.map(\.attempts) == [2])
        // A result after the end of the lease changes nothing.
        let late = second.map {
            DeliveryResult(of: $0, .unanswered(code: "timedOut"), nextAttemptAt: nil)
        }
        try await service(over: other).record(late)
        #expect(try await deliveries(in: .pending).map(\.attempts) == [2])
        #expect(try await deliveries(in: .pending).first?.lastAttempt?.outcome == nil)
        #expect(try await deliveries(in: .delivered).count == 2)
    }

    @Test func `a failed delivery is listed and can be replayed`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), claim("2"), claim("3"), for: alice)
        let leased = try await lease()
        try #require(leased.count == 3)
        try await service().record([
            DeliveryResult(of: leased[0], .answered(status: 503), nextAttemptAt: Self.later(9)),
            DeliveryResult(of: leased[1], .unanswered(code: "timedOut"), nextAttemptAt: nil),
            DeliveryResult(of: leased[2], .answered(status: 204), nextAttemptAt: nil),
        ])
        #expect(try await lease(at: Self.later(8)).isEmpty)
        let failed = try await deliveries(in: .failed)
        #expect(failed.map(\.messageIdentifier) == [leased[1].messageIdentifier])
        #expect(failed.first?.lastAttempt?.outcome == .unanswered(code: "timedOut"))
        let pending = try await deliveries(in: .pending)
        #expect(pending.map(\.nextAttemptAt) == [Self.later(9)])
        #expect(pending.first?.lastAttempt?.outcome == .answered(status: 503))

        #expect(try await ledger.write { try $0.replayFailed(to: "a", limit: 9) } == 1)
        #expect(try await ledger.write { try $0.replayFailed(to: "a", limit: 9) } == 0)
        let replayed = try await lease()
        #expect(replayed.map(\.messageIdentifier) == [leased[1].messageIdentifier])
        #expect(replayed.map(\.attempts) == [1])
        // A receiver may have lost a delivery that arrived, so it can be replayed, too.
        let arrived = leased[2].messageIdentifier
        #expect(try await ledger.write { try $0.replay(arrived, to: "a") }?.state == .pending)
        #expect(try await lease().map(\.messageIdentifier) == [arrived])
        #expect(try await ledger.write { try $0.replay("msg_none", to: "a") } == nil)
        #expect(try await ledger.write { try $0.replay(arrived, to: "b") } == nil)
    }

    @Test func `each attempt keeps its duration and the beginning of the answer`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), for: alice)
        for (number, response) in ["no", nil, "yes"].enumerated() {
            let moment = Self.later(Int64(number))
            let leased = try await #require(lease(at: moment).first)
            try await service().record([
                DeliveryResult(
                    of: leased, .answered(status: number == 2 ? 200 : 500 + number),
                    nextAttemptAt: number == 2 ? nil : Self.later(Int64(number) + 1),
                    milliseconds: Int64(number), response: response.flatMap { WebhookResponse(Array($0.utf8)) })
            ])
        }
        let delivery = try #require(try await deliveries().first)
        let attempts = try await ledger.read { try $0.attempts(of: delivery, limit: 9) }
        #expect(attempts.map(\.number) == [3, 2, 1])
        #expect(attempts.map(\.at) == [2, 1, 0].map(Self.later))
        #expect(attempts.map(\.outcome) == [200, 501, 500].map { .answered(status: $0) })
        #expect(attempts.map(\.milliseconds) == [2, 1, 0])
        #expect(attempts.map(\.response) == ["yes", nil, "no"])
        #expect(delivery.lastAttempt == attempts.first)
        #expect(try await ledger.read { try $0.attempts(of: delivery, limit: 1) } == [attempts[0]])
        let message = delivery.messageIdentifier
        #expect(try await ledger.read { try $0.webhookDelivery(message, to: "a") } == delivery)
        #expect(try await ledger.read { try $0.webhookDelivery(message, to: "b") } == nil)
    }

    @Test func `the ended deliveries of a period are replayed, oldest first`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        for number in 1...6 {
            _ = try await redeem(claim("\(number)"), for: alice, at: Self.later(Int64(number)))
        }
        // The first five ended, in turn delivered and failed. The sixth stays pending.
        let leased = try await lease(at: Self.later(9)).sorted { $0.number < $1.number }
        try await service().record(
            leased.map {
                DeliveryResult(
                    of: $0, .answered(status: $0.number != 6 && $0.number.isMultiple(of: 2) ? 200 : 500),
                    nextAttemptAt: $0.number == 6 ? Self.later(99) : nil)
            })
        func replay(after position: WebhookDeliveryPosition, _ limit: Int) async throws -> [WebhookDeliveryPosition] {
            try await ledger.write {
                try $0.replay(to: "a", after: position, until: Self.later(7), limit: limit)
            }
        }
        let start = try #require(WebhookDeliveryPosition("\(Self.later(2).millisecondsSince1970) msg_"))
        let first = try await replay(after: start, 3)
        #expect(first.map(\.happenedAt) == [2, 3, 4].map(Self.later))
        let second = try await replay(after: try #require(first.last), 3)
        #expect(second.map(\.happenedAt) == [Self.later(5)])
        #expect(try await replay(after: start, 3).isEmpty)
        #expect(Set(try await lease(at: Self.later(9)).map(\.number)) == [2, 3, 4, 5])
        #expect(try await deliveries(in: .failed).map(\.number) == [1])
    }

    @Test func `deliveries are listed newest first`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        for number in 1...5 {
            _ = try await redeem(claim("\(number)"), for: alice, at: Self.later(Int64(number / 2)))
        }
        var seen: [WebhookDelivery] = []
        while true {
            let position = seen.last.map { WebhookDeliveryPosition($0) }
            let page = try await ledger.read { try $0.webhookDeliveries(to: "a", in: nil, before: position, limit: 2) }
            if page.isEmpty { break }
            seen += page
        }
        #expect(seen.map(\.entry.happenedAt) == [2, 2, 1, 1, 0].map(Self.later))
        #expect(Set(seen.map(\.entry.reference)) == ["1", "2", "3", "4", "5"])
    }

    @Test func `an endpoint's secret and URL can be replaced`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("b", createdAt: Self.later(1)), upTo: 2) })
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 2) })
        #expect(try await ledger.read { try $0.webhookEndpoints() }.map(\.identifier) == ["a", "b"])
        #expect(
            try await ledger.write {
                try $0.replace(secret(1), with: secret(2), ending: Self.later(9), ofWebhookEndpoint: "a")
            })
        #expect(
            try await !ledger.write {
                try $0.replace(secret(1), with: secret(3), ending: Self.later(9), ofWebhookEndpoint: "a")
            })
        #expect(
            try await !ledger.write {
                try $0.replace(secret(1), with: secret(3), ending: Self.later(9), ofWebhookEndpoint: "c")
            })
        let found = try #require(try await ledger.read { try $0.webhookEndpoint("a") })
        #expect(found.secret == secret(2))
        #expect(found.previousSecret == secret(1) && found.previousSecretEndsAt == Self.later(9))
        let service = try service()
        let other = try WebhookURL("https://other.example", allowsPlain: false)
        #expect(try await service.change("a", url: other, by: "K").url == other.text)
        #expect(try await ledger.read { try $0.webhookEndpoint("a") }?.url == other.text)
        await #expect(throws: WebhookError.notFound) { _ = try await service.change("c", url: other, by: "K") }
        #expect(try await ledger.read { try $0.webhookEndpoint("c") } == nil)
    }

    @Test func `a filter that was read deletes only deliveries that are as it read them`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        let service = try service()
        let read = try await service.endpoint("a")
        let due = try #require(try await service.due(for: read, limit: 9))
        let leased = try await service.lease([due[0]])
        #expect(try await service.delete(due, from: read))
        #expect(try await deliveries().map(\.messageIdentifier) == leased.map(\.messageIdentifier))
        let changed = try await service.change("a", types: .set(WebhookTypes(["item.given"], of: .standard)), by: "K")
        #expect(try await !service.delete(leased, from: read))
        #expect(try await deliveries().map(\.messageIdentifier) == leased.map(\.messageIdentifier))
        #expect(try await service.delete(leased, from: changed))
        #expect(try await deliveries().isEmpty)
        #expect(try fixture.problems() == [])
    }

    @Test func `a message that was attempted stays while the filter has a type of its event`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), for: alice)
        let leased = try await lease()
        try await service().record(
            leased.map { DeliveryResult(of: $0, .answered(status: 500), nextAttemptAt: Self.now) })
        _ = try await redeem(claim("2"), for: alice)
        func due(_ type: String) async throws -> [String]? {
            let service = try service()
            let types = try WebhookTypes([type], of: .standard)
            let changed = try await service.change("a", types: .set(types), by: "K")
            return try await service.due(for: changed, limit: 9)?.map(\.entry.reference)
        }
        #expect(try await due("product.purchased") == ["2", "1"])
        // A later attempt may find that the same purchase was a renewal, and the other way round.
        #expect(try await due("subscription.renewed") == ["1"])
        #expect(try await due("purchase.refunded") == [])
    }

    @Test func `old deliveries are deleted if they arrived, and kept if they failed`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        for number in 1...5 {
            _ = try await redeem(claim("\(number)"), for: alice, at: Self.later(Int64(number)))
        }
        let leased = try await lease(at: Self.later(9)).sorted { $0.number < $1.number }
        try await service().record(
            leased.map {
                DeliveryResult(
                    of: $0, .answered(status: $0.number == 1 ? 500 : 200),
                    nextAttemptAt: nil)
            })
        #expect(try await ledger.write { try $0.deleteWebhookMessages(before: Self.later(5), limit: 2) } == 2)
        #expect(try await ledger.write { try $0.deleteWebhookMessages(before: Self.later(5), limit: 2) } == 1)
        #expect(try await ledger.write { try $0.deleteWebhookMessages(before: Self.later(5), limit: 2) } == 0)
        #expect(try await deliveries().map(\.number) == [5, 1])
    }

    @Test func `the erasure of a user deletes their deliveries`() async throws {
        #expect(try await ledger.write { try $0.add(endpoint("a"), upTo: 1) })
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2"), for: bob)
        let leased = try await lease()
        #expect(try await ledger.write { try $0.erase(alice, by: .apiKey("K"), at: Self.now) })
        // The result of a delivery that was under way changes nothing.
        try await service().record(
            leased.map { DeliveryResult(of: $0, .answered(status: 500), nextAttemptAt: Self.now) })
        // Nor is anybody told of what happens to the purchase later.
        let refund = claim("1", revoked: Self.later(9), signedAt: Self.later(9))
        #expect(try await notify("r", refund) == .revoked)
        await #expect(words(try deliveries()) == ["bob 1 granted 2"])
        #expect(words(try await lease()) == ["bob 1 granted 2"])
    }
}
