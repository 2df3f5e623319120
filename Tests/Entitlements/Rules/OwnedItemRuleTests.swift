import Entitlements
import Proofs
import Testing
import Vocabulary

/// The items that a user owns 50 seconds after the start, by their coverage.
@Suite struct OwnedItemRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let coverage: [ItemCoverage]
        var free: [Item] = []
        /// The item, source, state, start, end and renewal as text.
        let owned: [String]
    }

    private static func purchase(
        _ identifier: String,
        from begin: Int64,
        to end: Int64? = nil,
        item: Item = Rules.sprout,
        facts: [TransactionFact: StatedValue] = [:],
        renewal: [RenewalFact: StatedValue]? = nil
    ) -> ItemCoverage {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: identifier,
            originalTransactionIdentifier: "1", productIdentifier: end == nil ? "sprout" : "monthly",
            purchaseDate: Rules.later(begin), redeemedAt: Rules.now,
            expiresAt: end.map(Rules.later), facts: TransactionFacts(facts))
        return ItemCoverage(
            item: item, beginsAt: Rules.later(begin), endsAt: end.map(Rules.later),
            source: .purchase(ItemPurchase(transaction)),
            renewal: renewal.map {
                StatedRenewal(statedAt: Rules.later(begin), proofDigest: [], facts: RenewalFacts($0))
            })
    }

    private static func grant(_ identifier: String, from begin: Int64, to end: Int64? = nil) -> ItemCoverage {
        ItemCoverage(
            item: Rules.sprout, beginsAt: Rules.later(begin), endsAt: end.map(Rules.later),
            source: .grant(identifier: identifier))
    }

    private static let hour: Int64 = 3600

    static let cases = [
        Case(testDescription: "nothing covers", coverage: [], owned: []),
        Case(
            testDescription: "everybody owns what the catalog gives", coverage: [], free: [Rules.sprout],
            owned: ["sprout 1 by rule: owned since - until - false"]),
        Case(
            testDescription: "a purchase without an end precedes the rule",
            coverage: [purchase("1", from: 10)], free: [Rules.sprout],
            owned: ["sprout 1 by 1: owned since 10 until - false"]),
        Case(
            testDescription: "a family shares",
            coverage: [purchase("1", from: 10, facts: [.inAppOwnershipType: .text("FAMILY_SHARED")])],
            owned: ["sprout 1 by 1: familyShared since 10 until - false"]),
        Case(
            testDescription: "a seat is owned",
            coverage: [purchase("1", from: 10, to: 80, facts: [.inAppOwnershipType: .text("ASSIGNED")])],
            owned: ["sprout 1 by 1: active since 10 until 80 nil"]),
        Case(
            testDescription: "a grant has its end", coverage: [grant("g", from: 20, to: 90)],
            owned: ["sprout 1 by g: owned since 20 until 90 false"]),
        Case(
            testDescription: "coverage that has ended gives nothing", coverage: [purchase("1", from: 0, to: 50)],
            owned: []),
        Case(
            testDescription: "a subscription renews",
            coverage: [
                purchase("1", from: 0, to: 40),
                purchase("2", from: 40, to: 80, renewal: [.autoRenewStatus: .integer(1)]),
            ],
            owned: ["sprout 1 by 2: active since 0 until 80 true"]),
        Case(
            testDescription: "a subscription ends",
            coverage: [purchase("1", from: 0, to: 80, renewal: [.autoRenewStatus: .integer(0)])],
            owned: ["sprout 1 by 1: willNotRenew since 0 until 80 false"]),
        Case(
            testDescription: "the renewal is unknown if the App Store has not stated it",
            coverage: [purchase("1", from: 0, to: 80)], owned: ["sprout 1 by 1: active since 0 until 80 nil"]),
        Case(
            testDescription: "a gap of more than an hour starts a new period",
            coverage: [purchase("1", from: -3 * hour, to: -2 * hour), purchase("2", from: 0, to: 80)],
            owned: ["sprout 1 by 2: active since 0 until 80 nil"]),
        Case(
            testDescription: "the coverage that lasts longest wins, from the first that leads to it",
            coverage: [grant("g", from: 0, to: 60), purchase("1", from: 30, to: 80)],
            owned: ["sprout 1 by 1: active since 0 until 80 nil"]),
        Case(
            testDescription: "a purchase without an end outlasts others",
            coverage: [grant("g", from: 0, to: 90), purchase("1", from: 30)],
            owned: ["sprout 1 by 1: owned since 0 until - false"]),
        Case(
            testDescription: "items are separate and in order",
            coverage: [
                purchase("2", from: 5, item: Item(collection: "sprout", number: 2)), purchase("1", from: 7),
            ],
            owned: [
                "sprout 1 by 1: owned since 7 until - false", "sprout 2 by 2: owned since 5 until - false",
            ]),
    ]

    private static func words(_ owned: OwnedItem) -> String {
        let source =
            switch owned.source {
            case .purchase(let transaction): transaction.transactionIdentifier
            case .grant(let identifier): identifier
            case .rule: "rule"
            }
        func seconds(_ moment: Timestamp?) -> String {
            moment.map { String(($0.millisecondsSince1970 - Rules.now.millisecondsSince1970) / 1000) } ?? "-"
        }
        let renews = owned.renews.map { String($0) } ?? "nil"
        return "\(owned.item) by \(source): \(owned.state.rawValue) since \(seconds(owned.since)) "
            + "until \(seconds(owned.until)) \(renews)"
    }

    @Test(arguments: cases) func `each item has one source, a beginning and an end`(example: Case) {
        let owned = OwnedItem.all(
            by: example.coverage, owningBesides: example.free, at: Rules.later(50)
        ) { $0 == "monthly" ? .autoRenewableSubscription : .nonConsumable }
        #expect(owned.map(Self.words) == example.owned)
    }
}
