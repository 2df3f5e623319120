import Entitlements
import Proofs
import TestSupport
import Testing
import Vocabulary

/// What a store has paid back of a charge, for every kind of refund of both stores.
@Suite struct PaidBackRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var facts: [TransactionFact: StatedValue] = [:]
        var price: Int64? = 4_990
        var quantity = 1
        var isRevoked = true
        /// Nil if nothing was paid back; otherwise the amount, which may be unknown, and if it is all.
        let paidBack: (amount: Int64?, isWhole: Bool)?
    }

    private static let (day, later) = (Rules.later(86_400), Rules.later(2 * 86_400))
    private static let (full, prorated) = (StatedValue.text("REFUND_FULL"), StatedValue.text("REFUND_PRORATED"))
    private static let refundedAt = StatedValue.integer(day.millisecondsSince1970)
    private static let order = StatedValue.text("GPA.1")

    /// A transaction of the Advanced Commerce API with two items, of which one was paid back in two parts.
    private static let items: StatedValue = .text(
        """
        {"items":[{"SKU":"a","price":1990},{"SKU":"b","price":3000,"refunds":[\
        {"refundAmount":1000,"refundDate":\(day.millisecondsSince1970),"refundType":"CUSTOM"},\
        {"refundAmount":500,"refundDate":\(day.millisecondsSince1970)}]}]}
        """)

    // developer.apple.com/documentation/appstoreserverapi: revocationType, revocationPercentage.
    static let appStore = [
        Case(testDescription: "a purchase that stands", isRevoked: false, paidBack: nil),
        Case(testDescription: "a refund in an older form", paidBack: (4_990, true)),
        Case(testDescription: "a full refund", facts: [.revocationType: full], paidBack: (4_990, true)),
        Case(
            testDescription: "a share of the price, rounded down",
            facts: [.revocationType: prorated, .revocationPercentage: .integer(66_660)], paidBack: (3_326, false)),
        Case(
            testDescription: "one of three units",
            facts: [.revocationType: prorated, .revocationPercentage: .integer(33_333)], price: 9_000, quantity: 3,
            paidBack: (2_999, false)),
        Case(
            testDescription: "a share of all", facts: [.revocationPercentage: .integer(100_000)],
            paidBack: (4_990, true)),
        Case(testDescription: "a share that is not stated", facts: [.revocationType: prorated], paidBack: (nil, false)),
        Case(
            testDescription: "a share that is none",
            facts: [.revocationType: prorated, .revocationPercentage: .integer(100_001)], paidBack: (nil, false)),
        Case(
            testDescription: "a share without a price", facts: [.revocationPercentage: .integer(50_000)], price: nil,
            paidBack: (nil, false)),
        Case(testDescription: "a full refund without a price", price: nil, paidBack: (nil, true)),
        Case(
            testDescription: "the seats of a subscription",
            facts: [
                .type: .text(ProductType.autoRenewableSubscription.rawValue),
                .multiSeatInfo: .text(#"{"priceTiers":[{"price":9990,"quantity":5},{"price":7990,"quantity":3}]}"#),
            ], quantity: 8, paidBack: (73_920, true)),
        Case(
            testDescription: "the end of family sharing", facts: [.revocationType: .text("FAMILY_REVOKE")],
            paidBack: nil),
        Case(
            testDescription: "the end of a seat", facts: [.revocationType: .text("ASSIGNMENT_REVOKE")], paidBack: nil),
        Case(
            testDescription: "the purchase of a family member",
            facts: [.inAppOwnershipType: .text(InAppOwnershipType.familyShared.rawValue), .revocationType: full],
            paidBack: nil),
        Case(
            testDescription: "a seat", facts: [.inAppOwnershipType: .text(InAppOwnershipType.assigned.rawValue)],
            paidBack: nil),
        Case(testDescription: "an upgrade in an app receipt", facts: [.isUpgraded: .integer(1)], paidBack: nil),
        Case(
            testDescription: "an upgrade with its prorated refund",
            facts: [.isUpgraded: .integer(1), .revocationType: prorated, .revocationPercentage: .integer(66_660)],
            paidBack: (3_326, false)),
        Case(
            testDescription: "the same after the rule of upgrades has withdrawn the revocation",
            facts: [
                .isUpgraded: .integer(1), .revocationType: prorated, .revocationPercentage: .integer(66_660),
                .refundedAt: refundedAt,
            ], isRevoked: false, paidBack: (3_326, false)),
        Case(
            testDescription: "a reversed refund", facts: [.refundedAt: refundedAt], isRevoked: false, paidBack: nil),
        Case(
            testDescription: "items of an Advanced Commerce purchase", facts: [.advancedCommerceInfo: items],
            isRevoked: false, paidBack: (1_500, false)),
    ]

    // developers.google.com/android-publisher/api-ref/rest/v3/orders; the order is read in `GooglePlayOrderRefundTests`.
    static let googlePlay = [
        Case(testDescription: "an order that stands", facts: [.orderId: order], isRevoked: false, paidBack: nil),
        Case(
            testDescription: "a whole refund with the goods",
            facts: [.orderId: order, .refundedAmount: .integer(4_990), .refundedAt: refundedAt],
            paidBack: (4_990, true)),
        Case(
            testDescription: "a whole refund that leaves the goods",
            facts: [.orderId: order, .refundedAmount: .integer(4_990), .refundedAt: refundedAt], isRevoked: false,
            paidBack: (4_990, true)),
        Case(
            testDescription: "a prorated refund with the goods",
            facts: [
                .orderId: order, .revocationType: prorated, .refundedAmount: .integer(2_000), .refundedAt: refundedAt,
            ], paidBack: (2_000, false)),
        Case(
            testDescription: "a part that leaves the goods",
            facts: [.orderId: order, .refundedAmount: .integer(2_000), .refundedAt: refundedAt], isRevoked: false,
            paidBack: (2_000, false)),
        Case(
            testDescription: "a part, at a store without order numbers",
            facts: [.refundedAmount: .integer(2_000), .refundedAt: refundedAt], isRevoked: false,
            paidBack: (2_000, false)),
        Case(
            testDescription: "more than the price",
            facts: [.orderId: order, .refundedAmount: .integer(9_000), .refundedAt: refundedAt],
            paidBack: (4_990, true)),
        Case(
            testDescription: "an amount without a price",
            facts: [.orderId: order, .refundedAmount: .integer(2_000), .refundedAt: refundedAt], price: nil,
            paidBack: (2_000, false)),
        Case(
            testDescription: "a part of an unknown amount",
            facts: [.orderId: order, .refundedAt: refundedAt], isRevoked: false, paidBack: (nil, false)),
        Case(
            testDescription: "goods that are gone, and no money",
            facts: [.orderId: order, .refundedAmount: .integer(0)], paidBack: nil),
        Case(testDescription: "voided, and the order is not known", facts: [.orderId: order], paidBack: (4_990, true)),
        Case(
            testDescription: "voided, and neither order nor price is known", facts: [.orderId: order], price: nil,
            paidBack: (nil, true)),
        Case(testDescription: "a promotion without an order", price: nil, isRevoked: false, paidBack: nil),
    ]

    @Test(arguments: appStore + googlePlay) func `a store pays back what it states`(example: Case) {
        var facts = TransactionFacts(example.facts)
        if let price = example.price { (facts[.price], facts[.currency]) = (.integer(price), .text("EUR")) }
        let isStated = example.facts[.refundedAt] != nil || example.facts[.advancedCommerceInfo] != nil
        let paidBack = PaidBack(
            facts, quantity: example.quantity, revokedAt: example.isRevoked ? Self.later : nil)
        #expect((paidBack == nil) == (example.paidBack == nil))
        #expect(paidBack?.amount == example.paidBack?.amount)
        #expect(paidBack?.isWhole == example.paidBack?.isWhole)
        guard let paidBack else { return }
        // Google's order and the items have dates of their own. The App Store's refund is its revocation.
        let isOfRevocation = example.isRevoked && (!isStated || example.facts[.orderId] == nil)
        #expect(paidBack.at == (isOfRevocation ? Self.later : Self.day))
    }

    @Test(
        arguments: [
            ([:], false, nil), ([:], true, .refunded),
            ([.revocationType: prorated, .revocationPercentage: .integer(50_000)], true, .partlyRefunded),
            ([.refundedAmount: .integer(1_000), .refundedAt: refundedAt], false, .partlyRefunded),
            ([.orderId: order, .voidedReason: .integer(7)], true, .chargedBack),
            ([.orderId: order, .refundReason: .text("CHARGEBACK")], true, .chargedBack),
            ([.revocationType: .text("FAMILY_REVOKE")], true, .shareEnded),
            ([.inAppOwnershipType: .text("FAMILY_SHARED")], true, .shareEnded),
            ([.inAppOwnershipType: .text("ASSIGNED")], true, .seatTaken),
            ([.orderId: order, .refundedAmount: .integer(0)], true, .revoked),
            ([.isUpgraded: .integer(1)], true, nil),
        ] as [([TransactionFact: StatedValue], Bool, StoreReturn?)])
    func `each way in which a store takes something back has a name`(
        stated: [TransactionFact: StatedValue], isRevoked: Bool, what: StoreReturn?
    ) {
        var facts = TransactionFacts(stated)
        (facts[.price], facts[.currency]) = (.integer(4_990), .text("EUR"))
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: "p", purchaseDate: Rules.now, redeemedAt: Rules.now,
            revocationDate: isRevoked ? Self.later : nil, facts: facts)
        #expect(transaction.takenBack?.what == what)
    }

    private static func claim(
        revoked: Bool = false, signed: Int64, _ facts: [TransactionFact: StatedValue], expires: Int64? = nil
    ) -> Claim {
        var stated = TransactionFacts(facts)
        (stated[.price], stated[.currency]) = (.integer(4_990), .text("EUR"))
        stated[.signedDate] = .integer(Rules.later(signed).millisecondsSince1970)
        return Rules.claim(revoked: revoked, signed: signed, expires: expires, facts: stated)
    }

    private static func refunded(_ amount: Int64) -> [TransactionFact: StatedValue] {
        [.orderId: order, .refundedAmount: .integer(amount), .refundedAt: refundedAt]
    }

    /// Stories of one purchase, each with the events and their amounts.
    static let stories: [(name: String, claims: [Claim], events: [String])] = [
        (
            "a refund that leaves the goods, told twice",
            [
                claim(signed: 0, [.orderId: order]), claim(signed: 1, refunded(4_990)),
                claim(signed: 2, refunded(4_990)),
            ],
            ["granted", "paymentRefunded 4990"]
        ),
        (
            "two parts",
            [
                claim(signed: 0, [.orderId: order]), claim(signed: 1, refunded(1_000)),
                claim(signed: 2, refunded(3_000)),
            ],
            ["granted", "paymentRefunded 1000", "paymentRefunded 2000"]
        ),
        (
            "a refund with the revocation",
            [claim(signed: 0, [.orderId: order]), claim(revoked: true, signed: 1, refunded(2_000))],
            ["granted", "revoked 2000"]
        ),
        (
            "a refund before the revocation",
            [
                claim(signed: 0, [.orderId: order]), claim(signed: 1, refunded(2_000)),
                claim(revoked: true, signed: 2, refunded(2_000)),
            ], ["granted", "paymentRefunded 2000", "revoked 0"]
        ),
        (
            "a refund after the revocation",
            [
                claim(signed: 0, [.orderId: order]),
                claim(revoked: true, signed: 1, [.orderId: order, .refundedAmount: .integer(0)]),
                claim(revoked: true, signed: 2, refunded(4_990)),
            ], ["granted", "revoked", "paymentRefunded 4990"]
        ),
        (
            "a purchase that is redeemed after its refund", [claim(signed: 1, refunded(2_000))],
            ["granted", "paymentRefunded 2000"]
        ),
        (
            "an unknown amount",
            [claim(signed: 0, [.orderId: order]), claim(signed: 1, [.orderId: order, .refundedAt: refundedAt])],
            ["granted", "paymentRefunded"]
        ),
        (
            "a refund of the App Store, and its reversal",
            [claim(signed: 0, [:]), claim(revoked: true, signed: 1, [.revocationType: full]), claim(signed: 2, [:])],
            ["granted", "revoked 4990", "granted"]
        ),
    ]

    @Test(arguments: stories.indices) func `each payment back is told once, with its amount`(index: Int) {
        let story = Self.stories[index]
        var decision = Rules.decision(after: 600)
        for claim in story.claims { _ = decision.redeem(claim, for: Rules.alice, by: .user) }
        let events = decision.changes.events.compactMap { event -> String? in
            guard case .audit(let entry, _) = event else { return nil }
            return entry.event.rawValue + (entry.refund.map { " \($0.milliunits)" } ?? "")
        }
        #expect(events == story.events, "\(story.name)")
    }

    @Test func `the refund of an upgraded period is told, and nothing is revoked`() {
        let plan: [TransactionFact: StatedValue] = [
            .isUpgraded: .integer(1), .revocationType: Self.prorated, .revocationPercentage: .integer(50_000),
            .refundedAt: .integer(Rules.later(501).millisecondsSince1970),
        ]
        var decision = Rules.decision(after: 600)
        let new = Rules.claim(
            "2", original: "1", product: "gold", bought: 500, signed: 501,
            item: Item(collection: "gold", number: 1), expires: 1500)
        for claim in [
            Self.claim(signed: 0, [:], expires: 1000), new, Self.claim(revoked: true, signed: 501, plan, expires: 1000),
        ] {
            _ = decision.redeem(claim, for: Rules.alice, by: .user)
        }
        #expect(decision.facts.coverage(of: new.key).values.allSatisfy { !$0.isRevoked })
        let refunds = decision.changes.events.compactMap { event -> Int64? in
            guard case .audit(let entry, _) = event, entry.event == .paymentRefunded else { return nil }
            return entry.refund?.milliunits
        }
        #expect(refunds == [2_495])
    }

    @Test func `what remains of charges is their prices without what was paid back`() throws {
        let dice = Dice(seed: 41)
        for _ in 0..<200 {
            let examples = (0..<6).map { _ in
                (Self.appStore + Self.googlePlay)[dice.number(below: Self.appStore.count + Self.googlePlay.count)]
            }
            let charges = examples.enumerated().map { index, example in
                var facts = TransactionFacts(example.facts)
                if let price = example.price { (facts[.price], facts[.currency]) = (.integer(price), .text("EUR")) }
                return RedeemedTransaction(
                    sequence: Int64(index), origin: .appleProduction, transactionIdentifier: "\(index)",
                    originalTransactionIdentifier: "\(index)", productIdentifier: "p", quantity: example.quantity,
                    purchaseDate: Rules.now, redeemedAt: Rules.now,
                    revocationDate: example.isRevoked ? Self.later : nil, facts: facts)
            }
            let paid = charges.compactMap(\.paidAmount).reduce(0, +)
            let back = charges.compactMap { $0.paidAmount == nil ? nil : $0.paidBack?.amount }.reduce(0, +)
            #expect(charges.spent(inSandbox: false).reduce(0) { $0 + $1.milliunits } == paid - back)
        }
    }
}
