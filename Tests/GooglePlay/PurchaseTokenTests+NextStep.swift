import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// What comes next of a subscription, over a ledger: events, states, explanations and what the check of the ledger finds.
extension PurchaseTokenTests {
    private static let plus = Item(collection: "plus", number: 1)

    private var off: String { #"{"productId":"garden.basic.monthly","autoRenewingPlan":{}"# }

    /// A line item whose renewal is off.
    private func ending(_ order: String, until end: String) -> String {
        #"\#(off),"expiryTime":"\#(end)","latestSuccessfulOrderId":"\#(order)"}"#
    }

    private func prepaid(_ order: String, until end: String) -> String {
        ending(order, until: end).replacing("autoRenewingPlan", with: "prepaidPlan")
    }

    private func canceled(_ context: String) -> String { #","canceledStateContext":{"\#(context)":{}}"# }

    /// The events of a user's history, each with its reason.
    private func events(_ user: User) async throws -> [String] {
        try await service.ledger.read { try $0.audit(of: user, after: 0, limit: 100) }.map {
            [$0.entry.event.rawValue, $0.entry.reason].compactMap(\.self).joined(separator: " ")
        }
    }

    private func subscription(of user: User) async throws -> PurchaseStatus {
        let subscriptions = try await service.subscriptions(of: user)
        #expect(subscriptions.count == 1)
        return try #require(subscriptions.first)
    }

    private func explanation(_ user: User) async throws -> ItemExplanation {
        try await service.explanation(of: Self.plus, for: user)
    }

    private func state(of user: User) async throws -> PurchaseState? {
        try await service.items(of: user).first { $0.item == Self.plus }?.state
    }

    private func expectSoundLedger() throws {
        #expect(try LedgerFile(folder.file("ledger.sqlite")).check().problems == [])
    }

    @Test func `a pause takes the item until Google Play charges again, and is no end`() async throws {
        let end = day(30)
        let line = item("garden.basic.monthly", order: "GPA.1", until: end)
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 86_400)
        // The pause is planned.
        _ = try await refresh(try subscription("t", items: line, isAcknowledged: true))
        #expect(try await state(of: alice) == .active)
        advance(seconds: 29 * 86_400 + 60)
        let resume = day(30)
        let paused = try subscription(
            "t", state: "PAUSED", items: line,
            more: #","pausedStateContext":{"autoResumeTime":"\#(resume)"}"#, isAcknowledged: true)
        _ = try await refresh(paused)
        try await service.recordDueStates()
        #expect(try await plus(alice).isEmpty)
        let status = try await subscription(of: alice)
        #expect(status.state == .paused && status.pausedUntil?.rfc3339 == resume && status.renews == true)
        #expect(status.nextPeriod?.beginsAt?.rfc3339 == resume && status.ending == nil)
        #expect(try await events(alice) == ["granted", "paused \(resume)"])
        let why = try await explanation(alice)
        #expect(why.cause == .paused && why.until?.rfc3339 == resume && why.since?.rfc3339 == end)
        #expect(why.sentence.contains("paused garden.basic.monthly"))
        // Only a statement ends the pause.
        advance(seconds: 31 * 86_400)
        try await service.recordDueStates()
        #expect(try await subscription(of: alice).state == .paused)
        _ = try await refresh(
            try subscription(
                "t", items: item("garden.basic.monthly", order: "GPA.1..0", until: day(30)), isAcknowledged: true))
        #expect(try await plus(alice) == [1])
        #expect(try await subscription(of: alice).state == .active)
        #expect(try await events(alice) == ["granted", "paused \(resume)", "granted"])
        try expectSoundLedger()
    }

    @Test func `a charge that fails after a pause of three months is retried for as long as after a period`()
        async throws
    {
        let end = day(30)
        let line = item("garden.basic.monthly", order: "GPA.1", until: end)
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 30 * 86_400)
        _ = try await refresh(try subscription("t", state: "PAUSED", items: line, isAcknowledged: true))
        advance(seconds: 90 * 86_400)
        let hold = now
        for _ in 0..<3 {
            _ = try await refresh(try subscription("t", state: "ON_HOLD", items: line, isAcknowledged: true))
            try await service.recordDueStates()
            #expect(try await subscription(of: alice).state == .billingRetry)
            advance(seconds: 10 * 86_400)
        }
        let ended = ending("GPA.1", until: end)
        _ = try await refresh(
            try subscription("t", state: "EXPIRED", items: ended, more: canceled("systemInitiatedCancellation")))
        try await service.recordDueStates()
        let told = try await service.ledger.read { try $0.audit(of: alice, after: 0, limit: 9) }.map(\.entry)
        #expect(told.map(\.event) == [.granted, .paused, .renewalFailed, .expired])
        #expect(told.dropFirst(2).map(\.happenedAt) == [hold, now])
        #expect(told.last?.reason == "billingError")
        #expect(try await explanation(alice).reason == "billingError")
    }

    @Test(
        arguments: [
            ("userInitiatedCancellation", "user", "The customer turned the renewal"),
            ("systemInitiatedCancellation", "system", "Google Play canceled the renewal"),
            ("developerInitiatedCancellation", "developer", "The developer canceled the renewal"),
            ("laterCancellation", nil, "The renewal of garden.basic.monthly was turned off."),
        ] as [(String, String?, String)])
    func `the history, the story and the explanation tell who has canceled`(
        context: String, canceler: String?, sentence: String
    ) async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 86_400)
        let off = ending("GPA.1", until: day(29))
        _ = try await refresh(try subscription("t", state: "CANCELED", items: off, more: canceled(context)))
        #expect(try await plus(alice) == [1])
        #expect(
            try await events(alice).last == ["autoRenewDisabled", canceler].compactMap(\.self).joined(separator: " "))
        let status = try await subscription(of: alice)
        #expect(status.state == .willNotRenew && status.renews == false && status.ending?.canceler == canceler)
        let story = try await service.story(of: alice, before: nil, limit: 1)
        #expect(story.first?.sentence.hasPrefix(sentence) == true)
        #expect(story.first?.sentence.contains("customer turned") == (canceler == "user"))
        let why = try await explanation(alice)
        #expect(why.cause == .owned && why.sentence.contains("does not renew") == (canceler != nil))
        // Time alone ends it, with the same reason.
        advance(seconds: 30 * 86_400)
        try await service.recordDueStates()
        #expect(try await events(alice).last == ["expired", why.reason].compactMap(\.self).joined(separator: " "))
        try expectSoundLedger()
    }

    @Test func `an increase without consent is the reason, also if Google Play leaves it out of its last word`()
        async throws
    {
        func plan(_ members: String) -> String {
            """
            {"productId":"garden.basic.monthly","expiryTime":"\(end)","latestSuccessfulOrderId":"GPA.1",\
            "autoRenewingPlan":{\(members)}}
            """
        }
        let end = day(30)
        let details = """
            "autoRenewEnabled":true,"priceChangeDetails":{"newPrice":{"currencyCode":"USD","units":"6"},\
            "priceChangeMode":"PRICE_INCREASE","priceChangeState":"OUTSTANDING","expectedNewPriceChargeTime":"\(end)"}
            """
        #expect(try await redeem(try subscription("t", items: plan(details)), for: alice) == [.granted])
        #expect(try await subscription(of: alice).nextPeriod?.needsConsent == true)
        advance(seconds: 30 * 86_400)
        for state in ["CANCELED", "EXPIRED"] {
            _ = try await refresh(
                try subscription(
                    "t", state: state, items: plan(""), more: canceled("systemInitiatedCancellation"),
                    isAcknowledged: true))
            #expect(try await subscription(of: alice).ending?.canceler == "priceIncrease", "\(state)")
            advance(seconds: 60)
        }
        #expect(try await events(alice) == ["granted", "expired customerDidNotConsentToPriceIncrease"])
    }

    @Test(arguments: ["ON_HOLD", "EXPIRED"])
    func `the last word of Google Play ends a grace period at once`(word: String) async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 30 * 86_400)
        let grace = item("garden.basic.monthly", order: "GPA.1", until: day(7))
        _ = try await refresh(try subscription("t", state: "IN_GRACE_PERIOD", items: grace, isAcknowledged: true))
        #expect(try await state(of: alice) == .gracePeriod)
        #expect(try await explanation(alice).cause == .gracePeriod)
        advance(seconds: 86_400)
        let context = word == "EXPIRED" ? canceled("systemInitiatedCancellation") : ""
        _ = try await refresh(
            try subscription("t", state: word, items: grace, more: context, isAcknowledged: true))
        #expect(try await plus(alice).isEmpty)
        #expect(try await explanation(alice).cause == (word == "EXPIRED" ? .expired : .renewalFailed))
        try expectSoundLedger()
    }

    @Test func `in the silent day nothing is told, and the item stays`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 30 * 86_400 + 300)
        try await service.recordDueStates()
        _ = try await refresh(
            try subscription(
                "t", items: item("garden.basic.monthly", order: "GPA.1", until: now.adding(seconds: -300).rfc3339),
                isAcknowledged: true))
        try await service.recordDueStates()
        #expect(try await state(of: alice) == .active)
        #expect(try await subscription(of: alice).state == .active)
        #expect(try await explanation(alice).cause == .owned)
        try expectSoundLedger()
        // The day ends without a word. The service asks, and Google Play has not failed to charge as far as it has said.
        advance(seconds: 86_400)
        try await service.recordDueStates()
        #expect(try await events(alice) == ["granted"])
    }

    @Test func `nobody turns a prepaid plan off, and a top-up is another charge`() async throws {
        let first = try subscription("a", items: prepaid("GPA.1", until: day(30)))
        #expect(try await redeem(first, for: alice) == [.granted])
        #expect(try await state(of: alice) == .active)
        let status = try await subscription(of: alice)
        #expect(status.state == .active && status.next == .prepaid && status.renews == false)
        #expect(status.ending == nil && status.nextPeriod == nil)
        advance(seconds: 20 * 86_400)
        let topUp = try subscription(
            "b", items: prepaid("GPA.2", until: day(40)), more: #","linkedPurchaseToken":"a""#)
        #expect(try await redeem(topUp, for: alice, continuing: "a") == [.granted])
        #expect(try await state(of: alice) == .active)
        advance(seconds: 40 * 86_400 + 1)
        // A prepaid plan has no renewal that could be late.
        try await service.recordDueStates()
        #expect(try await plus(alice).isEmpty)
        #expect(try await events(alice) == ["granted", "granted", "expired"])
        #expect(try await explanation(alice).cause == .expired)
        try expectSoundLedger()
    }

    @Test func `a token that another one has followed does not say what comes next`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("old", items: line), for: alice) == [.granted])
        let end = day(30)
        func ended() throws -> GooglePlayStatement {
            try subscription(
                "old", state: "EXPIRED", items: ending("GPA.1", until: end),
                more: canceled("userInitiatedCancellation"), isAcknowledged: true)
        }
        advance(seconds: 30 * 86_400)
        _ = try await refresh(try ended())
        advance(seconds: 86_400)
        // The customer has bought it again in the Play Store.
        let again = try subscription(
            "new", items: item("garden.basic.monthly", order: "GPA.2", until: day(30)),
            more: #","outOfAppPurchaseContext":{"expiredPurchaseToken":"old"}"#)
        #expect(try await redeem(again, for: alice, continuing: "old") == [.granted])
        advance(seconds: 60)
        // The service asks about each end twice.
        _ = try await refresh(try ended())
        let status = try await subscription(of: alice)
        #expect(status.state == .active && status.renews == true)
        #expect(try await events(alice) == ["granted", "expired customerCancelled", "granted"])
    }

    @Test func `a deferred replacement is a renewal as the new product`() async throws {
        let line = item("garden.premium.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("old", items: line), for: alice) == [.granted])
        let end = day(30)
        advance(seconds: 86_400)
        let old = """
            {"productId":"garden.premium.monthly","expiryTime":"\(end)","latestSuccessfulOrderId":"GPA.1",\
            "autoRenewingPlan":{},"deferredItemReplacement":{"productId":"garden.basic.monthly"}}
            """
        let new = """
            {"productId":"garden.basic.monthly","offerDetails":{"basePlanId":"monthly"},"autoRenewingPlan":\
            {"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"USD","units":"3"}}}
            """
        let changed = try subscription("new", items: old, new, more: #","linkedPurchaseToken":"old""#)
        #expect(try await redeem(changed, for: alice, continuing: "old") == [.alreadyRedeemed])
        let status = try await subscription(of: alice)
        #expect(
            status.state == .active && status.renews == true && status.productIdentifier == "garden.premium.monthly")
        let next = try #require(status.nextPeriod)
        #expect(next.productIdentifier == "garden.basic.monthly" && next.basePlanIdentifier == "monthly")
        #expect(next.beginsAt?.rfc3339 == end && next.price == Price(milliunits: 3000, currency: "USD"))
        #expect(try await events(alice) == ["granted", "planChosen garden.basic.monthly:monthly"])
    }
}
