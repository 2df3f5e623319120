import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Money that Google Play pays back, with and without the goods
/// (developers.google.com/android-publisher/api-ref/rest/v3/orders, purchases.voidedpurchases).
extension PurchaseTokenTests {
    private static let (base, add) = ("garden.basic.monthly", "garden.premium.monthly")

    private static func money(_ milliunits: Int64) -> String {
        #"{"currencyCode":"USD","units":"\#(milliunits / 1000)","nanos":\#(milliunits % 1000 * 1_000_000)}"#
    }

    /// An order with the prices of its products, and the amounts that were paid back.
    private func order(
        _ identifier: String, _ lines: [(product: String, price: Int64)], _ state: String = "PROCESSED",
        back parts: Int64...
    ) throws -> GooglePlayOrder {
        let items = lines.map { #"{"productId":"\#($0.product)","total":\#(Self.money($0.price))}"# }
        let events = parts.map {
            #"{"processTime":"\#(now.rfc3339)","state":"PROCESSED_SUCCESSFULLY","refundDetails":{"total":\#(Self.money($0))}}"#
        }
        let json = """
            {"orderId":"\(identifier)","createTime":"\(now.rfc3339)","lastEventTime":"\(now.rfc3339)","state":"\(state)",
            "lineItems":[\(items.joined(separator: ","))],
            "orderHistory":{"partialRefundEvents":[\(events.joined(separator: ","))]}}
            """
        return try GooglePlayOrder(Array(json.utf8), identifier: identifier)
    }

    private func statement(
        _ token: String, _ items: String..., orders: GooglePlayOrder...
    ) throws -> GooglePlayStatement {
        let json = """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(now.rfc3339)","regionCode":"US",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","lineItems":[\(items.joined(separator: ","))]}
            """
        return try GooglePlayAnswer(subscription: Array(json.utf8), about: token, of: TestGarden.bundleIdentifier)
            .statement(.init(realm: .localPlay, askedAt: now, named: names, orders: orders))
    }

    private func seeds(_ token: String, units: Int, refundable: Int? = nil, orders: GooglePlayOrder...) throws
        -> GooglePlayStatement
    {
        let refundable = refundable.map { #","refundableQuantity":\#($0)"# } ?? ""
        let json = """
            {"productLineItem":[{"productId":"garden.seeds","productOfferDetails":{"quantity":\(units)\(refundable)}}],
            "purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.\(token)",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED","purchaseCompletionTime":"\(now.rfc3339)"}
            """
        return try GooglePlayAnswer(product: Array(json.utf8), about: token, of: TestGarden.bundleIdentifier)
            .statement(.init(realm: .localPlay, askedAt: now, named: names, orders: orders))
    }

    private func units(_ count: Int?, of token: String) throws -> VoidedGooglePlayPurchase {
        let quantity = count.map { #","voidedQuantity":\#($0)"# } ?? ""
        let page = """
            {"voidedPurchases":[{"purchaseToken":"\(token)","orderId":"GPA.\(token)",
            "voidedTimeMillis":"\(now.millisecondsSince1970)"\(quantity)}]}
            """
        return try #require(try VoidedGooglePlayPurchases(Array(page.utf8)).purchases.first)
    }

    /// The charges with what was paid back of them.
    private func paidBack(_ user: User) async throws -> [String: Int64?] {
        Dictionary(
            uniqueKeysWithValues: try await transactions(user).compactMap { transaction in
                transaction.paidBack.map { (transaction.facts.text(.orderId) ?? "", $0.amount) }
            })
    }

    private func refunds(_ user: User) async throws -> [String] {
        try await service.ledger.read { try $0.audit(of: user, after: 0, limit: 99) }.map(\.entry).compactMap { entry in
            guard [.revoked, .paymentRefunded].contains(entry.event) else { return nil }
            return "\(entry.event.rawValue) \(entry.refund.map { String($0.milliunits) } ?? "?")"
        }
    }

    @Test func `a refund that leaves the goods is told once, and takes nothing`() async throws {
        let month = item(Self.base, order: "GPA.1", until: day(30))
        let bought = try statement("t", month, orders: try order("GPA.1", [(Self.base, 4_990)]))
        #expect(try await redeem(bought, for: alice) == [.granted])
        advance(seconds: 3600)
        for _ in 0..<2 {
            let refunded = try order("GPA.1", [(Self.base, 4_990)], "REFUNDED")
            _ = try await refresh(try statement("t", month, orders: refunded))
        }
        #expect(try await paidBack(alice) == ["GPA.1": 4_990])
        #expect(try await refunds(alice) == ["paymentRefunded 4990"])
        #expect(try await plus(alice) == [1])
        // The goods are taken later, and pay nothing back again.
        advance(seconds: 3600)
        let whole = try order("GPA.1", [(Self.base, 4_990)], "REFUNDED")
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) { _ in whole } == [.revoked])
        #expect(try await refunds(alice) == ["paymentRefunded 4990", "revoked 0"])
        #expect(try await plus(alice) == [])
    }

    @Test func `the order says how much a voided period has paid back`() async throws {
        let month = item(Self.base, order: "GPA.1", until: day(30))
        let bought = try statement("t", month, orders: try order("GPA.1", [(Self.base, 6_000)]))
        #expect(try await redeem(bought, for: alice) == [.granted])
        advance(seconds: 60)
        let part = try order("GPA.1", [(Self.base, 6_000)], "PARTIALLY_REFUNDED", back: 1_500, 500)
        for _ in 0..<2 { _ = try await purchases.apply(try voided("t", order: "GPA.1")) { _ in part } }
        #expect(try await paidBack(alice) == ["GPA.1": 2_000])
        #expect(try await refunds(alice) == ["revoked 2000"])
    }

    @Test
    func `a voided period pays its price back if nobody may see the order, and an unknown amount without a price`()
        async throws
    {
        let priced = try statement(
            "t", item(Self.base, order: "GPA.1", until: day(30)), orders: try order("GPA.1", [(Self.base, 6_000)]))
        #expect(try await redeem(priced, for: alice) == [.granted])
        #expect(
            try await redeem(try subscription("u", items: item(Self.base, order: "GPA.2", until: day(30))), for: bob)
                == [.granted])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) == [.revoked])
        #expect(try await purchases.apply(try voided("u", order: "GPA.2")) == [.revoked])
        #expect(try await paidBack(alice) == ["GPA.1": 6_000])
        #expect(try await paidBack(bob) == ["GPA.2": nil])
        #expect(try await refunds(bob) == ["revoked ?"])
    }

    @Test func `a voided purchase has who has voided it and why, whether it was redeemed before or later`() async throws
    {
        let first = try subscription("t", items: item(Self.base, order: "GPA.1", until: day(30)))
        #expect(try await redeem(first, for: alice) == [.granted])
        let later = try subscription("u", items: item(Self.base, order: "GPA.2", until: day(30)))
        _ = try await purchases.record(later, continuing: nil)
        advance(seconds: 60)
        for (token, order) in [("t", "GPA.1"), ("u", "GPA.2")] {
            _ = try await purchases.apply(try voided(token, order: order))
        }
        _ = try await redeem(later, for: bob)
        for user in [alice, bob] {
            let facts = try #require(try await transactions(user).first).facts
            #expect(facts.integer(.voidedSource) == 2 && facts.integer(.voidedReason) == 7)
        }
    }

    @Test func `the money of an earlier period is that of its order`() async throws {
        let first = try order("GPA.1", [(Self.base, 4_990)])
        _ = try await redeem(
            try statement("t", item(Self.base, order: "GPA.1", until: day(30)), orders: first), for: alice)
        advance(seconds: 30 * 86_400)
        let renewed = try statement(
            "t", item(Self.base, order: "GPA.1..0", until: day(30)),
            orders: try order("GPA.1..0", [(Self.base, 4_990)]))
        #expect(try await refresh(renewed) == [.granted])
        let purchase = try #require(try await purchases.purchase(of: "t"))
        #expect(try await purchases.earlierOrders(of: purchase) == ["GPA.1"])
        let refunded = try order("GPA.1", [(Self.base, 4_990)], "REFUNDED")
        for _ in 0..<2 { _ = try await purchases.apply(refunded, of: purchase) }
        #expect(try await paidBack(alice) == ["GPA.1": 4_990])
        #expect(try await refunds(alice) == ["paymentRefunded 4990"])
        #expect(try await purchases.earlierOrders(of: purchase).isEmpty)
        #expect(try await plus(alice) == [1])
    }

    @Test func `each earlier order of three years is asked for, the last one first`() async throws {
        func period(_ order: String) throws -> GooglePlayStatement {
            try statement(
                "t", item(Self.base, order: order, until: day(30)), orders: try self.order(order, [(Self.base, 4_990)]))
        }
        _ = try await redeem(try period("GPA.1"), for: alice)
        for number in 0..<3 {
            advance(seconds: 30 * 86_400)
            _ = try await refresh(try period("GPA.1..\(number)"))
        }
        let purchase = try #require(try await purchases.purchase(of: "t"))
        #expect(try await purchases.earlierOrders(of: purchase) == ["GPA.1..1", "GPA.1..0", "GPA.1"])
        advance(seconds: 3 * 366 * 86_400 - 75 * 86_400)
        #expect(try await purchases.earlierOrders(of: purchase) == ["GPA.1..1", "GPA.1..0"])
    }

    @Test func `a voided order of two products takes the one that was paid back`() async throws {
        let lines = [(Self.base, 4_990 as Int64), (Self.add, 9_990)]
        let both = try statement(
            "t", item(Self.base, order: "GPA.1", until: day(30)), item(Self.add, order: "GPA.1", until: day(30)),
            orders: try order("GPA.1", lines))
        #expect(try await redeem(both, for: alice) == [.granted, .granted])
        advance(seconds: 60)
        let part = try order("GPA.1", lines, "PARTIALLY_REFUNDED", back: 9_990)
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) { _ in part } == [.revoked])
        #expect(try await plus(alice) == [1])
        #expect(try await refunds(alice) == ["revoked 9990"])
    }

    @Test func `units pay back what the order says, or their share of the price`() async throws {
        let bought = try order("GPA.t", [("garden.seeds", 5_000)])
        #expect(try await redeem(try seeds("t", units: 5, orders: bought), for: alice) == [.granted])
        advance(seconds: 60)
        // Nobody may see the order any more.
        _ = try await purchases.apply(try units(2, of: "t"))
        #expect(try await paidBack(alice) == ["GPA.t": 2_000])
        _ = try await refresh(try seeds("t", units: 5, refundable: 3))
        #expect(try await paidBack(alice) == ["GPA.t": 2_000])
        advance(seconds: 60)
        let part = try order("GPA.t", [("garden.seeds", 5_000)], "PARTIALLY_REFUNDED", back: 1_990, 1_000)
        for _ in 0..<2 { _ = try await purchases.apply(try units(1, of: "t")) { _ in part } }
        #expect(try await paidBack(alice) == ["GPA.t": 2_990])
        #expect(try await refunds(alice) == ["paymentRefunded 2000", "paymentRefunded 990"])
        advance(seconds: 60)
        #expect(try await purchases.apply(try units(nil, of: "t")) == [.revoked])
        #expect(try await paidBack(alice) == ["GPA.t": 5_000])
        #expect(try await refunds(alice).last == "revoked 2010")
    }

    @Test func `units that were paid back before the redemption are known`() async throws {
        let part = try order("GPA.t", [("garden.seeds", 5_000)], "PARTIALLY_REFUNDED", back: 2_000)
        #expect(try await redeem(try seeds("t", units: 5, refundable: 3, orders: part), for: alice) == [.granted])
        #expect(try await paidBack(alice) == ["GPA.t": 2_000])
        #expect(try await refunds(alice) == ["paymentRefunded 2000"])
        // Without the order, and without a price.
        #expect(try await redeem(try seeds("u", units: 5, refundable: 3), for: bob) == [.granted])
        #expect(try await paidBack(bob) == ["GPA.u": nil])
    }
}
