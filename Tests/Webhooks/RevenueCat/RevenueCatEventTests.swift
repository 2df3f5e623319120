import Entitlements
import Foundation
import Ledger
import Proofs
import Testing
import Vocabulary

/// The messages in RevenueCat's format: the type and the members of each event of the audit log.
@Suite struct RevenueCatEventTests {
    private typealias Fixture = RevenueCatFixture

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let fixture: RevenueCatFixture
        let type: String
        /// Members that the event has, with their JSON.
        let members: [String: JSONValue]

        init(_ name: String, _ fixture: RevenueCatFixture, _ type: String, _ members: [String: JSONValue] = [:]) {
            (self.name, self.fixture, self.type, self.members) = (name, fixture, type, members)
        }

        var testDescription: String { name }
    }

    private static func milliseconds(_ day: Int64) -> JSONValue {
        .integer(Fixture.day(day).millisecondsSince1970)
    }

    private static func amount(_ thousandths: Int64) -> JSONValue { .number(JSONNumber(thousandths: thousandths)) }

    private static let trial: [TransactionFact: StatedValue] = [
        .offerDiscountType: .text(OfferDiscountType.freeTrial.rawValue),
        .offerType: .integer(Int64(SubscriptionOffer.Kind.introductory.rawValue)),
    ]

    private static let migrated: [TransactionFact: StatedValue] = [.previousOriginalTransactionId: .text("1")]

    private static let revocation = Fixture.entry(.revoked, "1", on: 5)

    static let purchases = [
        Case(
            "a trial", Fixture(.granted, "1").having("1", from: 1, to: 8, price: 0, trial), "INITIAL_PURCHASE",
            [
                "period_type": "TRIAL", "price": .integer(0), "price_in_purchased_currency": .integer(0),
                "expiration_at_ms": milliseconds(8),
            ]),
        Case(
            "an introductory price",
            Fixture(.granted, "1").having(
                "1", from: 1, to: 8, [.offerType: .integer(Int64(SubscriptionOffer.Kind.introductory.rawValue))]),
            "INITIAL_PURCHASE", ["period_type": "INTRO"]),
        Case(
            "a price in dollars", Fixture(.granted, "1").having("1", from: 1, to: 8, currency: "USD"),
            "INITIAL_PURCHASE", ["price": amount(4990), "price_in_purchased_currency": amount(4990)]),
        Case(
            "a purchase without a stated price",
            Fixture(.granted, "1").having("1", from: 1, to: 8, price: nil, currency: nil), "INITIAL_PURCHASE",
            ["price": .null, "price_in_purchased_currency": .null, "currency": .null]),
        Case(
            "a migration",
            Fixture(.granted, "8").having("1", from: 1, to: 8).having(
                "8", "garden.gold.monthly", of: "8", from: 5, to: 8, price: 0, migrated), "RENEWAL",
            [
                "renewal_number": .integer(2), "original_transaction_id": "8", "price": .integer(0),
                "is_trial_conversion": .bool(false),
            ]),
        Case(
            "a migration whose former purchase is unknown",
            Fixture(.granted, "8").having("8", of: "8", from: 5, to: 8, migrated), "RENEWAL"),
        Case(
            "the first payment after a trial, in a bundle",
            Fixture(.granted, "8").having("1", from: 1, to: 8, trial).having("8", of: "8", from: 8, to: 38, migrated),
            "RENEWAL", ["is_trial_conversion": .bool(true), "renewal_number": .integer(2)]),
        Case(
            "a renewal after a trial",
            Fixture(.granted, "2").having("1", from: 1, to: 8, trial).having("2", from: 8, to: 38), "RENEWAL",
            ["is_trial_conversion": .bool(true), "period_type": "NORMAL", "original_transaction_id": "1"]),
        Case(
            "a renewal after a paid period",
            Fixture(.granted, "2").having("1", from: 1, to: 8).having("2", from: 8, to: 38), "RENEWAL",
            ["is_trial_conversion": .bool(false), "renewal_number": .integer(2)]),
        Case(
            "a free period after a trial, which is no conversion without a payment",
            Fixture(.granted, "2").having("1", from: 1, to: 8, trial).having("2", from: 8, to: 38, price: 0), "RENEWAL",
            ["is_trial_conversion": .bool(false)]),
        Case(
            "the first payment after a trial and a free period",
            Fixture(.granted, "3").having("1", from: 1, to: 8, trial).having("2", from: 8, to: 38, price: 0)
                .having("3", from: 38, to: 68), "RENEWAL",
            ["is_trial_conversion": .bool(true), "renewal_number": .integer(3)]),
        Case(
            "a trial whose price the store has not stated",
            Fixture(.granted, "1").having("1", from: 1, to: 8, price: nil, trial), "INITIAL_PURCHASE",
            ["price": .integer(0), "price_in_purchased_currency": .integer(0), "renewal_number": .integer(1)]),
        Case(
            "a purchase that gives no right",
            Fixture(.granted, "1").having("1", from: 1, to: 8).with { $0.rights = [] }, "INITIAL_PURCHASE",
            ["entitlement_ids": .null]),
        Case(
            "another product of the subscription",
            Fixture(.granted, "2", "garden.premium.yearly").having("1", from: 1, to: 8).having(
                "2", "garden.premium.yearly", from: 8, to: 373), "RENEWAL",
            ["product_id": "garden.premium.yearly"]),
        Case(
            "an item for life",
            Fixture(.granted, "1", "garden.gate").having(
                "1", "garden.gate", type: .nonConsumable, from: 1, to: nil), "NON_RENEWING_PURCHASE",
            [
                "expiration_at_ms": .null, "price_in_purchased_currency": amount(4990), "period_type": "NORMAL",
                "renewal_number": .null,
            ]),
        Case(
            "a receipt of a subscription, which states no type",
            Fixture(.granted, "1").having(
                "1", type: nil, from: 1, to: 8,
                [.expiresDate: .integer(Fixture.day(8).millisecondsSince1970)]), "INITIAL_PURCHASE"),
        Case(
            "a receipt of a product that the catalog knows",
            Fixture(.granted, "1").having("1", type: nil, from: 1, to: nil).with { $0.type = .consumable },
            "NON_RENEWING_PURCHASE"),
        Case(
            "a shared purchase",
            Fixture(.granted, "1").having(
                "1", from: 1, to: 8, [.inAppOwnershipType: .text(InAppOwnershipType.familyShared.rawValue)]),
            "INITIAL_PURCHASE", ["is_family_share": .bool(true), "price_in_purchased_currency": .integer(0)]),
        Case(
            "a seat that another customer has paid for",
            Fixture(.granted, "1").having(
                "1", from: 1, to: 8, [.inAppOwnershipType: .text(InAppOwnershipType.assigned.rawValue)]),
            "INITIAL_PURCHASE", ["is_family_share": .bool(false), "price_in_purchased_currency": .integer(0)]),
        Case(
            "added seats, which renew nothing",
            Fixture(.granted, "2").having("1", from: 1, to: 31).having(
                "2", from: 4, to: 31, [.additionalTransactionReason: .text("SEAT_ADDITION")]), "RENEWAL",
            ["renewal_number": .integer(1)]),
        Case(
            "seats",
            Fixture(.granted, "1").having(
                "1", from: 1, to: 8,
                [.multiSeatInfo: .text(#"{"priceTiers":[{"price":4990,"quantity":2},{"price":3990,"quantity":1}]}"#)]),
            "INITIAL_PURCHASE", ["price_in_purchased_currency": amount(13_970)]),
        Case(
            "a restored purchase, which is paid once",
            Fixture(.granted, "2", "garden.gate").having(
                "1", "garden.gate", type: .nonConsumable, from: 1, to: nil
            ).having("2", "garden.gate", type: .nonConsumable, from: 1, to: nil), "NON_RENEWING_PURCHASE",
            ["price_in_purchased_currency": .integer(0), "original_transaction_id": "1"]),
        Case(
            "a restored purchase whose original was not told, which is the payment",
            Fixture(.granted, "2", "garden.gate").having("2", "garden.gate", type: .nonConsumable, from: 1, to: nil),
            "NON_RENEWING_PURCHASE",
            ["price_in_purchased_currency": amount(4990), "original_transaction_id": "1"]),
        Case(
            "an offer code",
            Fixture(.granted, "1").having(
                "1", from: 1, to: 8,
                [
                    .offerType: .integer(Int64(SubscriptionOffer.Kind.offerCode.rawValue)),
                    .offerIdentifier: .text("SPRING"),
                ]),
            "INITIAL_PURCHASE", ["offer_code": "SPRING"]),
    ]

    static let endings = [
        Case(
            "a refund", Fixture(.revoked, "1", on: 6).having("1", from: 1, to: 8, refundedOn: 5), "CANCELLATION",
            [
                "cancel_reason": "CUSTOMER_SUPPORT", "price": .null, "price_in_purchased_currency": amount(-4990),
                "expiration_at_ms": milliseconds(5),
            ]),
        Case(
            "a refund of a half",
            Fixture(.revoked, "1", on: 6).having(
                "1", from: 1, to: 8, refundedOn: 5, currency: "USD", [.revocationPercentage: .integer(50_000)]),
            "CANCELLATION", ["price": amount(-2495), "price_in_purchased_currency": amount(-2495)]),
        Case(
            "a refund with a renewal since leaves the end of the renewal",
            Fixture(.revoked, "1", on: 9).having("1", from: 1, to: 8, refundedOn: 9).having("2", from: 8, to: 38),
            "CANCELLATION", ["expiration_at_ms": milliseconds(38), "transaction_id": "1"]),
        Case(
            "a refund of a period that has not begun leaves the one before it",
            Fixture(.revoked, "2", on: 6).having("1", from: 1, to: 8).having("2", from: 8, to: 38, refundedOn: 6),
            "CANCELLATION", ["expiration_at_ms": milliseconds(8), "transaction_id": "2"]),
        Case(
            "the end that a refund brings",
            Fixture(.revoked, "1", on: 6).having("1", from: 1, to: 8, refundedOn: 5).with {
                $0.companion = .expiration
            },
            "EXPIRATION",
            [
                "expiration_reason": "CUSTOMER_SUPPORT", "price_in_purchased_currency": .integer(0),
                "expiration_at_ms": milliseconds(5),
            ]),
        Case(
            "the end that the team's revocation brings",
            Fixture(.revoked, "1", on: 6, actor: .member("mint"), reason: "fraud").having("1", from: 1, to: 8)
                .with { $0.companion = .expiration },
            "EXPIRATION", ["expiration_reason": "DEVELOPER_INITIATED", "expiration_at_ms": milliseconds(6)]),
        Case(
            "the end of family sharing",
            Fixture(.revoked, "1", on: 6).having(
                "1", from: 1, to: 8, refundedOn: 5,
                [.inAppOwnershipType: .text(InAppOwnershipType.familyShared.rawValue)]), "CANCELLATION",
            ["cancel_reason": "UNKNOWN", "price_in_purchased_currency": .integer(0), "is_family_share": .bool(true)]),
        Case(
            "a refund of added seats leaves the end of the others",
            Fixture(.revoked, "2", on: 6).having("1", from: 1, to: 31).having(
                "2", from: 4, to: 31, refundedOn: 6, price: 1990,
                [.additionalTransactionReason: .text("SEAT_ADDITION")]), "CANCELLATION",
            ["expiration_at_ms": milliseconds(31), "price_in_purchased_currency": amount(-1990)]),
        Case(
            "the end of a seat",
            Fixture(.revoked, "1", on: 6).having(
                "1", from: 1, to: 8, refundedOn: 5,
                [.inAppOwnershipType: .text(InAppOwnershipType.assigned.rawValue)]), "CANCELLATION",
            ["cancel_reason": "UNKNOWN", "price_in_purchased_currency": .integer(0)]),
        Case(
            "a revocation by the team",
            Fixture(.revoked, "1", on: 6, actor: .member("mint"), reason: "fraud").having("1", from: 1, to: 8),
            "CANCELLATION",
            [
                "cancel_reason": "DEVELOPER_INITIATED", "price_in_purchased_currency": .integer(0),
                "expiration_at_ms": milliseconds(6),
            ]),
        Case(
            "a renewal of a subscription that the team has revoked",
            Fixture(.revoked, "1", on: 6).having(
                "1", from: 1, to: 8,
                revocation: Revocation(revokedAt: Fixture.day(2), reason: "fraud", revokedBy: "mint")), "CANCELLATION",
            ["cancel_reason": "DEVELOPER_INITIATED", "price_in_purchased_currency": .integer(0)]),
        Case(
            "renewal off", Fixture(.autoRenewDisabled, "1", on: 6).having("1", from: 1, to: 8), "CANCELLATION",
            ["cancel_reason": "UNSUBSCRIBE", "price": .integer(0), "expiration_at_ms": milliseconds(8)]),
        Case(
            "renewal on", Fixture(.autoRenewEnabled, "1", on: 6).having("1", from: 1, to: 8), "UNCANCELLATION",
            ["expiration_at_ms": milliseconds(8)]),
        Case(
            "an upgrade",
            Fixture(.productChanged, "1", on: 5, reason: "garden.gold.monthly").having("1", from: 1, to: 8).having(
                "2", "garden.gold.monthly", from: 5, to: 35), "PRODUCT_CHANGE",
            [
                "new_product_id": "garden.gold.monthly", "expiration_at_ms": milliseconds(8), "price": .integer(0),
                "product_id": .string(Fixture.monthly), "transaction_id": "1",
            ]),
        Case(
            "another plan for the next renewal",
            Fixture(.planChosen, "1", on: 5, reason: "garden.silver.monthly").having("1", from: 1, to: 8),
            "PRODUCT_CHANGE",
            [
                "new_product_id": "garden.silver.monthly", "expiration_at_ms": milliseconds(8), "price": .integer(0),
                "product_id": .string(Fixture.monthly), "transaction_id": "1",
            ]),
        Case(
            "an extended period",
            Fixture(.periodExtended, "1", on: 5, reason: Fixture.day(18).rfc3339).having("1", from: 1, to: 18),
            "SUBSCRIPTION_EXTENDED",
            ["expiration_at_ms": milliseconds(18), "price": .integer(0), "transaction_id": "1"]),
        Case(
            "a grace period",
            Fixture(.gracePeriodBegan, "1", on: 8).having("1", from: 1, to: 8, graceUntil: 24), "BILLING_ISSUE",
            ["expiration_at_ms": milliseconds(8), "grace_period_expiration_at_ms": milliseconds(24)]),
        Case(
            "the cancellation beside a billing issue",
            Fixture(.gracePeriodBegan, "1", on: 8).having("1", from: 1, to: 8, graceUntil: 24)
                .with { $0.companion = .cancellation }, "CANCELLATION",
            ["cancel_reason": "BILLING_ERROR", "price": .integer(0), "expiration_at_ms": milliseconds(24)]),
        Case(
            "a billing issue without a grace period",
            Fixture(.renewalFailed, "1", on: 8).having("1", from: 1, to: 8).with { $0.companion = .billingIssue },
            "BILLING_ISSUE",
            ["grace_period_expiration_at_ms": .null, "price": .integer(0), "expiration_at_ms": milliseconds(8)]),
        Case(
            "a pause",
            Fixture(.paused, "1", on: 8, reason: Fixture.day(38).rfc3339).having("1", from: 1, to: 8)
                .with { $0.companion = .subscriptionPaused }, "SUBSCRIPTION_PAUSED",
            ["auto_resume_at_ms": milliseconds(38), "price": .integer(0), "expiration_at_ms": milliseconds(8)]),
        Case(
            "a pause without a stated end",
            Fixture(.paused, "1", on: 8).having("1", from: 1, to: 8).with { $0.companion = .subscriptionPaused },
            "SUBSCRIPTION_PAUSED", ["auto_resume_at_ms": .null]),
        Case(
            "the end that a pause brings", Fixture(.paused, "1", on: 8).having("1", from: 1, to: 8), "EXPIRATION",
            ["expiration_reason": "SUBSCRIPTION_PAUSED", "expiration_at_ms": milliseconds(8)]),
        Case(
            "renewal turned off in a grace period",
            Fixture(.autoRenewDisabled, "1", on: 9).having("1", from: 1, to: 8, graceUntil: 24), "CANCELLATION",
            ["cancel_reason": "UNSUBSCRIBE", "expiration_at_ms": milliseconds(24)]),
        Case(
            "a failed renewal after a grace period",
            Fixture(.renewalFailed, "1", on: 24).having("1", from: 1, to: 8, graceUntil: 24), "EXPIRATION",
            ["expiration_reason": "BILLING_ERROR", "expiration_at_ms": milliseconds(24)]),
        Case(
            "the end of the retries",
            Fixture(.expired, "1", on: 68, reason: ExpirationReason.billingError.rawValue).having(
                "1", from: 1, to: 8), "EXPIRATION",
            [
                "expiration_reason": "BILLING_ERROR", "expiration_at_ms": milliseconds(8),
                "event_timestamp_ms": milliseconds(68),
            ]),
        Case(
            "the reinstatement of a refund",
            Fixture(.granted, "1", on: 7).having("1", from: 1, to: 8).with { $0.revocation = revocation },
            "REFUND_REVERSED", ["price_in_purchased_currency": amount(4990), "expiration_at_ms": milliseconds(8)]),
        Case(
            "the reinstatement by the team",
            Fixture(.granted, "1", on: 7, actor: .apiKey("K")).having("1", from: 1, to: 8).with {
                $0.revocation = Fixture.entry(.revoked, "1", on: 5, actor: .apiKey("K"), reason: "fraud")
            }, "REFUND_REVERSED", ["price_in_purchased_currency": .integer(0)]),
        Case(
            "a purchase that the ledger no longer has", Fixture(.expired, "1", on: 8), "EXPIRATION",
            [
                "expiration_reason": "UNKNOWN", "product_id": .string(Fixture.monthly), "app_id": .null,
                "original_transaction_id": .null, "purchased_at_ms": .null,
            ]),
    ]

    @Test(arguments: purchases + endings)
    func `each event has one type`(_ expected: Case) throws {
        let event = try #require(expected.fixture.event)
        #expect(event.kind.rawValue == expected.type)
        let body = try JSONParser.parse(Array(event.text.utf8))
        guard case .object(let message) = body, case .object(let members)? = message["event"] else {
            Issue.record("no event")
            return
        }
        #expect(message["api_version"] == "1.0")
        #expect(members["type"] == .string(expected.type))
        for (name, value) in expected.members { #expect(members[name] == value, "\(name)") }
        #expect((members["cancel_reason"] != nil) == (expected.type == "CANCELLATION"))
        #expect((members["expiration_reason"] != nil) == (expected.type == "EXPIRATION"))
        #expect((members["is_trial_conversion"] != nil) == (expected.type == "RENEWAL"))
        #expect((members["auto_resume_at_ms"] != nil) == (expected.type == "SUBSCRIPTION_PAUSED"))
        #expect((members["grace_period_expiration_at_ms"] != nil) == (expected.type == "BILLING_ISSUE"))
        #expect(members.keys == members.keys.sorted())
    }

    @Test(arguments: [
        (ExpirationReason.customerCancelled, "UNSUBSCRIBE"), (.billingError, "BILLING_ERROR"),
        (.customerDidNotConsentToPriceIncrease, "PRICE_INCREASE"), (.productNotAvailable, "UNKNOWN"),
        (.developerCancelled, "DEVELOPER_INITIATED"), (.other, "UNKNOWN"),
    ])
    func `an expiration has Apple's reason`(_ reason: ExpirationReason, _ expected: String) throws {
        let fixture = RevenueCatFixture(.expired, "1", on: 8, reason: reason.rawValue).having("1", from: 1, to: 8)
        #expect(try #require(fixture.event).text.contains(#""expiration_reason":"\#(expected)""#))
    }

    /// Who has canceled, in the words of the audit log. Apple states nobody, so it is the customer.
    @Test(
        arguments: [
            (nil, "UNSUBSCRIBE"), ("user", "UNSUBSCRIBE"), ("system", "BILLING_ERROR"),
            ("developer", "DEVELOPER_INITIATED"), ("priceIncrease", "PRICE_INCREASE"),
        ] as [(String?, String)])
    func `a cancellation has the reason of the one who has canceled`(_ word: String?, _ expected: String) throws {
        let fixture = RevenueCatFixture(.autoRenewDisabled, "1", on: 6, reason: word).having("1", from: 1, to: 8)
        #expect(try #require(fixture.event).text.contains(#""cancel_reason":"\#(expected)""#))
    }

    @Test(
        arguments: [AuditEntry.Event.transferredIn] + AuditEntry.Event.allCases.filter { $0.rule.revenueCat == nil })
    func `other events have no message`(_ event: AuditEntry.Event) {
        #expect(RevenueCatFixture(event, "1").event == nil)
    }

    @Test func `a renewal that a replacement turns off is told by the change of the product alone`() {
        #expect(RevenueCatFixture(.autoRenewDisabled, "1", reason: "replacement").event == nil)
    }

    @Test func `a renewal has all members`() throws {
        let fixture = RevenueCatFixture(.granted, "2", on: 8)
            .having("1", from: 1, to: 8, price: 0, Self.trial).having("2", from: 8, to: 38)
            .with { $0.customer.append("$RCAnonymousID:0123456789abcdef0123456789abcdef") }
        #expect(
            try #require(fixture.event).text == """
                {"api_version":"1.0","event":{"aliases":["alice","$RCAnonymousID:0123456789abcdef0123456789abcdef"],\
                "app_id":"com.example.garden","app_user_id":"alice","commission_percentage":null,"country_code":"DE","currency":"EUR",\
                "entitlement_id":null,"entitlement_ids":["premium"],"environment":"PRODUCTION",\
                "event_timestamp_ms":1799366400000,"expiration_at_ms":1801958400000,"id":"msg_1",\
                "is_family_share":false,"is_trial_conversion":true,"metadata":null,"offer_code":null,\
                "original_app_user_id":"alice","original_transaction_id":"1","period_type":"NORMAL",\
                "presented_offering_id":null,"price":null,"price_in_purchased_currency":4.99,\
                "product_id":"garden.premium.monthly","purchased_at_ms":1799366400000,"renewal_number":2,\
                "store":"APP_STORE","subscriber_attributes":{},"takehome_percentage":null,"tax_percentage":null,\
                "transaction_id":"2","type":"RENEWAL"}}
                """)
    }

    @Test func `a grant by the team is a promotional purchase`() throws {
        let end = Timestamp(secondsSince1970: RevenueCatFixture.day(1).secondsSince1970).adding(days: 31)
        let given = RevenueCatFixture(.itemGiven, "g", "plus 2", actor: .apiKey("K"), origin: nil, reason: "sorry")
            .with { $0.grant = RevenueCatFixture.grant(until: end) }
        #expect(
            try #require(given.event).text == """
                {"api_version":"1.0","event":{"aliases":["alice"],"app_user_id":"alice","commission_percentage":null,\
                "country_code":null,"currency":null,"entitlement_id":null,"entitlement_ids":["premium"],\
                "environment":"PRODUCTION","event_timestamp_ms":1798761600000,"expiration_at_ms":1801440000000,\
                "id":"msg_1","is_family_share":false,"metadata":null,"offer_code":null,"original_app_user_id":"alice",\
                "original_transaction_id":"g","period_type":"PROMOTIONAL","presented_offering_id":null,"price":0,\
                "price_in_purchased_currency":0,"product_id":"rc_promo_premium_monthly",\
                "purchased_at_ms":1798761600000,"renewal_number":null,"store":"PROMOTIONAL",\
                "subscriber_attributes":{},"takehome_percentage":null,"tax_percentage":null,"transaction_id":"g",\
                "type":"NON_RENEWING_PURCHASE"}}
                """)
        let taken = RevenueCatFixture(.itemTakenBack, "g", "plus 2", on: 3, origin: nil, reason: "a mistake")
            .with { $0.grant = RevenueCatFixture.grant() }
        let text = try #require(taken.event).text
        #expect(text.contains(#""expiration_at_ms":\#(RevenueCatFixture.day(3).millisecondsSince1970),"#))
        #expect(text.contains(#""expiration_reason":"DEVELOPER_INITIATED""#))
        #expect(text.contains(#""product_id":"rc_promo_premium_lifetime""#) && text.contains(#""type":"EXPIRATION""#))
        // An item without a right has its own name.
        let plain = try #require(given.with { $0.rights = [] }.event).text
        #expect(plain.contains(#""product_id":"plus 2""#) && plain.contains(#""entitlement_ids":null"#))
        // The reason is the team's own.
        #expect(!text.contains("a mistake") && !plain.contains("sorry"))
    }

    @Test func `a transfer names the ids of both customers`() throws {
        let moved = RevenueCatFixture(.transferredOut, "1", actor: .user).having("1", from: 1, to: 8)
            .with { $0.owner = ["bob", "$RCAnonymousID:b"] }
        #expect(
            try #require(moved.event).text == """
                {"api_version":"1.0","event":{"app_id":"com.example.garden","environment":"PRODUCTION",\
                "event_timestamp_ms":1798761600000,"id":"msg_1","store":"APP_STORE","transferred_from":["alice"],\
                "transferred_to":["bob","$RCAnonymousID:b"],"type":"TRANSFER"}}
                """)
        // The name of a customer is the id in percent-encoding.
        let identifier = try #require(CustomerIdentifier("two words"))
        let merged = RevenueCatFixture(.transferredIn, "1", reason: identifier.user.name).having("1", from: 1, to: 8)
        #expect(
            try #require(merged.event).text.contains(
                #""transferred_from":["two words"],"transferred_to":["alice"]"#))
    }

    @Test(arguments: [
        (Origin.appleProduction, "PRODUCTION"), (.localProduction, "PRODUCTION"), (.appleSandbox, "SANDBOX"),
        (.localSandbox, "SANDBOX"), (.xcode, "SANDBOX"),
    ])
    func `the environment follows from the origin`(_ origin: Origin, _ environment: String) throws {
        let event = try #require(RevenueCatFixture(.expired, "1", origin: origin).event)
        #expect(event.text.contains(#""environment":"\#(environment)""#))
    }
}
