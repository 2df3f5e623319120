import Catalog
import Entitlements
import Proofs
import Service
import Testing

/// The rules of the subscriptions in customer info.
@Suite struct CustomerSubscriptionTests {
    private typealias Fixture = CustomerInfoFixture

    @Test func `the last period of a product is shown with the date of the original purchase`() {
        var fixture = Fixture()
        fixture.subscribe(from: -30, to: 1)
        fixture.subscribe(
            from: 1, to: 31, facts: [.originalPurchaseDate: .integer(Fixture.day(-30).millisecondsSince1970)])
        let subscription = fixture.subscription()
        #expect(subscription?.purchaseDate == Fixture.day(1))
        #expect(subscription?.originalPurchaseDate == Fixture.day(-30))
        #expect(subscription?.expiresDate == Fixture.day(31))
        #expect(subscription?.storeTransactionIdentifier == "2")
        #expect(fixture.info.subscriptions.count == 1)
        #expect(fixture.info.purchases.isEmpty)
    }

    @Test func `of two purchases of a product, the one that gives access longest is shown`() {
        var fixture = Fixture()
        fixture.subscribe(original: "1", from: 1, to: 31)
        fixture.subscribe(original: "2", from: 2, to: 9)
        #expect(fixture.subscription()?.storeTransactionIdentifier == "1")
    }

    @Test(arguments: [
        (Origin.appleProduction, false), (.localProduction, false), (.appleSandbox, true), (.localSandbox, true),
        (.xcode, true),
    ])
    func `the environment decides the sandbox flag`(origin: Origin, isSandbox: Bool) {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, origin: origin)
        fixture.buy(Fixture.gate, on: 1, origin: origin)
        #expect(fixture.subscription()?.isSandbox == isSandbox)
        #expect(fixture.info.purchases["garden.gate"]?.first?.isSandbox == isSandbox)
    }

    @Test(
        arguments: [
            ([:], .normal),
            ([.offerType: .integer(1), .offerDiscountType: .text("FREE_TRIAL")], .trial),
            ([.isTrialPeriod: .integer(1)], .trial),
            ([.offerType: .integer(1), .offerDiscountType: .text("PAY_AS_YOU_GO")], .intro),
            ([.isInIntroductoryOfferPeriod: .integer(1)], .intro),
            ([.offerType: .integer(2), .offerDiscountType: .text("PAY_UP_FRONT")], .normal),
            ([.isPrepaid: .integer(1)], .prepaid),
        ] as [([TransactionFact: StatedValue], CustomerInfo.Subscription.PeriodType)])
    func `the offer decides the type of the period`(
        facts: [TransactionFact: StatedValue],
        type: CustomerInfo.Subscription.PeriodType
    ) {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, facts: facts)
        #expect(fixture.subscription()?.periodType == type)
    }

    @Test func `a subscription with renewal off has the date of the statement`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == nil)
        fixture.state([.autoRenewStatus: .integer(1)], on: 4)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == nil)
        fixture.state([.autoRenewStatus: .integer(0)], on: 5)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == Fixture.day(5))
        #expect(fixture.subscription()?.billingIssuesDetectedAt == nil)
    }

    @Test func `nobody has turned off a prepaid plan, which never renews`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, origin: .googleProduction, facts: [.isPrepaid: .integer(1)])
        fixture.state([.autoRenewStatus: .integer(0)], on: 5, origin: .googleProduction)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == nil)
    }

    /// `auto_resume_date` of RevenueCat's subscriber: the end of a pause at Google Play.
    @Test func `a paused subscription has the date on which it resumes`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 8, origin: .googleProduction)
        #expect(fixture.subscription()?.autoResumeDate == nil)
        fixture.state(
            [
                .autoRenewStatus: .integer(1), .subscriptionState: .text("SUBSCRIPTION_STATE_PAUSED"),
                .autoResumeTime: .integer(Fixture.day(38).millisecondsSince1970),
            ], on: 8, origin: .googleProduction)
        let subscription = fixture.subscription()
        #expect(subscription?.autoResumeDate == Fixture.day(38))
        #expect(subscription?.unsubscribeDetectedAt == nil && subscription?.billingIssuesDetectedAt == nil)
    }

    @Test func `a cancelled commitment has the date of the statement, though its periods renew`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31)
        fixture.state(
            [.autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#)], on: 5)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == Fixture.day(5))
    }

    @Test func `a statement about an earlier period says nothing about the last one`() {
        var fixture = Fixture()
        fixture.subscribe(from: -30, to: 1)
        fixture.state([.autoRenewStatus: .integer(0), .isInBillingRetryPeriod: .integer(1)], on: -2)
        fixture.subscribe(from: 1, to: 31)
        #expect(fixture.subscription()?.unsubscribeDetectedAt == nil)
        #expect(fixture.subscription()?.billingIssuesDetectedAt == nil)
    }

    @Test(
        arguments: [
            ([.isInBillingRetryPeriod: .integer(1)], true),
            ([.expirationIntent: .integer(2)], true),
            ([.expirationIntent: .integer(1)], false),
            ([.isInBillingRetryPeriod: .integer(0)], false),
        ] as [([RenewalFact: StatedValue], Bool)])
    func `a failed charge is a billing issue`(renewal: [RenewalFact: StatedValue], isIssue: Bool) {
        var fixture = Fixture()
        fixture.subscribe(from: -22, to: 9)
        fixture.state(renewal, on: 9)
        #expect(fixture.subscription()?.billingIssuesDetectedAt == (isIssue ? Fixture.day(9) : nil))
        #expect(fixture.subscription()?.isActive(at: Fixture.now) == false)
    }

    @Test func `a grace period extends the access, and is a billing issue`() {
        var fixture = Fixture(rights: [RightSources(name: "premium", products: [Fixture.monthly], items: [])])
        fixture.subscribe(from: -22, to: 9, graceUntil: 15)
        let subscription = fixture.subscription()
        #expect(subscription?.expiresDate == Fixture.day(15))
        #expect(subscription?.gracePeriodExpiresDate == Fixture.day(15))
        #expect(subscription?.billingIssuesDetectedAt == Fixture.day(9))
        #expect(subscription?.isActive(at: Fixture.now) == true)
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(15))
        #expect(fixture.entitlement()?.gracePeriodExpiresDate == Fixture.day(15))
        #expect(fixture.info.managementURL == PurchaseStore.appStore.subscriptionAddress)
    }

    @Test func `a renewal after a grace period ends the billing issue`() {
        var fixture = Fixture()
        fixture.subscribe(from: -22, to: 9, graceUntil: 15)
        fixture.subscribe(from: 10, to: 41)
        #expect(fixture.subscription()?.gracePeriodExpiresDate == nil)
        #expect(fixture.subscription()?.billingIssuesDetectedAt == nil)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(41))
    }

    @Test func `a change of the product in a grace period ends the grace period and the billing issue`() {
        var fixture = Fixture()
        fixture.subscribe(from: -22, to: 9, graceUntil: 15)
        fixture.subscribe("garden.yearly", from: 10, to: 375)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(10))
        #expect(fixture.subscription()?.billingIssuesDetectedAt == nil)
        #expect(fixture.subscription("garden.yearly")?.expiresDate == Fixture.day(375))
    }

    @Test func `a refund ends the access at its date`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, refundedOn: 7)
        #expect(fixture.subscription()?.refundedAt == Fixture.day(7))
        #expect(fixture.subscription()?.expiresDate == Fixture.day(7))
        #expect(fixture.info.managementURL == nil)
    }

    @Test func `family sharing is shown, and its end is no refund`() {
        var fixture = Fixture()
        let shared: [TransactionFact: StatedValue] = [.inAppOwnershipType: .text("FAMILY_SHARED")]
        fixture.subscribe(from: 1, to: 31, refundedOn: 7, facts: shared)
        #expect(fixture.subscription()?.ownership == .familyShared)
        #expect(fixture.subscription()?.refundedAt == nil)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(7))
    }

    @Test(arguments: [("PURCHASED", 13_970), ("FAMILY_SHARED", 0), ("ASSIGNED", 0)] as [(String, Int64)])
    func `the price is that of all seats, for the purchaser only`(ownership: String, milliunits: Int64) {
        var fixture = Fixture()
        let tiers = #"{"priceTiers":[{"price":4990,"quantity":2},{"price":3990,"quantity":1}]}"#
        fixture.subscribe(
            from: 1, to: 31,
            facts: [
                .inAppOwnershipType: .text(ownership), .price: .integer(4_657), .currency: .text("USD"),
                .multiSeatInfo: .text(tiers),
            ])
        #expect(fixture.subscription()?.price == Price(milliunits: milliunits, currency: "USD"))
    }

    @Test func `a refund of added seats leaves the subscription`() {
        var fixture = Fixture()
        let added: [TransactionFact: StatedValue] = [.additionalTransactionReason: .text("SEAT_ADDITION")]
        fixture.subscribe(from: 1, to: 31, facts: added)
        fixture.subscribe(from: 5, to: 31, refundedOn: 7, facts: added)
        #expect(fixture.subscription()?.refundedAt == nil)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(31))
        #expect(fixture.subscription()?.storeTransactionIdentifier == "1")
    }

    @Test func `the end of a seat is no refund`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, refundedOn: 7, facts: [.inAppOwnershipType: .text("ASSIGNED")])
        #expect(fixture.subscription()?.refundedAt == nil)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(7))
    }

    @Test func `a revocation by the team ends the access, and is no refund`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, revocation: Fixture.revocation(8))
        #expect(fixture.subscription()?.refundedAt == nil)
        #expect(fixture.subscription()?.expiresDate == Fixture.day(8))
    }

    @Test func `an upgrade ends the replaced period at the upgrade`() {
        var fixture = Fixture()
        fixture.subscribe("garden.monthly", from: 1, to: 31, facts: [.isUpgraded: .integer(1)])
        fixture.subscribe("garden.yearly", from: 6, to: 371)
        fixture.state([.autoRenewStatus: .integer(0)], on: 8)
        #expect(fixture.subscription("garden.monthly")?.expiresDate == Fixture.day(6))
        #expect(fixture.subscription("garden.monthly")?.unsubscribeDetectedAt == nil)
        #expect(fixture.subscription("garden.yearly")?.expiresDate == Fixture.day(371))
        #expect(fixture.subscription("garden.yearly")?.unsubscribeDetectedAt == Fixture.day(8))
    }

    @Test func `an upgrade without its next period ends in time`() {
        var fixture = Fixture()
        fixture.subscribe(
            from: 1, to: 31,
            facts: [.isUpgraded: .integer(1), .signedDate: .integer(Fixture.day(6).millisecondsSince1970)])
        #expect(fixture.subscription()?.expiresDate == Fixture.day(31))
    }

    @Test func `the price and the catalog's name are shown`() {
        var fixture = Fixture()
        fixture.facts.products = [
            "garden.monthly": (type: .autoRenewableSubscription, displayName: "Garden")
        ]
        fixture.subscribe(from: 1, to: 31, facts: [.price: .integer(4990), .currency: .text("USD")])
        #expect(fixture.subscription()?.price == Price(milliunits: 4990, currency: "USD"))
        #expect(fixture.subscription()?.displayName == "Garden")
    }

    @Test(arguments: [
        (nil, nil, false), (ProductType.autoRenewableSubscription, nil, true), (nil, 31, true),
        (ProductType.nonRenewingSubscription, 31, false),
    ])
    func `without a stated type, the catalog decides, and then the stated end`(
        catalog: ProductType?,
        end: Int64?,
        isSubscription: Bool
    ) {
        var fixture = Fixture()
        fixture.facts.products["garden.monthly"] = catalog.map { (type: $0, displayName: nil) }
        var stated: [TransactionFact: StatedValue] = [.type: .text("Unknown")]
        stated[.expiresDate] = end.map { .integer(Fixture.day($0).millisecondsSince1970) }
        fixture.subscribe(from: 1, to: 31, facts: stated)
        #expect((fixture.subscription() != nil) == isSubscription)
        #expect(fixture.info.purchases.isEmpty == isSubscription)
    }

    @Test func `the management page is shown only while a subscription of the store is active`() {
        var fixture = Fixture()
        fixture.subscribe(from: -22, to: 9)
        #expect(fixture.info.managementURL == nil)
        fixture.subscribe("garden.yearly", original: "9", from: 1, to: 366)
        #expect(fixture.info.managementURL == "https://apps.apple.com/account/subscriptions")
    }
}
