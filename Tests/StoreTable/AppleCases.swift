import Testing

/// The App Store against the table.
@Suite struct AppleTableTests {
    @Test(arguments: CommonCases.all + AppleCases.all)
    func `each surface says what the App Store's pages say`(_ row: TableRow) async throws {
        try await row.check(.apple)
    }
}

/// The rows that only the App Store has.
enum AppleCases {
    static let all: [TableRow] = [
        askToBuy, refundReversed, earlyRenewalRefunded, notForSale, endedForAnotherReason, familyShared, familyRevoked,
        seatAssigned, seatsSold, seatRefunded, upgradedWithRefund, successorUnknown,
        successorUnknownWithRefund, successorLater, consentAsked, oneOfTwoIdentifiers, unitRefunded,
        unitRefundReversed, restRefunded, upgradedInGrace, turnedOffHeardLate, turnedOffInGrace, extended,
        graceEnded,
    ]

    private struct NotApple: Error {}

    private static func row(
        _ name: String, _ page: String, _ play: @Sendable @escaping (AppleTableStore) async throws -> Void,
        _ cells: TableRow.Cells
    ) -> TableRow {
        TableRow(
            name: name, pages: [.apple: page],
            play: { store in
                guard let store = store as? AppleTableStore else { throw NotApple() }
                try await play(store)
            }, cells: cells)
    }

    static let askToBuy = row(
        "Ask to Buy, not decided",
        "developer.apple.com/documentation/storekit/product/purchaseresult/pending: no transaction exists",
        { store in try store.wait(until: "03-03") },
        [
            .items: "nothing", .subscriptions: "nothing", .why: "nothing", .story: "nothing", .webhooks: "nothing",
            .revenueCat: "nothing", .customerInfo: "nothing", .figures: "nothing",
        ])

    static let refundReversed = row(
        "refund reversed",
        "notificationType REFUND_REVERSED: reinstate the content; RevenueCat REFUND_REVERSED",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.refund(sold, half: false)
            try store.wait(until: "03-12")
            try await store.reverseRefund(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted, revoked, granted",
            .webhooks: "subscription.purchased, purchase.refunded, purchase.reinstated",
            .revenueCat: .init(
                "INITIAL_PURCHASE <basic> NORMAL 5, \(CommonCases.refundEvents("<basic>", "-5")), REFUND_REVERSED <basic> NORMAL *"
            ),
            .customerInfo: "<basic> normal until 04-01, has gardener",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let earlyRenewalRefunded = row(
        "an early renewal, refunded before it begins",
        "notificationType REFUND about the transaction of the next period; the paid one stays",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.renew(sold, hoursEarly: 20)
            try await store.refund(sold, half: false)
            try store.wait(until: "03-31T20:00")
        },
        [
            .items: "plus 1 * until 04-01*", .why: "plus 1 owned", .story: "granted, granted, revoked",
            .webhooks: "subscription.purchased, subscription.renewed, purchase.refunded",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, RENEWAL <basic> NORMAL 5, CANCELLATION/CUSTOMER_SUPPORT <basic> NORMAL -5{, EXPIRATION/CUSTOMER_SUPPORT <basic> NORMAL 0|}",
            .customerInfo: "*has gardener",
        ])

    static let notForSale = row(
        "ended because the product is not for sale",
        "notificationType EXPIRED, PRODUCT_NOT_FOR_SALE (expirationIntent 4); RevenueCat UNKNOWN",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.expire(sold, "PRODUCT_NOT_FOR_SALE", intent: 4)
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends (productNotAvailable)",
            .why: "plus 1 expired", .story: "granted,{ autoRenewDisabled by user,|} expired",
            .webhooks: "subscription.purchased,{ subscription.expiring,|} purchase.expired",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5,* EXPIRATION/UNKNOWN <basic> NORMAL 0",
            .figures: "revenue 5000, churn 1",
        ])

    static let endedForAnotherReason = row(
        "ended for another reason", "notificationType EXPIRED without subtype (expirationIntent 5); RevenueCat UNKNOWN",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.expire(sold, nil, intent: 5)
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends (other)", .why: "plus 1 expired",
            .story: "granted,{ autoRenewDisabled by user,|} expired",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5,* EXPIRATION/UNKNOWN <basic> NORMAL 0",
            .figures: "revenue 5000, churn 1",
        ])

    static let familyShared = row(
        "shared in the family", "inAppOwnershipType FAMILY_SHARED; RevenueCat is_family_share",
        { store in
            _ = try await store.share(.basic, with: "alice", as: "FAMILY_SHARED")
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 {familyShared|active} until 04-01*", .why: "plus 1 familyShared", .story: "granted",
            .webhooks: "subscription.purchased", .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01 shared, has gardener", .figures: "nothing",
        ])

    static let familyRevoked = row(
        "no longer shared in the family",
        "notificationType REVOKE: remove the entitlement; revocationType FAMILY_REVOKE; RevenueCat UNKNOWN",
        { store in
            let sold = try await store.share(.basic, with: "alice", as: "FAMILY_SHARED")
            try store.wait(until: "03-11")
            try await store.revokeShare(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "nothing", .subscriptions: "basic revoked*", .why: "plus 1 revokedByAppStore",
            .story: "granted, revoked", .webhooks: "subscription.purchased, purchase.revoked",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 0, CANCELLATION/UNKNOWN <basic> NORMAL {0|?}{, EXPIRATION/UNKNOWN <basic> NORMAL {0|?}|}",
            .figures: "nothing",
        ])

    static let seatAssigned = row(
        "a seat that another customer pays for", "inAppOwnershipType ASSIGNED (App Store Server API 1.23)",
        { store in
            _ = try await store.share(.basic, with: "alice", as: "ASSIGNED")
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 * until 04-01*", .why: "plus 1 assigned", .story: "granted",
            .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 0", .figures: "nothing",
        ])

    static let seatsSold = row(
        "three seats", "JWSTransactionDecodedPayload price with seats: the average price of one seat",
        { store in
            _ = try await store.sellSeats(3, of: .basic, to: "alice")
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 active until 04-01 renews", .why: "plus 1 owned", .story: "granted",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 15",
            .figures: "revenue 15000, active-subscriptions 1, mrr 15000",
        ])

    static let seatRefunded = row(
        "three seats, one refunded",
        "notificationType REFUND, SEATS: the transaction stays valid, without revocationDate",
        { store in
            let sold = try await store.sellSeats(3, of: .basic, to: "alice")
            try store.wait(until: "03-11")
            try await store.refundSeat(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .why: "plus 1 owned", .story: "granted", .webhooks: "subscription.purchased",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 15",
            .figures: "revenue 15000, active-subscriptions 1, mrr 15000",
        ])

    static let upgradedWithRefund = row(
        "upgraded at once, with half of the old period paid back",
        "isUpgraded with revocationDate and REFUND_PRORATED (purchases-ios#6515); RevenueCat: no event for earlier periods",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.upgradeWithRefund(sold, to: .premium)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 2 active until 04-11 renews", .subscriptions: "premium active until 04-11 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .story: "granted, {granted, productChanged|productChanged, granted}{, paymentRefunded|}",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, {PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>, RENEWAL <premium> NORMAL 10|RENEWAL <premium> NORMAL 10, PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>}",
            .figures:
                "revenue 15000, refunds 1, refunded-revenue 2500, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    private static let unknownCells: TableRow.Cells = [
        .items: "plus 1 * until 04-01*", .subscriptions: "basic * until 04-01*", .why: "plus 1 owned",
        .story: "granted", .webhooks: "subscription.purchased", .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
        .customerInfo: "<basic> normal until 04-01*, has gardener",
        .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
    ]

    static let successorUnknown = row(
        "upgraded at once, and the new period is not known yet",
        "isUpgraded: the customer upgraded to another subscription, which the app presents, and SUBSCRIBED or UPGRADE tells of",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.stateUpgraded(sold)
            try store.wait(until: "03-13")
        }, unknownCells)

    static let successorUnknownWithRefund = row(
        "upgraded at once with a refund, and the new period is not known yet",
        "isUpgraded with revocationDate and REFUND_PRORATED (purchases-ios#6515)",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.stateUpgraded(sold, isPaidBack: true)
            try store.wait(until: "03-13")
        },
        unknownCells.merging([
            .story: "granted, paymentRefunded", .webhooks: "subscription.purchased, purchase.refunded",
            .figures: "revenue 5000, refunds 1, refunded-revenue 2500, active-subscriptions 1, mrr 5000",
        ]) { $1 })

    static let successorLater = row(
        "upgraded at once, and the new period is known later",
        "isUpgraded; notificationType DID_CHANGE_RENEWAL_PREF, UPGRADE: notifications may come in another order",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.stateUpgraded(sold)
            try await store.upgrade(sold, to: .premium)
            try store.wait(until: "03-13")
        },
        CommonCases.upgraded.cells.merging(CommonCases.upgraded.own[.apple] ?? [:]) { $1 })

    static let consentAsked = row(
        "consent to a price increase asked",
        "notificationType PRICE_INCREASE, PENDING: nothing changes before the renewal",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.askForConsent(sold)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .story: "granted", .webhooks: "subscription.purchased", .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    static let oneOfTwoIdentifiers = row(
        "one period under two transaction identifiers",
        "webOrderLineItemId: the identifier of the purchase event across devices",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-02")
            try await store.repeatUnderAnotherIdentifier(sold)
            try store.wait(until: "03-03")
        },
        [
            .items: "plus 1 active until 04-01 renews", .subscriptions: "basic active until 04-01 renews",
            .story: "granted", .webhooks: "subscription.purchased", .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5",
            .figures: "revenue 5000, active-subscriptions 1, mrr 5000",
        ])

    private static let unitPage =
        "developer.apple.com/documentation/storekit/transaction/revocationpercentage: 1 of 3 items is approximately 33.333"
    private static let unitEvents =
        "NON_RENEWING_PURCHASE seeds NORMAL 3, CANCELLATION/CUSTOMER_SUPPORT seeds NORMAL -0.99*"

    static let unitRefunded = row(
        "one of three units refunded", unitPage,
        { store in
            let sold = try await store.buy(.seeds, for: "alice", quantity: 3)
            try store.wait(until: "03-11")
            try await store.refund(sold, percentage: 33333)
            try store.wait(until: "03-13")
        },
        [
            .items: "20 seeds", .story: "granted, revoked", .webhooks: "product.purchased, purchase.refunded",
            .revenueCat: .init(unitEvents), .figures: "revenue 3000, refunds 1, refunded-revenue 999",
        ])

    static let unitRefundReversed = row(
        "one of three units refunded, and the refund reversed", "\(unitPage); notificationType REFUND_REVERSED",
        { store in
            let sold = try await store.buy(.seeds, for: "alice", quantity: 3)
            try store.wait(until: "03-11")
            try await store.refund(sold, percentage: 33333)
            try store.wait(until: "03-12")
            try await store.reverseRefund(sold)
            try store.wait(until: "03-13")
        },
        [.items: "30 seeds", .story: "granted, revoked, granted", .figures: "revenue 3000"])

    static let restRefunded = row(
        "one of three units refunded, then all", unitPage,
        { store in
            let sold = try await store.buy(.seeds, for: "alice", quantity: 3)
            try store.wait(until: "03-11")
            try await store.refund(sold, percentage: 33333)
            try store.wait(until: "03-12")
            try await store.refund(sold, percentage: 100_000)
            try store.wait(until: "03-13")
        },
        [
            .items: "nothing", .story: "granted, revoked, paymentRefunded",
            .figures: "revenue 3000, refunds 1, refunded-revenue 3000",
        ])

    static let upgradedInGrace = row(
        "upgraded in the grace period",
        "notificationType DID_CHANGE_RENEWAL_PREF, UPGRADE: immediately; transactionReason PURCHASE; RevenueCat, Immediate Product Change",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 16)
            try store.wait(until: "04-05")
            try await store.upgrade(sold, to: .premium)
            try store.wait(until: "04-07")
        },
        [
            .items: "plus 2 active until 05-05 renews", .subscriptions: "premium active until 05-05 renews",
            .why: "plus 1 {upgraded|productChanged}, plus 2 owned",
            .story: "granted, gracePeriodBegan, {granted, productChanged|productChanged, granted}",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, *{PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>, RENEWAL <premium> NORMAL 10|RENEWAL <premium> NORMAL 10, PRODUCT_CHANGE <basic> NORMAL 0 -> <premium>}",
            .figures: "revenue 15000, active-subscriptions 1, mrr 10000{, renewals 1|}",
        ])

    static let turnedOffHeardLate = row(
        "turned off by the customer, heard after the end",
        "Responding to App Store Server Notifications: version 2 notifications are repeated for days; notificationType DID_CHANGE_RENEWAL_STATUS",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.turnOffHeardLate(sold)
            try await store.expire(sold, .customer)
            try store.wait(until: "04-03")
        },
        [
            .items: "nothing", .subscriptions: "basic expired until 04-01 ends (customerCancelled)",
            .why: "plus 1 expired", .story: "granted, autoRenewDisabled by user, expired",
            .webhooks: "subscription.purchased, subscription.expiring, purchase.expired",
            .revenueCat:
                "INITIAL_PURCHASE <basic> NORMAL 5, CANCELLATION/UNSUBSCRIBE <basic> NORMAL 0, EXPIRATION/UNSUBSCRIBE <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-01 unsubscribed", .figures: "revenue 5000, churn 1",
        ])

    static let turnedOffInGrace = row(
        "turned off in the grace period, told with a transaction of before",
        "notificationType EXPIRED, VOLUNTARY; JWSRenewalInfoDecodedPayload gracePeriodExpiresDate and signedDate",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 16)
            try store.wait(until: "04-05")
            try await store.turnOffInGrace(sold)
            try store.wait(until: "04-07")
        },
        [
            .items: "nothing", .subscriptions: "basic expired * ends (customerCancelled)", .why: "plus 1 expired",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, * EXPIRATION/UNSUBSCRIBE <basic> NORMAL 0",
        ])

    static let extended = row(
        "the period extended by ten days",
        "notificationType RENEWAL_EXTENDED; RevenueCat, Subscription Extended Flow",
        { store in
            let sold = try await store.subscribe("alice")
            try store.wait(until: "03-11")
            try await store.extend(sold, days: 10)
            try store.wait(until: "03-13")
        },
        [
            .items: "plus 1 active until 04-11 renews", .subscriptions: "basic active until 04-11 renews",
            .why: "plus 1 owned", .story: "granted, periodExtended",
            .webhooks: "subscription.purchased, subscription.periodExtended",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, SUBSCRIPTION_EXTENDED <basic> NORMAL 0",
            .customerInfo: "<basic> normal until 04-11, has gardener",
            // Neither page says if the price counts for the longer time.
            .figures: "revenue 5000, active-subscriptions 1, mrr *",
        ])

    static let graceEnded = row(
        "the grace period ended before its date",
        "notificationType GRACE_PERIOD_EXPIRED: turn off access; RevenueCat EXPIRATION at the end of the grace period",
        { store in
            let sold = try await store.subscribe("alice")
            try await store.beginGrace(sold, days: 16)
            try store.wait(until: "04-05")
            try await store.endGrace(sold)
            try store.wait(until: "04-05T12:10")
        },
        [
            .items: "nothing", .subscriptions: "basic billingRetry *", .why: "plus 1 renewalFailed",
            .story: "granted, gracePeriodBegan, renewalFailed",
            .revenueCat: "INITIAL_PURCHASE <basic> NORMAL 5, * EXPIRATION/BILLING_ERROR <basic> NORMAL 0",
        ])
}
