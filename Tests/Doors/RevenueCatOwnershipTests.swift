import AppStore
import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The owner of a purchase over the door of RevenueCat's SDKs: log-ins, and restores by a second customer. Each answer is
/// compared with the whole of the expected one.
@Suite struct RevenueCatOwnershipTests {
    private typealias Expected = ExpectedAnswer

    private static let premium = "garden.premium.monthly"
    private static let restored = "2026-12-10T00:00:00Z"

    /// A purchase that alice has redeemed, at the time when bob restores it.
    enum Purchase: CaseIterable {
        case runningSubscription, endedSubscription, itemForLife, refundedItem, seeds

        var product: String {
            switch self {
            case .runningSubscription, .endedSubscription: premium
            case .itemForLife, .refundedItem: "garden.gate"
            case .seeds: "garden.seeds"
            }
        }
    }

    /// The purchases that each policy transfers.
    static let transferred: [(OwnershipPolicy, Set<Purchase>)] = [
        (.keep, []),
        (.transfer(pauseSeconds: 0), [.runningSubscription, .endedSubscription, .itemForLife, .refundedItem]),
        (.transferIfInactive(pauseSeconds: 0), [.endedSubscription, .refundedItem]),
    ]

    @Test func `a renewal of another customer's subscription stays in the queue until that customer has it`()
        async throws
    {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.premium)
        _ = try await door.redeem(bought.proof, of: "alice", product: Self.premium)
        try door.garden.advance(to: "2026-12-01T00:00:00Z")
        let renewal = try #require(try door.garden.store.history(of: "alice").last).transactionIdentifier
        let error = Expected.error(7102, "The transaction \"\(renewal)\" is refused: ownedByAnotherUser.")
        try await door.restore(renewal, of: "bob", product: Self.premium).expect(error, status: 503)
        try await door.notify()
        try await door.restore(renewal, of: "bob", product: Self.premium).expect(error, status: 409)
    }

    @Test(arguments: transferred)
    func `the ownership policy decides about a restore by a second customer`(
        policy: OwnershipPolicy,
        transferred: Set<Purchase>
    ) async throws {
        for purchase in Purchase.allCases {
            let door = try await DoorGarden(policy: policy)
            let transaction = try await buy(purchase, at: door)
            let answer = try await door.restore(transaction.identifier, of: "bob", product: purchase.product)
            let bob = try Expected.customer("bob", at: Self.restored, firstSeen: Self.restored)
            let alice = try Expected.customer("alice", at: Self.restored)
            if transferred.contains(purchase) {
                let owner = try transaction.customer("bob", firstSeen: Self.restored)
                try answer.expectCustomer(owner)
                try await door.customer("bob").expectCustomer(owner)
                try await door.customer("alice").expectCustomer(alice)
            } else {
                try answer.expect(
                    Expected.error(
                        7102, "The transaction \"\(transaction.identifier)\" is refused: ownedByAnotherUser."),
                    status: 409)
                try await door.customer("bob").expectCustomer(bob)
                try await door.customer("alice").expectCustomer(
                    try transaction.customer("alice", firstSeen: Expected.start))
            }
        }
    }

    @Test(arguments: [
        (OwnershipPolicy.transfer(pauseSeconds: 86_400), Purchase.itemForLife),
        (.transferIfInactive(pauseSeconds: 86_400), .endedSubscription),
    ])
    func `a purchase is not transferred again before the pause is over`(
        policy: OwnershipPolicy,
        purchase: Purchase
    ) async throws {
        let door = try await DoorGarden(policy: policy)
        let transaction = try await buy(purchase, at: door)
        let first = try await door.restore(transaction.identifier, of: "bob", product: purchase.product)
        try first.expectCustomer(try transaction.customer("bob", firstSeen: Self.restored))

        let (early, due) = ("2026-12-10T23:59:59Z", "2026-12-11T00:00:00Z")
        try door.garden.advance(to: early)
        try await door.restore(transaction.identifier, of: "alice", product: purchase.product).expect(
            Expected.error(7102, "The transaction \"\(transaction.identifier)\" is refused: transferTooSoon."),
            status: 503)
        try await door.customer("bob").expectCustomer(
            try transaction.customer("bob", at: early, firstSeen: Self.restored))
        try await door.customer("alice").expectCustomer(try Expected.customer("alice", at: early))

        try door.garden.advance(to: due)
        try await door.restore(transaction.identifier, of: "alice", product: purchase.product).expectCustomer(
            try transaction.customer("alice", at: due, firstSeen: Expected.start))
        try await door.customer("bob").expectCustomer(
            try Expected.customer("bob", at: due, firstSeen: Self.restored))
    }

    /// A second after the purchase.
    private static let turnedOff = "2026-10-31T12:00:01Z"

    /// The transaction of a purchase, and what customer info shows of it.
    private struct Bought {
        let identifier: String
        var isManaged = false
        var entitlements: JSONObject = [:]
        var subscriptions: JSONObject = [:]
        var purchases: JSONObject = [:]

        /// The complete customer info of the owner.
        func customer(_ name: String, at now: String = restored, firstSeen: String) throws -> JSONValue {
            try Expected.customer(
                name, at: now, firstSeen: firstSeen, isManaged: isManaged, entitlements: entitlements,
                subscriptions: subscriptions, purchases: purchases)
        }
    }

    /// Buys and redeems for alice, and advances the time to the restore.
    private func buy(_ purchase: Purchase, at door: DoorGarden) async throws -> Bought {
        if purchase == .runningSubscription {
            // Alice is a customer from the start, and subscribes later.
            _ = try await door.logIn("alice", as: "alice")
            try door.garden.advance(to: "2026-12-01T00:00:00Z")
        }
        let bought = try door.buy(purchase.product)
        _ = try await door.redeem(bought.proof, of: "alice", product: purchase.product)
        switch purchase {
        case .endedSubscription:
            // Two statements of one moment have no order.
            try door.garden.advance(to: Self.turnedOff)
            try door.garden.store.setAutoRenew(false, of: bought.identifier)
        case .refundedItem: try door.garden.store.refund(bought.identifier)
        case .runningSubscription, .itemForLife, .seeds: break
        }
        try door.garden.advance(to: Self.restored)
        try await door.notify()
        return Self.bought(purchase, bought.identifier)
    }

    private static func bought(_ purchase: Purchase, _ identifier: String) -> Bought {
        var bought = Bought(identifier: identifier)
        switch purchase {
        case .runningSubscription:
            let (start, end) = ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z")
            bought.isManaged = true
            bought.entitlements = ["gardener": Expected.entitlement(by: premium, bought: start, until: end)]
            bought.subscriptions = [
                premium: Expected.subscription(
                    identifier, bought: start, until: end, price: 9990, ["original_purchase_date": .string(start)])
            ]
        case .endedSubscription:
            let end = "2026-11-30T12:00:00Z"
            bought.entitlements = ["gardener": Expected.entitlement(by: premium, until: end)]
            bought.subscriptions = [
                premium: Expected.subscription(
                    identifier, until: end, price: 9990, ["unsubscribe_detected_at": .string(turnedOff)])
            ]
        case .itemForLife:
            bought.entitlements = ["gatekeeper": Expected.entitlement(by: "garden.gate", until: nil)]
            bought.purchases = ["garden.gate": Expected.purchase(identifier, price: 19_990)]
        // A purchase that was taken back is absent.
        case .refundedItem: break
        case .seeds: bought.purchases = ["garden.seeds": Expected.purchase(identifier, price: 990)]
        }
        return bought
    }

    @Test func `an anonymous customer logs in, and keeps the purchases`() async throws {
        let door = try await DoorGarden()
        let gate = try await buy(.itemForLife, of: DoorGarden.anonymous, at: door)
        let later = "2026-11-01T00:00:00Z"
        try door.garden.advance(to: later)
        let named = try gate.customer("Ann Other", at: later, firstSeen: Expected.start)
        try await door.logIn(DoorGarden.anonymous, as: "Ann Other").expectCustomer(named, status: 201)
        // A repeated log-in changes nothing, and the other id leads to the same customer.
        try await door.logIn(DoorGarden.anonymous, as: "Ann Other").expectCustomer(named)
        try await door.customer(DoorGarden.anonymous).expectCustomer(named)
        // A known customer who logs in as another one takes nothing along.
        try await door.logIn("Ann Other", as: "Bob").expectCustomer(
            try Expected.customer("Bob", at: later, firstSeen: later), status: 201)
        try await door.customer("Ann Other").expectCustomer(named)
    }

    @Test func `a log-in of a too large anonymous customer has RevenueCat's error`() async throws {
        let door = try await DoorGarden()
        let ghost = try #require(CustomerIdentifier(DoorGarden.anonymous)).user
        let moment = door.garden.store.now
        _ = try await door.logIn(DoorGarden.anonymous, as: DoorGarden.anonymous)
        try await door.ledger.write { transaction in
            let number = try #require(try transaction.users.known(ghost))
            try transaction.database.insert(
                into: "spending",
                ["user_id", "spending_id", "balance", "amount", "reason", "spent_by", "spent_at", "left_after"],
                (0...LogIn.maximumRecords).map { [number, "s\($0)", "seeds", 1, "planted", "key", moment, 0] })
        }
        let refused = try await door.logIn(DoorGarden.anonymous, as: "ann")
        #expect(refused.status == 409 && refused["code"] == .integer(7255))
        #expect(try await door.alias(DoorGarden.anonymous, as: "ann").status == 409)
        #expect(try await door.customer("ann")["subscriber", "original_app_user_id"] == .string("ann"))
    }

    @Test func `an early SDK gives an anonymous customer an alias`() async throws {
        let door = try await DoorGarden()
        let gate = try await buy(.itemForLife, of: DoorGarden.anonymous, at: door)
        let named = try gate.customer("ann", at: Expected.start, firstSeen: Expected.start)
        try await door.alias(DoorGarden.anonymous, as: "ann").expectCustomer(named, status: 201)
        try await door.alias(DoorGarden.anonymous, as: "ann").expectCustomer(named)
        try await door.customer("ann").expectCustomer(named)
    }

    @Test(arguments: [
        OwnershipPolicy.keep, .transfer(pauseSeconds: 1000), .transferIfInactive(pauseSeconds: 1000),
    ])
    func `an anonymous customer becomes one with a known one under each policy`(policy: OwnershipPolicy) async throws {
        let door = try await DoorGarden(policy: policy)
        var both = try await buy(.seeds, of: "ann", at: door)
        let later = "2026-11-01T00:00:00Z"
        try door.garden.advance(to: later)
        let gate = try door.buy("garden.gate", account: "bob")
        _ = try await door.redeem(gate.proof, of: DoorGarden.anonymous, product: "garden.gate")
        both.entitlements = ["gatekeeper": Expected.entitlement(by: "garden.gate", bought: later, until: nil)]
        _ = both.purchases.add("garden.gate", Expected.purchase(gate.identifier, bought: later, price: 19_990))
        let merged = try both.customer("ann", at: later, firstSeen: Expected.start)
        try await door.logIn(DoorGarden.anonymous, as: "ann").expectCustomer(merged)
        try await door.customer("ann").expectCustomer(merged)
        try await door.customer(DoorGarden.anonymous).expectCustomer(merged)
        // Both ids restore the purchase of the one customer.
        for name in [DoorGarden.anonymous, "ann"] {
            try await door.restore(gate.identifier, of: name, product: "garden.gate").expectCustomer(merged)
        }
    }

    /// Buys and redeems for a customer at the start.
    private func buy(_ purchase: Purchase, of name: String, at door: DoorGarden) async throws -> Bought {
        let bought = try door.buy(purchase.product)
        _ = try await door.redeem(bought.proof, of: name, product: purchase.product)
        return Self.bought(purchase, bought.identifier)
    }
}
