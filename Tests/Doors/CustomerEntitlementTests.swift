import Catalog
import Entitlements
import Proofs
import Service
import Testing
import Vocabulary

/// The rules of entitlements, other purchases and promotional grants in customer info.
@Suite struct CustomerEntitlementTests {
    private typealias Fixture = CustomerInfoFixture

    private static let sprout = Item(collection: "sprout", number: 1)
    private static let premium = RightSources(
        name: "premium", products: [Fixture.monthly, Fixture.gate], items: [sprout])

    @Test func `a right without a purchase or grant is absent`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.buy(Fixture.seeds, on: 1, type: .consumable)
        #expect(fixture.info.entitlements.isEmpty)
    }

    @Test func `a right of an expired subscription keeps its end`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.subscribe(from: -22, to: 9)
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(9))
        #expect(fixture.entitlement()?.productIdentifier == Fixture.monthly)
    }

    @Test func `the purchase that lasts longest gives the right`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.subscribe(from: 1, to: 31)
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(31))
        fixture.buy(Fixture.gate, on: 3)
        let entitlement = fixture.entitlement()
        #expect(entitlement?.productIdentifier == Fixture.gate)
        #expect(entitlement?.purchaseDate == Fixture.day(3))
        #expect(entitlement?.expiresDate == nil)
    }

    @Test func `a refunded purchase is absent, and gives no right`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.buy(Fixture.gate, on: 1, refundedOn: 5)
        #expect(fixture.info.purchases.isEmpty)
        #expect(fixture.info.entitlements.isEmpty)
    }

    @Test func `a purchase that the team has revoked is absent`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.buy(Fixture.gate, on: 1, revocation: Fixture.revocation(5))
        #expect(fixture.info.purchases.isEmpty)
        #expect(fixture.info.entitlements.isEmpty)
    }

    @Test func `consumables are listed from the oldest, with distinct identifiers`() throws {
        var fixture = Fixture()
        for day: Int64 in [5, 1, 3] { fixture.buy(Fixture.seeds, on: day, type: .consumable) }
        let purchases = try #require(fixture.info.purchases["garden.seeds"])
        #expect(purchases.map(\.purchaseDate) == [1, 3, 5].map { Fixture.day($0) })
        #expect(purchases.map(\.storeTransactionIdentifier) == ["2", "3", "1"])
        #expect(Set(purchases.map(\.identifier)).count == 3)
    }

    @Test func `a restored purchase is listed once, as the original`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.buy(Fixture.gate, original: "2", on: 7)
        fixture.buy(Fixture.gate, on: 1)
        fixture.buy(Fixture.gate, original: "2", on: 8)
        #expect(fixture.info.purchases["garden.gate"]?.map(\.storeTransactionIdentifier) == ["2"])
        #expect(fixture.entitlement()?.purchaseDate == Fixture.day(1))
    }

    @Test func `the same transaction of two origins has two identifiers`() {
        func identifier(_ origin: Origin) -> String? {
            var fixture = Fixture()
            fixture.buy(Fixture.gate, on: 1, origin: origin)
            return fixture.info.purchases["garden.gate"]?.first?.identifier
        }
        #expect(identifier(.xcode) != identifier(.appleSandbox))
        #expect(identifier(.xcode) == identifier(.xcode))
    }

    @Test func `a subscription without renewal is another purchase, and its right ends`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.buy(Fixture.gate, on: 1, until: 8, type: .nonRenewingSubscription)
        #expect(fixture.info.purchases["garden.gate"]?.count == 1)
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(8))
    }

    @Test func `a grant of an item is a promotional subscription of its right`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.grant(Self.sprout, on: 2)
        let subscription = fixture.subscription("rc_promo_premium_lifetime")
        #expect(subscription != nil && subscription?.store == nil)
        #expect(subscription?.purchaseDate == Fixture.day(2))
        #expect(subscription?.expiresDate == nil)
        #expect(subscription?.storeTransactionIdentifier == nil)
        #expect(subscription?.isSandbox == false)
        #expect(fixture.entitlement()?.productIdentifier == "rc_promo_premium_lifetime")
        #expect(fixture.entitlement()?.expiresDate == nil)
        #expect(fixture.info.managementURL == nil)
    }

    @Test func `a grant of an item outside the right gives nothing`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.grant(Item(collection: "sprout", number: 2), on: 2)
        #expect(fixture.info.subscriptions.isEmpty)
        #expect(fixture.info.entitlements.isEmpty)
    }

    @Test(arguments: [
        (nil, "lifetime"), (Fixture.day(2), "daily"), (Fixture.day(4), "three_day"), (Fixture.day(8), "weekly"),
        (Fixture.day(15), "two_week"), (Fixture.day(32), "monthly"), (Fixture.day(60), "two_month"),
        (Fixture.day(91), "three_month"), (Fixture.day(182), "six_month"), (Fixture.day(366), "yearly"),
        (Fixture.day(6), "custom"),
    ])
    func `the duration of a grant is part of its product`(end: Timestamp?, name: String) {
        var fixture = Fixture(rights: [Self.premium])
        fixture.grant(Self.sprout, on: 1, until: end)
        #expect(fixture.entitlement()?.productIdentifier == "rc_promo_premium_\(name)")
        #expect(fixture.entitlement()?.expiresDate == end)
    }

    @Test func `a revoked grant ends at its revocation`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.grant(Self.sprout, on: 1, revokedOn: 4)
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(4))
        fixture.grant(Self.sprout, on: 3, until: Fixture.day(20))
        #expect(fixture.entitlement()?.expiresDate == Fixture.day(20))
    }

    @Test func `a grant that lasts longer than the subscription gives the right`() {
        var fixture = Fixture(rights: [Self.premium])
        fixture.subscribe(from: 1, to: 31)
        fixture.grant(Self.sprout, on: 2, until: Fixture.day(33))
        #expect(fixture.entitlement()?.productIdentifier == "rc_promo_premium_monthly")
        #expect(fixture.subscription()?.expiresDate == Fixture.day(31))
    }

    @Test func `each entitlement names a listed product`() {
        var fixture = Fixture(rights: [
            Self.premium, RightSources(name: "tools", products: ["garden.yearly", Fixture.seeds], items: []),
        ])
        fixture.subscribe(from: 1, to: 31, refundedOn: 5)
        fixture.buy(Fixture.gate, on: 2, refundedOn: 6)
        fixture.buy(Fixture.seeds, on: 3, type: .consumable)
        fixture.grant(Self.sprout, on: 4, until: Fixture.day(9))
        let info = fixture.info
        #expect(info.entitlements.count == 2)
        for entitlement in info.entitlements.values {
            let product = ByteKey(entitlement.productIdentifier)
            #expect(info.subscriptions[product] != nil || info.purchases[product] != nil, "\(product.text)")
        }
    }
}
