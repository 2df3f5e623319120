import Catalog
import Foundation
import PlayStore
import Proofs
import TestSupport
import Testing

/// Subscriptions with add-ons (developer.android.com/google/play/billing/subscription-with-addons), without a database and at a Play.
@Suite struct AddOnTests {
    /// 2026-08-01, the first of a month of 31 days.
    private static let start = Timestamp(secondsSince1970: 1_785_542_400)
    private static let noReason = VoidedPurchase.Reason.other

    private static func dollars(_ cents: Int64) -> Money { Money(currencyCode: "USD", billionths: cents * 10_000_000) }

    private let folder: TemporaryFolder
    private let play: GooglePlay

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: ManualClock(), randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
    }

    private func terms(
        _ productId: String, cents: Int64 = 1000, _ change: (inout RecurringPurchase.Terms) -> Void = { _ in }
    ) -> RecurringPurchase.Terms {
        var terms = RecurringPurchase.Terms(
            packageName: "com.example.garden", productId: productId, basePlanId: "monthly", title: productId,
            regionCode: "US", price: Self.dollars(cents), period: .oneMonth)
        (terms.graceDays, terms.holdDays) = (0, 30)
        change(&terms)
        return terms
    }

    private func purchase(
        _ base: RecurringPurchase.Terms, _ addOns: RecurringPurchase.AddOn..., order: String = "GPA.1",
        replacing old: RecurringPurchase? = nil, _ mode: ReplacementMode? = nil, at now: Timestamp = start
    ) throws -> RecurringPurchase {
        var purchase = RecurringPurchase(
            number: 1, token: order, account: "ada", terms: base, orderId: order, replacing: old, mode, with: addOns,
            at: now)
        try purchase.acknowledge(SubscriptionRequests.Acknowledge())
        return purchase
    }

    /// Performs the next due event, and returns the state and the types of notifications.
    private func advance(_ purchase: inout RecurringPurchase) -> String {
        "\(purchase.nextMoment.map { String($0.rfc3339.prefix(10)) } ?? "") \(Self.text(purchase.advance())) \(purchase.state)"
    }

    private static func text(_ effects: [RecurringPurchase.Effect]) -> String {
        effects.compactMap { effect in
            if case .notification(let type) = effect { String(type.rawValue) } else { nil }
        }.joined(separator: ",")
    }

    /// The products with their ends.
    private static func ends(_ purchase: RecurringPurchase) -> [String] {
        purchase.items.map { "\($0.terms.productId) \($0.expiryTime.rfc3339.prefix(10))" }
    }

    private static let free = RecurringPurchase.Phase(
        kind: .freeTrial, length: SubscriptionPeriod("P1W") ?? .oneMonth, price: dollars(0))

    @Test func `the items of a purchase renew together, with one order of a line each`() throws {
        var purchase = try purchase(terms("base"), .init(terms("sports", cents: 500)))
        #expect(advance(&purchase) == "2026-09-01 2 active")
        #expect(purchase.items.map { $0.periods.map(\.orderId) } == [["GPA.1", "GPA.1..0"], ["GPA.1", "GPA.1..0"]])
        #expect(Self.ends(purchase) == ["base 2026-10-01", "sports 2026-10-01"])
        let answer = purchase.subscriptionPurchase(at: Self.start)
        #expect(answer.lineItems?.map(\.productId) == ["base", "sports"])
        #expect(answer.lineItems?.compactMap(\.latestSuccessfulOrderId) == ["GPA.1..0", "GPA.1..0"])
        _ = try purchase.cancel(.user(Self.start), at: Self.start)
        #expect(advance(&purchase) == "2026-10-01 13 expired")
    }

    @Test func `a new add-on is paid until the renewal of the base item, which keeps its price and order`() throws {
        let old = try purchase(terms("base"))
        let middle = Self.start.adding(days: 21)
        var new = try purchase(
            terms("base", cents: 9900), .init(terms("sports", cents: 3100)), order: "GPA.2", replacing: old,
            .keepExisting, at: middle)
        #expect(new.linkedToken == old.token && new.terms.price == Self.dollars(1000))
        #expect(new.periods.map(\.orderId) == ["GPA.1"] && new.replacement?.mode == .keepExisting)
        let sports = try #require(new.addOns.first?.periods.first)
        #expect(sports.orderId == "GPA.2" && sports.kind == .proration && sports.price == Self.dollars(1000))
        #expect(Self.ends(new) == ["base 2026-09-01", "sports 2026-09-01"])
        #expect(advance(&new) == "2026-09-01 2 active")
        #expect(new.items.compactMap(\.periods.last?.orderId) == ["GPA.2..0", "GPA.2..0"])
        #expect(new.addOns.first?.periods.last?.price == Self.dollars(3100))
    }

    @Test func `an add-on that is not named stays until its end, and leaves with a notification`() throws {
        let old = try purchase(terms("base"), .init(terms("sports")), .init(terms("films")))
        var new = try purchase(
            terms("base"), .init(terms("films"), replacing: "films", .keepExisting), order: "GPA.2", replacing: old,
            .keepExisting, at: Self.start.adding(days: 1))
        let lines = try #require(new.subscriptionPurchase(at: Self.start).lineItems)
        #expect(lines.map(\.productId) == ["base", "films", "sports"])
        #expect(lines.map { $0.deferredItemRemoval != nil } == [false, false, true])
        #expect(lines.map { $0.autoRenewingPlan?.autoRenewEnabled } == [true, true, false])
        #expect(lines.map { $0.itemReplacement?.replacementMode } == ["KEEP_EXISTING", "KEEP_EXISTING", nil])
        #expect(lines.compactMap(\.latestSuccessfulOrderId) == ["GPA.1", "GPA.1", "GPA.1"])
        #expect(advance(&new) == "2026-09-01 17,2 active")
        #expect(Self.ends(new) == ["base 2026-10-01", "films 2026-10-01"])
    }

    @Test func `the base item leaves when an add-on takes its place`() throws {
        let old = try purchase(terms("base"), .init(terms("sports")))
        var new = try purchase(
            terms("sports"), order: "GPA.2", replacing: old, .keepExisting, at: Self.start.adding(days: 1))
        #expect(new.terms.productId == "sports" && new.addOns.map(\.isRemoved) == [true])
        #expect(advance(&new) == "2026-09-01 17,2 active")
        #expect(Self.ends(new) == ["sports 2026-10-01"])
    }

    @Test func `an add-on replaces another one in its own mode`() throws {
        let old = try purchase(terms("base"), .init(terms("sports", cents: 500)))
        var new = try purchase(
            terms("base"), .init(terms("films"), replacing: "sports", .withoutProration), order: "GPA.2",
            replacing: old, .keepExisting, at: Self.start.adding(days: 1))
        #expect(new.addOns.first?.replacement?.productId == "sports")
        #expect(advance(&new) == "2026-09-01 2 active")
        #expect(Self.ends(new) == ["base 2026-10-01", "films 2026-10-01"])
    }

    @Test func `the trial of an add-on is followed by a charge until the common renewal`() throws {
        let old = try purchase(terms("base"))
        let trial = terms("sports", cents: 3100) { $0.phases = [Self.free] }
        var new = try purchase(
            terms("base"), .init(trial), order: "GPA.2", replacing: old, .keepExisting, at: Self.start.adding(days: 14))
        #expect(Self.ends(new) == ["base 2026-09-01", "sports 2026-08-22"])
        #expect(advance(&new) == "2026-08-22 2 active")
        #expect(new.addOns.first?.periods.last?.price == Self.dollars(1000))
        #expect(advance(&new) == "2026-09-01 2 active")
        #expect(Self.ends(new) == ["base 2026-10-01", "sports 2026-10-01"])
        #expect(new.addOns.first?.periods.map(\.kind) == [.freeTrial, .proration, .base])
    }

    /// The example of Google's page, "Account hold": the base item has ten days left when the charge of the add-on fails.
    @Test(arguments: [true, false]) func `a hold for an add-on gives the base item its days back`(isPaid: Bool) throws {
        let trial = terms("sports") { $0.phases = [Self.free] }
        var purchase = try purchase(
            terms("base"), .init(trial), order: "GPA.2", replacing: purchase(terms("base")), .keepExisting,
            at: Self.start.adding(days: 14))
        _ = purchase.setDeclines(true, at: Self.start.adding(days: 15))
        #expect(advance(&purchase) == "2026-08-22 5 onHold")
        if isPaid {
            let recovered = purchase.setDeclines(false, at: Self.start.adding(days: 24))
            #expect(Self.text(recovered) == "1")
            #expect(Self.ends(purchase) == ["base 2026-09-04", "sports 2026-09-04"])
        } else {
            #expect(advance(&purchase) == "2026-09-21 3 canceled")
            #expect(Self.ends(purchase) == ["base 2026-10-01", "sports 2026-08-22"])
            #expect(advance(&purchase) == "2026-10-01 13 expired")
        }
    }

    @Test func `the shortest grace period counts, and each item is charged from its own renewal`() throws {
        let trial = terms("sports") { ($0.phases, $0.graceDays) = ([Self.free], 20) }
        var purchase = try purchase(
            terms("base") { $0.graceDays = 14 }, .init(trial), order: "GPA.2",
            replacing: purchase(terms("base") { $0.graceDays = 14 }), .keepExisting, at: Self.start.adding(days: 14))
        _ = purchase.setDeclines(true, at: Self.start.adding(days: 15))
        #expect(advance(&purchase) == "2026-08-22 6 inGracePeriod")
        #expect(Self.ends(purchase) == ["base 2026-09-01", "sports 2026-09-05"])
        #expect(advance(&purchase) == "2026-09-01  inGracePeriod")
        #expect(Self.ends(purchase) == ["base 2026-09-05", "sports 2026-09-05"])
        #expect(Self.text(purchase.setDeclines(false, at: Self.start.adding(days: 33))) == "2")
        #expect(
            purchase.items.compactMap { $0.periods.last?.start.rfc3339.prefix(10) } == ["2026-09-01", "2026-08-22"])
        #expect(purchase.expiryTime.rfc3339.prefix(10) == "2026-10-01")
    }

    @Test func `an item that is revoked alone is paid back in its order, and the others go on`() throws {
        var purchase = try purchase(terms("base"), .init(terms("sports", cents: 500)))
        let effects = try purchase.revoke(
            products: ["base"], source: .developer, reason: Self.noReason, at: Self.start.adding(days: 1))
        #expect(Self.text(effects) == "17" && effects.count == 2)
        #expect(purchase.state == .active && purchase.items.map(\.terms.productId) == ["sports"])
        #expect(advance(&purchase) == "2026-09-01 2 active")
        #expect(
            try Self.text(
                purchase.revoke(products: ["sports"], source: .developer, reason: Self.noReason, at: Self.start))
                == "12")
        #expect(purchase.state == .expired)
    }

    @Test func `a deferral moves all items, and a revocation pays each back`() throws {
        var purchase = try purchase(terms("base"), .init(terms("sports", cents: 500)))
        #expect(try Self.text(purchase.deferRenewal(bySeconds: 86_400)) == "9")
        #expect(Self.ends(purchase) == ["base 2026-09-02", "sports 2026-09-02"])
        let effects = try purchase.revoke(
            isProrated: false, source: .developer, reason: Self.noReason, at: Self.start.adding(days: 1))
        #expect(effects.count == 2)
        #expect(purchase.items.map { $0.periods.last?.refunded } == [Self.dollars(1000), Self.dollars(500)])
    }

    @Test func `an increase of one item waits for the answer to that of another one`() throws {
        var purchase = try purchase(terms("base"), .init(terms("sports")))
        let later = Self.start.adding(days: 40)
        #expect(
            !purchase.changePrice(of: "base", to: Self.dollars(1200), isOptOut: false, at: Self.start).isEmpty)
        #expect(purchase.changePrice(of: "sports", to: Self.dollars(1200), isOptOut: false, at: later).isEmpty)
        // The same renewal, and no answer needed.
        #expect(
            !purchase.changePrice(of: "sports", to: Self.dollars(1100), isOptOut: false, at: Self.start).isEmpty)
        #expect(try Self.text(purchase.acceptPrice(at: later)) == "19,8")
        #expect(purchase.items.allSatisfy { $0.priceChange?.state == .confirmed })
        var waiting = try self.purchase(terms("base"), .init(terms("sports")))
        _ = waiting.changePrice(of: "base", to: Self.dollars(1200), isOptOut: false, at: Self.start)
        #expect(waiting.changePrice(of: "sports", to: Self.dollars(1200), isOptOut: false, at: later).isEmpty)
        #expect(try Self.text(waiting.acceptPrice(at: later)) == "19,8,19")
        #expect(waiting.items.map { $0.priceChange?.state } == [.confirmed, .outstanding])
        var unanswered = try self.purchase(terms("base"), .init(terms("sports")))
        _ = unanswered.changePrice(of: "sports", to: Self.dollars(1200), isOptOut: false, at: Self.start)
        #expect(advance(&unanswered) == "2026-09-01 2 active")
        #expect(advance(&unanswered) == "2026-10-01 3,13 expired")
    }

    // MARK: At a Play

    private static let packageName = "com.example.garden"
    private static let (basic, premium) = ("garden.basic.monthly", "garden.premium.monthly")

    private func subscribe(
        _ productId: String, with addOns: [String] = [], replacing number: Int64? = nil,
        _ change: (inout PlayPurchaseOrder) -> Void = { _ in }
    ) throws -> RecurringPurchase {
        var order = PlayPurchaseOrder(packageName: Self.packageName, productId: productId, account: "ada")
        (order.addOns, order.replacedNumber) = (addOns.map { PlayAddOnOrder(productId: $0) }, number)
        change(&order)
        return try play.perform { books in
            let purchase = try books.subscribe(order)
            try books.acknowledge(purchase, SubscriptionRequests.Acknowledge())
            return try books.subscription(purchase.number)
        }
    }

    @Test func `a customer adds and removes an add-on, and each change has a token`() throws {
        let alone = try subscribe(Self.basic)
        let both = try subscribe(Self.basic, with: [Self.premium], replacing: alone.number)
        #expect(both.linkedToken == alone.token && both.items.map(\.terms.productId) == [Self.basic, Self.premium])
        let signed = try play.perform { try $0.signed(both) }
        #expect(
            String(decoding: signed.data, as: UTF8.self).contains(
                #""productIds":["\#(Self.basic)","\#(Self.premium)"]"#))
        let removed = try subscribe(Self.basic, replacing: both.number, { $0.replacementMode = .keepExisting })
        #expect(removed.addOns.map(\.isRemoved) == [true])
        // A customer who changes their mind keeps it.
        let restored = try subscribe(Self.basic, with: [Self.premium], replacing: removed.number)
        #expect(restored.addOns.map(\.isRemoved) == [false] && restored.addOns.first?.periods.count == 1)
        let notified = try play.perform { try $0.notifications() }.reversed().map(\.notification)
        #expect(
            notified.compactMap(\.subscriptionNotification).map(\.notificationType) == [4, 13, 4, 13, 4, 13, 4])
        #expect(notified.compactMap(\.subscriptionNotification?.subscriptionId) == [Self.basic, Self.basic])
        let order = try play.perform {
            try $0.order(both.addOns.first?.periods.first?.orderId ?? "", in: Self.packageName)
        }
        #expect(order?.lineItems?.compactMap(\.productId) == [Self.premium])
    }

    @Test func `an order of several items says for which one it was refunded`() throws {
        let both = try subscribe(Self.basic, with: [Self.premium])
        let request = #"{"revocationContext":{"itemBasedRefund":{"productId":"\#(Self.premium)"}}}"#
        let revoke = try JSONDecoder().decode(SubscriptionRequests.Revoke.self, from: Data(request.utf8))
        try play.perform { try $0.revoke(try $0.subscription(both.number), revoke) }
        let order = try #require(
            try play.perform { try $0.order(both.periods.first?.orderId ?? "", in: Self.packageName) })
        #expect(order.state == "PARTIALLY_REFUNDED" && order.lineItems?.count == 2)
        let paidBack = order.orderHistory?.partialRefundEvents?.map(\.refundDetails?.total)
        #expect(paidBack == [order.lineItems?.last?.total])
        #expect(throws: PublisherError.self) {
            try play.perform { try $0.revoke(try $0.subscription(both.number), revoke) }
        }
    }

    @Test func `what Google does not sell together is refused`() throws {
        #expect(throws: PlayError.self) { try subscribe(Self.basic, with: ["garden.basic.yearly"]) }
        #expect(throws: PlayError.self) { try subscribe(Self.basic, with: [Self.basic]) }
        #expect(throws: PlayError.self) {
            try subscribe(Self.basic, with: [Self.premium], { $0.addOns[0].replacementMode = .deferred })
        }
        _ = try subscribe(Self.premium)
        #expect(throws: PlayError.self) { try subscribe(Self.basic, with: [Self.premium]) }
    }
}
