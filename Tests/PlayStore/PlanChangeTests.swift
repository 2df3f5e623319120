import PlayStore
import Proofs
import Testing

/// Upgrades, downgrades, top-ups, installments and price changes, without a database.
@Suite struct PlanChangeTests {
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)
    /// The half of a plan of ten days.
    private static let middle = start.adding(days: 5)

    private func terms(
        _ productId: String = "premium", _ planId: String = "monthly", price units: Int64 = 10,
        _ change: (inout RecurringPurchase.Terms) -> Void = { _ in }
    ) -> RecurringPurchase.Terms {
        var terms = RecurringPurchase.Terms(
            packageName: "com.example.garden", productId: productId, basePlanId: planId, title: "Premium",
            regionCode: "US", price: Self.dollars(units), period: SubscriptionPeriod("P10D") ?? .oneMonth)
        change(&terms)
        return terms
    }

    private func purchase(
        _ terms: RecurringPurchase.Terms, replacing old: RecurringPurchase? = nil, _ mode: ReplacementMode? = nil,
        isPending: Bool = false, isAcknowledged: Bool = true, at now: Timestamp = start
    ) throws -> RecurringPurchase {
        var purchase = RecurringPurchase(
            number: 1, token: "token", account: "ada", terms: terms, orderId: old == nil ? "GPA.1" : "GPA.2",
            replacing: old, mode, isPending: isPending, at: now)
        if isAcknowledged, !isPending { try purchase.acknowledge(SubscriptionRequests.Acknowledge()) }
        return purchase
    }

    private static func dollars(_ units: Int64) -> Money {
        Money(currencyCode: "USD", billionths: units * 1_000_000_000)
    }

    /// Performs the next due event, and returns the state and the types of notifications.
    private func advance(_ purchase: inout RecurringPurchase) -> String {
        let types = Self.types(purchase.advance()).map(String.init)
        return "\(purchase.state.rawValue) \(types.joined(separator: ","))"
    }

    private static func types(_ effects: [RecurringPurchase.Effect]) -> [Int32] {
        effects.compactMap { effect in
            if case .notification(let type) = effect { type.rawValue } else { nil }
        }
    }

    /// The price in dollars, and the hours of the first period, when a plan of 20 dollars replaces one of 10 in its middle.
    @Test(
        arguments: [
            (.withTimeProration, 0, 60), (.chargeProratedPrice, 5, 120), (.withoutProration, 0, 120),
            (.chargeFullPrice, 20, 300),
        ] as [(ReplacementMode, Int64, Int64)])
    func `each mode has its price and its next renewal`(mode: ReplacementMode, price: Int64, hours: Int64) throws {
        let old = try purchase(terms())
        var new = try purchase(terms("gold", price: 20), replacing: old, mode, at: Self.middle)
        let first = try #require(new.periods.first)
        #expect(new.linkedToken == old.token && new.replacement?.mode == mode)
        #expect(first.orderId == "GPA.2" && first.kind == .proration && first.price == Self.dollars(price))
        #expect(first.original == (mode == .chargeFullPrice ? .base : nil))
        #expect(new.expiryTime == Self.middle.adding(seconds: hours * 3600))
        #expect(advance(&new) == "active 2")
        #expect(new.periods.last?.orderId == "GPA.2..0" && new.periods.last?.price == Self.dollars(20))
    }

    @Test func `a deferred plan begins with the renewal`() throws {
        let old = try purchase(terms())
        var new = try purchase(terms("gold", price: 20), replacing: old, .deferred, at: Self.middle)
        #expect(new.terms.productId == "premium" && new.plannedTerms?.productId == "gold")
        #expect(new.expiryTime == old.expiryTime && new.periods.map(\.orderId) == ["GPA.1"])
        #expect(advance(&new) == "active 2")
        #expect(new.terms.productId == "gold" && new.plannedTerms == nil)
        #expect(new.periods.map(\.orderId) == ["GPA.1", "GPA.2"])
        #expect(new.periods.last?.price == Self.dollars(20))
    }

    @Test func `a canceled deferred plan never begins`() throws {
        var new = try purchase(terms("gold"), replacing: purchase(terms()), .deferred, at: Self.middle)
        _ = try new.cancel(.user(Self.middle), at: Self.middle)
        #expect(advance(&new) == "expired 13")
        #expect(new.terms.productId == "premium")
    }

    @Test func `without a mode, Google's default applies`() throws {
        let old = try purchase(terms())
        #expect(try old.replacementMode(nil, to: terms("gold")) == .withTimeProration)
        #expect(try old.replacementMode(nil, to: terms("premium", "yearly")) == .withoutProration)
        #expect(
            try old.replacementMode(nil, to: terms("premium", "yearly") { $0.chargesChangesAtOnce = true })
                == .chargeFullPrice)
        #expect(try old.replacementMode(nil, to: terms("gold") { $0.isPrepaid = true }) == .chargeFullPrice)
        var canceled = old
        _ = try canceled.cancel(.user(Self.start), at: Self.start)
        #expect(try canceled.replacementMode(nil, to: terms()) == nil)
    }

    @Test func `changes that Google refuses are refused`() throws {
        let old = try purchase(terms())
        let prepaid = terms("premium", "prepaid") { $0.isPrepaid = true }
        let installments = terms { $0.commitment = .init(payments: 3, isRenewed: false) }
        let cases: [(RecurringPurchase, ReplacementMode?, RecurringPurchase.Terms)] = [
            (try purchase(terms(), isAcknowledged: false), nil, terms("gold")),
            (old, nil, terms()), (old, .keepExisting, terms("gold")), (old, .withTimeProration, prepaid),
            (old, .deferred, terms("premium", "yearly")), (old, .withTimeProration, terms("premium", "yearly")),
            (old, .chargeProratedPrice, terms("gold", price: 10)),
            (try purchase(installments), .chargeFullPrice, terms("premium", "yearly")),
            (try purchase(prepaid), .deferred, terms("gold")),
            (
                try purchase(prepaid), nil,
                terms("premium", "prepaid") { ($0.isPrepaid, $0.allowsExtension) = (true, false) }
            ),
        ]
        for (index, (old, mode, new)) in cases.enumerated() {
            #expect(throws: PlayError.self, "case \(index)") { try old.replacementMode(mode, to: new) }
        }
    }

    @Test func `a top-up extends a prepaid plan`() throws {
        let prepaid = terms { $0.isPrepaid = true }
        let old = try purchase(prepaid)
        #expect(try old.replacementMode(nil, to: prepaid) == nil)
        let new = try purchase(prepaid, replacing: old, isAcknowledged: false, at: Self.middle)
        #expect(new.expiryTime == Self.start.adding(days: 20) && new.replacement == nil)
        #expect(new.acknowledgementDeadline == Self.middle.adding(days: 3))
    }

    @Test func `a pending purchase begins with its payment, or never`() throws {
        let prepaid = terms { $0.isPrepaid = true }
        var pending = try purchase(prepaid, isPending: true)
        #expect(pending.state == .pending && pending.nextMoment == nil && pending.periods.isEmpty)
        #expect(throws: PublisherError.self) { try pending.acknowledge(SubscriptionRequests.Acknowledge()) }
        #expect(try Self.types(pending.complete(replacing: nil, at: Self.middle)) == [4])
        #expect(pending.startTime == Self.middle && pending.expiryTime == Self.middle.adding(days: 10))
        #expect(throws: PlayError.self) { try pending.complete(replacing: nil, at: Self.middle) }
    }

    @Test func `a cancelled commitment is paid to its end`() throws {
        var purchase = try purchase(terms { $0.commitment = .init(payments: 3, isRenewed: false) })
        #expect(purchase.remainingCommittedPayments == 2)
        #expect(try Self.types(purchase.cancel(.user(Self.start), at: Self.start)) == [18])
        #expect(try purchase.cancel(.user(Self.start), at: Self.start).isEmpty)
        #expect(try Self.types(purchase.restore()) == [7])
        #expect(try Self.types(purchase.cancel(.user(Self.start), at: Self.start)) == [18])
        #expect([advance(&purchase), advance(&purchase)] == ["active 2", "active 2"])
        #expect(purchase.remainingCommittedPayments == 0)
        #expect(advance(&purchase) == "expired 3,13")
        #expect(purchase.cancellation == .user(Self.start))
    }

    @Test func `a commitment is renewed, or becomes a plan like another`() throws {
        for (isRenewed, expected) in [(true, [2, 1, 0, 2, 1, 0, 2]), (false, [2, 1, 0, 0, 0, 0, 0])] {
            var purchase = try purchase(terms { $0.commitment = .init(payments: 3, isRenewed: isRenewed) })
            var remaining = [purchase.remainingCommittedPayments]
            for _ in 0..<6 {
                _ = purchase.advance()
                remaining.append(purchase.remainingCommittedPayments)
            }
            #expect(remaining == expected)
        }
    }

    @Test func `an increase needs consent after 37 days`() throws {
        var purchase = try purchase(terms())
        #expect(Self.types(purchase.changePrice(to: Self.dollars(12), isOptOut: false, at: Self.start)) == [19])
        #expect(purchase.priceChange?.state == .outstanding && purchase.priceChange?.mode == .optIn)
        #expect(purchase.expectedNewPriceTime == Self.start.adding(days: 40))
        var silent = purchase
        #expect((0..<3).map { _ in advance(&purchase) } == Array(repeating: "active 2", count: 3))
        var agreeing = purchase
        #expect(advance(&purchase) == "expired 3,13")
        #expect(try Self.types(agreeing.acceptPrice(at: Self.start)) == [19, 8])
        #expect(throws: PlayError.self) { try agreeing.acceptPrice(at: Self.start) }
        #expect(advance(&agreeing) == "active 2,19")
        #expect(agreeing.periods.map(\.price) == [10, 10, 10, 10, 12].map(Self.dollars))
        #expect(agreeing.priceChange?.state == .applied && agreeing.expectedNewPriceTime == nil)
        // The price of before ends the change.
        #expect(Self.types(silent.changePrice(to: Self.dollars(10), isOptOut: false, at: Self.start)) == [19])
        #expect(silent.priceChange?.state == .canceled)
        // A second increase cancels the first one.
        var twice = try self.purchase(terms())
        _ = twice.changePrice(to: Self.dollars(12), isOptOut: false, at: Self.start)
        #expect(Self.types(twice.changePrice(to: Self.dollars(13), isOptOut: true, at: Self.start)) == [19, 19])
        #expect(twice.priceChange?.newPrice == Self.dollars(13) && twice.priceChange?.state == .confirmed)
        #expect((0..<5).map { _ in advance(&silent) } == Array(repeating: "active 2", count: 5))
    }

    @Test func `a decrease comes with the next renewal, and an opt-out increase after 30 days`() throws {
        var decrease = try purchase(terms())
        _ = decrease.changePrice(to: Self.dollars(8), isOptOut: false, at: Self.start)
        #expect(decrease.priceChange?.mode == .decrease && decrease.priceChange?.state == .confirmed)
        #expect(advance(&decrease) == "active 2,19")
        #expect(decrease.periods.last?.price == Self.dollars(8))
        var increase = try purchase(terms())
        _ = increase.changePrice(to: Self.dollars(12), isOptOut: true, at: Self.start)
        #expect(increase.priceChange?.mode == .optOut && increase.priceChange?.state == .confirmed)
        #expect((0..<3).map { _ in advance(&increase) } == ["active 2", "active 2", "active 2,19"])
    }

    @Test func `a license tester's notice lasts minutes`() throws {
        var purchase = try purchase(
            terms {
                $0.isTest = true
                $0.period = .oneMonth
            })
        _ = purchase.changePrice(to: Self.dollars(12), isOptOut: false, at: Self.start)
        #expect(purchase.expectedNewPriceTime == Self.start.adding(seconds: 300))
    }
}
