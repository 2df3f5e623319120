import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The events of a subscription, their notifications and their effects.
@Suite struct SubscriptionTests {
    let garden: TestGarden
    var store: Store { garden.store }

    init() throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
    }

    private static let monthly = "garden.basic.monthly"
    private static let premium = "garden.premium.monthly"
    private static let yearly = "garden.basic.yearly"

    /// The types and subtypes of the notifications after the first `count`.
    private func told(after count: Int = 1) throws -> [String] {
        try store.notifications().dropFirst(count).map { notification in
            notification.type.rawValue + (notification.subtype.map { " " + $0.rawValue } ?? "")
        }
    }

    private func buy(_ product: String, offer: Payment.OfferChoice? = nil) throws -> String {
        try #require(try garden.buy(product, offer: offer).purchase).transactionIdentifier
    }

    private func latest() throws -> Transaction { try #require(try store.history(of: "alice").last) }

    private func status() throws -> Status {
        let latest = try latest()
        let answer = try store.readOrThrow {
            try $0.allSubscriptionStatuses(latest.transactionIdentifier, statuses: [])
        }
        return try #require(answer.data.first?.lastTransactions.first).status
    }

    @Test func `a subscription moves into a bundle and out of it, each time under another original transaction`() throws
    {
        let first = try buy(Self.premium)
        try garden.advance(to: "2026-11-12T12:00:00Z")
        var originals = [first]
        for _ in 0..<2 {
            let former = try latest()
            try store.perform(.moveSubscription, on: former.transactionIdentifier)
            let moved = try garden.transaction(try store.signedTransaction(of: try latest().transactionIdentifier))
            #expect(moved.facts.text(.previousOriginalTransactionId) == originals.last)
            #expect(moved.productId == Self.premium && moved.purchaseDate == store.now)
            #expect(try store.sale(former.transactionIdentifier).isUpgraded)
            originals.append(moved.originalTransactionId)
            _ = try store.advance(seconds: 86_400)
        }
        #expect(Set(originals).count == 3)
        try garden.advance(to: "2026-12-20T12:00:00Z")
        let renewed = try garden.transaction(try store.signedTransaction(of: try latest().transactionIdentifier))
        #expect(renewed.facts.text(.previousOriginalTransactionId) == originals[1])
        #expect(try told() == ["DID_RENEW", "SUBSCRIBED INITIAL_BUY", "SUBSCRIBED INITIAL_BUY", "DID_RENEW"])
        #expect(try store.subscriptions(of: "alice").map(\.originalTransactionIdentifier) == [originals[2]])
    }

    @Test func `a subscription with seats, or after its end, does not move`() throws {
        let sold = try buy(Self.monthly)
        try store.expire(sold)
        #expect(throws: StoreError.self) { try store.perform(.moveSubscription, on: sold) }
        let seats = try #require(try garden.buy(Self.premium, quantity: 2, account: "bob").purchase)
        #expect(throws: StoreError.self) {
            try store.perform(.moveSubscription, on: seats.transactionIdentifier)
        }
    }

    /// An action of the customer and its notifications.
    @Test(
        arguments: [
            (premium, monthly, ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"], premium, monthly),
            (premium, yearly, ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"], premium, yearly),
            (monthly, premium, ["DID_CHANGE_RENEWAL_PREF UPGRADE"], premium, premium),
            // The same level: another period waits for the renewal.
            (monthly, yearly, ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"], monthly, yearly),
            (monthly, monthly, [], monthly, monthly),
        ] as [(String, String, [String], String, String)])
    func `another product of the group begins now or at the renewal`(
        first: String,
        second: String,
        expected: [String],
        now: String,
        later: String
    ) throws {
        _ = try buy(first)
        try garden.advance(to: "2026-10-12T12:00:00Z")
        _ = try buy(second)
        #expect(try told() == expected)
        #expect(try latest().productIdentifier == now)
        #expect(try store.history(of: "alice").filter(\.isUpgraded).count == (first != now ? 1 : 0))
        try garden.advance(to: "2026-11-13T12:00:00Z")
        #expect(try latest().productIdentifier == later)
        #expect(try status() == .active)
    }

    @Test func `an upgrade at the very moment of a renewal marks the renewal as upgraded, which was charged and told`()
        throws
    {
        _ = try buy(Self.monthly)
        let end = try #require(try latest().expiresDate)
        try garden.advance(to: end.rfc3339)
        _ = try buy(Self.premium)
        let last = try store.history(of: "alice").suffix(2)
        #expect(last.map(\.productIdentifier) == [Self.monthly, Self.premium])
        #expect(last.map(\.purchaseDate) == [end, end] && last.map(\.reason) == [.renewal, .purchase])
        #expect(last.map(\.isUpgraded) == [true, false])
        #expect(try told() == ["DID_RENEW", "DID_CHANGE_RENEWAL_PREF UPGRADE"])
    }

    @Test func `a downgrade is cancelled before it takes effect`() throws {
        _ = try buy(Self.premium)
        _ = try buy(Self.monthly)
        _ = try buy(Self.premium)
        #expect(try told() == ["DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_CHANGE_RENEWAL_PREF"])
        try garden.advance(to: "2026-11-11T12:00:00Z")
        #expect(try latest().productIdentifier == Self.premium)
    }

    @Test func `a cancelled subscription ends and can be bought again`() throws {
        let first = try buy(Self.premium)
        try store.setAutoRenew(false, of: first)
        try store.setAutoRenew(false, of: first)
        try store.setAutoRenew(true, of: first)
        try store.setAutoRenew(false, of: first)
        try garden.advance(to: "2026-11-10T12:00:00Z")
        #expect(try status() == .expired)
        #expect(throws: StoreError.self) { try store.setAutoRenew(true, of: first) }
        let again = try buy(Self.premium)
        #expect(try store.sale(again).originalTransactionIdentifier == first)
        #expect(
            try told() == [
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY", "SUBSCRIBED RESUBSCRIBE",
            ])
    }

    /// Apple stops retrying sixty days after a failed renewal.
    @Test(
        arguments: [
            (false, ["DID_FAIL_TO_RENEW", "EXPIRED BILLING_RETRY"], [Status.billingRetry, .billingRetry, .expired]),
            (
                true, ["DID_FAIL_TO_RENEW GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED BILLING_RETRY"],
                [.billingGracePeriod, .billingRetry, .expired]
            ),
        ] as [(Bool, [String], [Status])])
    func `a subscription that cannot be charged ends`(hasGracePeriod: Bool, expected: [String], statuses: [Status])
        throws
    {
        let first = try buy(Self.premium)
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = hasGracePeriod
        }
        var met: [Status] = []
        for date in ["2026-11-11T12:00:00Z", "2026-11-27T12:00:00Z", "2027-01-09T12:00:00Z"] {
            try garden.advance(to: date)
            met.append(try status())
        }
        #expect(met == statuses)
        #expect(try told() == expected)
        #expect(throws: StoreError.self) { try store.resolveBillingIssue(of: first) }
    }

    @Test func `a charge in billing retry begins a new period`() throws {
        let first = try buy(Self.premium)
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = true }
        try garden.advance(to: "2026-11-20T12:00:00Z")
        try store.resolveBillingIssue(of: first)
        #expect(try latest().purchaseDate.rfc3339 == "2026-11-20T12:00:00Z")
        #expect(try latest().expiresDate?.rfc3339 == "2026-12-20T12:00:00Z")
        #expect(try told() == ["DID_FAIL_TO_RENEW", "DID_RENEW BILLING_RECOVERY"])
    }

    @Test(
        arguments: [
            ("consent", ["PRICE_INCREASE PENDING", "PRICE_INCREASE ACCEPTED", "DID_RENEW"], 11_990 as Int64?),
            (
                "decline",
                ["PRICE_INCREASE PENDING", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED PRICE_INCREASE"],
                nil
            ),
            ("silence", ["PRICE_INCREASE PENDING", "EXPIRED PRICE_INCREASE"], nil),
            ("none needed", ["PRICE_INCREASE ACCEPTED", "DID_RENEW"], 11_990),
        ] as [(String, [String], Int64?)])
    func `a price rises with consent`(answer: String, expected: [String], price: Int64?) throws {
        let first = try buy(Self.premium)
        try store.requestPriceIncrease(of: first, to: 11_990, needsConsent: answer != "none needed")
        switch answer {
        case "consent": try store.consentToPriceIncrease(of: first)
        case "decline": try store.declinePriceIncrease(of: first)
        default: break
        }
        try garden.advance(to: "2026-11-10T12:00:00Z")
        #expect(try told() == expected)
        #expect(try latest().price.milliunits == price ?? 9990)
        #expect(try status() == (price == nil ? .expired : .active))
        guard price != nil else { return }
        try garden.advance(to: "2026-12-10T12:00:00Z")
        #expect(try latest().price.milliunits == 11_990)
    }

    @Test func `offers apply to their periods and eligible customers`() throws {
        let spring = Payment.OfferChoice(kind: .promotional, identifier: "spring")
        // A promotional offer is for present and former subscribers.
        #expect(try garden.buy(Self.monthly, offer: spring).error == .ineligibleForOffer)
        let unknown = Payment.OfferChoice(kind: .promotional, identifier: "autumn")
        #expect(try garden.buy(Self.monthly, offer: unknown).error == .invalidOfferIdentifier)
        let first = try buy(Self.monthly)
        #expect(try latest().offer?.kind == .introductory)
        let again = Payment.OfferChoice(kind: .winBack, identifier: "again")
        #expect(try garden.buy(Self.monthly, offer: again).error == .ineligibleForOffer)
        _ = try buy(Self.monthly, offer: spring)
        try garden.advance(to: "2027-01-18T12:00:00Z")
        let sold = try store.history(of: "alice")
        #expect(sold.map(\.price.milliunits) == [0, 1990, 1990, 4990, 4990])
        #expect(sold.map { $0.offer?.identifier } == [nil, "spring", "spring", nil, nil])
        try store.expire(first)
        _ = try buy(Self.monthly, offer: again)
        #expect(try latest().price.milliunits == 9990)
        #expect(try latest().expiresDate?.rfc3339 == "2027-07-18T12:00:00Z")
        // The introductory offer applies once.
        #expect(try store.history(of: "alice").filter { $0.offer?.kind == .introductory }.count == 1)
    }

    @Test func `a returning customer pays the present price`() throws {
        let first = try buy(Self.monthly, offer: nil)
        let spring = Payment.OfferChoice(kind: .promotional, identifier: "spring")
        _ = try buy(Self.monthly, offer: spring)
        try garden.advance(to: "2026-10-18T12:00:00Z")
        #expect(try latest().price.milliunits == 1990)
        try store.expire(first)
        _ = try buy(Self.monthly)
        #expect(try latest().price.milliunits == 4990)
    }

    @Test func `a price only rises, and a forced renewal waits for consent`() throws {
        let first = try buy(Self.premium)
        for price in [-5, 0, 9990] as [Int64] {
            #expect(throws: StoreError.self) {
                try store.requestPriceIncrease(of: first, to: price, needsConsent: true)
            }
        }
        try store.requestPriceIncrease(of: first, to: 11_990, needsConsent: true)
        #expect(throws: StoreError.self) { try store.forceRenewal(of: first) }
        try store.consentToPriceIncrease(of: first)
        try store.forceRenewal(of: first)
        #expect(try latest().price.milliunits == 11_990)
    }

    @Test func `a storefront charges in its own currency`() throws {
        _ = try store.update { $0.storefront = "KOR" }
        let first = try buy(Self.premium)
        #expect(try latest().price.currency == "KRW")
        #expect(try latest().storefrontCountryCode == "KOR")
        try store.requestPriceIncrease(of: first, to: 11_990, needsConsent: false)
        try garden.advance(to: "2026-11-11T12:00:00Z")
        #expect(try latest().price == Price(milliunits: 11_990, currency: "KRW"))
    }

    @Test func `a subscription renews at the terms that it keeps`() throws {
        _ = try buy(Self.premium)
        try store.write { try $0.keepTerms(of: "alice") }
        let price = try latest().price
        _ = try store.update { $0.storefront = "KOR" }
        try garden.advance(to: "2026-11-11T12:00:00Z")
        #expect(try latest().reason == .renewal)
        #expect(try latest().price == price)
        #expect(try latest().storefrontCountryCode == "USA")
        _ = try buy(Self.monthly)
        try garden.advance(to: "2026-12-11T12:00:00Z")
        // Another product is sold in the storefront of the settings.
        #expect(try latest().productIdentifier == Self.monthly)
        #expect(try latest().storefrontCountryCode == "KOR")
    }

    @Test func `a refund revokes the restored transactions too`() throws {
        let bought = try garden.buy("garden.gate")
        _ = try store.finish(bought.identifier, account: "alice")
        try store.restoreCompletedTransactions(account: "alice")
        let identifier = try #require(bought.purchase).transactionIdentifier
        try store.refund(identifier)
        #expect(try store.history(of: "alice").map { $0.revocation != nil } == [true, true])
        try store.reverseRefund(of: identifier)
        #expect(try store.history(of: "alice").map { $0.revocation != nil } == [false, false])
    }

    @Test func `a history continues after sales were deleted`() throws {
        let first = try buy("garden.seeds")
        let second = try buy("garden.seeds")
        func history(_ query: (name: String, value: String)...) throws -> HistoryResponse {
            try store.readOrThrow {
                try $0.transactionHistory(first, TransactionHistoryQuery(query), version: .v2)
            }
        }
        let revision = try history().revision
        try store.delete(second)
        _ = try buy("garden.seeds")
        let more = try history(("revision", revision))
        #expect(more.signedTransactions.count == 1)
    }

    @Test func `a forced renewal and a forced end come early`() throws {
        let first = try buy(Self.premium)
        try garden.advance(to: "2026-10-20T12:00:00Z")
        try store.forceRenewal(of: first)
        #expect(try latest().expiresDate?.rfc3339 == "2026-11-20T12:00:00Z")
        try store.expire(first)
        #expect(try latest().expiresDate == store.now)
        #expect(try told() == ["DID_RENEW", "EXPIRED VOLUNTARY"])
        #expect(throws: StoreError.self) { try store.forceRenewal(of: first) }
        #expect(throws: StoreError.self) { try store.expire(first) }
    }

    @Test func `a refund ends the subscription, and its reversal restores the paid period`() throws {
        let first = try buy(Self.premium)
        try store.requestRefund(of: first, reason: .unintendedPurchase)
        try store.declineRefund(of: first)
        try store.refund(first)
        #expect(try status() == .revoked)
        #expect(throws: StoreError.self) { try store.refund(first) }
        try store.reverseRefund(of: first)
        #expect(try status() == .active)
        #expect(throws: StoreError.self) { try store.reverseRefund(of: first) }
        #expect(try told() == ["CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND", "REFUND_REVERSED"])
        try garden.advance(to: "2026-11-10T12:00:00Z")
        #expect(try status() == .expired)
    }

    @Test func `a prorated refund ends the subscription, states its part, and is reversed`() throws {
        let first = try buy(Self.premium)
        try garden.advance(to: "2026-10-26T00:00:00Z")
        try store.refund(first, isProrated: true)
        #expect(try status() == .revoked)
        func stated() throws -> TransactionFacts {
            let query = try TransactionHistoryQuery([])
            let history = try store.readOrThrow { try $0.transactionHistory(first, query, version: .v2) }
            return try garden.transaction(try #require(history.signedTransactions.last)).facts
        }
        #expect(try stated().text(.revocationType) == "REFUND_PRORATED")
        #expect(try stated().integer(.revocationPercentage) == 50_000)
        try store.reverseRefund(of: first)
        #expect(try status() == .active)
        #expect(try stated().integer(.revocationPercentage) == nil)
        #expect(try told() == ["REFUND", "REFUND_REVERSED"])
        try store.refund(first)
        #expect(try stated().integer(.revocationPercentage) == 100_000)
    }

    @Test func `a refund of an earlier period leaves the present one`() throws {
        let first = try buy(Self.premium)
        try garden.advance(to: "2026-11-12T12:00:00Z")
        try store.refund(first)
        #expect(try status() == .active)
        try garden.advance(to: "2026-12-12T12:00:00Z")
        #expect(try told() == ["DID_RENEW", "REFUND", "DID_RENEW"])
    }

    @Test func `a month passes in minutes at a faster time rate`() throws {
        _ = try store.update { $0.timeRate = .monthlyRenewalEveryFiveMinutes }
        _ = try buy(Self.premium)
        garden.clock.advance(milliseconds: 16 * 60_000)
        try store.catchUp()
        #expect(try store.history(of: "alice").count == 4)
        #expect(try latest().expiresDate?.rfc3339 == "2026-10-10T12:20:00Z")
    }

    @Test func `family sharing begins and ends`() throws {
        let bought = try #require(try garden.buy("garden.gate").purchase).transactionIdentifier
        let shared = try store.share(bought, with: "bob")
        #expect(try store.sale(shared).ownership == .familyShared)
        try store.revokeFamilySharing(of: shared)
        #expect(try store.notifications().last?.type == .revoke)
        #expect(try store.sale(shared).revocation?.type == .familyRevoke)
        #expect(throws: StoreError.self) { try store.share(shared, with: "carol") }
        let seeds = try #require(try garden.buy("garden.seeds").purchase).transactionIdentifier
        #expect(throws: StoreError.self) { try store.share(seeds, with: "bob") }
    }

    @Test func `an interrupted purchase is completed`() throws {
        _ = try store.update { $0.areInterruptedPurchasesEnabled = true }
        let failed = try garden.buy("garden.seeds")
        #expect(failed.state == .failed)
        let resolved = try store.resolveIssue(failed.identifier).transaction
        #expect(resolved.state == .purchased)
        #expect(resolved.identifier != failed.identifier)
        #expect(throws: StoreError.self) { try store.resolveIssue(failed.identifier) }
    }

    @Test func `Ask to Buy waits for approval`() throws {
        _ = try store.update { $0.isAskToBuyEnabled = true }
        let waiting = try garden.buy(Self.monthly)
        #expect(waiting.state == .deferred)
        #expect(try store.history(of: "alice") == [])
        #expect(try store.approve(waiting.identifier).transaction.state == .purchased)
        #expect(try status() == .active)
    }

    @Test func `deleted sales leave the history`() throws {
        let first = try buy(Self.premium)
        _ = try buy("garden.seeds")
        try store.delete(first)
        #expect(try store.history(of: "alice").map(\.productIdentifier) == ["garden.seeds"])
        try garden.advance(to: "2027-02-01T00:00:00Z")
        try store.clearTransactions()
        #expect(try store.history(of: "alice") == [])
        #expect(try store.notifications() == [])
    }

    @Test func `the clock only moves forward`() throws {
        #expect(throws: StoreError.self) { try store.advance(seconds: -1) }
        #expect(throws: StoreError.self) { try store.advance(seconds: 11 * 366 * 86_400) }
        #expect(TimeStep("1mo") == SubscriptionPeriod("P1M").map(TimeStep.period))
        #expect(TimeStep("90s") == .seconds(90))
        for text in ["", "1", "mo", "-1d", "1.5h", "1 d", "0d"] { #expect(TimeStep(text) == nil, "\(text)") }
    }

    @Test func `two customers have separate subscriptions`() throws {
        _ = try buy(Self.premium)
        try garden.buy(Self.premium, account: "bob")
        #expect(try store.history(of: "bob").count == 1)
        #expect(
            try latest().originalTransactionIdentifier != store.history(of: "bob").first?.originalTransactionIdentifier)
    }
}
