import Entitlements
import Proofs
import Service
import Testing

/// The purchases in the answers to cordova-plugin-purchase.
@Suite struct PurchaseCollectionTests {
    private static let monthly = CustomerInfoFixture.monthly
    private static let gate = CustomerInfoFixture.gate
    private static let seeds = CustomerInfoFixture.seeds

    private func purchases(
        presenting presented: Set<ByteKey> = [],
        _ fill: (inout CustomerInfoFixture) -> Void
    ) -> [CordovaPurchase] {
        var fixture = CustomerInfoFixture()
        fill(&fixture)
        var collection = PurchaseCollection()
        (collection.transactions, collection.renewals) = (fixture.facts.transactions, fixture.facts.renewals)
        collection.presented = presented
        return collection.purchases(at: CustomerInfoFixture.now)
    }

    private func subscription(_ fill: (inout CustomerInfoFixture) -> Void) throws -> CordovaPurchase {
        let purchases = purchases(fill)
        try #require(purchases.count == 1)
        return purchases[0]
    }

    private static func day(_ day: Int64) -> Timestamp { CustomerInfoFixture.day(day) }

    @Test func `a renewed subscription has its last period`() throws {
        let purchase = try subscription { fixture in
            let first: [TransactionFact: StatedValue] = [
                .originalPurchaseDate: .integer(Self.day(1).millisecondsSince1970)
            ]
            fixture.subscribe(from: 1, to: 8, facts: first)
            fixture.subscribe(from: 8, to: 15, facts: first)
            fixture.state([.autoRenewStatus: .integer(1)], on: 8)
        }
        #expect(purchase.productIdentifier == Self.monthly)
        #expect((purchase.purchaseIdentifier, purchase.transactionIdentifier) == ("1", "2"))
        #expect(purchase.purchaseDate == Self.day(1))
        #expect(purchase.lastRenewalDate == Self.day(8))
        #expect(purchase.expiryDate == Self.day(15))
        #expect(!purchase.isExpired)
        #expect(purchase.renewalIntent == .renew)
        #expect(purchase.renewalIntentChangeDate == nil)
        #expect(purchase.cancelationReason == nil)
    }

    @Test func `the later of two periods counts, even if it ends sooner`() throws {
        let purchase = try subscription { fixture in
            fixture.subscribe(from: 1, to: 31)
            fixture.subscribe(from: 2, to: 9)
        }
        #expect(purchase.isExpired)
        #expect(purchase.transactionIdentifier == "2")
    }

    @Test func `an unstated renewal is not in the answer`() throws {
        let purchase = try subscription { $0.subscribe(from: 8, to: 15) }
        #expect(purchase.renewalIntent == nil)
    }

    @Test(
        arguments: [
            [.autoRenewStatus: .integer(0)],
            [.autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#)],
        ] as [[RenewalFact: StatedValue]])
    func `a subscription or a commitment that was turned off lapses`(renewal: [RenewalFact: StatedValue]) throws {
        let purchase = try subscription { fixture in
            fixture.subscribe(from: 8, to: 15)
            fixture.state(renewal, on: 9)
        }
        #expect(purchase.renewalIntent == .lapse)
        #expect(purchase.renewalIntentChangeDate == Self.day(9))
        #expect(!purchase.isExpired && purchase.cancelationReason == nil)
    }

    @Test(arguments: [
        (ExpirationIntent.customerCancelled, CancelationReason.customer), (.billingError, .systemBillingError),
        (.customerDidNotConsentToPriceIncrease, .customerPriceIncrease),
        (.productNotAvailable, .systemProductUnavailable), (.other, .unknown),
    ])
    func `an ended subscription has the stated reason`(intent: ExpirationIntent, reason: CancelationReason) throws {
        let purchase = try subscription { fixture in
            fixture.subscribe(from: 1, to: 8)
            fixture.state(
                [.autoRenewStatus: .integer(0), .expirationIntent: .integer(Int64(intent.rawValue))], on: 8)
        }
        #expect(purchase.isExpired)
        #expect(purchase.cancelationReason == reason)
        #expect(purchase.renewalIntent == .lapse)
    }

    @Test func `a grace period gives access while the App Store retries`() throws {
        func purchase(grace: Int64) throws -> CordovaPurchase {
            try subscription { fixture in
                fixture.subscribe(from: 1, to: 8, graceUntil: grace)
                fixture.state([.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], on: 8)
            }
        }
        let running = try purchase(grace: 12)
        #expect(running.isBillingRetryPeriod && !running.isExpired)
        #expect(running.expiryDate == Self.day(12))
        let over = try purchase(grace: 9)
        #expect(over.isBillingRetryPeriod && over.isExpired)
        #expect(over.expiryDate == Self.day(9))
        #expect(over.cancelationReason == nil)
        #expect(over.renewalIntent == .renew)
    }

    @Test(arguments: [
        (Int64(1), CancelationReason.customerTechnicalIssues), (0, .customerOtherReason),
    ])
    func `a refund ends a purchase with the stated reason`(number: Int64, reason: CancelationReason) throws {
        let revoked = RedeemedTransaction(
            sequence: 1, origin: .appleProduction, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: Self.gate, purchaseDate: Self.day(1), redeemedAt: Self.day(1),
            revocationDate: Self.day(5), revocationReason: Int(number),
            app: "com.example.garden",
            facts: TransactionFacts([.type: .text(ProductType.nonConsumable.rawValue)]))
        var collection = PurchaseCollection()
        collection.transactions = [revoked]
        let purchase = try #require(collection.purchases(at: CustomerInfoFixture.now).first)
        #expect(purchase.isExpired)
        #expect(purchase.expiryDate == Self.day(5))
        #expect(purchase.cancelationReason == reason)
    }

    @Test func `a revocation by the team and the end of sharing have their reasons`() throws {
        let taken = try subscription { $0.buy(Self.gate, on: 1, revocation: CustomerInfoFixture.revocation(3)) }
        #expect(taken.isExpired && taken.cancelationReason == .developer)
        for ownership in [InAppOwnershipType.familyShared, .assigned] {
            let shared = try subscription { fixture in
                fixture.buy(
                    Self.gate, on: 1, refundedOn: 3, facts: [.inAppOwnershipType: .text(ownership.rawValue)])
            }
            #expect(shared.isExpired && shared.cancelationReason == .system)
        }
    }

    @Test func `a replaced product has ended, and its successor runs`() throws {
        let purchases = purchases { fixture in
            fixture.subscribe(from: 1, to: 31, facts: [.isUpgraded: .integer(1)])
            fixture.subscribe("garden.premium", from: 5, to: 36)
        }
        let byProduct = Dictionary(uniqueKeysWithValues: purchases.map { ($0.productIdentifier, $0) })
        let replaced = try #require(byProduct[Self.monthly])
        #expect(replaced.isExpired && replaced.cancelationReason == .systemReplaced)
        #expect(replaced.expiryDate == Self.day(5))
        let successor = try #require(byProduct["garden.premium"])
        #expect(!successor.isExpired)
        #expect(successor.expiryDate == Self.day(36))
    }

    @Test func `a replaced product whose successor is unknown runs`() throws {
        let waiting = try subscription { $0.subscribe(from: 1, to: 31, facts: [.isUpgraded: .integer(1)]) }
        #expect(!waiting.isExpired && waiting.cancelationReason == nil)
    }

    @Test func `the kind of the price is stated`() throws {
        let trial = try subscription { $0.subscribe(from: 8, to: 15, facts: [.isTrialPeriod: .integer(1)]) }
        #expect(trial.isTrialPeriod && !trial.isIntroPeriod)
        let intro = try subscription { fixture in
            fixture.subscribe(from: 8, to: 15, facts: [.isInIntroductoryOfferPeriod: .integer(1)])
        }
        #expect(!intro.isTrialPeriod && intro.isIntroPeriod)
    }

    @Test func `a price increase is notified or agreed to`() throws {
        for (number, consent) in [(Int64(0), CordovaPurchase.PriceConsent.notified), (1, .agreed)] {
            let purchase = try subscription { fixture in
                fixture.subscribe(from: 8, to: 15)
                fixture.state([.autoRenewStatus: .integer(1), .priceIncreaseStatus: .integer(number)], on: 9)
            }
            #expect(purchase.priceConsent == consent)
        }
    }

    /// The purchases of one product, by their originals, and the one that counts.
    struct Rivals: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let counts: String
        let fill: @Sendable (inout CustomerInfoFixture) -> Void
    }

    private static let rivals = [
        Rivals(testDescription: "a later refund does not hide what is owned", counts: "1") { fixture in
            fixture.buy(gate, on: 1)
            fixture.buy(gate, on: 5, refundedOn: 6)
        },
        Rivals(testDescription: "an earlier refund does not either", counts: "2") { fixture in
            fixture.buy(gate, on: 1, refundedOn: 2)
            fixture.buy(gate, on: 5)
        },
        Rivals(testDescription: "a trial that has ended does not hide a paid period", counts: "1") { fixture in
            fixture.subscribe(from: 1, to: 31)
            fixture.subscribe(original: "2", from: 5, to: 8)
        },
        // The plugin does not look at the store of a purchase.
        Rivals(testDescription: "nor does one of another store", counts: "1") { fixture in
            fixture.subscribe(from: 1, to: 31)
            fixture.subscribe(original: "2", from: 5, to: 8, origin: .googleProduction)
        },
        Rivals(testDescription: "of two that are owned, the one that ends later counts", counts: "1") { fixture in
            fixture.subscribe(from: 1, to: 60)
            fixture.subscribe(original: "2", from: 5, to: 31)
        },
        Rivals(testDescription: "of two that have ended, the one that ended later counts", counts: "2") { fixture in
            fixture.subscribe(from: 1, to: 5)
            fixture.subscribe(original: "2", from: 2, to: 8)
        },
    ]

    /// The functions of the plugin (`VerifiedReceipts.find` and `isOwned` of 13.18.0) find the latest purchase date, and ask that
    /// purchase alone.
    @Test(arguments: rivals)
    func `a product has one purchase, and no other one turns it off`(rivals: Rivals) throws {
        let purchases = purchases(rivals.fill)
        #expect(purchases.count == 1)
        #expect(purchases.first?.purchaseIdentifier == rivals.counts)
    }

    @Test func `each product has a purchase of its own`() {
        let products = purchases { fixture in
            fixture.buy(Self.gate, on: 1)
            fixture.buy(Self.gate, on: 2, refundedOn: 3)
            fixture.subscribe(original: "8", from: 1, to: 31)
            fixture.subscribe("garden.premium", original: "9", from: 1, to: 5)
        }.map(\.productIdentifier)
        #expect(products.sorted() == [Self.gate, Self.monthly, "garden.premium"].sorted())
    }

    @Test func `a consumable is only in the answer to its own proof`() {
        func products(_ presented: Set<ByteKey>) -> [String] {
            purchases(presenting: presented) { fixture in
                fixture.buy(Self.gate, on: 1)
                fixture.buy(Self.seeds, on: 2, type: .consumable)
                fixture.buy(Self.seeds, on: 3, type: .consumable)
            }.map(\.productIdentifier)
        }
        #expect(products([]) == [Self.gate])
        #expect(products(["3"]) == [Self.gate, Self.seeds])
    }

    @Test func `the JSON has the plugin's names, and no member without a value`() throws {
        let gate = try subscription { $0.buy(Self.gate, on: 1) }
        #expect(
            gate.json.compactText
                == #"{"id":"garden.gate","platform":"ios-appstore","purchaseId":"1","transactionId":"1","#
                + #""purchaseDate":\#(Self.day(1).millisecondsSince1970),"isExpired":false,"quantity":1}"#)
        let monthly = try subscription { fixture in
            fixture.subscribe(from: 8, to: 15)
            fixture.state([.autoRenewStatus: .integer(0)], on: 9)
        }
        let start = Self.day(8).millisecondsSince1970
        #expect(
            monthly.json.compactText
                == #"{"id":"garden.monthly","platform":"ios-appstore","purchaseId":"1","transactionId":"1","#
                + #""purchaseDate":\#(start),"isExpired":false,"quantity":1,"lastRenewalDate":\#(start),"#
                + #""expiryDate":\#(Self.day(15).millisecondsSince1970),"renewalIntent":"Lapse","#
                + #""renewalIntentChangeDate":\#(Self.day(9).millisecondsSince1970),"isBillingRetryPeriod":false,"#
                + #""isTrialPeriod":false,"isIntroPeriod":false}"#)
    }
}
