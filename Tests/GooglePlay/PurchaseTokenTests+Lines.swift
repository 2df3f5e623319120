import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Subscriptions with add-ons: each line of a chain of tokens is a purchase of its own
/// (developer.android.com/google/play/billing/subscription-with-addons).
extension PurchaseTokenTests {
    private static let (base, add) = ("garden.basic.monthly", "garden.premium.monthly")

    private func originals(_ user: User) async throws -> [String: String] {
        Dictionary(
            try await transactions(user).map { ($0.transactionIdentifier, $0.originalTransactionIdentifier) },
            uniquingKeysWith: { first, _ in first })
    }

    private func states(_ user: User) async throws -> [String: PurchaseState] {
        Dictionary(
            uniqueKeysWithValues: try await service.subscriptions(of: user).map {
                ($0.productIdentifier, $0.state)
            })
    }

    @Test func `two items of one token are two purchases, whatever later answers hold`() async throws {
        let (main, other) = (names.name(of: "t"), "\(names.name(of: "t")):\(Self.add)")
        let both = try subscription(
            "t", items: item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)))
        #expect(try await redeem(both, for: alice) == [.granted, .granted])
        #expect(try await originals(alice) == ["GPA.1": main, "GPA.1:\(Self.add)": other])
        #expect(try await plus(alice) == [1, 2])
        #expect(try await redeem(both, for: bob) == [.ownedByAnotherUser, .ownedByAnotherUser])
        advance(seconds: 30 * 86_400)
        // The renewal of both has one order, and names the add-on first.
        let renewed = try subscription(
            "t", items: item(Self.add, order: "GPA.1..0", until: day(30)),
            item(Self.base, order: "GPA.1..0", until: day(30)), isAcknowledged: true)
        #expect(try await refresh(renewed) == [.granted, .granted])
        #expect(
            try await originals(alice) == [
                "GPA.1": main, "GPA.1:\(Self.add)": other, "GPA.1..0": main, "GPA.1..0:\(Self.add)": other,
            ])
        #expect(try await plus(alice) == [1, 2])
    }

    @Test(arguments: [true, false]) func `the team moves all lines of a token together`(isBase: Bool) async throws {
        let both = try subscription(
            "t", items: item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)))
        _ = try await redeem(both, for: alice)
        let other = try subscription("u", items: item(Self.base, order: "GPA.2", until: day(30)))
        _ = try await redeem(other, for: alice)
        _ = try await service.appAccountToken(of: bob)
        _ = try await service.move(
            transaction: isBase ? "GPA.1" : "GPA.1:\(Self.add)", origin: nil, of: alice, to: bob, reason: "r",
            by: "key")
        #expect(try await plus(bob) == [1, 2])
        #expect(try await plus(alice) == [1])
        advance(seconds: 30 * 86_400)
        let renewed = try subscription(
            "t", items: item(Self.base, order: "GPA.1..0", until: day(30)),
            item(Self.add, order: "GPA.1..0", until: day(30)), isAcknowledged: true)
        #expect(try await refresh(renewed) == [.granted, .granted])
        #expect(try await plus(bob) == [1, 2])
        let moves = try await service.ledger.read { try $0.audit(of: bob) }.filter { $0.entry.event == .moved }
        #expect(Set(moves.map(\.entry.subject)) == [Self.base, Self.add])
    }

    @Test func `an item that is missing ends alone, and its last period is not made again`() async throws {
        let first = try subscription(
            "t", items: item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)))
        _ = try await redeem(first, for: alice)
        advance(seconds: 86_400)
        let alone = item(Self.base, order: "GPA.1", until: day(29))
        _ = try await refresh(try subscription("t", items: alone, isAcknowledged: true))
        #expect(try await plus(alice) == [1])
        #expect(try await transactions(alice).count == 2)
        let ended = try #require(try await transactions(alice).first { $0.productIdentifier == Self.add })
        #expect(ended.expiresAt == now && ended.revocationDate == nil)
        #expect(try await states(alice) == [Self.base: .active, Self.add: .expired])
        // The same again changes nothing, and an answer that has the item again gives it back.
        advance(seconds: 60)
        _ = try await refresh(try subscription("t", items: alone, isAcknowledged: true))
        #expect(try await transactions(alice).first { $0.productIdentifier == Self.add }?.expiresAt == ended.expiresAt)
        advance(seconds: 60)
        let back = item(Self.add, order: "GPA.1", until: day(29))
        _ = try await refresh(try subscription("t", items: alone, back, isAcknowledged: true))
        #expect(try await plus(alice) == [1, 2])
        #expect(try await transactions(alice).count == 2)
    }

    @Test func `an item that was refunded alone is revoked`() async throws {
        let first = try subscription(
            "t", items: item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)))
        _ = try await redeem(first, for: alice)
        advance(seconds: 86_400)
        let refundedAt = now.adding(days: -1).adding(seconds: 7)
        let order = """
            {"orderId":"GPA.1","state":"PARTIALLY_REFUNDED","lineItems":[{"productId":"\(Self.base)"},
            {"productId":"\(Self.add)","total":{"currencyCode":"USD","units":"9"}}],
            "orderHistory":{"partialRefundEvents":[{"processTime":"\(refundedAt.rfc3339)",
            "state":"PROCESSED_SUCCESSFULLY"}]}}
            """
        let answer = """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(now.adding(days: -1).rfc3339)",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
            "lineItems":[\(item(Self.base, order: "GPA.1", until: day(29)))]}
            """
        let statement = try GooglePlayAnswer(
            subscription: Array(answer.utf8), about: "t", of: TestGarden.bundleIdentifier
        ).statement(
            .init(
                realm: .localPlay, askedAt: now, named: names,
                orders: [try GooglePlayOrder(Array(order.utf8), identifier: "GPA.1")]))
        #expect(try await refresh(statement).contains(.revoked))
        #expect(try await states(alice) == [Self.base: .active, Self.add: .revoked])
        let revoked = try #require(try await transactions(alice).first { $0.productIdentifier == Self.add })
        #expect(revoked.revocationDate == refundedAt && revoked.facts.integer(.price) == 9000)
    }

    @Test func `a later add-on goes to the owner of the subscription, and to nobody else`() async throws {
        let line = item(Self.base, order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 60)
        let both = try subscription("t", items: line, item(Self.add, order: "GPA.2", until: day(30)))
        #expect(try await redeem(both, for: bob) == [.ownedByAnotherUser, .ownedByAnotherUser])
        advance(seconds: 60)
        #expect(try await refresh(both) == [.recorded, .granted])
        #expect(try await plus(alice) == [1, 2])
        #expect(try await plus(bob).isEmpty)
    }

    @Test func `an add-on of a new token keeps its purchase`() async throws {
        let first = try subscription(
            "old", items: item(Self.base, order: "GPA.1", until: day(30)),
            item(Self.add, order: "GPA.1", until: day(30)))
        _ = try await redeem(first, for: alice)
        advance(seconds: 86_400)
        let kept = item(
            Self.add, order: "GPA.1", until: day(29),
            more: #","itemReplacement":{"productId":"\#(Self.add)","replacementMode":"KEEP_EXISTING"}"#)
        let changed = try subscription(
            "new",
            items: item(
                "garden.basic.yearly", order: "GPA.2", until: day(364),
                more: #","itemReplacement":{"productId":"\#(Self.base)"}"#), kept,
            more: #","linkedPurchaseToken":"old""#)
        _ = try await redeem(changed, for: alice, continuing: "old")
        advance(seconds: 1)
        let replaced = try subscription(
            "old", state: "EXPIRED", items: item(Self.base, order: "GPA.1", until: now.rfc3339),
            item(Self.add, order: "GPA.1", until: now.rfc3339),
            more: #","canceledStateContext":{"replacementCancellation":{}}"#)
        _ = try await refresh(replaced)
        advance(seconds: 60)
        #expect(try await plus(alice) == [1, 2])
        let main = names.name(of: "old")
        #expect(
            try await originals(alice)
                == ["GPA.1": main, "GPA.1:\(Self.add)": "\(main):\(Self.add)", "GPA.2": main])
    }

    @Test(arguments: [true, false])
    func `a renewal without the right to see orders begins where the last period ends`(isRedeemed: Bool) async throws {
        let began = now
        func statement(_ order: String, until end: Int64) throws -> GooglePlayStatement {
            let answer = """
                {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(began.rfc3339)",
                "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
                "lineItems":[\(item(Self.base, order: order, until: began.adding(days: end).rfc3339))]}
                """
            return try GooglePlayAnswer(
                subscription: Array(answer.utf8), about: "t", of: TestGarden.bundleIdentifier
            ).statement(.init(realm: .localPlay, askedAt: now, named: names))
        }
        let orders: [(String, Int64)] = [("GPA.1", 30), ("GPA.1..0", 60), ("GPA.1..1", 90)]
        for (index, (order, end)) in orders.enumerated() {
            let stated = try statement(order, until: end)
            if isRedeemed, index == 0 {
                _ = try await redeem(stated, for: alice)
            } else {
                _ = try await refresh(stated)
            }
            advance(seconds: 30 * 86_400)
        }
        if !isRedeemed { _ = try await redeem(try statement("GPA.1..1", until: 90), for: alice) }
        let all = try await transactions(alice).sorted { $0.isEarlier(than: $1) }
        #expect(all.map(\.transactionIdentifier) == orders.map(\.0))
        #expect(all.map(\.purchaseDate) == [0, 30, 60].map { began.adding(days: $0) })
        #expect(all.map { $0.facts.text(.transactionReason) } == ["PURCHASE", "RENEWAL", "RENEWAL"])
    }

    @Test func `a revocation after an early renewal ends the period before it, too`() async throws {
        let line = item(Self.base, order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        let end = now.adding(days: 30)
        advance(seconds: 29 * 86_400)
        let renewed = item(Self.base, order: "GPA.1..0", until: end.adding(days: 30).rfc3339)
        _ = try await refresh(try subscription("t", items: renewed, isAcknowledged: true))
        #expect(try await plus(alice) == [1])
        advance(seconds: 60)
        let revoked = item(Self.base, order: "GPA.1..0", until: now.adding(seconds: -1).rfc3339)
        _ = try await refresh(
            try subscription(
                "t", state: "EXPIRED", items: revoked,
                more: #","canceledStateContext":{"developerInitiatedCancellation":{}}"#, isAcknowledged: true))
        #expect(try await plus(alice).isEmpty)
        // The right is over. The price has paid for the whole period, which decides about its monthly revenue.
        let first = try #require(try await transactions(alice).first { $0.transactionIdentifier == "GPA.1" })
        #expect(first.expiresAt == now.adding(seconds: -1))
        #expect(first.facts.date(.expiresDate) == end)
    }

    @Test func `a charge that comes before its order keeps its identity`() async throws {
        let promotion = item(
            Self.base, order: nil, until: day(30), more: #","signupPromotion":{"vanityCode":{"promotionCode":"X"}}"#)
        #expect(try await redeem(try subscription("t", items: promotion), for: alice) == [.granted])
        advance(seconds: 60)
        let later = item(Self.base, order: "GPA.1", until: now.adding(days: 30).adding(seconds: -60).rfc3339)
        _ = try await refresh(try subscription("t", items: later))
        let only = try #require(try await transactions(alice).first)
        #expect(try await transactions(alice).count == 1)
        #expect(only.transactionIdentifier == names.name(of: "t") && only.facts.text(.orderId) == "GPA.1")
        // A voided order is that of the charge.
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) == [.revoked])
    }

    @Test func `every line of a token is found, voided, and answered without Google Play`() async throws {
        let both = try subscription(
            "t", items: item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)))
        _ = try await redeem(both, for: alice)
        let name = names.name(of: "t")
        for text in ["t", name, "GPA.1"] {
            let found = try await service.purchases(ofTransaction: text)
            #expect(Set(found.map(\.status.productIdentifier)) == [Self.base, Self.add], "\(text)")
        }
        let known = try #require(try await purchases.redeemedPurchases(ofToken: "t"))
        #expect(known.proven.map(\.productIdentifier).sorted() == [Self.base, Self.add].sorted())
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) == [.revoked, .revoked])
        #expect(try await plus(alice).isEmpty)
    }

    @Test func `each product of a one-time purchase is owned by itself`() async throws {
        let items = ["garden.gate", "garden.seeds"].map { #"{"productId":"\#($0)"}"# }
        #expect(try await redeem(try product("m", items: items), for: alice) == [.granted, .granted])
        #expect(
            try await redeem(try product("m", items: items), for: bob) == [.ownedByAnotherUser, .ownedByAnotherUser])
        let name = names.name(of: "m")
        #expect(
            try await originals(alice) == [
                "\(name):garden.gate": "\(name):garden.gate", "\(name):garden.seeds": "\(name):garden.seeds",
            ])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("m", order: "GPA.m")) == [.revoked, .revoked])
    }

    /// The answers to questions about one chain, applied in any order and repeated, make the same purchases.
    @Test(arguments: 0..<24) func `the order of answers makes no other purchases`(seed: UInt64) async throws {
        let began = now
        func at(_ days: Int64) -> String { began.adding(days: days).rfc3339 }
        let answers: [[String]] = [
            [item(Self.base, order: "GPA.1", until: at(30)), item(Self.add, order: "GPA.1", until: at(30))],
            [item(Self.add, order: "GPA.1", until: at(30)), item(Self.base, order: "GPA.1", until: at(30))],
            [item(Self.base, order: "GPA.1..0", until: at(60)), item(Self.add, order: "GPA.1..0", until: at(60))],
            [item(Self.base, order: "GPA.1..1", until: at(90))],
            [item(Self.base, order: "GPA.1..1", until: at(90)), item(Self.add, order: "GPA.5", until: at(90))],
        ]
        func statement(_ items: [String]) throws -> GooglePlayStatement {
            let answer = """
                {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(began.rfc3339)",
                "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","lineItems":[\(items.joined(separator: ","))]}
                """
            return try GooglePlayAnswer(
                subscription: Array(answer.utf8), about: "t", of: TestGarden.bundleIdentifier
            ).statement(.init(realm: .localPlay, askedAt: now, named: names))
        }
        #expect(try await redeem(try statement(answers[0]), for: alice) == [.granted, .granted])
        let known = try #require(try await purchases.purchase(of: "t"))
        var numbered: [(items: [String], number: Int64)] = []
        for items in answers {
            let number = try #require(try await purchases.numberOfQuestion(about: known))
            numbered += [(items, number), (items, number)]
        }
        for (items, number) in Dice(seed: seed).shuffle(numbered) {
            advance(seconds: 60)
            let recorded = try await purchases.record(try statement(items), continuing: nil, number: number)
            _ = try await purchases.apply(try statement(items), recordedAs: recorded)
        }
        let main = names.name(of: "t")
        let other = "\(main):\(Self.add)"
        #expect(
            try await originals(alice) == [
                "GPA.1": main, "GPA.1..0": main, "GPA.1..1": main, "GPA.1:\(Self.add)": other,
                "GPA.1..0:\(Self.add)": other, "GPA.5:\(Self.add)": other,
            ])
        #expect(try await plus(alice) == [1, 2])
    }
}
