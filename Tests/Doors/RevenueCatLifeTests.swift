import AppStore
import Proofs
import TestSupport
import Testing
import Vocabulary

/// A customer's life over the door of RevenueCat's SDKs, with the real proofs of the local App Store. Each answer is compared
/// with the whole of the expected one.
@Suite struct RevenueCatLifeTests {
    private typealias Expected = ExpectedAnswer

    private static let premium = "garden.premium.monthly"
    private static let basic = "garden.basic.monthly"

    @Test func `an app is configured, and shows what it sells`() async throws {
        let door = try await DoorGarden()
        try await door.customer(DoorGarden.anonymous).expectCustomer(
            try Expected.customer(DoorGarden.anonymous, at: Expected.start))
        let offerings = try await door.send(.get, DoorGarden.path(of: DoorGarden.anonymous, "/offerings"))
        try offerings.expect(
            .object([
                "current_offering_id": "default",
                "offerings": .array([
                    .object([
                        "description": "All", "identifier": "default", "metadata": .object(["color": "green"]),
                        "packages": .array([
                            Self.package("$rc_monthly", Self.basic), Self.package("gate", "garden.gate"),
                        ]),
                    ])
                ]),
            ]))
        #expect(try JSONSchema(named: "Offerings").violations(in: try #require(offerings.json)) == [])
        let mapping = try await door.send(.get, "/v1/product_entitlement_mapping")
        try mapping.expect(
            .object([
                "product_entitlement_mapping": .object([
                    Self.basic: Self.mapping(Self.basic, "gardener"),
                    "garden.basic.yearly": Self.mapping("garden.basic.yearly", "gardener"),
                    "garden.gate": Self.mapping("garden.gate", "gatekeeper"),
                    Self.premium: Self.mapping(Self.premium, "gardener"),
                ])
            ]))
        #expect(try JSONSchema(named: "ProductEntitlementMapping").violations(in: try #require(mapping.json)) == [])
    }

    private static func package(_ identifier: String, _ product: String) -> JSONValue {
        .object(["identifier": .string(identifier), "platform_product_identifier": .string(product)])
    }

    private static func mapping(_ product: String, _ right: String) -> JSONValue {
        .object(["entitlements": .array([.string(right)]), "product_identifier": .string(product)])
    }

    @Test func `a customer with an own clock at the store is answered at the customer's time`() async throws {
        let door = try await DoorGarden()
        let store = door.garden.store
        let sold = try #require(try door.garden.buy(Self.premium).purchase).transactionIdentifier
        #expect(try await door.restore(sold, of: DoorGarden.anonymous, product: Self.premium).status == 200)
        let time = try store.advance(.seconds(365 * 86_400), of: "alice")
        let latest = try #require(try store.history(of: "alice").last).transactionIdentifier
        let renewed = try await door.restore(latest, of: DoorGarden.anonymous, product: Self.premium)
        #expect(renewed.status == 200)
        #expect(renewed["request_date"] == .string(time.rfc3339))
        #expect(try await door.customer(DoorGarden.anonymous)["request_date"] == .string(time.rfc3339))
        #expect(try await door.customer("mint")["request_date"] == .string(store.now.rfc3339))
    }

    @Test func `a purchase is shown at once, and later with the time of the request`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        let end = "2026-11-30T12:00:00Z"
        func expected(at now: String) throws -> JSONValue {
            try Expected.customer(
                DoorGarden.anonymous, at: now, isManaged: true,
                entitlements: ["gardener": Expected.entitlement(by: Self.premium, until: end)],
                subscriptions: [Self.premium: Expected.subscription(bought.identifier, until: end, price: 9990)])
        }
        // A repeated request changes nothing.
        for _ in 1...2 {
            try await door.redeem(bought.proof, of: DoorGarden.anonymous, product: Self.premium).expectCustomer(
                try expected(at: Expected.start))
        }
        try door.garden.advance(to: "2026-11-10T00:00:00Z")
        try await door.customer(DoorGarden.anonymous).expectCustomer(try expected(at: "2026-11-10T00:00:00Z"))
    }

    @Test func `a subscription is renewed, is turned off, and ends`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        _ = try await door.redeem(bought.proof, of: "al ice", product: Self.premium)
        try door.garden.advance(to: "2026-12-01T00:00:00Z")
        try await door.notify()
        let renewal = try #require(try door.garden.store.history(of: "alice").last).transactionIdentifier
        let (start, end) = ("2026-11-30T12:00:00Z", "2026-12-31T12:00:00Z")
        func expect(at now: String, isActive: Bool, turnedOff: String?) async throws {
            try await door.customer("al ice").expectCustomer(
                try Expected.customer(
                    "al ice", at: now, isManaged: isActive,
                    entitlements: ["gardener": Expected.entitlement(by: Self.premium, bought: start, until: end)],
                    subscriptions: [
                        Self.premium: Expected.subscription(
                            renewal, bought: start, until: end, price: 9990,
                            turnedOff.map { ["unsubscribe_detected_at": .string($0)] } ?? [:])
                    ]))
        }
        try await expect(at: "2026-12-01T00:00:00Z", isActive: true, turnedOff: nil)

        try door.garden.store.setAutoRenew(false, of: bought.identifier)
        try await door.notify()
        try await expect(at: "2026-12-01T00:00:00Z", isActive: true, turnedOff: "2026-12-01T00:00:00Z")

        try door.garden.advance(to: "2027-01-01T00:00:00Z")
        try await expect(at: "2027-01-01T00:00:00Z", isActive: false, turnedOff: "2026-12-01T00:00:00Z")
        // The App Store states the renewal again when the subscription ends. The moment of the event stays.
        try await door.notify()
        try await expect(at: "2027-01-01T00:00:00Z", isActive: false, turnedOff: "2026-12-01T00:00:00Z")
    }

    @Test(arguments: [true, false])
    func `a charge that fails keeps the entitlement only in a grace period`(hasGracePeriod: Bool) async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        _ = try await door.redeem(bought.proof, of: "alice", product: Self.premium)
        let failure = "2026-11-10T00:00:00Z"
        try door.garden.advance(to: failure)
        try door.garden.store.failRenewal(of: bought.identifier, hasGracePeriod: hasGracePeriod)
        let grace = hasGracePeriod ? "2026-11-26T00:00:00Z" : nil
        let end = grace ?? failure
        func expect(at now: String, isActive: Bool, issue: String, turnedOff: String? = nil) async throws {
            try door.garden.advance(to: now)
            try await door.notify()
            try await door.customer("alice").expectCustomer(
                try Expected.customer(
                    "alice", at: now, isManaged: isActive,
                    entitlements: ["gardener": Expected.entitlement(by: Self.premium, until: end, grace: grace)],
                    subscriptions: [
                        Self.premium: Expected.subscription(
                            bought.identifier, until: end, price: 9990,
                            [
                                "billing_issues_detected_at": .string(issue),
                                "grace_period_expires_date": grace.map { .string($0) } ?? .null,
                                "unsubscribe_detected_at": turnedOff.map { .string($0) } ?? .null,
                            ])
                    ]))
        }
        try await expect(at: "2026-11-10T01:00:00Z", isActive: hasGracePeriod, issue: failure)
        // The App Store states the issue again at the end of the grace period, and after the last attempt to charge. The moment
        // of the first failure stays.
        try await expect(at: "2026-11-27T00:00:00Z", isActive: false, issue: failure)
        let last = "2027-01-09T00:00:00Z"
        try await expect(at: "2027-01-10T00:00:00Z", isActive: false, issue: failure, turnedOff: last)
    }

    @Test func `a billing issue is resolved, and a new period begins`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        _ = try await door.redeem(bought.proof, of: "alice", product: Self.premium)
        try door.garden.advance(to: "2026-11-10T00:00:00Z")
        try door.garden.store.failRenewal(of: bought.identifier, hasGracePeriod: false)
        let (now, end) = ("2026-11-12T00:00:00Z", "2026-12-12T00:00:00Z")
        try door.garden.advance(to: now)
        try door.garden.store.resolveBillingIssue(of: bought.identifier)
        try await door.notify()
        let renewal = try #require(try door.garden.store.history(of: "alice").last).transactionIdentifier
        try await door.customer("alice").expectCustomer(
            try Expected.customer(
                "alice", at: now, isManaged: true,
                entitlements: ["gardener": Expected.entitlement(by: Self.premium, bought: now, until: end)],
                subscriptions: [Self.premium: Expected.subscription(renewal, bought: now, until: end, price: 9990)]))
    }

    @Test func `a trial becomes a paid period, and refunds end what was bought`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.basic)
        let trial = Expected.subscription(
            bought.identifier, until: "2026-11-07T12:00:00Z", price: 0, ["period_type": "trial"])
        let trialEntitlement = Expected.entitlement(by: Self.basic, until: "2026-11-07T12:00:00Z")
        try await door.redeem(bought.proof, of: "alice", product: Self.basic).expectCustomer(
            try Expected.customer(
                "alice", at: Expected.start, isManaged: true, entitlements: ["gardener": trialEntitlement],
                subscriptions: [Self.basic: trial]))
        let gate = try door.buy("garden.gate")
        try await door.redeem(gate.proof, of: "alice", product: "garden.gate").expectCustomer(
            try Expected.customer(
                "alice", at: Expected.start, isManaged: true,
                entitlements: [
                    "gardener": trialEntitlement, "gatekeeper": Expected.entitlement(by: "garden.gate", until: nil),
                ],
                subscriptions: [Self.basic: trial],
                purchases: ["garden.gate": Expected.purchase(gate.identifier, price: 19_990)]))

        let refund = "2026-11-08T00:00:00Z"
        try door.garden.advance(to: refund)
        let sale = try #require(try door.garden.store.history(of: "alice").last { $0.productIdentifier == Self.basic })
        try door.garden.store.refund(sale.transactionIdentifier)
        try door.garden.store.refund(gate.identifier)
        try await door.notify()
        try await door.customer("alice").expectCustomer(
            try Expected.customer(
                "alice", at: refund,
                entitlements: [
                    "gardener": Expected.entitlement(by: Self.basic, bought: "2026-11-07T12:00:00Z", until: refund)
                ],
                subscriptions: [
                    Self.basic: Expected.subscription(
                        sale.transactionIdentifier, bought: "2026-11-07T12:00:00Z", until: refund, price: 4990,
                        ["refunded_at": .string(refund), "unsubscribe_detected_at": .string(refund)])
                ]))
    }

    @Test(arguments: [false, true])
    func `a refund does not move the date at which renewal was turned off`(isReversed: Bool) async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        _ = try await door.redeem(bought.proof, of: "alice", product: Self.premium)
        let (turnedOff, refund) = ("2026-11-01T00:00:00Z", "2026-11-08T00:00:00Z")
        try door.garden.advance(to: turnedOff)
        try door.garden.store.setAutoRenew(false, of: bought.identifier)
        try door.garden.advance(to: refund)
        try door.garden.store.refund(bought.identifier)
        let notifications = try door.garden.store.notifications()
        for notification in isReversed ? notifications.reversed() : notifications {
            _ = try await door.entitlements.receive(notification: Array(notification.signedPayload.utf8))
        }
        try await door.customer("alice").expectCustomer(
            try Expected.customer(
                "alice", at: refund,
                entitlements: ["gardener": Expected.entitlement(by: Self.premium, until: refund)],
                subscriptions: [
                    Self.premium: Expected.subscription(
                        bought.identifier, until: refund, price: 9990,
                        ["refunded_at": .string(refund), "unsubscribe_detected_at": .string(turnedOff)])
                ]))
    }

    @Test func `a grant by the team is a promotional subscription`() async throws {
        let door = try await DoorGarden()
        let customer = try #require(CustomerIdentifier("alice"))
        let grant = try door.entitlements.newGrant(
            of: Item(collection: "plus", number: 2), reason: "sorry", endsAt: nil, by: "K")
        _ = try await door.entitlements.give(grant, to: customer.user)
        let product = "rc_promo_gardener_lifetime"
        try await door.customer("alice").expectCustomer(
            try Expected.customer(
                "alice", at: Expected.start,
                entitlements: ["gardener": Expected.entitlement(by: product, until: nil)],
                subscriptions: [product: Expected.grant(from: Expected.start)]))
    }
}
