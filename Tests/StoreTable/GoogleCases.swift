import Testing

/// Google Play against the table.
@Suite struct GoogleTableTests {
    @Test(arguments: CommonCases.all + GoogleCases.all)
    func `each surface says what Google Play's pages say`(_ row: TableRow) async throws {
        try await row.check(.google)
    }
}

/// The rows that only Google Play has.
enum GoogleCases {
    static let all: [TableRow] =
        canceled + pauses + prepaidPlans + replacements + addOns + refunds + payments + answers

    private struct NotGoogle: Error {}

    private static func row(
        _ name: String, _ page: String, users: [String] = ["alice"],
        _ play: @Sendable @escaping (GoogleTableStore) async throws -> Void, _ cells: TableRow.Cells
    ) -> TableRow {
        TableRow(
            name: name, pages: [.google: page], users: users,
            play: { store in
                guard let store = store as? GoogleTableStore else { throw NotGoogle() }
                try await play(store)
            }, cells: cells)
    }

    private static let lifecycle = "developer.android.com/google/play/billing/lifecycle/subscriptions"
    private static let revenueCat = "revenuecat.com/docs/integrations/webhooks/event-types-and-fields"

    // MARK: Who has canceled

    private static let canceled = [byDeveloper, bySystem, byPriceIncrease, onHold, priceAccepted]

    private static func cancellation(_ actor: String, _ reason: String, info: String) -> TableRow.Cells {
        [
            .items: "plus 1 willNotRenew until 04-01 ends", .subscriptions: "basic willNotRenew until 04-01 ends",
            .why: "plus 1 owned", .story: .init("granted, autoRenewDisabled by \(actor)"),
            .webhooks: "subscription.purchased, subscription.expiring",
            .revenueCat: .init("INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/\(reason) <basic> NORMAL 0"),
            .customerInfo: .init("<basic> normal until 04-01 \(info), has gardener"),
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ]
    }

    static let byDeveloper = row(
        "turned off by the developer", "\(lifecycle), cancellations: developerInitiatedCancellation; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.cancel(sold, "developerInitiatedCancellation")
            try store.wait(until: "03-13")
        }, cancellation("developer", "DEVELOPER_INITIATED", info: "unsubscribed"))

    static let bySystem = row(
        "turned off by Google", "\(lifecycle), cancellations: systemInitiatedCancellation; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.cancel(sold, "systemInitiatedCancellation")
            try store.wait(until: "03-13")
        }, cancellation("system", "BILLING_ERROR", info: "{unsubscribed|unpaid|unsubscribed unpaid}"))

    static let byPriceIncrease = row(
        "turned off because a price increase was not accepted",
        "\(lifecycle), opt-in price increase not accepted: SUBSCRIPTION_CANCELED; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.cancelForPrice(sold)
            try store.wait(until: "03-13")
        }, cancellation("priceIncrease", "PRICE_INCREASE", info: "unsubscribed"))

    static let onHold = row(
        "turned off by the customer on hold",
        "\(lifecycle), cancellations: if that date is in the past, the user loses entitlement immediately",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.beginRetry(sold)
            try store.wait(until: "04-05")
            try await store.turnOff(sold)
            try store.wait(until: "04-07")
        },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends*",
            .story: "granted, renewalFailed,{ autoRenewDisabled by user,|} expired{, autoRenewDisabled by user|}",
            .figures: "revenue 5000, churn 1",
        ])

    static let priceAccepted = row(
        "a price increase accepted, then renewed",
        "billing/price-changes: CONFIRMED, SUBSCRIPTION_PRICE_CHANGE_UPDATED; the first new charge is a renewal",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.accept(7000, at: sold)
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .story: "granted, granted", .webhooks: "subscription.purchased, subscription.renewed",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 7",
            .figures: "revenue 12000, active-subscriptions 1, mrr 7000, renewals 1",
        ])

    // MARK: Pauses

    private static let pauses = [pauseScheduled, paused, resumed, resumedByHand, resumedOnHold]

    static let pauseScheduled = row(
        "pause scheduled", "\(lifecycle), paused: the user keeps access until the next renewal date; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.notify(11, sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            // The answer says nothing of a scheduled pause, only the notification does.
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5{, SUBSCRIPTION_PAUSED <basic> NORMAL 0|}",
            .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    private static let pausedEvents =
        "INITIAL_PURCHASE <basic> NORMAL 5,{ SUBSCRIPTION_PAUSED <basic> NORMAL 0,|} EXPIRATION/SUBSCRIPTION_PAUSED <basic> NORMAL 0"

    static let paused = row(
        "paused", "\(lifecycle), paused: SUBSCRIPTION_STATE_PAUSED, pausedStateContext.autoResumeTime; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("05-01"))
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic paused*", .why: "plus 1 paused",
            .story: "granted, paused until 05-01", .webhooks: "subscription.purchased, subscription.paused",
            .revenueCat: pausedEvents, .customerInfo: "<basic> normal until 04-01 resumes 05-01",
            .figures: "revenue 5000{, churn 1|}",
        ])

    static let resumed = row(
        "paused and resumed", "\(lifecycle), paused: SUBSCRIPTION_RECOVERED; the billing date is the resume date",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("05-01"))
            try store.wait(until: "05-01")
            try await store.recover(sold)
            try store.wait(until: "05-03")
        },
        [
            .items: "plus 1 active until 06-01 renews", .subscriptions: "basic active until 06-01 renews",
            .why: "plus 1 owned", .story: "granted, paused until 05-01, granted",
            .webhooks: "subscription.purchased, subscription.paused, subscription.resumed",
            .revenueCat: .init("\(pausedEvents), RENEWAL <basic> NORMAL 5"),
            .customerInfo: "<basic> normal until 06-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000{, churn 1|}",
        ])

    static let resumedByHand = row(
        "paused, and resumed by the customer before the pause ends",
        "\(lifecycle), paused: when a user resumes manually, the billing date changes to the manual resume date",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("06-01"))
            try store.wait(until: "04-15")
            try await store.recover(sold)
            try store.wait(until: "04-17")
        },
        [
            .items: "plus 1 active until 05-15 renews", .subscriptions: "basic active until 05-15 renews",
            .why: "plus 1 owned", .story: "granted, paused until 06-01, granted",
            .customerInfo: "<basic> normal until 05-15, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000{, churn 1|}",
        ])

    static let resumedOnHold = row(
        "paused, and not paid when it resumes",
        "\(lifecycle), paused: SUBSCRIPTION_ON_HOLD if the payment fails while resuming",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.pause(sold, until: try Day.moment("05-01"))
            try store.wait(until: "05-01")
            await store.change(sold) { ($0.state, $0.others) = ("ON_HOLD", []) }
            try await store.notify(5, sold)
            try store.wait(until: "05-03")
        },
        [
            .items: "nothing", .subscriptions: "basic billingRetry*", .why: "plus 1 renewalFailed",
            .story: "granted, paused until 05-01, renewalFailed",
            .webhooks: "subscription.purchased, subscription.paused, subscription.renewalFailed",
            .revenueCat: .init("\(pausedEvents), *BILLING_ISSUE*"),
            .customerInfo: "<basic> normal until 04-01 unpaid", .figures: "revenue 5000{, churn 1|}",
        ])

    // MARK: Prepaid plans

    private static let prepaidPlans = [prepaid, toppedUp, prepaidEnded]

    static let prepaid = row(
        "prepaid", "\(lifecycle), prepaid plans: they do not renew and cannot be canceled; \(revenueCat) PREPAID",
        { store in
            _ = try await store.subscribe("alice", to: .basic) { $0.isPrepaid = true }
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 active until 04-01{ ends|}", .subscriptions: "basic active until 04-01{ ends|}",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> PREPAID 5",
            .customerInfo: "<basic> prepaid until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1{, mrr 5000|}",
        ])

    static let toppedUp = row(
        "prepaid, topped up",
        "\(lifecycle), prepaid plans: the new time is added; a new token with linkedPurchaseToken",
        { store in
            let sold = try await store.subscribe("alice", to: .basic) { $0.isPrepaid = true }
            try store.wait(until: "03-20")
            try await store.topUp(sold)
            try store.wait(until: "03-22")
        },
        [
            .items: "plus 1 active until 05-01{ ends|}", .subscriptions: "basic active until 05-01{ ends|}",
            .why: "plus 1 owned", .story: "granted, granted",
            .webhooks: "subscription.purchased, {subscription.renewed|subscription.purchased}",
            .revenueCat: "INITIAL_PURCHASE <basic> PREPAID 5, {RENEWAL|INITIAL_PURCHASE} <basic> PREPAID 5",
            .customerInfo: "<basic> prepaid until 05-01, has gardener",
            .figures: "revenue {5000|10000}, active-subscriptions 1{, mrr 5000|}{, renewals 1|}",
        ])

    static let prepaidEnded = row(
        "prepaid, ended", "\(lifecycle), prepaid plans: let it reach its expiration date",
        { store in
            let sold = try await store.subscribe("alice", to: .basic) { $0.isPrepaid = true }
            try store.wait(until: "04-01T12:10")
            await store.change(sold) { $0.state = "EXPIRED" }
            try await store.notify(13, sold)
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01*", .why: "plus 1 expired",
            .story: "granted, expired", .webhooks: "subscription.purchased, purchase.expired",
            .revenueCat: "INITIAL_PURCHASE <basic> PREPAID 5, EXPIRATION/{UNSUBSCRIBE|UNKNOWN} <basic> PREPAID 0",
            .customerInfo: "<basic> prepaid until 04-01{ unsubscribed|}", .figures: "revenue 5000, churn 1",
        ])

    // MARK: Replacements

    private static let replacements = [
        basePlan, basePlanEndFirst, prorated, withoutProration, withinTrial, successorUnknown, deferredEndFirst,
        byAnotherAccount, replacedAgain,
        signedUpAgain, signedUpAgainEndFirst, signedUpAgainWithoutOrders, signedUpAgainForFullPrice,
        basePlanForDifference,
        upgradedForFullPrice,
    ]

    private static let replacing = "developer.android.com/google/play/billing/subscriptions"

    private static let basePlanCells: TableRow.Cells = [
        .items: "plus 1 active until 03-11 renews", .subscriptions: "basic active until 03-11 renews",
        .why: "plus 1 owned", .story: "granted, {granted, productChanged|productChanged, granted}",
        .webhooks:
            "subscription.purchased, {{subscription.renewed|subscription.purchased}, subscription.productChanged|subscription.productChanged, {subscription.renewed|subscription.purchased}}",
        .revenueCat:
            "INITIAL_PURCHASE basic:p1m NORMAL 5, {PRODUCT_CHANGE basic:p1m NORMAL 0 -> basic:yearly, {RENEWAL|INITIAL_PURCHASE} basic:yearly NORMAL 50|{RENEWAL|INITIAL_PURCHASE} basic:yearly NORMAL 50, PRODUCT_CHANGE basic:p1m NORMAL 0 -> basic:yearly}",
        .customerInfo: "basic:yearly normal until 03-11, has gardener",
        .figures: "revenue 55000, active-subscriptions 1, mrr {4166|4167}{, renewals 1|}",
    ]

    private static func changeBasePlan(_ store: GoogleTableStore, endFirst: Bool) async throws {
        let sold = try await store.subscribe("alice")
        try store.wait(until: "03-11")
        try await store.replace(
            sold, with: .basic, basePlan: "yearly", price: 50000, mode: "CHARGE_FULL_PRICE",
            until: try Day.moment("03-11").adding(days: 366), isOldFirst: endFirst)
        try store.wait(until: "03-13")
    }

    static let basePlan = row(
        "another base plan of the same subscription", "\(replacing), switch plans within the same subscription",
        { try await changeBasePlan($0, endFirst: false) }, basePlanCells)

    static let basePlanEndFirst = row(
        "another base plan, the end of the old token told first",
        "\(replacing); docs.cloud.google.com/pubsub: messages are unordered",
        { try await changeBasePlan($0, endFirst: true) }, basePlanCells)

    static let prorated = row(
        "upgraded at once for the difference", "\(replacing), CHARGE_PRORATED_PRICE: the billing date does not move",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-16")
            try await store.replace(
                sold, with: .premium, mode: "CHARGE_PRORATED_PRICE", paid: 2500, until: try Day.moment("04-01"))
            try store.wait(until: "03-18")
        },
        [
            .items: "plus 2 active until 04-01 renews", .subscriptions: "premium active until 04-01 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .story: "granted, {granted, productChanged|productChanged, granted}",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, *{RENEWAL|INITIAL_PURCHASE} <premium> NORMAL 2.5*",
            .customerInfo: "*<premium> normal until 04-01, has gardener",
            // The recurring price is the plan's.
            .figures: "revenue 7500, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    static let withoutProration = row(
        "upgraded at once, the higher price from the renewal on",
        "\(replacing), WITHOUT_PRORATION: the new price is charged at the renewal; latestSuccessfulOrderId",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-16")
            try await store.replace(
                sold, with: .premium, mode: "WITHOUT_PRORATION", until: try Day.moment("04-01"), isCharged: false)
            try store.wait(until: "03-18")
        },
        [
            .items: "plus 2 active until 04-01 renews", .subscriptions: "premium active until 04-01 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, *{RENEWAL|INITIAL_PURCHASE} <premium> NORMAL 0*",
            .figures: "revenue 5000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    static let withinTrial = row(
        "upgraded within the free trial, which goes on",
        "\(replacing), upgrading while in a free trial, keeping the trial: WITHOUT_PRORATION, without extra charge",
        { store in
            let sold = try await store.subscribe("alice", to: .basic, .trial)
            try store.wait(until: "03-04")
            try await store.replace(
                sold, with: .premium, mode: "WITHOUT_PRORATION", paid: 0, until: try Day.moment("03-08"))
            try store.wait(until: "03-06")
        },
        [
            .items: "plus 2 {trial|active} until 03-08 renews", .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .revenueCat: "INITIAL_PURCHASE <basic> TRIAL 0, *<premium> {TRIAL|NORMAL} 0*",
            // A conversion needs a payment.
            .figures: "{nothing|active-subscriptions 1|mrr 10000|active-subscriptions 1, mrr 10000}",
        ])

    static let successorUnknown = row(
        "replaced, and the new token is not known yet",
        "subscriptionsv2 replacementCancellation: the entitlement is transferred to the new purchase",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.stateReplaced(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 * until 04-01*", .why: "plus 1 owned", .story: "granted",
            .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 04-01*, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let deferredEndFirst = row(
        "downgrade chosen for the next renewal, the end of the old token told first",
        "\(replacing), handle deferred replacement; docs.cloud.google.com/pubsub: messages are unordered",
        { store in
            let sold = try await store.subscribe("alice", to: .premium)
            try store.wait(until: "03-11")
            try await store.choose(.basic, at: sold, isOldFirst: true)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 2 active until 04-01 renews", .subscriptions: "premium active until 04-01 renews as basic",
            .why: "plus 2 owned", .story: "granted, planChosen",
            .webhooks: "subscription.purchased, subscription.planChosen",
            .revenueCat: "INITIAL_PURCHASE <premium> NORMAL 10, PRODUCT_CHANGE <premium> NORMAL 0 -> <basic>",
            .customerInfo: "<premium> normal until 04-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 10000",
        ])

    static let byAnotherAccount = row(
        "upgraded by another account of the app",
        "\(lifecycle), new purchases: obfuscatedExternalAccountId names the account; upgrades: linkedPurchaseToken",
        users: ["alice", "bob"],
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.replace(sold, with: .premium, mode: "CHARGE_FULL_PRICE", by: "bob")
            try store.wait(until: "03-13")
        },
        [
            .items: "alice: nothing; bob: plus 2 active until 04-11 renews",
            .why: "alice: plus 1 transferredToAnotherUser*; bob: *plus 2 owned",
            .figures:
                "alice: revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}; bob: revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    static let replacedAgain = row(
        "upgraded at once, the old token presented again",
        "\(replacing), handle subscription change purchases: the old token must give no access",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.upgrade(sold, to: .premium)
            try store.wait(until: "03-12")
            try await store.presentReplaced(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 2 active until 04-11 renews", .subscriptions: "premium active until 04-11 renews",
            .story: "granted, {granted, productChanged|productChanged, granted}",
            .figures: "revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    static let signedUpAgain = row(
        "turned off, and signed up again in the app before the end",
        "\(replacing), before subscription expiration, in-app: the new one replaces the old one and renews on the same date",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOff(sold)
            try store.wait(until: "03-16")
            try await store.replace(
                sold, with: .basic, mode: "WITHOUT_PRORATION", paid: 0, until: try Day.moment("04-01"))
            try store.wait(until: "03-18")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000{, renewals 1|}",
        ])

    private static func signUpAgain(
        _ store: GoogleTableStore, mode: String, paid: Int64?, until ends: String, endFirst: Bool = false
    ) async throws {
        let sold = try await store.subscribe("alice")
        try store.wait(until: "03-11")
        try await store.turnOff(sold)
        try store.wait(until: "03-16")
        try await store.replace(
            sold, with: .basic, mode: mode, paid: paid, until: try Day.moment(ends), isOldFirst: endFirst)
        try store.wait(until: "03-18")
    }

    static let signedUpAgainEndFirst = row(
        "turned off, and signed up again in the app, the end of the old token told first",
        "\(replacing), before subscription expiration, in-app; docs.cloud.google.com/pubsub: messages are unordered",
        { try await signUpAgain($0, mode: "WITHOUT_PRORATION", paid: 0, until: "04-01", endFirst: true) },
        signedUpAgain.cells)

    static let signedUpAgainWithoutOrders = row(
        "turned off, and signed up again in the app, and orders may not be read",
        "\(replacing), before subscription expiration, in-app; orders.get needs View financial data",
        { store in
            await store.refuseOrders()
            try await signUpAgain(store, mode: "WITHOUT_PRORATION", paid: 0, until: "04-01")
        },
        signedUpAgain.cells.merging([.figures: "active-subscriptions 1, mrr 5000{, renewals 1|}"]) { $1 })

    static let signedUpAgainForFullPrice = row(
        "turned off, and signed up again in the app for the full price",
        "ReplacementMode CHARGE_FULL_PRICE: a full billing cycle, plus remaining prorated time from the old plan",
        { try await signUpAgain($0, mode: "CHARGE_FULL_PRICE", paid: nil, until: "05-02") },
        [
            .items: "plus 1 active until 05-02 renews", .subscriptions: "basic active until 05-02 renews",
            .customerInfo: "<basic> normal until 05-02, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000{, renewals 1|}",
        ])

    static let basePlanForDifference = row(
        "another base plan of the same subscription, charged at the renewal of the old one",
        "\(replacing), WITHOUT_PRORATION: the new price is charged with the next renewal",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.replace(
                sold, with: .basic, basePlan: "plus", price: 8000, mode: "WITHOUT_PRORATION", paid: 0,
                until: try Day.moment("04-01"))
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .story: "granted, {granted, productChanged|productChanged, granted}",
            .figures: "revenue 5000, active-subscriptions 1, mrr 8000{, renewals 1|}",
        ])

    static let upgradedForFullPrice = row(
        "upgraded at once for the full price, with the time that the old plan pays",
        "ReplacementMode CHARGE_FULL_PRICE: a full billing cycle, plus remaining prorated time from the old plan",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-02")
            // 30 days of basic pay 15 days of premium.
            try await store.replace(
                sold, with: .premium, mode: "CHARGE_FULL_PRICE", until: try Day.moment("04-17"))
            try store.wait(until: "03-04")
        },
        [
            .items: "plus 2 active until 04-17 renews", .subscriptions: "premium active until 04-17 renews",
            .figures: "revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    // MARK: Add-ons

    private static let addOns = [together, renewedTogether, addedLater, addOnRefunded, addOnRemoved, addOnGone]

    private static let addOn = "\(replacing), subscriptions with add-ons; subscriptionsv2 lineItems"

    static let together = row(
        "two products bought under one token", addOn,
        { store in
            _ = try await store.subscribeToBoth("alice")
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 active until 04-01 renews, plus 2 active until 04-01 renews",
            .subscriptions: "basic active until 04-01 renews, premium active until 04-01 renews",
            .why: "plus 1 owned, plus 2 owned", .story: "granted, granted",
            .webhooks: "subscription.purchased, subscription.purchased",
            .revenueCat:
                "{INITIAL_PURCHASE <basic> NORMAL 5, INITIAL_PURCHASE <premium> NORMAL 10|INITIAL_PURCHASE <premium> NORMAL 10, INITIAL_PURCHASE <basic> NORMAL 5}",
            .customerInfo: "<basic> normal until 04-01, <premium> normal until 04-01, has gardener",
            .figures: "revenue 15000, active-subscriptions 2, mrr 15000",
        ])

    static let renewedTogether = row(
        "two products under one token, renewed with one order", addOn,
        { store in
            let sold = try await store.subscribeToBoth("alice")
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        [
            .items: "plus 1 active until 05-01 renews, plus 2 active until 05-01 renews",
            .subscriptions: "basic active until 05-01 renews, premium active until 05-01 renews",
            .why: "plus 1 owned, plus 2 owned", .story: "granted, granted, granted, granted",
            .revenueCat:
                "*INITIAL_PURCHASE*INITIAL_PURCHASE*, {RENEWAL <basic> NORMAL 5, RENEWAL <premium> NORMAL 10|RENEWAL <premium> NORMAL 10, RENEWAL <basic> NORMAL 5}",
            .figures: "revenue 30000, active-subscriptions 2, mrr 15000, renewals 2",
        ])

    static let addedLater = row(
        "an add-on bought later", "\(addOn): SUBSCRIPTION_ITEMS_CHANGED; KEEP_EXISTING, a prorated price now",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-16")
            try await store.addItem(.premium, to: sold, paid: 5000)
            try store.wait(until: "03-18")
        },
        [
            .items: "plus 1 active until 04-01 renews, plus 2 active until 04-01 renews",
            .subscriptions: "basic active until 04-01 renews, premium active until 04-01 renews",
            .story: "granted, granted", .webhooks: "subscription.purchased, subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, INITIAL_PURCHASE <premium> NORMAL 5",
            .figures: "revenue 10000, active-subscriptions 2, mrr 15000",
        ])

    static let addOnRefunded = row(
        "an add-on, refunded alone",
        "subscriptionsv2.revoke itemBasedRefund; Order PARTIALLY_REFUNDED; SUBSCRIPTION_ITEMS_CHANGED",
        { store in
            let sold = try await store.subscribeToBoth("alice")
            try store.wait(until: "03-11")
            try await store.refundItem(.premium, of: sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews",
            .subscriptions: "basic active until 04-01 renews, premium {revoked|expired}*",
            .why: "plus 1 owned, plus 2 {refunded|revokedByAppStore}", .story: "granted, granted, revoked",
            .webhooks: "subscription.purchased, subscription.purchased, purchase.refunded",
            .revenueCat: .init("*INITIAL_PURCHASE*, \(CommonCases.refundEvents("<premium>", "-10"))"),
            .customerInfo: "<basic> normal until 04-01, <premium> normal until 03-11*, has gardener",
            .figures:
                "revenue 15000, refunds 1, refunded-revenue 10000, active-subscriptions 1, mrr 5000, churn 1",
        ])

    static let addOnRemoved = row(
        "an add-on, removed at the next renewal", "subscriptionsv2 deferredItemRemoval",
        { store in
            let sold = try await store.subscribeToBoth("alice")
            try store.wait(until: "03-11")
            try await store.removeItem(.premium, of: sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews, plus 2 willNotRenew until 04-01 ends",
            .subscriptions: "basic active until 04-01 renews, premium willNotRenew until 04-01 ends",
            .why: "plus 1 owned, plus 2 owned", .story: "granted, granted, autoRenewDisabled by user",
            .webhooks: "subscription.purchased, subscription.purchased, subscription.expiring",
            .revenueCat: "*INITIAL_PURCHASE*, CANCELLATION/UNSUBSCRIBE <premium> NORMAL 0",
            .figures: "revenue 15000, active-subscriptions 2, mrr 15000",
        ])

    static let addOnGone = row(
        "an add-on, removed, after the renewal of the base",
        "subscriptionsv2 deferredItemRemoval; SUBSCRIPTION_RENEWED",
        { store in
            let sold = try await store.subscribeToBoth("alice")
            try store.wait(until: "03-11")
            try await store.removeItem(.premium, of: sold)
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        [
            .items: "plus 1 active until 05-01 renews",
            .subscriptions: "basic active until 05-01 renews, premium expired until 04-01*",
            .why: "plus 1 owned, plus 2 expired",
            .story: "granted, granted, autoRenewDisabled by user, {granted, expired|expired, granted}",
            .revenueCat: "*INITIAL_PURCHASE*, CANCELLATION/UNSUBSCRIBE <premium> NORMAL 0, *RENEWAL <basic> NORMAL 5*",
            .figures: "revenue 20000, active-subscriptions 1, mrr 5000, churn 1, renewals 1",
        ])

    // MARK: Money and rights

    private static let refunds = [
        rightKept, halfKept, productKept, halfProductKept, consumedKept, firstKept, firstKeptBesideForgotten,
        keptAfterEnd, refundedInGrace, revokedEarly, revokedAfterRefund, unitsRefunded, chargedBack,
        chargedBackAfterEnd,
    ]

    static let rightKept = row(
        "a refund that leaves the right",
        "orders.refund without revoke: the user keeps the entitlement; Order.state REFUNDED; \(revenueCat)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.payBack(sold)
            try store.wait(until: "03-14")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted, paymentRefunded",
            .webhooks: "subscription.purchased, purchase.refunded",
            // "in the event of refunds, a subscription's auto-renewal setting may still be active"
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/CUSTOMER_SUPPORT <basic> NORMAL -5",
            .customerInfo: "<basic> normal until 04-01*, has gardener",
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let halfKept = row(
        "half refunded, the right is left",
        "Order PARTIALLY_REFUNDED without a revocation; partialRefundEvents[].refundDetails",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.payHalfBack(sold)
            try store.wait(until: "03-14")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted, paymentRefunded",
            .figures: "revenue 5000, refunds 1, refunded-revenue 2500, active-subscriptions 1, mrr 5000",
        ])

    private static let listedOnlyIfRevoked =
        "voided-purchases: an order refunded without the revoke option is not in the list; Order.state; \(revenueCat)"

    private static func keptProduct(
        _ name: String, paidBack: String, _ play: @Sendable @escaping (GoogleTableStore, Sold) async throws -> Void
    ) -> TableRow {
        row(
            name, listedOnlyIfRevoked,
            { store in
                let sold = try await store.buy(.gate)
                try store.wait(until: "03-11")
                try await play(store, sold)
                try store.wait(until: "03-14")
            },
            [
                .items: "gate 1 owned", .subscriptions: "nothing", .why: "gate 1 owned",
                .story: "granted, paymentRefunded", .webhooks: "product.purchased, purchase.refunded",
                .revenueCat: .init(
                    "NON_RENEWING_PURCHASE gate NORMAL 20, CANCELLATION/CUSTOMER_SUPPORT gate NORMAL -\(paidBack)"),
                .customerInfo: "gate", .figures: .init("revenue 20000, refunds 1, refunded-revenue \(paidBack)000"),
            ])
    }

    static let productKept = keptProduct("a one-time product paid back, which the customer keeps", paidBack: "20") {
        try await $0.payBack($1)
    }

    static let halfProductKept = keptProduct(
        "half of a one-time product paid back, which the customer keeps", paidBack: "10"
    ) { try await $0.payHalfBack($1) }

    static let consumedKept = keptProduct(
        "a one-time product paid back, which the customer keeps, and whose token is forgotten", paidBack: "20"
    ) { store, sold in
        await store.forgetToken(of: sold)
        try await store.payBack(sold)
    }

    private static let cellsOfEarlierRefund: TableRow.Cells = [
        .items: "plus 1 active until 07-01 renews", .subscriptions: "basic active until 07-01 renews",
        .why: "plus 1 owned", .story: "granted, granted, granted, granted, paymentRefunded",
        .webhooks:
            "subscription.purchased, subscription.renewed, subscription.renewed, subscription.renewed, purchase.refunded",
        // "refunds for earlier subscription periods do not trigger this event"
        .revenueCat:
            "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5, RENEWAL <basic> NORMAL 5, RENEWAL <basic> NORMAL 5",
        .customerInfo: "<basic> normal until 07-01, has gardener",
        .figures:
            "revenue 20000, refunds 1, refunded-revenue 5000, active-subscriptions 1, mrr 5000, renewals 3",
    ]

    private static func payBack(_ store: GoogleTableStore, charge: Int, forgetting forgotten: Int?) async throws {
        let sold = try await store.subscribe("alice")
        for _ in 0..<3 { try await store.renew(sold) }
        try store.wait(until: "06-05")
        if let forgotten { await store.forget(sold, charge: forgotten) }
        try await store.payBack(sold, charge: charge)
        try store.wait(until: "06-08")
    }

    static let firstKept = row(
        "a refund of the first of four periods, which leaves the right",
        "voided-purchases: an order that is refunded without the revoke option is not in the list; orders.batchget",
        { try await payBack($0, charge: 0, forgetting: nil) }, cellsOfEarlierRefund)

    static let firstKeptBesideForgotten = row(
        "a refund of the second of four periods, the first of which Google Play has forgotten",
        "orders.batchget: if any order is not found, the entire request will fail",
        { try await payBack($0, charge: 1, forgetting: 0) }, cellsOfEarlierRefund)

    private static func payBackAfterEnd(_ store: GoogleTableStore, isVoided: Bool) async throws {
        let sold = try await store.subscribe("alice")
        try store.wait(until: "03-11")
        try await store.turnOff(sold)
        try await store.expire(sold, .customer)
        for day in ["04-03", "04-06"] {
            try store.wait(until: day)
            try await store.service.settle()
        }
        if isVoided { try await store.chargeBack(sold) } else { try await store.payBack(sold) }
        try store.wait(until: "04-20")
    }

    private static let eventsBackAfterEnd =
        "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0, EXPIRATION/UNSUBSCRIBE <basic> NORMAL 0, CANCELLATION/CUSTOMER_SUPPORT <basic> NORMAL -5"

    static let keptAfterEnd = row(
        "a refund without a revocation, days after the end",
        "voided-purchases: an order that is refunded without the revoke option is not in the list; \(revenueCat)",
        { try await payBackAfterEnd($0, isVoided: false) },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends (customerCancelled)",
            .why: "plus 1 expired", .story: "granted, autoRenewDisabled by user, expired, paymentRefunded",
            .webhooks:
                "subscription.purchased, subscription.expiring, purchase.expired, purchase.refunded",
            .revenueCat: .init(eventsBackAfterEnd),
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    static let chargedBackAfterEnd = row(
        "charged back, days after the end", "voidedpurchases.list; \(revenueCat): one CANCELLATION tells of a refund",
        { try await payBackAfterEnd($0, isVoided: true) },
        [
            .items: "nothing", .revenueCat: .init(eventsBackAfterEnd),
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    static let revokedAfterRefund = row(
        "refunded without a revocation, then revoked",
        "orders.refund without revoke; then subscriptionsv2.revoke; \(revenueCat): one CANCELLATION tells of a refund",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.payBack(sold)
            try await store.revoke(sold)
            try store.wait(until: "03-14")
        },
        [
            .items: "nothing", .story: "granted, paymentRefunded, revoked",
            .webhooks: "subscription.purchased, purchase.refunded, purchase.revoked",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/CUSTOMER_SUPPORT <basic> NORMAL -5, EXPIRATION/{CUSTOMER_SUPPORT|DEVELOPER_INITIATED} <basic> NORMAL 0",
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    static let refundedInGrace = row(
        "refunded in the grace period, with the right taken",
        "\(lifecycle), revocations: revoke the entitlement immediately; \(revenueCat): one CANCELLATION tells of a refund",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 7)
            try store.wait(until: "04-04")
            try await store.refund(sold, half: false)
            try store.wait(until: "04-06")
        },
        [
            .items: "nothing", .subscriptions: "basic revoked*", .why: "plus 1 {refunded|revokedByAppStore}",
            .story: "granted, gracePeriodBegan, revoked",
            .webhooks: "subscription.purchased, subscription.gracePeriodBegan, purchase.refunded",
            .revenueCat: .init(
                "INITIAL_PURCHASE <basic> NORMAL 5, \(CommonCases.chargeFailed), "
                    + CommonCases.refundEvents("<basic>", "-5")),
            .customerInfo: "<basic> normal until 04-0* refunded 04-04",
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    static let revokedEarly = row(
        "revoked after an early renewal", "\(lifecycle), revocations: revoke the user's entitlement immediately",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.renew(sold, hoursEarly: 20)
            try store.wait(until: "03-31T18:00")
            try await store.revoke(sold)
            try store.wait(until: "03-31T20:00")
        },
        [
            .items: "nothing", .subscriptions: "basic {revoked|expired}*",
            .story: "granted, granted, {revoked|expired}*", .customerInfo: "<basic> normal until 03-31*",
        ])

    static let unitsRefunded = row(
        "one of three units refunded",
        "productsv2 refundableQuantity; voidedpurchases voidedQuantity; Order.partialRefundEvents",
        { store in
            let sold = try await store.buy(.seeds, for: "alice", quantity: 3)
            try store.wait(until: "03-11")
            try await store.refundUnits(1, of: sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "20 seeds",
            .story: "granted, {unitsRevoked|unitsRevoked, paymentRefunded|paymentRefunded, unitsRevoked}",
            .revenueCat: "NON_RENEWING_PURCHASE seeds NORMAL 3{, CANCELLATION/CUSTOMER_SUPPORT seeds NORMAL -1|}",
            .figures: "revenue 3000, refunds 1, refunded-revenue 1000",
        ])

    static let chargedBack = row(
        "charged back, while the answer still says that it is paid",
        "voidedpurchases.list: revoke access to what is voided (voidedReason 7); \(lifecycle), revocations",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.chargeBack(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "nothing", .why: "plus 1 {refunded|revokedByAppStore}", .story: "granted, revoked",
            .webhooks: "subscription.purchased, purchase.refunded",
            .revenueCat: .init("INITIAL_PURCHASE <basic> NORMAL 5, \(CommonCases.refundEvents("<basic>", "-5"))"),
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    // MARK: Payments

    private static let payments = [
        pending, paidLater, neverPaid, preordered, rented, rentalOver, subscriptionNeverPaid, promotion,
        promotionRenewed, deferred,
    ]

    private static let oneTime = "developer.android.com/google/play/billing/lifecycle/one-time"

    static let pending = row(
        "a pending payment", "\(oneTime), pending: grant only when PURCHASED",
        { store in
            _ = try await store.buy(.gate, for: "alice", state: "PENDING", withAccount: true)
            try store.wait(until: "03-02")
        },
        [
            .items: "nothing", .subscriptions: "nothing", .story: "{nothing|refused}", .webhooks: "nothing",
            .revenueCat: "nothing", .customerInfo: "nothing", .figures: "nothing",
        ])

    static let paidLater = row(
        "a pending payment, paid", "\(oneTime), ONE_TIME_PRODUCT_PURCHASED",
        { store in
            let sold = try await store.buy(.gate, for: "alice", state: "PENDING", withAccount: true)
            try store.wait(until: "03-03")
            try await store.pay(sold)
            try store.wait(until: "03-05")
        },
        [
            .items: "gate 1 owned", .why: "gate 1 owned", .story: "{refused, |}granted", .webhooks: "product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20", .customerInfo: "gate", .figures: "revenue 20000",
        ])

    static let neverPaid = row(
        "a pending payment, never paid", "\(oneTime), ONE_TIME_PRODUCT_CANCELED",
        { store in
            let sold = try await store.buy(.gate, for: "alice", state: "PENDING", withAccount: true)
            try store.wait(until: "03-04")
            await store.change(sold) { $0.state = "CANCELLED" }
            try await store.notifyProduct(2, sold)
            try store.wait(until: "03-06")
        },
        [
            .items: "nothing", .story: "{nothing|refused}", .webhooks: "nothing", .revenueCat: "nothing",
            .customerInfo: "nothing", .figures: "nothing",
        ])

    static let preordered = row(
        "a pre-order, released",
        "billing/integrate, pending transactions: a pre-order is PENDING before the release time, then PURCHASED",
        { store in
            let sold = try await store.buy(.gate, for: "alice", state: "PENDING", withAccount: true)
            let details = json(
                ("purchaseOptionId", "buy"), ("offerId", "early"), ("quantity", .integer(1)),
                ("preorderOfferDetails", json(("preorderReleaseTime", .date(try Day.moment("03-10"))))))
            let line = json(("productId", .string(OneTime.gate.rawValue)), ("productOfferDetails", details))
            await store.change(sold) { $0.others = [("productLineItem", .array([line]))] }
            try await store.notifyProduct(1, sold)
            try store.wait(until: "03-10")
            try await store.pay(sold)
            try store.wait(until: "03-12")
        },
        [
            .items: "gate 1 owned", .why: "gate 1 owned", .story: "{refused, |}granted", .webhooks: "product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20", .customerInfo: "gate", .figures: "revenue 20000",
        ])

    private static let rental =
        "OneTimeProductRentPurchaseOption, rentalPeriod: the time that a user has the entitlement for, from the purchase on"

    static let rented = row(
        "a rental of ten days", rental,
        { store in
            _ = try await store.rent(.gate, for: "P10D")
            try store.wait(until: "03-08")
        },
        [
            .items: "gate 1 owned until 03-11", .subscriptions: "nothing", .why: "gate 1 owned",
            .story: "{refused, |}granted", .webhooks: "product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20", .customerInfo: "gate", .figures: "revenue 20000",
        ])

    static let rentalOver = row(
        "a rental of ten days that is over", rental,
        { store in
            _ = try await store.rent(.gate, for: "P10D")
            try store.wait(until: "03-13")
        },
        [
            .items: "nothing", .subscriptions: "nothing", .story: "{refused, |}granted*",
            .webhooks: "product.purchased*", .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20*",
            .figures: "revenue 20000",
        ])

    static let subscriptionNeverPaid = row(
        "a subscription whose payment was pending, never paid",
        "\(lifecycle): SUBSCRIPTION_STATE_PENDING, PENDING_PURCHASE_CANCELED (20)",
        { store in
            let sold = try await store.subscribePending("alice", to: .basic)
            try store.wait(until: "03-04")
            await store.change(sold) { $0.state = "PENDING_PURCHASE_CANCELED" }
            try await store.notify(20, sold)
            try store.wait(until: "03-06")
        },
        [
            .items: "nothing", .subscriptions: "nothing", .story: "{nothing|refused}", .webhooks: "nothing",
            .revenueCat: "nothing", .customerInfo: "nothing", .figures: "nothing",
        ])

    static let promotion = row(
        "a promotion without an order", "billing/security: promotional codes have no order; signupPromotion",
        { store in
            _ = try await store.subscribe("alice", to: .basic, hasOrder: false) { line in
                line.others = [("signupPromotion", json(("oneTimeCode", json())))]
            }
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 {active|trial} until 04-01 renews", .why: "plus 1 owned", .story: "granted",
            .webhooks: "subscription.purchased", .revenueCat: "INITIAL_PURCHASE <basic> {NORMAL|TRIAL} 0",
            .customerInfo: "<basic> {normal|trial} until 04-01, has gardener",
            .figures: "{nothing|active-subscriptions 1|active-subscriptions 1, mrr 5000}",
        ])

    static let promotionRenewed = row(
        "a promotion without an order, then paid", "\(lifecycle), renewals; the purchase stays the same",
        { store in
            let sold = try await store.subscribe("alice", to: .basic, hasOrder: false) { line in
                line.others = [("signupPromotion", json(("oneTimeCode", json())))]
            }
            await store.change(sold) { purchase in
                // The first order comes with the first payment.
                purchase.lines[0].orders = ["GPA.3345-1111-2222-99999"]
            }
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .story: "granted, granted",
            .revenueCat: "INITIAL_PURCHASE <basic> {NORMAL|TRIAL} 0, RENEWAL <basic> NORMAL 5",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000{, renewals 1|}{, conversions 1|}",
        ])

    static let deferred = row(
        "the billing date deferred", "\(lifecycle), deferred subscriptions: full access, no charge",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.extend(sold, days: 14)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-15 renews", .subscriptions: "basic active until 04-15 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5{, SUBSCRIPTION_EXTENDED <basic> NORMAL 0|}",
            .customerInfo: "<basic> normal until 04-15, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr *",
        ])

    // MARK: Answers that say less, or something wrong

    private static let answers =
        [withoutOrders, unknownState]
        + [(404, "purchaseTokenNotFound"), (410, "purchaseTokenNoLongerValid"), (400, "invalid")].map(wrongAnswer)

    static let withoutOrders = row(
        "the service account may not read orders",
        "orders.get needs View financial data (401 permissionDenied); lineItems.expiryTime has the ends",
        { store in
            await store.refuseOrders()
            let sold = try await store.subscribe("alice")
            try await store.renew(sold)
            try await store.renew(sold)
            try store.wait(until: "05-03")
        },
        [
            .items: "plus 1 active until 06-01 renews", .subscriptions: "basic active until 06-01 renews",
            .why: "plus 1 owned", .story: "granted, granted, granted",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL ?, RENEWAL <basic> NORMAL ?, RENEWAL <basic> NORMAL ?",
            .customerInfo: "<basic> normal until 06-01, has gardener",
            .figures: "active-subscriptions 1{, mrr *|}, renewals 2",
        ])

    static let unknownState = row(
        "a state that came after this version", "subscriptionsv2 SubscriptionState; what is paid is the customer's",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            await store.change(sold) { $0.state = "INVENTED_LATER" }
            try await store.notify(99, sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    private static func wrongAnswer(_ status: Int, _ reason: String) -> TableRow {
        row(
            "one wrong answer \(status), then a renewal without a notification",
            "androidpublisher errors \(status) \(reason); flutter#181529: they come for valid tokens, too",
            { store in
                let sold = try await store.subscribe("alice")
                try store.wait(until: "03-11")
                try await store.answerWrongly(sold, status: status, reason: reason)
                try await store.renewSilently(sold)
                try store.wait(until: "04-03")
            },
            [
                .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
                .why: "plus 1 owned", .story: "granted, granted",
                .webhooks: "subscription.purchased, subscription.renewed",
                .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5",
                .figures: "revenue 10000, active-subscriptions 1, mrr 5000, renewals 1",
            ])
    }
}
