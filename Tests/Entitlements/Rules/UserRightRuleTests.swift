import Catalog
import Entitlements
import Proofs
import Testing
import Vocabulary

/// The rights of a user 50 seconds after the start, by the coverage of items.
@Suite struct UserRightRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var rights = [premium]
        var coverage: [ItemCoverage] = []
        var free: [Item] = []
        /// The name, item, source, state, start, end and renewal as text; in parentheses after the end.
        let expected: [String]
    }

    private static let plus = Item(collection: "plus", number: 1)
    private static let bed = Item(collection: "bed", number: 0)
    /// Given by the item, however it is owned.
    private static let premium = RightSources(name: "premium", products: [], items: [plus])
    /// Given by the product alone.
    private static let tools = RightSources(name: "tools", products: ["yearly"], items: [])

    private static func purchase(
        _ identifier: String,
        of product: String = "monthly",
        from begin: Int64,
        to end: Int64? = nil,
        paidTo paid: Int64? = nil,
        item: Item = plus,
        renewal: [RenewalFact: StatedValue]? = nil
    ) -> ItemCoverage {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: identifier,
            originalTransactionIdentifier: "1", productIdentifier: product, purchaseDate: Rules.later(begin),
            redeemedAt: Rules.now, expiresAt: (paid ?? end).map(Rules.later))
        return ItemCoverage(
            item: item, beginsAt: Rules.later(begin), endsAt: end.map(Rules.later),
            source: .purchase(ItemPurchase(transaction)),
            renewal: renewal.map {
                StatedRenewal(statedAt: Rules.later(begin), proofDigest: [], facts: RenewalFacts($0))
            })
    }

    private static func grant(_ identifier: String, from begin: Int64, to end: Int64? = nil) -> ItemCoverage {
        ItemCoverage(
            item: plus, beginsAt: Rules.later(begin), endsAt: end.map(Rules.later),
            source: .grant(identifier: identifier))
    }

    private static let hour: Int64 = 3600

    static let cases = [
        Case(testDescription: "no right is defined", rights: [], coverage: [purchase("1", from: 0)], expected: []),
        Case(testDescription: "nothing covers", expected: []),
        Case(
            testDescription: "a purchase of another item gives nothing",
            coverage: [purchase("1", from: 0, item: bed)], expected: []),
        Case(
            testDescription: "a subscription gives a right by its item",
            coverage: [purchase("1", from: 0, to: 80, renewal: [.autoRenewStatus: .integer(1)])],
            expected: ["premium: plus 1 by 1 active since 0 until 80 true"]),
        Case(
            testDescription: "a product gives the rights of its item and its own, in the order of their definitions",
            rights: [tools, premium], coverage: [purchase("1", of: "yearly", from: 0, to: 80)],
            expected: [
                "tools: plus 1 by 1 active since 0 until 80 nil", "premium: plus 1 by 1 active since 0 until 80 nil",
            ]),
        Case(
            testDescription: "another product of the same item does not give the right of a product",
            rights: [tools], coverage: [purchase("1", of: "monthly", from: 0, to: 80)], expected: []),
        Case(
            testDescription: "a grant gives the rights of the item, not those of products",
            rights: [tools, premium], coverage: [grant("g", from: 0, to: 80)],
            expected: ["premium: plus 1 by g owned since 0 until 80 false"]),
        Case(
            testDescription: "the free item gives the right to everybody",
            rights: [RightSources(name: "basic", products: [], items: [bed])], free: [bed],
            expected: ["basic: bed 0 by rule owned since - until - false"]),
        Case(
            testDescription: "the rule outlasts a purchase with an end",
            coverage: [purchase("1", from: 0, to: 80)], free: [plus],
            expected: ["premium: plus 1 by rule owned since - until - false"]),
        Case(
            testDescription: "a purchase without an end precedes the rule",
            coverage: [purchase("1", of: "lifetime", from: 10)], free: [plus],
            expected: ["premium: plus 1 by 1 owned since 10 until - false"]),
        Case(
            testDescription:
                "of two items, the one that lasts longest gives the right, from the first that leads to it",
            rights: [RightSources(name: "premium", products: ["gate"], items: [plus])],
            coverage: [purchase("1", from: 0, to: 60), purchase("2", of: "gate", from: 40, item: bed)],
            expected: ["premium: bed 0 by 2 owned since 0 until - false"]),
        Case(
            testDescription: "a gap of more than an hour starts a new period",
            coverage: [purchase("1", from: -3 * hour, to: -2 * hour), purchase("2", from: 0, to: 80)],
            expected: ["premium: plus 1 by 2 active since 0 until 80 nil"]),
        Case(
            testDescription: "a product that does not give the right leaves a gap",
            rights: [tools],
            coverage: [
                purchase("1", of: "yearly", from: -3 * hour, to: -2 * hour), purchase("2", from: -2 * hour, to: 0),
                purchase("3", of: "yearly", from: 0, to: 80),
            ],
            expected: ["tools: plus 1 by 3 active since 0 until 80 nil"]),
        Case(
            testDescription: "a right ends at its end, by the source that ended last",
            coverage: [grant("g", from: 0, to: 40), purchase("1", from: 0, to: 50)],
            expected: ["(premium: plus 1 by 1 expired since 0 until 50 false)"]),
        Case(
            testDescription: "the App Store still retries the charge",
            coverage: [
                purchase(
                    "1", from: 0, to: 50,
                    renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)])
            ],
            expected: ["(premium: plus 1 by 1 billingRetry since 0 until 50 true)"]),
        Case(
            testDescription: "a grant has ended", coverage: [grant("g", from: 0, to: 40)],
            expected: ["(premium: plus 1 by g expired since 0 until 40 false)"]),
        Case(
            testDescription: "a product without the right has replaced one with it before its end",
            rights: [tools],
            coverage: [
                purchase("1", of: "yearly", from: 0, to: 20, paidTo: 90), purchase("2", from: 20, to: 80),
            ],
            expected: ["(tools: plus 1 by 1 expired since 0 until 20 false)"]),
    ]

    private static func words(_ right: UserRight) -> String {
        let item = right.item
        let source =
            switch item.source {
            case .purchase(let transaction): transaction.transactionIdentifier
            case .grant(let identifier): identifier
            case .rule: "rule"
            }
        func seconds(_ moment: Timestamp?) -> String {
            moment.map { String(($0.millisecondsSince1970 - Rules.now.millisecondsSince1970) / 1000) } ?? "-"
        }
        let renews = item.renews.map { String($0) } ?? "nil"
        let words =
            "\(right.name): \(item.item) by \(source) \(item.state.rawValue) since \(seconds(item.since)) "
            + "until \(seconds(item.until)) \(renews)"
        return right.isActive ? words : "(\(words))"
    }

    @Test(arguments: cases) func `each right has one source, a beginning and an end`(example: Case) {
        let rights = UserRight.all(
            of: example.rights, by: example.coverage, owningBesides: example.free, at: Rules.later(50)
        ) { ["monthly", "yearly"].contains($0) ? .autoRenewableSubscription : .nonConsumable }
        #expect(rights.map(Self.words) == example.expected)
    }
}
