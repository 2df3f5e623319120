import Entitlements
import Proofs
import Service
import TestSupport
import Testing

/// Customer info about purchases of Google Play.
@Suite struct GooglePlayCustomerTests {
    private typealias Fixture = CustomerInfoFixture

    private static let order = "GPA.3345-1111-2222-33333..0"
    private static let stated: [TransactionFact: StatedValue] = [.orderId: .text(order)]
    private static let page = "https://play.google.com/store/account/subscriptions"

    @Test(arguments: [
        (Origin.googleProduction, false), (.googleTest, true), (.localPlayProduction, false), (.localPlayTest, true),
    ])
    func `a purchase names the store, the order and the page of Google Play`(origin: Origin, isSandbox: Bool) throws {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, origin: origin, facts: Self.stated)
        fixture.buy(Fixture.gate, on: 1, origin: origin, facts: [.orderId: .text("GPA.1")])
        // A purchase with a promotional code has no order.
        fixture.buy(Fixture.gate, on: 2, origin: origin)
        let subscription = try #require(fixture.subscription())
        #expect(subscription.store == .playStore && subscription.isSandbox == isSandbox)
        #expect(subscription.storeTransactionIdentifier == Self.order)
        #expect(fixture.info.purchases[ByteKey(Fixture.gate)]?.map(\.store) == [.playStore, .playStore])
        #expect(fixture.info.purchases[ByteKey(Fixture.gate)]?.map(\.storeTransactionIdentifier) == ["GPA.1", "3"])
        #expect(fixture.info.managementURL == Self.page)
        let json = try fixture.json
        #expect(try JSONSchema(named: "CustomerInfo").violations(in: json) == [])
        #expect(json.at("subscriber", "subscriptions", Fixture.monthly, "management_url") == .string(Self.page))
        #expect(json.at("subscriber", "subscriptions", Fixture.monthly, "store") == "play_store")
    }

    @Test func `of subscriptions of both stores, the App Store's page is the customer's`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 31, origin: .googleProduction, facts: Self.stated)
        fixture.subscribe("garden.yearly", original: "2", from: 1, to: 366)
        #expect(fixture.info.managementURL == PurchaseStore.appStore.subscriptionAddress)
        #expect(fixture.subscription()?.store?.subscriptionAddress == Self.page)
    }

    @Test func `an ended subscription has no page of the customer`() {
        var fixture = Fixture()
        fixture.subscribe(from: 1, to: 9, origin: .googleProduction, facts: Self.stated)
        #expect(fixture.info.managementURL == nil)
    }
}
