import PlayStore
import Proofs
import Testing

/// The life of a subscription, without a database.
@Suite struct RecurringPurchaseTests {
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)

    private func purchase(
        _ change: (inout RecurringPurchase.Terms) -> Void = { _ in }, isAcknowledged: Bool = true
    ) throws -> RecurringPurchase {
        var terms = RecurringPurchase.Terms(
            packageName: "com.example.garden", productId: "premium", basePlanId: "monthly", title: "Premium",
            regionCode: "US", price: Money(currencyCode: "USD", billionths: 10_000_000_000), period: .oneMonth)
        (terms.graceDays, terms.holdDays) = (3, 30)
        change(&terms)
        var purchase = RecurringPurchase(
            number: 1, token: "token", account: "ada", terms: terms, orderId: "GPA.1", at: Self.start)
        if isAcknowledged { try purchase.acknowledge(SubscriptionRequests.Acknowledge()) }
        return purchase
    }

    /// Performs a number of due events, and returns the states and notification types after each.
    private func play(_ purchase: inout RecurringPurchase, events: Int) -> [String] {
        (0..<events).map { _ in
            let types = purchase.advance().compactMap { effect in
                if case .notification(let type) = effect { String(type.rawValue) } else { nil }
            }
            return "\(purchase.state.rawValue) \(types.joined(separator: ","))"
        }
    }

    @Test func `a subscription renews, and each renewal has an order of its own`() throws {
        var purchase = try purchase()
        #expect(play(&purchase, events: 3) == Array(repeating: "active 2", count: 3))
        #expect(purchase.periods.map(\.orderId) == ["GPA.1", "GPA.1..0", "GPA.1..1", "GPA.1..2"])
        #expect(purchase.expiryTime == purchase.periods.last?.end)
    }

    @Test func `a declined payment leads to grace, hold and the end`() throws {
        var purchase = try purchase()
        #expect(purchase.setDeclines(true, at: Self.start).isEmpty)
        let end = purchase.expiryTime
        #expect(play(&purchase, events: 2) == ["inGracePeriod 6", "onHold 5"])
        #expect(purchase.nextMoment == end.adding(days: 33))
        #expect(play(&purchase, events: 1) == ["expired 3,13"])
        #expect(purchase.cancellation == .system && purchase.nextMoment == nil)
        #expect(purchase.advance().isEmpty)
        // The API answers for 60 days after the end, and not after the period that was paid last.
        let forgotten = end.adding(days: 93)
        #expect(!purchase.isForgotten(at: forgotten) && purchase.isForgotten(at: forgotten.adding(seconds: 1)))
    }

    @Test func `the first version of the API states payments and cancellations by numbers`() throws {
        var purchase = try purchase()
        #expect(SubscriptionPurchase(purchase).paymentState == 1)
        _ = purchase.setDeclines(true, at: Self.start)
        #expect(play(&purchase, events: 2) == ["inGracePeriod 6", "onHold 5"])
        #expect(SubscriptionPurchase(purchase).paymentState == 0)
        #expect(SubscriptionPurchase(purchase).cancelReason == nil)
        #expect(play(&purchase, events: 1) == ["expired 3,13"])
        // The payment that was declined has the order of the renewal that never was.
        let ended = SubscriptionPurchase(purchase)
        #expect(ended.paymentState == nil && ended.cancelReason == 1 && ended.orderId == "GPA.1..0")
        var canceled = try self.purchase()
        _ = try canceled.cancel(.user(Self.start), at: Self.start)
        #expect(SubscriptionPurchase(canceled).cancelReason == 0)
        #expect(SubscriptionPurchase(canceled).userCancellationTimeMillis?.value == 1_790_000_000_000)
    }

    @Test func `a payment in grace leaves the date of the renewal, and one on hold moves it`() throws {
        var grace = try purchase()
        _ = grace.setDeclines(true, at: Self.start)
        let end = grace.expiryTime
        _ = grace.advance()
        #expect(grace.setDeclines(false, at: end.adding(days: 1)) == [.notification(.renewed)])
        #expect(grace.periods.last?.start == end)
        var hold = try purchase { $0.graceDays = 0 }
        _ = hold.setDeclines(true, at: Self.start)
        #expect(play(&hold, events: 1) == ["onHold 5"])
        #expect(hold.setDeclines(false, at: end.adding(days: 10)) == [.notification(.recovered)])
        #expect(hold.periods.last?.start == end.adding(days: 10))
    }

    @Test func `only the customer's cancellation is restored`() throws {
        var purchase = try purchase()
        #expect(try purchase.cancel(.user(Self.start), at: Self.start) == [.notification(.canceled)])
        #expect(purchase.state == .canceled && !purchase.renews)
        #expect(try purchase.cancel(.developer, at: Self.start).isEmpty)
        #expect(try purchase.restore() == [.notification(.restarted)])
        _ = try purchase.cancel(.developer, at: Self.start)
        #expect(throws: PlayError.self) { try purchase.restore() }
        #expect(play(&purchase, events: 1) == ["expired 13"])
        #expect(throws: PublisherError.self) { try purchase.cancel(.developer, at: Self.start) }
    }

    @Test func `what is not acknowledged is revoked, within a share of a short prepaid plan`() throws {
        var purchase = try purchase(isAcknowledged: false)
        #expect(purchase.acknowledgementDeadline == Self.start.adding(days: 3))
        #expect(play(&purchase, events: 1) == ["expired 12"])
        #expect(purchase.periods.last?.refunded == purchase.terms.price)
        let short = try self.purchase(
            { terms in
                terms.isPrepaid = true
                terms.period = SubscriptionPeriod("P2D") ?? .oneMonth
            }, isAcknowledged: false)
        #expect(short.acknowledgementDeadline == Self.start.adding(days: 1))
    }

    @Test func `a revocation pays back all or the unused part`() throws {
        var full = try purchase()
        let effects = try full.revoke(isProrated: false, source: .developer, reason: .other, at: Self.start)
        #expect(effects.count == 2 && full.state == .expired)
        #expect(full.periods.last?.refunded == full.terms.price)
        var half = try purchase { $0.period = SubscriptionPeriod("P10D") ?? .oneMonth }
        _ = try half.revoke(isProrated: true, source: .developer, reason: .other, at: Self.start.adding(days: 5))
        #expect(half.periods.last?.refunded == Money(currencyCode: "USD", billionths: 5_000_000_000))
        #expect(half.expiryTime == Self.start.adding(days: 5))
    }

    @Test func `a pause begins with the renewal, and ends by itself`() throws {
        var purchase = try purchase()
        #expect(try purchase.planPause(.oneMonth) == [.notification(.pauseScheduleChanged)])
        #expect(play(&purchase, events: 2) == ["paused 10", "active 1"])
        #expect(throws: PlayError.self) { try purchase.endPause(at: Self.start) }
    }

    /// The days of a pause from the first renewal on; nil for a length that the plan does not have.
    @Test(
        arguments: [
            ("P1W", nil, 7), ("P1W", "P4W", 28), ("P1W", "P5W", nil), ("P1W", "P1M", nil), ("P1M", nil, 31),
            ("P1M", "P3M", 92), ("P6M", "P2M", 61), ("P1M", "P4M", nil), ("P1M", "P1W", nil), ("P1Y", nil, nil),
        ] as [(String, String?, Int64?)])
    func `a plan has pauses of some lengths`(period: String, length: String?, days: Int64?) throws {
        var purchase = try purchase { $0.period = SubscriptionPeriod(period) ?? .oneMonth }
        let pause = length.flatMap { SubscriptionPeriod($0) }
        guard let days else {
            #expect(throws: PlayError.self) { try purchase.planPause(pause) }
            return
        }
        _ = try purchase.planPause(pause)
        let end = purchase.expiryTime
        _ = purchase.advance()
        #expect(purchase.resumeTime == end.adding(days: days))
    }

    @Test func `a license tester's pause lasts five minutes for each month`() throws {
        var purchase = try purchase { $0.isTest = true }
        _ = try purchase.planPause(SubscriptionPeriod("P3M"))
        let end = purchase.expiryTime
        _ = purchase.advance()
        #expect(purchase.resumeTime == end.adding(seconds: 900))
    }

    @Test func `a prepaid plan ends with its period`() throws {
        var purchase = try purchase { $0.isPrepaid = true }
        #expect(throws: PublisherError.self) { try purchase.cancel(.developer, at: Self.start) }
        #expect(play(&purchase, events: 1) == ["expired 13"])
    }

    @Test func `a license tester's subscription renews six times in half an hour`() throws {
        var purchase = try purchase { $0.isTest = true }
        #expect(play(&purchase, events: 7) == Array(repeating: "active 2", count: 6) + ["expired 13"])
        #expect(purchase.expiryTime == Self.start.adding(seconds: 35 * 60))
    }
}
