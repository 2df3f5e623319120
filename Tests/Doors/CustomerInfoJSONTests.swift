import Catalog
import Entitlements
import Features
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The exact JSON of customer info.
@Suite struct CustomerInfoJSONTests {
    private typealias Fixture = CustomerInfoFixture

    @Test func `a new customer has empty objects and no null where the SDKs need an object`() throws {
        let json = try Fixture().json
        #expect(
            json.compactText == """
                {"request_date":"2027-01-10T12:00:00Z","request_date_ms":1799582400000,"subscriber":{\
                "entitlements":{},"first_seen":"2026-12-01T12:00:00Z","last_seen":"2027-01-10T12:00:00Z",\
                "management_url":null,"non_subscriptions":{},"original_app_user_id":"alice",\
                "original_application_version":null,"original_purchase_date":null,"other_purchases":{},\
                "subscriptions":{}}}
                """)
        #expect(try JSONSchema(named: "CustomerInfo").violations(in: json) == [])
    }

    @Test func `each member of a customer with everything is written`() throws {
        let sprout = Item(collection: "sprout", number: 1)
        var fixture = Fixture(rights: [
            RightSources(name: "premium", products: [Fixture.monthly], items: [sprout])
        ])
        fixture.facts.originalApplicationVersion = "1.2"
        fixture.facts.originalPurchaseDate = Fixture.day(-40)
        fixture.facts.attributes = [
            try Attribute(name: "$email", value: "alice@example.com", statedAt: Fixture.day(2)),
            try Attribute(name: "color", value: nil, statedAt: Fixture.day(3)),
        ]
        fixture.subscribe(
            from: -22, to: 9, graceUntil: 15, facts: [.price: .integer(4990), .currency: .text("USD")])
        fixture.state([.autoRenewStatus: .integer(0), .isInBillingRetryPeriod: .integer(1)], on: 9)
        fixture.buy(
            Fixture.seeds, on: 3, type: .consumable, origin: .appleSandbox,
            facts: [.price: .integer(1_200_000), .currency: .text("KRW")])
        fixture.grant(sprout, on: 5, until: Fixture.day(8))
        let json = try fixture.json
        #expect(
            json.compactText == """
                {"request_date":"2027-01-10T12:00:00Z","request_date_ms":1799582400000,"subscriber":{"entitlements":{\
                "premium":{"expires_date":"2027-01-15T12:00:00Z","grace_period_expires_date":"2027-01-15T12:00:00Z",\
                "product_identifier":"garden.monthly","purchase_date":"2026-12-09T12:00:00Z"}},\
                "first_seen":"2026-12-01T12:00:00Z","last_seen":"2027-01-10T12:00:00Z",\
                "management_url":"https://apps.apple.com/account/subscriptions","non_subscriptions":{"garden.seeds":[\
                {"display_name":null,"id":"\(fixture.info.purchases["garden.seeds"]?.first?.identifier ?? "")",\
                "is_sandbox":true,"original_purchase_date":"2027-01-03T12:00:00Z",\
                "price":{"amount":1200,"currency":"KRW"},"purchase_date":"2027-01-03T12:00:00Z","store":"app_store",\
                "store_transaction_id":"2"}]},"original_app_user_id":"alice","original_application_version":"1.2",\
                "original_purchase_date":"2026-11-21T12:00:00Z","other_purchases":{"garden.seeds":{\
                "purchase_date":"2027-01-03T12:00:00Z"}},"subscriptions":{"garden.monthly":{"auto_resume_date":null,\
                "billing_issues_detected_at":"2027-01-09T12:00:00Z","display_name":null,\
                "expires_date":"2027-01-15T12:00:00Z","grace_period_expires_date":"2027-01-15T12:00:00Z",\
                "is_sandbox":false,"management_url":"https://apps.apple.com/account/subscriptions",\
                "original_purchase_date":"2026-12-09T12:00:00Z","ownership_type":"PURCHASED","period_type":"normal",\
                "price":{"amount":4.99,"currency":"USD"},"purchase_date":"2026-12-09T12:00:00Z","refunded_at":null,\
                "store":"app_store","store_transaction_id":"1","unsubscribe_detected_at":"2027-01-09T12:00:00Z"},\
                "rc_promo_premium_three_day":{"auto_resume_date":null,"billing_issues_detected_at":null,\
                "display_name":null,"expires_date":"2027-01-08T12:00:00Z","grace_period_expires_date":null,\
                "is_sandbox":false,"management_url":null,"original_purchase_date":"2027-01-05T12:00:00Z",\
                "ownership_type":"PURCHASED","period_type":"normal","price":null,\
                "purchase_date":"2027-01-05T12:00:00Z","refunded_at":null,"store":"promotional",\
                "store_transaction_id":null,"unsubscribe_detected_at":null}},"subscriber_attributes":{\
                "$email":{"value":"alice@example.com","updated_at_ms":1798891200000},\
                "color":{"value":null,"updated_at_ms":1798977600000}}}}
                """)
        let schema = try JSONSchema(named: "CustomerInfo")
        #expect(try schema.violations(in: json) == [])
        let mutations = try schema.mutations(of: json)
        #expect(mutations.count > 60)
        for mutation in mutations {
            #expect(try !schema.violations(in: mutation.instance).isEmpty, "\(mutation.path)")
        }
    }
}
