import Testing

/// The rows that every store plays: histories in the words of the model, with the cells that its pages give.
enum CommonCases {
    static let all: [TableRow] = [
        bought, trial, trialConverted, trialEnded, introductory, renewed, renewedEarly, turnedOff, turnedOn, expired,
        grace, graceWithoutDate, retried, graceThenRetried, recoveredInGrace, recovered, unpaid, priceRefused,
        upgraded, upgradedInTrial, downgradeChosen, downgraded, refunded, refundedInPart, refundedEarlier,
        resubscribed, product, productRefunded, units, seasonTwice, seasonOfTwoUnits, erased,
    ]

    /// Google's and Apple's words for a subscription that was bought.
    static let lifecycle: [StoreName: String] = [
        .apple: "developer.apple.com/documentation/appstoreservernotifications/notificationtype",
        .google: "developer.android.com/google/play/billing/lifecycle/subscriptions",
    ]
    private static let revenueCatTypes = "revenuecat.com/docs/integrations/webhooks/event-types-and-fields"

    private static func pages(_ apple: String, _ google: String) -> [StoreName: String] {
        [
            .apple: "\(apple); \(revenueCatTypes)", .google: "\(google); \(revenueCatTypes)",
            .acme: "AcmeStatement; \(revenueCatTypes)",
        ]
    }

    static let bought = TableRow(
        name: "bought",
        pages: pages("notificationType SUBSCRIBED, INITIAL_BUY", "lifecycle/subscriptions, new purchases"),
        play: { store in
            _ = try await store.subscribe("alice")
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let trial = TableRow(
        name: "in a free trial",
        pages: pages(
            "JWSTransactionDecodedPayload offerDiscountType FREE_TRIAL", "subscriptionsv2 offerPhase.freeTrial"),
        play: { store in
            _ = try await store.subscribe("alice", to: .basic, .trial)
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "plus 1 trial until 03-08 renews", .subscriptions: "basic trial until 03-08 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> TRIAL 0",
            .customerInfo: "<basic> trial until 03-08, has gardener", .figures: "nothing",
        ])

    static let trialConverted = TableRow(
        name: "free trial, then paid",
        pages: pages("notificationType DID_RENEW", "lifecycle/subscriptions, renewals (offerPhase.basePrice)"),
        play: { store in
            let sold = try await store.subscribe("alice", to: .basic, .trial)
            try await store.renew(sold)
            try store.wait(until: "03-10")
        },
        cells: [
            .items: "plus 1 active until 04-08 renews", .subscriptions: "basic active until 04-08 renews",
            .why: "plus 1 owned", .story: "granted, granted", .webhooks: "subscription.purchased, subscription.renewed",
            .revenueCat: "INITIAL_PURCHASE <basic> TRIAL 0, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 04-08, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000, conversions 1",
        ])

    static let trialEnded = TableRow(
        name: "free trial, turned off by the customer, ended",
        pages: pages("notificationType EXPIRED, VOLUNTARY", "lifecycle/subscriptions, cancellations"),
        play: { store in
            let sold = try await store.subscribe("alice", to: .basic, .trial)
            try store.wait(until: "03-04")
            try await store.turnOff(sold)
            try await store.expire(sold, .customer)
            try store.wait(until: "03-10")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic expired until 03-08 ends (customerCancelled)",
            .why: "plus 1 expired", .story: "granted, autoRenewDisabled by user, expired",
            .webhooks: "subscription.purchased, subscription.expiring, purchase.expired",
            .revenueCat:
                "INITIAL_PURCHASE <basic> TRIAL 0, CANCELLATION/UNSUBSCRIBE <basic> TRIAL 0, EXPIRATION/UNSUBSCRIBE <basic> TRIAL 0",
            .customerInfo: "<basic> trial until 03-08 unsubscribed", .figures: "nothing",
        ])

    static let introductory = TableRow(
        name: "introductory price",
        pages: pages(
            "JWSTransactionDecodedPayload offerDiscountType PAY_AS_YOU_GO",
            "subscriptionsv2 offerPhase.introductoryPrice"),
        play: { store in
            _ = try await store.subscribe("alice", to: .basic, .introductory)
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "plus 1 introductory until 04-01 renews", .subscriptions: "basic introductory until 04-01 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> INTRO 2",
            .customerInfo: "<basic> intro until 04-01, has gardener",
            // Neither store's page says which price recurs in an introductory period.
            .figures: "revenue 2000, active-subscriptions 1, mrr {2000|5000}",
        ])

    static let renewed = TableRow(
        name: "renewed", pages: pages("notificationType DID_RENEW", "lifecycle/subscriptions, renewals"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .why: "plus 1 owned", .story: "granted, granted", .webhooks: "subscription.purchased, subscription.renewed",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000, renewals 1",
        ])

    static let renewedEarly = TableRow(
        name: "renewed 20 hours before the end",
        pages: pages(
            "developer.apple.com/documentation/appstoreserverapi/purchasedate (a renewal may begin in the future)",
            "lifecycle/subscriptions, renewals (expiryTime)"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.renew(sold, hoursEarly: 20)
            try store.wait(until: "03-31T20:00")
        },
        cells: [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .why: "plus 1 owned", .story: "granted, granted", .webhooks: "subscription.purchased, subscription.renewed",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-01, has gardener",
            .figures: "revenue {5000|10000}, active-subscriptions 1, mrr 5000{, renewals 1|}",
        ])

    static let turnedOff = TableRow(
        name: "turned off by the customer",
        pages: pages(
            "notificationType DID_CHANGE_RENEWAL_STATUS, AUTO_RENEW_DISABLED",
            "lifecycle/subscriptions, cancellations; canceledStateContext.userInitiatedCancellation"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOff(sold)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "plus 1 willNotRenew until 04-01 ends", .subscriptions: "basic willNotRenew until 04-01 ends",
            .why: "plus 1 owned", .story: "granted, autoRenewDisabled by user",
            .webhooks: "subscription.purchased, subscription.expiring",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01 unsubscribed, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let turnedOn = TableRow(
        name: "turned off and on again",
        pages: pages(
            "notificationType DID_CHANGE_RENEWAL_STATUS, AUTO_RENEW_ENABLED",
            "lifecycle/subscriptions, restore prior to expiration (all cancellation fields are cleared)"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOff(sold)
            try store.wait(until: "03-12")
            try await store.turnOn(sold)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted, autoRenewDisabled by user, autoRenewEnabled",
            .webhooks: "subscription.purchased, subscription.expiring, subscription.renewing",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0, UNCANCELLATION <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let expired = TableRow(
        name: "turned off by the customer, ended",
        pages: pages("notificationType EXPIRED, VOLUNTARY", "lifecycle/subscriptions, expirations"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOff(sold)
            try await store.expire(sold, .customer)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends (customerCancelled)",
            .why: "plus 1 expired", .story: "granted, autoRenewDisabled by user, expired",
            .webhooks: "subscription.purchased, subscription.expiring, purchase.expired",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0, EXPIRATION/UNSUBSCRIBE <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01 unsubscribed", .figures: "revenue 5000, churn 1",
        ])

    // RevenueCat, Handling Refunds: "Granting a refund will immediately expire the subscription". Event Types and Fields: at an
    // EXPIRATION "access should be removed", and its reason may be CUSTOMER_SUPPORT. The two are dispatched at the same time.
    static func refundEvents(_ plan: String, _ amount: String) -> String {
        let (refund, end) = (
            "CANCELLATION/CUSTOMER_SUPPORT \(plan) NORMAL \(amount)", "EXPIRATION/CUSTOMER_SUPPORT \(plan) NORMAL 0"
        )
        return "{\(refund), \(end)|\(end), \(refund)}"
    }

    // RevenueCat, Common Webhook Flows, Billing Issue Flow: "RevenueCat will immediately dispatch a BILLING_ISSUE event and a
    // CANCELLATION event with a cancel_reason of BILLING_ERROR. If you do not have grace periods enabled, you'll immediately receive
    // an EXPIRATION webhook". The two are dispatched at the same time, so their order is open.
    static let chargeFailed =
        "{BILLING_ISSUE <basic> NORMAL 0, CANCELLATION/BILLING_ERROR <basic> NORMAL 0|CANCELLATION/BILLING_ERROR <basic> NORMAL 0, BILLING_ISSUE <basic> NORMAL 0}"

    static let grace = TableRow(
        name: "in the grace period",
        pages: pages(
            "notificationType DID_FAIL_TO_RENEW, GRACE_PERIOD",
            "lifecycle/subscriptions, grace period (IN_GRACE_PERIOD)"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 7)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "plus 1 gracePeriod until 04-08 renews", .subscriptions: "basic gracePeriod until 04-08 renews",
            .why: "plus 1 gracePeriod", .story: "granted, gracePeriodBegan",
            .webhooks: "subscription.purchased, subscription.gracePeriodBegan",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed)",
            .customerInfo: "<basic> normal until {04-01|04-08} unpaid, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let graceWithoutDate = TableRow(
        name: "in a grace period without a date",
        pages: pages(
            "notificationType DID_FAIL_TO_RENEW, GRACE_PERIOD: continue to provide service through the grace period",
            "lifecycle/subscriptions, grace period: the user should retain access; expiryTime is extended dynamically"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: nil)
            try store.wait(until: "04-02")
        },
        cells: [
            .items: "plus 1 gracePeriod* renews", .subscriptions: "basic gracePeriod* renews",
            .why: "plus 1 gracePeriod", .story: "granted, gracePeriodBegan",
            .webhooks: "subscription.purchased, subscription.gracePeriodBegan",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed)",
            .customerInfo: "<basic> normal* unpaid, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let retried = TableRow(
        name: "not paid, and retried",
        pages: pages(
            "notificationType DID_FAIL_TO_RENEW without subtype: stop providing service",
            "lifecycle/subscriptions, account hold (ON_HOLD): block access"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginRetry(sold)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic billingRetry* renews", .why: "plus 1 renewalFailed",
            .story: "granted, renewalFailed", .webhooks: "subscription.purchased, subscription.renewalFailed",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed), EXPIRATION/BILLING_ERROR <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01 unpaid", .figures: "revenue 5000, churn 1",
        ])

    static let graceThenRetried = TableRow(
        name: "grace period, then retried",
        pages: pages(
            "notificationType GRACE_PERIOD_EXPIRED", "lifecycle/subscriptions, account hold after the grace period"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 7)
            try await store.beginRetry(sold)
            try store.wait(until: "04-10")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic billingRetry* renews", .why: "plus 1 renewalFailed",
            .story: "granted, gracePeriodBegan, renewalFailed",
            .webhooks: "subscription.purchased, subscription.gracePeriodBegan, subscription.renewalFailed",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed), EXPIRATION/BILLING_ERROR <basic> NORMAL 0",
            .customerInfo: "<basic> normal until {04-01|04-08} unpaid", .figures: "revenue 5000, churn 1",
        ])

    static let recoveredInGrace = TableRow(
        name: "recovered in the grace period",
        pages: pages(
            "developer.apple.com/documentation/storekit/reducing-involuntary-subscriber-churn; DID_RENEW, BILLING_RECOVERY",
            "lifecycle/subscriptions, grace period: the renewal date does not reset"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 7)
            try store.wait(until: "04-04")
            try await store.recover(sold)
            try store.wait(until: "04-06")
        },
        cells: [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .why: "plus 1 owned", .story: "granted, gracePeriodBegan, granted",
            .webhooks: "subscription.purchased, subscription.gracePeriodBegan, subscription.renewed",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed), RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000, renewals 1",
        ])

    static let recovered = TableRow(
        name: "recovered after a retry",
        pages: pages(
            "notificationType DID_RENEW, BILLING_RECOVERY",
            "lifecycle/subscriptions, account hold: the billing date moves to the date of recovery (RECOVERED)"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginRetry(sold)
            try store.wait(until: "04-15")
            try await store.recover(sold)
            try store.wait(until: "04-17")
        },
        cells: [
            .items: "plus 1 active until 05-15 renews", .subscriptions: "basic active until 05-15 renews",
            .why: "plus 1 owned", .story: "granted, renewalFailed, granted",
            .webhooks: "subscription.purchased, subscription.renewalFailed, subscription.renewed",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed), EXPIRATION/BILLING_ERROR <basic> NORMAL 0, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-15, has gardener",
            // Of April's ends, the one that came back is no churn.
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000",
        ])

    static let unpaid = TableRow(
        name: "retried in vain, ended",
        pages: pages(
            "notificationType EXPIRED, BILLING_RETRY (expirationIntent 2)",
            "lifecycle/subscriptions, account hold: SUBSCRIPTION_CANCELED, then SUBSCRIPTION_EXPIRED at once (systemInitiatedCancellation)"
        ),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.beginRetry(sold)
            try await store.expire(sold, .billing)
            try store.wait(until: "06-03")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic expired until * ends (billingError)",
            .why: "plus 1 {expired|renewalFailed}",
            .story: "granted, renewalFailed,{ autoRenewDisabled by system,|} expired",
            .webhooks:
                "subscription.purchased, subscription.renewalFailed,{ subscription.expiring,|} purchase.expired",
            // A second EXPIRATION is one of the differences that API.md states.
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, \(chargeFailed), EXPIRATION/BILLING_ERROR <basic> NORMAL 0{, EXPIRATION/BILLING_ERROR <basic> NORMAL 0|}",
            .customerInfo: "<basic> normal until 04-01{ unsubscribed|} unpaid", .figures: "revenue 5000, churn 1",
        ])

    static let priceRefused = TableRow(
        name: "ended by a price increase without consent",
        pages: pages(
            "notificationType EXPIRED, PRICE_INCREASE (expirationIntent 3)",
            "billing/price-changes; lifecycle/subscriptions, opt-in price increase not accepted: automatically unsubscribed"
        ),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.expire(sold, .priceIncrease)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "nothing",
            .subscriptions: "basic expired until 04-01 ends (customerDidNotConsentToPriceIncrease)",
            .why: "plus 1 expired",
            .story: "granted,{ autoRenewDisabled by priceIncrease,|} expired",
            .webhooks: "subscription.purchased,{ subscription.expiring,|} purchase.expired",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5,{ CANCELLATION/PRICE_INCREASE <basic> NORMAL 0,|} EXPIRATION/PRICE_INCREASE <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01{ unsubscribed|}", .figures: "revenue 5000, churn 1",
        ])

    // RevenueCat, Common Webhook Flows, Immediate Product Change: "a PRODUCT_CHANGE event will be dispatched alongside a RENEWAL event
    // (for App Store subscriptions) or an INITIAL_PURCHASE event (for Google Play subscriptions)".
    static let upgraded = TableRow(
        name: "upgraded at once",
        pages: pages(
            "notificationType DID_CHANGE_RENEWAL_PREF, UPGRADE; JWSTransactionDecodedPayload isUpgraded",
            "billing/subscriptions, CHARGE_FULL_PRICE; lifecycle/subscriptions, upgrades (linkedPurchaseToken)"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.upgrade(sold, to: .premium)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "plus 2 active until 04-11 renews", .subscriptions: "premium active until 04-11 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .story: "granted, {granted, productChanged|productChanged, granted}",
            .webhooks:
                "subscription.purchased, {subscription.renewed, subscription.productChanged|subscription.productChanged, subscription.renewed}",
            .customerInfo: "*<premium> normal until 04-11, has gardener",
            .figures: "revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ],
        own: [
            .apple: [
                .revenueCat:
                    "INITIAL_PURCHASE <basic> NORMAL 5, {PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>, RENEWAL <premium> NORMAL 10|RENEWAL <premium> NORMAL 10, PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>}"
            ],
            .acme: [
                .revenueCat:
                    "INITIAL_PURCHASE <basic> NORMAL 5, {PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>, RENEWAL <premium> NORMAL 10|RENEWAL <premium> NORMAL 10, PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>}"
            ],
            .google: [
                .revenueCat:
                    "INITIAL_PURCHASE <basic> NORMAL 5, {PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>, INITIAL_PURCHASE <premium> NORMAL 10|INITIAL_PURCHASE <premium> NORMAL 10, PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>}",
                .webhooks:
                    "subscription.purchased, {subscription.purchased, subscription.productChanged|subscription.productChanged, subscription.purchased}",
            ],
        ])

    static let upgradedInTrial = TableRow(
        name: "upgraded at once in the free trial, for the full price",
        pages: pages(
            "notificationType DID_CHANGE_RENEWAL_PREF, UPGRADE; isUpgraded",
            "billing/subscriptions, CHARGE_FULL_PRICE from a free trial"),
        play: { store in
            let sold = try await store.subscribe("alice", to: .basic, .trial)
            try store.wait(until: "03-04")
            try await store.upgrade(sold, to: .premium)
            try store.wait(until: "03-06")
        },
        cells: [
            .items: "plus 2 active until 04-04 renews", .subscriptions: "premium active until 04-04 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .story: "granted, {granted, productChanged|productChanged, granted}",
            .webhooks:
                "subscription.purchased, {{subscription.renewed|subscription.purchased}, subscription.productChanged|subscription.productChanged, {subscription.renewed|subscription.purchased}}",
            .revenueCat:
                "INITIAL_PURCHASE <basic> TRIAL 0, {PRODUCT_CHANGE <basic> TRIAL 0 -> <premium>, {RENEWAL|INITIAL_PURCHASE} <premium> NORMAL 10|{RENEWAL|INITIAL_PURCHASE} <premium> NORMAL 10, PRODUCT_CHANGE <basic> TRIAL 0 -> <premium>}",
            .customerInfo: "*<premium> normal until 04-04, has gardener",
            // The first payment after a free trial (Figures.md).
            .figures: "revenue 10000, active-subscriptions 1, mrr 10000, conversions 1",
        ])

    // RevenueCat, Product Change at Period End: "a PRODUCT_CHANGE event will immediately be sent informing of the upcoming product
    // change … When the customer encounters their next renewal, a RENEWAL event will be dispatched". Managing subscriptions: "the
    // expiration_at_ms will always be for the product the customer is changing from".
    static let downgradeChosen = TableRow(
        name: "downgrade chosen for the next renewal",
        pages: pages(
            "notificationType DID_CHANGE_RENEWAL_PREF, DOWNGRADE: does not affect the current plan",
            "billing/subscriptions, handle deferred replacement: two line items, the old one until its expiryTime"),
        play: { store in
            let sold = try await store.subscribe("alice", to: .premium)
            try store.wait(until: "03-11")
            try await store.choose(.basic, at: sold)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "plus 2 active until 04-01 renews", .subscriptions: "premium active until 04-01 renews as basic",
            .why: "plus 2 owned", .story: "granted, planChosen",
            .webhooks: "subscription.purchased, subscription.planChosen",
            .revenueCat: "INITIAL_PURCHASE <premium> NORMAL 10, PRODUCT_CHANGE <premium> NORMAL 0 -> <basic>",
            .customerInfo: "<premium> normal until 04-01, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 10000",
        ])

    static let downgraded = TableRow(
        name: "downgraded at the renewal",
        pages: pages(
            "notificationType DID_RENEW after DOWNGRADE",
            "billing/subscriptions, handle deferred replacement: first renewals follow the standard behavior"),
        play: { store in
            let sold = try await store.subscribe("alice", to: .premium)
            try store.wait(until: "03-11")
            try await store.choose(.basic, at: sold)
            try await store.renew(sold)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .why: "plus 1 owned, plus 2 productChanged",
            .story: "granted, planChosen, granted",
            .webhooks: "subscription.purchased, subscription.planChosen, subscription.renewed",
            .revenueCat:
                "INITIAL_PURCHASE <premium> NORMAL 10, PRODUCT_CHANGE <premium> NORMAL 0 -> <basic>, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-01, <premium> normal until 04-01, has gardener",
            .figures: "revenue 15000, active-subscriptions 1, mrr 5000, renewals 1",
        ])

    // "CANCELLATION: A subscription or non-renewing purchase has been cancelled or refunded"; "EXPIRATION: … access should be removed".
    // The pages do not say that a refund has the second one, too.
    static let refunded = TableRow(
        name: "refunded in full, with the right taken",
        pages: pages(
            "notificationType REFUND; revocationType REFUND_FULL",
            "subscriptionsv2.revoke fullRefund; lifecycle/subscriptions, revocations: revoke the entitlement immediately"
        ),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.refund(sold, half: false)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic revoked*", .why: "plus 1 {refunded|revokedByAppStore}",
            .story: "granted, revoked",
            .webhooks: "subscription.purchased, purchase.refunded",
            .revenueCat: .init("INITIAL_PURCHASE <basic> NORMAL 5, \(refundEvents("<basic>", "-5"))"),
            .customerInfo: "<basic> normal until 03-11* refunded 03-11",
            .figures: "revenue 5000, refunds 1, refunded-revenue 5000, churn 1",
        ])

    static let refundedInPart = TableRow(
        name: "half refunded, with the right taken",
        pages: pages(
            "revocationType REFUND_PRORATED, revocationPercentage 50000",
            "subscriptionsv2.revoke proratedRefund; Order PARTIALLY_REFUNDED, partialRefundEvents[].refundDetails.total"
        ),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-16")
            try await store.refund(sold, half: true)
            try store.wait(until: "03-18")
        },
        cells: [
            .items: "nothing", .subscriptions: "basic revoked*", .why: "plus 1 {refunded|revokedByAppStore}",
            .story: "granted, revoked",
            .webhooks: "subscription.purchased, purchase.refunded",
            .revenueCat: .init("INITIAL_PURCHASE <basic> NORMAL 5, \(refundEvents("<basic>", "-2.5"))"),
            .customerInfo: "<basic> normal until 03-16* refunded 03-16",
            .figures: "revenue 5000, refunds 1, refunded-revenue 2500, churn 1",
        ])

    static let refundedEarlier = TableRow(
        name: "refund of an earlier period",
        pages: pages(
            "notificationType REFUND about an earlier transaction",
            "voidedpurchases.list: the order identifies the period, since renewals share the token; Order.state REFUNDED"
        ),
        play: { store in
            let sold = try await store.subscribe("alice")
            try await store.renew(sold)
            try store.wait(until: "04-05")
            try await store.refundEarlier(sold)
            try store.wait(until: "04-08")
        },
        cells: [
            .items: "plus 1 active until 05-01 renews", .subscriptions: "basic active until 05-01 renews",
            .why: "plus 1 owned", .story: "granted, granted, {revoked|paymentRefunded}",
            .webhooks: "subscription.purchased, subscription.renewed, purchase.refunded",
            // "refunds for earlier subscription periods do not trigger this event"
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-01, has gardener",
            .figures:
                "revenue 10000, refunds 1, refunded-revenue 5000, active-subscriptions 1, mrr 5000, renewals 1",
        ])

    static let resubscribed = TableRow(
        name: "subscribed again after the end",
        pages: pages(
            "notificationType SUBSCRIBED, RESUBSCRIBE",
            "lifecycle/subscriptions, resubscribe after expiration: outOfAppPurchaseContext, no linkedPurchaseToken"),
        play: { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOff(sold)
            try await store.expire(sold, .customer)
            try store.wait(until: "04-20")
            try await store.resubscribe(sold)
            try store.wait(until: "04-22")
        },
        cells: [
            .items: "plus 1 active until 05-20 renews", .why: "plus 1 owned",
            .subscriptions: "basic active until 05-20 renews{, basic expired *|}",
            .story: "granted, autoRenewDisabled by user, expired,{ autoRenewEnabled,|} granted{, autoRenewEnabled|}",
            .webhooks:
                "subscription.purchased, subscription.expiring, purchase.expired,{ subscription.renewing,|} {subscription.renewed|subscription.purchased}{, subscription.renewing|}",
            // "RENEWAL: An existing subscription has been renewed or a lapsed user has resubscribed"; "INITIAL_PURCHASE: If the
            // resubscription occurs after the previous subscription has expired". An UNCANCELLATION is of a subscription that has not
            // expired.
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0, EXPIRATION/UNSUBSCRIBE <basic> NORMAL 0, {RENEWAL|INITIAL_PURCHASE} <basic> NORMAL 5",
            .customerInfo: "<basic> normal until 05-20, has gardener",
            .figures: "revenue 10000, active-subscriptions 1, mrr 5000",
        ])

    static let product = TableRow(
        name: "a product for good",
        pages: pages("JWSTransactionDecodedPayload type Non-Consumable", "lifecycle/one-time, PURCHASED"),
        play: { store in
            _ = try await store.buy(.gate)
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "gate 1 owned", .subscriptions: "nothing", .why: "gate 1 owned", .story: "granted",
            .webhooks: "product.purchased", .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20",
            .customerInfo: "gate", .figures: "revenue 20000",
        ])

    static let productRefunded = TableRow(
        name: "a product, refunded",
        pages: pages("notificationType REFUND", "voidedpurchases.list; lifecycle/one-time"),
        play: { store in
            let sold = try await store.buy(.gate)
            try store.wait(until: "03-11")
            try await store.refundProduct(sold)
            try store.wait(until: "03-13")
        },
        cells: [
            .items: "nothing", .subscriptions: "nothing", .why: "gate 1 refunded", .story: "granted, revoked",
            .webhooks: "product.purchased, purchase.refunded",
            .revenueCat: "NON_RENEWING_PURCHASE gate NORMAL 20, CANCELLATION/CUSTOMER_SUPPORT gate NORMAL -20",
            .customerInfo: "nothing", .figures: "revenue 20000, refunds 1, refunded-revenue 20000",
        ])

    static let units = TableRow(
        name: "several units of a consumable",
        pages: pages("JWSTransactionDecodedPayload quantity", "productsv2 productOfferDetails.quantity"),
        play: { store in
            _ = try await store.buy(.seeds, for: "alice", quantity: 3)
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "30 seeds", .subscriptions: "nothing", .story: "granted", .webhooks: "product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE seeds NORMAL 3", .figures: "revenue 3000",
        ])

    static let seasonTwice = TableRow(
        name: "a season pass, bought again while one runs",
        pages: pages(
            "App Review Guidelines 3.1.2 and the product page: renew or extend a non-renewing subscription",
            "lifecycle/one-time: the catalog's duration adds up"),
        play: { store in
            _ = try await store.buy(.season)
            try store.wait(until: "04-01")
            _ = try await store.buy(.season)
            try store.wait(until: "04-03")
        },
        cells: [
            .items: "bed 1 owned until 09-01", .why: "bed 1 owned", .story: "granted, granted",
            .webhooks: "product.purchased, product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE season NORMAL 6, NON_RENEWING_PURCHASE season NORMAL 6",
            .customerInfo: "season{ ×2|}", .figures: "revenue 12000",
        ])

    static let seasonOfTwoUnits = TableRow(
        name: "two units of a season pass",
        pages: pages(
            "developer.apple.com/documentation/storekit/product/purchaseoption/quantity(_:): also of non-renewing subscriptions",
            "lifecycle/one-time, multi-quantity purchases: fulfill the quantity"),
        play: { store in
            _ = try await store.buy(.season, for: "alice", quantity: 2)
            try store.wait(until: "03-03")
        },
        cells: [
            .items: "bed 1 owned until 09-01", .why: "bed 1 owned", .story: "granted", .webhooks: "product.purchased",
            .revenueCat: "NON_RENEWING_PURCHASE season NORMAL 12", .customerInfo: "season", .figures: "revenue 12000",
        ])

    static let erased = TableRow(
        name: "the owner's account was erased, and another account restores the purchase",
        pages: pages(
            "Restore Purchases: purchases belong to the Apple Account",
            "billing/integrate: purchases of the Google account"),
        users: ["bob"],
        play: { store in
            let sold = try await store.buy(.gate)
            try store.wait(until: "03-11")
            _ = try await store.service.send(.post, TableService.path("alice", "erasure"), json()).value
            // Past the time after which a purchase of an erased owner can be claimed.
            try store.wait(until: "11-01")
            try await store.present(sold, by: "bob")
        },
        cells: [
            .items: "gate 1 owned", .why: "gate 1 owned", .story: "{granted|transferredIn}*", .customerInfo: "gate",
            .figures: "revenue 20000",
        ])
}
