import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// Commitments to twelve months with monthly billing, as notifications and the server API report them.
///
/// A line has the date and the notification, then the transaction, the status with the next renewal, and the commitment with its
/// renewal.
@Suite struct CommitmentTests {
    let garden: TestGarden
    var store: Store { garden.store }

    private static let yearly = "garden.basic.yearly"

    init() throws {
        garden = try TestGarden()
        _ = try store.update { $0.storefront = "DEU" }
    }

    @Test func `a year is paid for monthly, and another commitment follows`() throws {
        try buy()
        try garden.advance(to: "2027-12-01T12:00:00Z")
        #expect(
            try lines.told() == [
                "2026-10-31 SUBSCRIBED INITIAL_BUY | yearly 4990 until 2026-11-30 MONTHLY 1/12 until 2027-10-31 59880 "
                    + "| 1 renews yearly MONTHLY 2026-11-30 4990 | renews yearly MONTHLY 2027-10-31 59880"
            ] + Self.renewals(2...12)
                + [
                    "2027-10-31 DID_RENEW | yearly 4990 until 2027-11-30 MONTHLY 1/12 until 2028-10-31 59880 "
                        + "| 1 renews yearly MONTHLY 2027-11-30 4990 | renews yearly MONTHLY 2028-10-31 59880",
                    "2027-11-30 DID_RENEW | yearly 4990 until 2027-12-31 MONTHLY 2/12 until 2028-10-31 59880 "
                        + "| 1 renews yearly MONTHLY 2027-12-31 4990 | renews yearly MONTHLY 2028-10-31 59880",
                ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        #expect(try store.history(of: "alice").map(\.price.currency) == Array(repeating: "EUR", count: 14))
    }

    /// A faster clock has shorter months, and a commitment has twelve of them.
    @Test(
        arguments: [
            (TimeRate.oneSecondIsOneDay, 12 * 30), (.monthlyRenewalEveryThirtySeconds, 12 * 30),
            (.oneRenewalEveryTwoSeconds, 12 * 2),
        ] as [(TimeRate, Int64)])
    func `a commitment has twelve billing periods at each rate`(rate: TimeRate, seconds: Int64) throws {
        _ = try store.update { $0.timeRate = rate }
        let start = store.now
        try buy()
        let first = try #require(try store.history(of: "alice").first)
        #expect(first.commitment?.expiresDate == start.adding(seconds: seconds))
        _ = try store.advance(seconds: seconds - 1)
        #expect(try store.history(of: "alice").compactMap(\.commitment?.billingPeriodNumber) == Array(1...12))
        _ = try store.advance(seconds: 1)
        #expect(try store.history(of: "alice").last?.commitment?.billingPeriodNumber == 1)
    }

    @Test func `a year that is billed up front has its plan, and no commitment`() throws {
        try garden.buy(Self.yearly)
        #expect(
            try lines.told() == [
                "2026-10-31 SUBSCRIBED INITIAL_BUY | yearly 49990 until 2027-10-31 BILLED_UPFRONT "
                    + "| 1 renews yearly BILLED_UPFRONT 2027-10-31 49990"
            ])
        // The catalog has no plans of the month.
        try garden.buy("garden.premium.monthly", account: "bob")
        #expect(
            try lines.told().last == "2026-10-31 SUBSCRIBED INITIAL_BUY | premium.monthly 9990 until 2026-11-30 "
                + "| 1 renews premium.monthly 2026-11-30 9990")
    }

    @Test func `a product without a monthly plan is not sold under it`() throws {
        let refusal = StoreError.invalidAction(
            "\"garden.basic.monthly\" has no monthly billing plan. Enable the plan of a subscription of a year in the "
                + ".storekit file.")
        #expect(throws: refusal) { try garden.buy("garden.basic.monthly", billingPlanType: .monthly) }
        #expect(try store.transactions().isEmpty)
    }

    @Test func `a payment that waits for approval keeps its plan`() throws {
        let added = try store.add(
            Payment(productIdentifier: Self.yearly, billingPlanType: .monthly), account: "alice", outcome: .deferred)
        _ = try store.process(account: "alice")
        _ = try store.approve(added.identifier)
        #expect(try store.history(of: "alice").first?.billingPlanType == .monthly)
    }

    @Test func `a cancelled commitment is charged until it ends`() throws {
        let first = try buy()
        try garden.advance(to: "2027-03-10T12:00:00Z")
        try store.setAutoRenew(false, of: first)
        let ending = "ends yearly MONTHLY 2027-10-31 59880"
        #expect(
            try lines.told(after: 5) == [
                "2027-03-10 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED | yearly 4990 until 2027-03-31 MONTHLY 5/12 "
                    + "until 2027-10-31 59880 | 1 renews yearly MONTHLY 2027-03-31 4990 | \(ending)"
            ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        try garden.advance(to: "2028-01-01T12:00:00Z")
        #expect(
            try lines.told(after: 6) == Self.renewals(6...11, commitment: ending) + [
                "2027-09-30 DID_RENEW | yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880 "
                    + "| 1 ends yearly MONTHLY 2027-10-31 intent 1 | \(ending)",
                "2027-10-31 EXPIRED VOLUNTARY | yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880 "
                    + "| 2 ends yearly intent 1 | ends yearly MONTHLY",
            ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        #expect(throws: StoreError.self) { try store.setAutoRenew(true, of: first) }
    }

    @Test func `a commitment is renewed after all if the customer turns renewal on again`() throws {
        let first = try buy()
        try store.setAutoRenew(false, of: first)
        try garden.advance(to: "2027-10-15T12:00:00Z")
        // In the last month, nothing else follows.
        #expect(try lines.answered().contains("| 1 ends yearly MONTHLY 2027-10-31 intent 1 | ends "))
        try store.setAutoRenew(true, of: first)
        #expect(
            try lines.told(after: 13) == [
                "2027-10-15 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED | yearly 4990 until 2027-10-31 MONTHLY 12/12 "
                    + "until 2027-10-31 59880 | 1 renews yearly MONTHLY 2027-10-31 4990 "
                    + "| renews yearly MONTHLY 2027-10-31 59880"
            ])
        try garden.advance(to: "2027-11-01T12:00:00Z")
        #expect(try store.history(of: "alice").last?.commitment?.billingPeriodNumber == 1)
    }

    @Test func `a billing period renewed early leaves the commitment cancelled`() throws {
        let first = try buy()
        try store.setAutoRenew(false, of: first)
        try garden.advance(to: "2026-11-10T12:00:00Z")
        try store.forceRenewal(of: first)
        #expect(
            try lines.told().last
                == "2026-11-10 DID_RENEW | yearly 4990 until 2026-12-10 MONTHLY 2/12 until 2027-10-10 59880 "
                + "| 1 renews yearly MONTHLY 2026-12-10 4990 | ends yearly MONTHLY 2027-10-10 59880")
    }

    @Test func `an extension postpones the end of the commitment`() throws {
        let first = try buy()
        let body = #"{"extendByDays":10,"extendReasonCode":1,"requestIdentifier":"one"}"#
        let request = try JSONDecoder().decode(ExtendRenewalDateRequest.self, from: Data(body.utf8))
        _ = try store.writeOrThrow { try $0.extendSubscriptionRenewalDate(first, request) }
        #expect(
            try lines.told().last
                == "2026-10-31 RENEWAL_EXTENDED | yearly 4990 until 2026-12-10 MONTHLY 1/12 until 2027-11-10 59880 "
                + "| 1 renews yearly MONTHLY 2026-12-10 4990 | renews yearly MONTHLY 2027-11-10 59880")
        try garden.advance(to: "2026-12-11T12:00:00Z")
        #expect(
            try lines.told().last
                == "2026-12-10 DID_RENEW | yearly 4990 until 2027-01-10 MONTHLY 2/12 until 2027-11-10 59880 "
                + "| 1 renews yearly MONTHLY 2027-01-10 4990 | renews yearly MONTHLY 2027-11-10 59880")
    }

    /// Apple retries for ninety days, and grants no grace period.
    @Test func `a charge that fails ends the commitment after ninety days`() throws {
        let first = try buy()
        try failRenewals()
        try garden.advance(to: "2026-12-15T12:00:00Z")
        let failed =
            "yearly 4990 until 2026-11-30 MONTHLY 1/12 until 2027-10-31 59880 | 3 renews yearly MONTHLY 2026-11-30 4990 "
            + "retry intent 2"
        #expect(
            try lines.told(after: 1) == [
                "2026-11-30 DID_FAIL_TO_RENEW | \(failed) | renews yearly MONTHLY 2027-10-31 59880"
            ])
        // The customer ends the renewal of the commitment. What is owed stays owed.
        try store.setAutoRenew(false, of: first)
        #expect(
            try lines.told(after: 2) == [
                "2026-12-15 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED | \(failed) "
                    + "| ends yearly MONTHLY 2027-10-31 59880"
            ])
        try garden.advance(to: "2027-02-28T11:59:59Z")
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
        #expect(try lines.told().count == 3)
        try garden.advance(to: "2027-03-01T12:00:00Z")
        #expect(
            try lines.told(after: 3) == [
                "2027-02-28 EXPIRED BILLING_RETRY | yearly 4990 until 2026-11-30 MONTHLY 1/12 until 2027-10-31 59880 "
                    + "| 2 ends yearly intent 2 | ends yearly MONTHLY"
            ])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
    }

    /// The service continues when the charge succeeds, and all later dates move.
    @Test func `a recovery postpones the end of the commitment`() throws {
        let first = try buy()
        try failRenewals()
        try garden.advance(to: "2027-01-15T12:00:00Z")
        _ = try store.update { $0.shouldEnterBillingRetryOnRenewal = false }
        try store.resolveBillingIssue(of: first)
        try garden.advance(to: "2027-02-16T12:00:00Z")
        #expect(
            try lines.told(after: 2) == [
                "2027-01-15 DID_RENEW BILLING_RECOVERY | yearly 4990 until 2027-02-15 MONTHLY 2/12 until 2027-12-15 59880 "
                    + "| 1 renews yearly MONTHLY 2027-02-15 4990 | renews yearly MONTHLY 2027-12-15 59880",
                "2027-02-15 DID_RENEW | yearly 4990 until 2027-03-15 MONTHLY 3/12 until 2027-12-15 59880 "
                    + "| 1 renews yearly MONTHLY 2027-03-15 4990 | renews yearly MONTHLY 2027-12-15 59880",
            ])
        try garden.advance(to: "2027-12-14T12:00:00Z")
        #expect(try store.history(of: "alice").compactMap(\.commitment?.billingPeriodNumber) == Array(1...12))
    }

    @Test func `a tester cannot let a grace period follow a commitment's failed charge`() throws {
        let first = try buy()
        let refusal = StoreError.invalidAction(
            "The subscription \(first) is billed monthly under a commitment, which has no grace period.")
        #expect(throws: refusal) { try store.failRenewal(of: first, hasGracePeriod: true) }
        try store.failRenewal(of: first, hasGracePeriod: false)
        #expect(
            try lines.told().last
                == "2026-10-31 DID_FAIL_TO_RENEW | yearly 4990 until 2026-10-31 MONTHLY 1/12 until 2027-10-31 "
                + "59880 | 3 renews yearly MONTHLY 2026-10-31 4990 retry intent 2 | renews yearly MONTHLY 2027-10-31 59880"
        )
    }

    /// A price is announced within the commitment, and counts from the next one on.
    @Test(arguments: [true, false])
    func `a higher price begins with the next commitment`(isAccepted: Bool) throws {
        let first = try buy()
        try garden.advance(to: "2027-08-10T12:00:00Z")
        #expect(throws: StoreError.self) { try store.requestPriceIncrease(of: first, to: 4990, needsConsent: true) }
        try store.requestPriceIncrease(of: first, to: 5990, needsConsent: true)
        try garden.advance(to: "2027-10-15T12:00:00Z")
        let higher = "renews yearly MONTHLY 2027-10-31 71880"
        #expect(
            try lines.told(after: 10) == [
                "2027-08-10 PRICE_INCREASE PENDING | yearly 4990 until 2027-08-31 MONTHLY 10/12 until 2027-10-31 59880 "
                    + "| 1 renews yearly MONTHLY 2027-08-31 4990 | \(higher)",
                "2027-08-31 DID_RENEW | yearly 4990 until 2027-09-30 MONTHLY 11/12 until 2027-10-31 59880 "
                    + "| 1 renews yearly MONTHLY 2027-09-30 4990 | \(higher)",
                "2027-09-30 DID_RENEW | yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880 "
                    + "| 1 renews yearly MONTHLY 2027-10-31 5990 | \(higher)",
            ])
        if isAccepted { try store.consentToPriceIncrease(of: first) }
        try garden.advance(to: "2027-11-01T12:00:00Z")
        #expect(
            try lines.told().last
                == (isAccepted
                    ? "2027-10-31 DID_RENEW | yearly 5990 until 2027-11-30 MONTHLY 1/12 until 2028-10-31 71880 "
                        + "| 1 renews yearly MONTHLY 2027-11-30 5990 | renews yearly MONTHLY 2028-10-31 71880"
                    : "2027-10-31 EXPIRED PRICE_INCREASE | yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880 "
                        + "| 2 ends yearly intent 3 | ends yearly MONTHLY"))
    }

    /// The refund of an earlier month leaves the commitment, and that of the present one ends it.
    @Test func `a refund of the present month ends the commitment`() throws {
        try buy()
        try garden.advance(to: "2027-01-10T12:00:00Z")
        let periods = try store.history(of: "alice").map(\.transactionIdentifier)
        try store.refund(periods[0])
        try store.refund(periods[2])
        #expect(
            try lines.told(after: 3) == [
                "2027-01-10 REFUND | yearly 4990 until 2026-11-30 MONTHLY 1/12 until 2027-10-31 59880 revoked 2027-01-10 "
                    + "| 1 renews yearly MONTHLY 2027-01-31 4990 | renews yearly MONTHLY 2027-10-31 59880",
                "2027-01-10 REFUND | yearly 4990 until 2027-01-31 MONTHLY 3/12 until 2027-10-31 59880 revoked 2027-01-10 "
                    + "| 5 ends yearly | ends yearly MONTHLY",
            ])
        try garden.advance(to: "2027-04-01T12:00:00Z")
        #expect(try lines.told().count == 5)
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
    }

    @Test func `a commitment that has ended is bought again`() throws {
        let first = try buy()
        try store.expire(first)
        try garden.advance(to: "2026-12-10T12:00:00Z")
        try buy()
        #expect(
            try lines.told(after: 1) == [
                "2026-10-31 EXPIRED VOLUNTARY | yearly 4990 until 2026-10-31 MONTHLY 1/12 until 2027-10-31 59880 "
                    + "| 2 ends yearly intent 1 | ends yearly MONTHLY",
                "2026-12-10 SUBSCRIBED RESUBSCRIBE | yearly 4990 until 2027-01-10 MONTHLY 1/12 until 2027-12-10 59880 "
                    + "| 1 renews yearly MONTHLY 2027-01-10 4990 | renews yearly MONTHLY 2027-12-10 59880",
            ])
    }

    @Test func `an upgrade ends the commitment at once`() throws {
        try buy()
        try garden.advance(to: "2027-01-10T12:00:00Z")
        try garden.buy("garden.premium.monthly")
        #expect(
            try lines.told(after: 3) == [
                "2027-01-10 DID_CHANGE_RENEWAL_PREF UPGRADE | premium.monthly 9990 until 2027-02-10 "
                    + "| 1 renews premium.monthly 2027-02-10 9990"
            ])
        #expect(try store.history(of: "alice").map(\.isUpgraded) == [false, false, true, false])
        #expect(try lines.answered() == SubscriptionLines.state(of: try lines.told().last))
    }

    @Test func `a change to a product of another length waits for the end of the commitment`() throws {
        try buy()
        try garden.advance(to: "2027-01-10T12:00:00Z")
        let changed = try garden.buy("garden.basic.monthly").identifier
        let end = try #require(Timestamp(rfc3339: "2027-10-31T12:00:00Z"))
        #expect(try store.effect(of: changed) == .changes(productIdentifier: "garden.basic.monthly", date: end))
        let change = "renews basic.monthly BILLED_UPFRONT 2027-10-31 4990"
        #expect(
            try lines.told(after: 3) == [
                "2027-01-10 DID_CHANGE_RENEWAL_PREF DOWNGRADE | yearly 4990 until 2027-01-31 MONTHLY 3/12 "
                    + "until 2027-10-31 59880 | 1 renews yearly MONTHLY 2027-01-31 4990 | \(change)"
            ])
        try garden.advance(to: "2027-11-01T12:00:00Z")
        #expect(
            try lines.told(after: 4) == Self.renewals(4...11, commitment: change) + [
                "2027-09-30 DID_RENEW | yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880 "
                    + "| 1 renews basic.monthly 2027-10-31 4990 | \(change)",
                "2027-10-31 DID_RENEW | basic.monthly 4990 until 2027-11-30 "
                    + "| 1 renews basic.monthly 2027-11-30 4990",
            ])
    }

    @Test func `a change is cancelled before the commitment ends`() throws {
        try buy()
        try garden.buy("garden.basic.monthly")
        let kept = try garden.buy(Self.yearly, billingPlanType: .monthly).identifier
        let renewal = try #require(Timestamp(rfc3339: "2026-11-30T12:00:00Z"))
        #expect(try store.effect(of: kept) == .alreadySubscribed(renewalDate: renewal))
        #expect(
            try lines.told().last == "2026-10-31 DID_CHANGE_RENEWAL_PREF | yearly 4990 until 2026-11-30 MONTHLY 1/12 "
                + "until 2027-10-31 59880 | 1 renews yearly MONTHLY 2026-11-30 4990 "
                + "| renews yearly MONTHLY 2027-10-31 59880")
    }

    @Test func `the other plan of the product follows the commitment, and precedes it`() throws {
        try buy()
        try garden.buy(Self.yearly)
        #expect(
            try lines.told(after: 1) == [
                "2026-10-31 DID_CHANGE_RENEWAL_PREF DOWNGRADE | yearly 4990 until 2026-11-30 MONTHLY 1/12 "
                    + "until 2027-10-31 59880 | 1 renews yearly MONTHLY 2026-11-30 4990 "
                    + "| renews yearly BILLED_UPFRONT 2027-10-31 49990"
            ])
        try garden.advance(to: "2027-11-01T12:00:00Z")
        #expect(
            try lines.told().last == "2027-10-31 DID_RENEW | yearly 49990 until 2028-10-31 BILLED_UPFRONT "
                + "| 1 renews yearly BILLED_UPFRONT 2028-10-31 49990")
        try buy()
        #expect(
            try lines.told().last == "2027-11-01 DID_CHANGE_RENEWAL_PREF DOWNGRADE | yearly 49990 until 2028-10-31 "
                + "BILLED_UPFRONT | 1 renews yearly MONTHLY 2028-10-31 4990")
        try garden.advance(to: "2028-11-01T12:00:00Z")
        #expect(
            try lines.told().last
                == "2028-10-31 DID_RENEW | yearly 4990 until 2028-11-30 MONTHLY 1/12 until 2029-10-31 59880 "
                + "| 1 renews yearly MONTHLY 2028-11-30 4990 | renews yearly MONTHLY 2029-10-31 59880")
    }

    @Test func `the offer of a change waits for the change`() throws {
        try buy()
        try garden.advance(to: "2027-08-10T12:00:00Z")
        try garden.buy(
            "garden.basic.monthly", offer: Payment.OfferChoice(kind: .promotional, identifier: "spring"))
        #expect(try lines.told().last?.contains(" OFFER_REDEEMED DOWNGRADE ") == true)
        try garden.advance(to: "2028-01-01T12:00:00Z")
        #expect(
            try store.history(of: "alice").suffix(5).map(\.price.milliunits) == [4990, 4990, 1990, 1990, 4990])
    }

    /// The commitment is fulfilled, and what could not be charged is billed up front.
    @Test func `a year that follows a commitment has a grace period`() throws {
        try buy()
        try garden.buy(Self.yearly)
        try garden.advance(to: "2027-10-15T12:00:00Z")
        try failRenewals()
        try garden.advance(to: "2028-02-01T12:00:00Z")
        let failed = "yearly 4990 until 2027-10-31 MONTHLY 12/12 until 2027-10-31 59880"
        #expect(
            try lines.told(after: 13) == [
                "2027-10-31 DID_FAIL_TO_RENEW GRACE_PERIOD | \(failed) "
                    + "| 4 renews yearly BILLED_UPFRONT 2027-10-31 49990 retry grace 2027-11-16 intent 2",
                "2027-11-16 GRACE_PERIOD_EXPIRED | \(failed) "
                    + "| 3 renews yearly BILLED_UPFRONT 2027-10-31 49990 retry intent 2",
                "2027-12-30 EXPIRED BILLING_RETRY | \(failed) | 2 ends yearly intent 2",
            ])
    }

    /// The year was billed up front, so the usual grace period follows it.
    @Test func `a commitment that follows a year has the grace period of the year`() throws {
        let first = try #require(try garden.buy(Self.yearly).purchase).transactionIdentifier
        try buy()
        try failRenewals()
        try garden.advance(to: "2027-11-10T12:00:00Z")
        try store.resolveBillingIssue(of: first)
        #expect(
            try lines.told(after: 2) == [
                "2027-10-31 DID_FAIL_TO_RENEW GRACE_PERIOD | yearly 49990 until 2027-10-31 BILLED_UPFRONT "
                    + "| 4 renews yearly MONTHLY 2027-10-31 4990 retry grace 2027-11-16 intent 2",
                "2027-11-10 DID_RENEW BILLING_RECOVERY | yearly 4990 until 2027-11-30 MONTHLY 1/12 until 2028-10-31 59880 "
                    + "| 1 renews yearly MONTHLY 2027-11-30 4990 | renews yearly MONTHLY 2028-10-31 59880",
            ])
    }

    @Test(arguments: ["USA", "SGP"])
    func `a commitment is not sold in a storefront where Apple does not sell it`(storefront: String) throws {
        let waiting = try store.add(
            Payment(productIdentifier: Self.yearly, billingPlanType: .monthly), account: "bob", outcome: .deferred)
        _ = try store.process(account: "bob")
        try buy()
        _ = try store.update { $0.storefront = storefront }
        let refusal = StoreError.invalidAction(
            "Apple does not sell the monthly billing plan in the storefront \(storefront). Choose another one with "
                + "`till store settings --storefront DEU`.")
        #expect(throws: refusal) { try garden.buy(Self.yearly, billingPlanType: .monthly, account: "carol") }
        #expect(try store.transactions(account: "carol").isEmpty)
        // A payment that was added before the storefront changed fails.
        let approved = try store.approve(waiting.identifier).transaction
        #expect(approved.state == .failed && approved.error == .storeProductNotAvailable)
        // The year is sold up front, and a commitment that was sold elsewhere goes on.
        try garden.buy(Self.yearly, account: "carol")
        #expect(try store.history(of: "carol").map(\.billingPlanType) == [.upFront])
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try store.history(of: "alice").compactMap(\.commitment?.billingPeriodNumber) == [1, 2])
    }

    /// Lets all renewals fail, with a grace period for those that may have one.
    private func failRenewals() throws {
        _ = try store.update {
            $0.shouldEnterBillingRetryOnRenewal = true
            $0.isBillingGracePeriodEnabled = true
        }
    }

    /// A period under an offer is one of the twelve, and the other plan does not have the offer.
    @Test func `an offer belongs to its billing plan`() throws {
        let product = #""productID" : "garden.basic.yearly","#
        let offer =
            #""introductoryOffers" : [{"billingPlanType" : "MONTHLY", "displayPrice" : "1.99", "numberOfPeriods" : 2, "#
            + #""paymentMode" : "payAsYouGo", "subscriptionPeriod" : "P1M"}], "#
        let text = try String(contentsOf: TestGarden.file, encoding: .utf8).replacing(product, with: offer + product)
        let folder = garden.folder.folder("other store")
        try TestShop.installKeys(in: folder)
        let store = try Store(
            folder: folder, bundleIdentifier: TestGarden.bundleIdentifier,
            configuration: try StoreKitConfiguration(json: Array(text.utf8), file: "f"), clock: garden.clock,
            randomness: .seeded(7))
        _ = try store.update { $0.storefront = "DEU" }
        for (account, plan) in [("alice", BillingPlanType.monthly), ("bob", .upFront)] {
            _ = try store.add(Payment(productIdentifier: Self.yearly, billingPlanType: plan), account: account)
            _ = try store.process(account: account)
        }
        _ = try store.advance(seconds: 70 * 86_400)
        let months = try store.history(of: "alice")
        #expect(months.map(\.price.milliunits) == [1990, 1990, 4990])
        #expect(months.map(\.offer?.kind) == [.introductory, .introductory, nil])
        #expect(months.compactMap(\.commitment?.billingPeriodNumber) == [1, 2, 3])
        #expect(months.compactMap(\.commitment?.price.milliunits) == [59_880, 59_880, 59_880])
        #expect(try store.history(of: "bob").map(\.price.milliunits) == [49_990])
    }

    // MARK: The lines

    @discardableResult private func buy() throws -> String {
        try #require(try garden.buy(Self.yearly, billingPlanType: .monthly).purchase).transactionIdentifier
    }

    /// The lines of the renewals that begin some billing periods of the commitment of 31 October 2026.
    ///
    /// - Parameter commitment: The renewal of the commitment.
    private static func renewals(
        _ numbers: ClosedRange<Int>,
        commitment: String = "renews yearly MONTHLY 2027-10-31 59880"
    ) -> [String] {
        let ends = [
            "2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31",
            "2027-06-30", "2027-07-31", "2027-08-31", "2027-09-30", "2027-10-31",
        ]
        return numbers.map { number in
            "\(ends[number - 2]) DID_RENEW | yearly 4990 until \(ends[number - 1]) MONTHLY \(number)/12 until 2027-10-31 "
                + "59880 | 1 renews yearly MONTHLY \(ends[number - 1]) 4990 | \(commitment)"
        }
    }

    private var lines: SubscriptionLines { SubscriptionLines(garden: garden, state: state) }

    private func state(_ sale: String, _ status: String, _ renewal: String) throws -> String {
        let (transaction, stated) = (try garden.transaction(sale), try garden.renewalInfo(renewal).facts)
        let sold = transaction.facts
        var words: [String?] = [
            Self.name(transaction.productId), sold.integer(.price).map { String($0) }, "until",
            SubscriptionLines.day(sold.date(.expiresDate)), sold.text(.billingPlanType),
        ]
        if let commitment = try Self.object(sold.text(.commitmentInfo)) {
            words += [
                "\(Self.number(commitment["billingPeriodNumber"]))/\(Self.number(commitment["totalBillingPeriods"]))",
                "until", Self.day(commitment["commitmentExpiresDate"]),
                Self.number(commitment["commitmentPrice"]),
            ]
        }
        if let date = transaction.revocationDate { words += ["revoked", SubscriptionLines.day(date)] }
        if sold.bool(.isUpgraded) == true { words.append("upgraded") }
        words += [
            "|", status, stated.integer(.autoRenewStatus) == 1 ? "renews" : "ends",
            Self.name(stated.text(.autoRenewProductId)), stated.text(.renewalBillingPlanType),
            stated.date(.renewalDate).map { SubscriptionLines.day($0) },
            stated.integer(.renewalPrice).map { String($0) },
        ]
        if stated.bool(.isInBillingRetryPeriod) == true { words.append("retry") }
        if let date = stated.date(.gracePeriodExpiresDate) { words += ["grace", SubscriptionLines.day(date)] }
        if let intent = stated.integer(.expirationIntent) { words += ["intent", String(intent)] }
        if let commitment = try Self.object(stated.text(.commitmentInfo)) {
            words += [
                "|", Self.number(commitment["commitmentAutoRenewStatus"]) == "1" ? "renews" : "ends",
                Self.name(Self.text(commitment["commitmentAutoRenewProductId"])),
                Self.text(commitment["commitmentRenewalBillingPlanType"]),
                commitment["commitmentRenewalDate"].map { Self.day($0) },
                commitment["commitmentRenewalPrice"].map { Self.number($0) },
            ]
        }
        return words.compactMap(\.self).joined(separator: " ")
    }

    private static func object(_ text: String?) throws -> JSONObject? {
        guard let text, case .object(let object) = try JSONParser.parse(Array(text.utf8)) else { return nil }
        return object
    }

    private static func number(_ value: JSONValue?) -> String {
        if case .number(let number)? = value { number.text } else { "-" }
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    private static func day(_ value: JSONValue?) -> String {
        SubscriptionLines.day(Int64(number(value)).map { Timestamp(millisecondsSince1970: $0) })
    }

    /// A product of the garden, as `yearly` for `garden.basic.yearly`.
    private static func name(_ product: String?) -> String {
        guard let product else { return "-" }
        return product == yearly ? "yearly" : String(product.dropFirst("garden.".count))
    }
}
