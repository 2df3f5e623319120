import Foundation
import HTTPSupport
import PlayStore
import Proofs
import TestSupport
import Testing

/// A year of a customer at the local Play. Its clock is moved by hand, and nobody sleeps.
@Suite struct PlayYearTests {
    private static let packageName = "com.example.garden"

    private let folder: TemporaryFolder
    private let play: GooglePlay

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: ManualClock(), randomness: .seeded(1), newKey: TestKeys().next)
        try sell(goldPrice: 20)
    }

    /// Sells two subscriptions from now on.
    private func sell(goldPrice: Int) throws {
        func product(_ productId: String, _ price: Int, _ plans: String = "") -> String {
            """
            {"packageName": "\(Self.packageName)", "productId": "\(productId)",
             "listings": [{"languageCode": "en-US", "title": "\(productId)"}],
             "basePlans": [\(plans){"basePlanId": "monthly", "state": "ACTIVE",
                "autoRenewingBasePlanType": {"billingPeriodDuration": "P1M", "gracePeriodDuration": "P3D"},
                "regionalConfigs": [{"regionCode": "US", "price": {"currencyCode": "USD", "units": "\(price)"}}]}]}
            """
        }
        let trial = """
            {"packageName": "\(Self.packageName)", "productId": "premium", "basePlanId": "monthly", "offerId": "trial",
             "state": "ACTIVE", "phases": [{"duration": "P1W", "regionalConfigs": [{"regionCode": "US", "free": {}}]}]}
            """
        let file = folder.file("Year.play.json")
        let catalog = """
            {"subscriptions": [\(product("premium", 10)), \(product("gold", goldPrice))], "subscriptionOffers": [\(trial)]}
            """
        try Data(catalog.utf8).write(to: file)
        try play.perform { try $0.add(PlayCatalog(file: file)) }
    }

    private func advance(_ step: String) throws {
        let step = try #require(TimeStep(step))
        _ = try play.perform { try $0.advance(step) }
        // What is due happens in the next use case.
        _ = try play.perform(\.now)
    }

    private func subscribe(
        _ productId: String, offer: String? = nil, _ change: (inout PlayPurchaseOrder) -> Void = { _ in }
    ) throws -> RecurringPurchase {
        var order = PlayPurchaseOrder(packageName: Self.packageName, productId: productId, account: "ada")
        change(&order)
        return try play.perform { books in
            let purchase = try books.subscribe(order, offerId: offer)
            try books.acknowledge(purchase, SubscriptionRequests.Acknowledge())
            return try books.subscription(purchase.number)
        }
    }

    private func perform(_ action: SubscriptionAction, on purchase: RecurringPurchase) throws {
        _ = try play.perform { try $0.perform(action, on: purchase.number) }
    }

    private func now(_ purchase: RecurringPurchase) throws -> RecurringPurchase {
        try play.perform { try $0.subscription(purchase.number) }
    }

    @Test func `a year has each event of a subscription, and its notification`() throws {
        let trial = try subscribe("premium", offer: "trial")
        try advance("8d")
        let gold = try subscribe("gold") {
            ($0.replacedNumber, $0.replacementMode) = (trial.number, .chargeProratedPrice)
        }
        #expect(gold.linkedToken == trial.token && gold.periods.first?.kind == .proration)
        #expect(try now(trial).cancellation == .replacement)
        // What was replaced goes on under the new token.
        #expect(throws: PlayError.self) { try perform(.resubscribe, on: trial) }
        try advance("1mo")
        try perform(.declinePayments, on: gold)
        try advance("1mo")
        #expect(try now(gold).state == .inGracePeriod)
        try advance("3d")
        #expect(try now(gold).state == .onHold)
        try perform(.acceptPayments, on: gold)
        try perform(.pause, on: gold)
        try advance("1mo")
        #expect(try now(gold).state == .paused)
        try advance("1mo")
        try sell(goldPrice: 25)
        let migration = """
            {"regionsVersion": {"version": "2025/03"}, "regionalPriceMigrations": [{"regionCode": "US",
             "oldestAllowedPriceVersionTime": "\(try play.perform(\.now.rfc3339))"}]}
            """
        let request = try JSONDecoder().decode(PriceMigrationRequests.Migrate.self, from: Data(migration.utf8))
        let path = #"{"packageName": "\#(Self.packageName)", "productId": "gold", "basePlanId": "monthly"}"#
        let place = try JSONDecoder().decode(CatalogPlace.self, from: Data(path.utf8))
        _ = try play.perform { try $0.migratePrices(request, at: place) }
        try perform(.acceptPrice, on: gold)
        try advance("2mo")
        #expect(try now(gold).terms.price == Money(currencyCode: "USD", billionths: 25_000_000_000))
        try perform(.refund, on: gold)
        let again = try subscribe("gold")
        #expect(again.linkedToken == nil)
        try perform(.cancel, on: again)
        try advance("1mo")
        #expect(try now(again).state == .expired)
        let outside = try play.perform { try $0.perform(.resubscribe, on: again.number) }
        #expect(outside.resubscribed?.token == again.token && outside.linkedToken == nil)
        let notified = try play.perform { try $0.notifications() }.reversed().map(\.notification)
        #expect(
            notified.map { $0.subscriptionNotification?.notificationType }
                == [4, 2, 13, 4, 2, 6, 5, 1, 11, 10, 1, 19, 19, 8, 2, 2, 19, 12, nil, 4, 3, 13, 4])
        #expect(notified.compactMap(\.voidedPurchaseNotification).map(\.productType) == [1])
    }

    @Test func `an offer without targeting wins a customer back`() throws {
        let first = try subscribe("premium", offer: "trial")
        try perform(.refund, on: first)
        #expect(try subscribe("premium", offer: "trial").periods.first?.kind == .freeTrial)
        let file = folder.file("New.play.json")
        let targeted = """
            {"subscriptionOffers": [{"packageName": "\(Self.packageName)", "productId": "premium",
             "basePlanId": "monthly", "offerId": "new", "state": "ACTIVE",
             "targeting": {"acquisitionRule": {"scope": {"thisSubscription": {}}}},
             "phases": [{"duration": "P1W", "regionalConfigs": [{"regionCode": "US", "free": {}}]}]}]}
            """
        try Data(targeted.utf8).write(to: file)
        try play.perform { try $0.add(PlayCatalog(file: file)) }
        try advance("2mo")
        #expect(throws: PlayError.self) { try subscribe("premium", offer: "new") { $0.replacementMode = nil } }
    }

    @Test func `an offer for an upgrade is for those who have the other subscription, once if it says so`() throws {
        let file = folder.file("Upgrade.play.json")
        let upgrade = #""scope": {"specificSubscriptionInApp": "premium"}, "billingPeriodDuration": "P1M""#
        let offers = [("up", upgrade + #", "oncePerUser": true"#), ("yearly", upgrade.replacing("P1M", with: "P1Y"))]
            .map {
                """
                {"packageName": "\(Self.packageName)", "productId": "gold", "basePlanId": "monthly", "offerId": "\($0)",
                 "state": "ACTIVE", "targeting": {"upgradeRule": {\($1)}},
                 "phases": [{"duration": "P1W", "regionalConfigs": [{"regionCode": "US", "free": {}}]}]}
                """
            }
        try Data("{\"subscriptionOffers\": [\(offers.joined(separator: ", "))]}".utf8).write(to: file)
        try play.perform { try $0.add(PlayCatalog(file: file)) }
        func expectRefusal(_ body: () throws -> RecurringPurchase) {
            let error = #expect(throws: PlayError.self) { try body() }
            #expect("\(error.map(String.init(describing:)) ?? "")".contains("other customers by its targeting"))
        }
        expectRefusal { try subscribe("gold", offer: "up") }
        func upgraded(_ offer: String) throws -> RecurringPurchase {
            let premium = try subscribe("premium")
            defer { try? perform(.refund, on: premium) }
            return try subscribe("gold", offer: offer) {
                ($0.replacedNumber, $0.replacementMode) = (premium.number, .chargeFullPrice)
            }
        }
        expectRefusal { try upgraded("yearly") }
        let first = try upgraded("up")
        #expect(first.terms.offerId == "up")
        try perform(.refund, on: first)
        expectRefusal { try upgraded("up") }
    }

    @Test func `a deferred change that is revoked refunds the order of the old purchase`() throws {
        let old = try subscribe("premium")
        let new = try subscribe("gold") { ($0.replacedNumber, $0.replacementMode) = (old.number, .deferred) }
        try perform(.refund, on: new)
        #expect(try now(old).periods.last?.refunded == old.terms.price)
    }

    @Test func `a pending top-up ends the old purchase with its payment`() throws {
        let file = folder.file("Prepaid.play.json")
        let catalog = """
            {"subscriptions": [{"packageName": "\(Self.packageName)", "productId": "pass",
             "listings": [{"languageCode": "en-US", "title": "Pass"}], "basePlans": [{"basePlanId": "month",
                "state": "ACTIVE", "prepaidBasePlanType": {"billingPeriodDuration": "P1M"},
                "regionalConfigs": [{"regionCode": "US", "price": {"currencyCode": "USD", "units": "5"}}]}]}]}
            """
        try Data(catalog.utf8).write(to: file)
        try play.perform { try $0.add(PlayCatalog(file: file)) }
        let first = try subscribe("pass")
        var order = PlayPurchaseOrder(packageName: Self.packageName, productId: "pass", account: "ada")
        order.isPending = true
        for (action, isEnded) in [(SubscriptionAction.cancel, false), (.complete, true)] {
            let pending = try play.perform { try $0.subscribe(order) }
            #expect(pending.state == .pending && pending.linkedToken == first.token)
            #expect(throws: PlayError.self) { try play.perform { try $0.subscribe(order) } }
            try perform(action, on: pending)
            #expect(try now(first).isEnded == isEnded)
            #expect(try now(pending).state == (isEnded ? .active : .pendingPurchaseCanceled))
        }
        let types = try play.perform { try $0.notifications() }.reversed()
            .map { $0.notification.subscriptionNotification?.notificationType }
        #expect(types == [4, 20, 13, 4])
    }
}
