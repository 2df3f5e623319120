import Entitlements
import Proofs
import Testing

/// The state of a subscription with one period of 100 seconds, by statements and time.
@Suite struct SubscriptionStatusRuleTests {
    typealias Rules = RuleFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var after: Int64 = 50
        var facts: [TransactionFact: StatedValue] = [:]
        var graceEnds: Int64?
        var isRefunded = false
        var isRevokedByTeam = false
        var renewal: [RenewalFact: StatedValue]?
        let state: PurchaseState
        var renews: Bool?
        var until: Int64 = 100
        var reason: ExpirationReason?
    }

    private static let day: Int64 = 86400

    private static func commitment(_ status: Int) -> StatedValue {
        .text(#"{"commitmentAutoRenewStatus":\#(status)}"#)
    }

    static let cases = [
        Case(testDescription: "a paid period without other facts is active", state: .active),
        Case(
            testDescription: "a paid period that renews is active", renewal: [.autoRenewStatus: .integer(1)],
            state: .active, renews: true),
        Case(
            testDescription: "a paid period is the last one if renewal is off",
            renewal: [.autoRenewStatus: .integer(0)], state: .willNotRenew, renews: false),
        Case(
            testDescription: "a free period is a trial", facts: [.offerDiscountType: .text("FREE_TRIAL")],
            renewal: [.autoRenewStatus: .integer(0)], state: .trial, renews: false),
        Case(
            testDescription: "an app receipt states a trial, too", facts: [.isTrialPeriod: .integer(1)],
            state: .trial),
        Case(
            testDescription: "a cheaper first period is introductory",
            facts: [.offerType: .integer(1), .offerDiscountType: .text("PAY_AS_YOU_GO")], state: .introductory),
        Case(
            testDescription: "a promotional offer is not introductory",
            facts: [.offerType: .integer(2), .offerDiscountType: .text("PAY_AS_YOU_GO")], state: .active),
        Case(
            testDescription: "a period ends in its last millisecond", after: 100, state: .expired, renews: false),
        Case(
            testDescription: "the reason for the end is stated", after: 100,
            renewal: [.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)], state: .expired, renews: false,
            reason: .customerCancelled),
        Case(
            testDescription: "a reason that Apple has added since is none", after: 100,
            renewal: [.expirationIntent: .integer(99)], state: .expired, renews: false),
        Case(
            testDescription: "a grace period follows a failed renewal", after: 120, graceEnds: 150,
            renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], state: .gracePeriod,
            renews: true, until: 150),
        Case(
            testDescription: "a grace period that is stated before the paid time ends moves the end", after: 90,
            graceEnds: 150, renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)],
            state: .active, renews: true, until: 150),
        Case(
            testDescription: "billing retry follows the grace period", after: 150, graceEnds: 150,
            renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], state: .billingRetry,
            renews: true, until: 150),
        Case(
            testDescription: "billing retry ends after 60 days", after: 100 + 60 * day,
            renewal: [.isInBillingRetryPeriod: .integer(1), .expirationIntent: .integer(2)], state: .expired,
            renews: false, reason: .billingError),
        Case(
            testDescription: "a cancelled commitment goes on, and does not renew",
            renewal: [.autoRenewStatus: .integer(1), .commitmentInfo: commitment(0)], state: .willNotRenew,
            renews: false),
        Case(
            testDescription: "a commitment renews",
            renewal: [.autoRenewStatus: .integer(1), .commitmentInfo: commitment(1)], state: .active, renews: true),
        Case(
            testDescription: "a period that is not followed by another ends the commitment, too",
            renewal: [.autoRenewStatus: .integer(0), .commitmentInfo: commitment(1)], state: .willNotRenew,
            renews: false),
        Case(
            testDescription: "a commitment without a setting of its own has that of the period",
            renewal: [.autoRenewStatus: .integer(1), .commitmentInfo: .text("{}")], state: .active, renews: true),
        Case(
            testDescription: "a commitment in an unknown form has the setting of the period",
            renewal: [.autoRenewStatus: .integer(1), .commitmentInfo: .text("?")], state: .active, renews: true),
        Case(
            testDescription: "billing retry lasts longer under a commitment", after: 100 + 60 * day,
            renewal: [
                .autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1), .commitmentInfo: commitment(1),
            ], state: .billingRetry, renews: true),
        Case(
            testDescription: "billing retry ends after 90 days under a commitment", after: 100 + 90 * day,
            renewal: [.isInBillingRetryPeriod: .integer(1), .commitmentInfo: commitment(0)], state: .expired,
            renews: false),
        Case(
            testDescription: "a refund revokes", isRefunded: true, renewal: [.autoRenewStatus: .integer(1)],
            state: .revoked, renews: false),
        Case(testDescription: "the team revokes", isRevokedByTeam: true, state: .revoked, renews: false),
        Case(
            testDescription: "a higher level replaces, and is not known yet", facts: [.isUpgraded: .integer(1)],
            state: .active, renews: nil),
        Case(
            testDescription: "a higher level has replaced", after: 100, facts: [.isUpgraded: .integer(1)],
            state: .upgraded, renews: false),
    ]

    @Test(arguments: cases) func `the state follows from the statements and the time`(example: Case) throws {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: "monthly", purchaseDate: Rules.now, redeemedAt: Rules.now,
            revocationDate: example.isRefunded ? Rules.later(10) : nil,
            expiresAt: Rules.later(100), graceEndsAt: example.graceEnds.map(Rules.later),
            revocation: example.isRevokedByTeam
                ? Revocation(revokedAt: Rules.now, reason: "fraud", revokedBy: "K") : nil,
            facts: TransactionFacts(example.facts))
        let renewal = example.renewal.map {
            StatedRenewal(statedAt: Rules.now, proofDigest: [], facts: RenewalFacts($0))
        }
        let status = try #require(
            PurchaseStatus([transaction], .autoRenewableSubscription, renewal, at: Rules.later(example.after)))
        #expect(status.state == example.state)
        #expect(status.renews == example.renews)
        #expect(status.until == Rules.later(example.until))
        #expect(status.expirationReason == example.reason)
        #expect(status.nextProductIdentifier == (example.renews == true ? "monthly" : nil))
    }

    /// A period of 10 days, by its number.
    private static func period(_ number: Int64) -> RedeemedTransaction {
        RedeemedTransaction(
            sequence: number, origin: .localSandbox, transactionIdentifier: "\(number)",
            originalTransactionIdentifier: "1", productIdentifier: "monthly",
            purchaseDate: Rules.later(number * 10 * day), redeemedAt: Rules.later(number * 10 * day),
            expiresAt: Rules.later((number + 1) * 10 * day))
    }

    /// The statement is that the subscription ends, or that it has ended. A later period shows that it was bought again.
    @Test(
        arguments: [(8, false, nil), (9, false, false), (9, true, nil), (12, true, false)] as [(Int64, Bool, Bool?)])
    func `a statement before a period does not apply to it`(days: Int64, hasEnded: Bool, renews: Bool?) throws {
        let renewal = StatedRenewal(
            statedAt: Rules.later(days * Self.day), proofDigest: [],
            facts: RenewalFacts(
                [.autoRenewStatus: .integer(0)].merging(hasEnded ? [.expirationIntent: .integer(1)] : [:]) { $1 }))
        let periods = [Self.period(0), Self.period(1)]
        let running = try #require(
            PurchaseStatus(periods, .autoRenewableSubscription, renewal, at: Rules.later(15 * Self.day)))
        #expect(running.renews == renews)
        #expect(running.state == (renews == nil ? .active : .willNotRenew))
        let ended = try #require(
            PurchaseStatus(periods, .autoRenewableSubscription, renewal, at: Rules.later(20 * Self.day)))
        #expect(ended.expirationReason == (renews == nil ? nil : .customerCancelled))
    }

    @Test(arguments: [[1, 2], [2, 1]])
    func `an upgrade of the same millisecond is the last period`(sequences: [Int64]) throws {
        func period(_ sequence: Int64, _ product: String, _ facts: [TransactionFact: StatedValue])
            -> RedeemedTransaction
        {
            RedeemedTransaction(
                sequence: sequence, origin: .localSandbox, transactionIdentifier: product,
                originalTransactionIdentifier: "1", productIdentifier: product, purchaseDate: Rules.now,
                redeemedAt: Rules.now, expiresAt: Rules.later(100), facts: TransactionFacts(facts))
        }
        let periods = [
            period(sequences[0], "basic", [.isUpgraded: .integer(1)]), period(sequences[1], "premium", [:]),
        ]
        let status = try #require(PurchaseStatus(periods, .autoRenewableSubscription, nil, at: Rules.later(50)))
        #expect(status.state == .active)
        #expect(status.productIdentifier == "premium")
    }

    /// A transaction of a period that ends after 1000 seconds, with seats that were bought at different times.
    private static func seats(
        _ number: Int64,
        from start: Int64,
        graceEnds: Int64? = nil,
        isRefunded: Bool = false
    ) -> RedeemedTransaction {
        RedeemedTransaction(
            sequence: number, origin: .localSandbox, transactionIdentifier: "\(number)",
            originalTransactionIdentifier: "1", productIdentifier: "monthly", purchaseDate: Rules.later(start),
            redeemedAt: Rules.later(start), revocationDate: isRefunded ? Rules.later(450) : nil,
            expiresAt: Rules.later(1000), graceEndsAt: graceEnds.map(Rules.later),
            facts: TransactionFacts([.additionalTransactionReason: .text("SEAT_ADDITION")]))
    }

    @Test(
        arguments: [
            (false, false, .active, 0), (false, true, .active, 0), (true, false, .active, 400),
            (true, true, .revoked, 0),
        ] as [(Bool, Bool, PurchaseState, Int64)])
    func `a period lasts while one of its transactions is not refunded`(
        isFirstRefunded: Bool,
        isAdditionRefunded: Bool,
        state: PurchaseState,
        since: Int64
    ) throws {
        let transactions = [
            Self.seats(1, from: 0, isRefunded: isFirstRefunded),
            Self.seats(2, from: 400, isRefunded: isAdditionRefunded),
        ]
        let status = try #require(
            PurchaseStatus(transactions, .autoRenewableSubscription, nil, at: Rules.later(500)))
        #expect(status.state == state)
        #expect(status.since == Rules.later(since))
        #expect(status.until == Rules.later(1000))
    }

    @Test(arguments: [(1500, nil), (nil, 1500)] as [(Int64?, Int64?)])
    func `a grace period counts, whichever transaction of the period has it`(first: Int64?, second: Int64?) throws {
        let transactions = [
            Self.seats(1, from: 0, graceEnds: first), Self.seats(2, from: 400, graceEnds: second),
        ]
        let status = try #require(
            PurchaseStatus(transactions, .autoRenewableSubscription, nil, at: Rules.later(1200)))
        #expect(status.state == .gracePeriod)
        #expect(status.until == Rules.later(1500))
        #expect(status.since == Rules.now)
    }

    @Test func `the last period determines the state, and the first one its start`() throws {
        func period(_ number: Int64, ends: Int64) -> RedeemedTransaction {
            RedeemedTransaction(
                sequence: 9 - number, origin: .localSandbox, transactionIdentifier: "\(number)",
                originalTransactionIdentifier: "1", productIdentifier: "p\(number)",
                purchaseDate: Rules.later(number * 100), redeemedAt: Rules.later(number * 100),
                expiresAt: Rules.later(ends))
        }
        let periods = [period(2, ends: 300), period(1, ends: 200), period(3, ends: 400)]
        let status = try #require(PurchaseStatus(periods, .autoRenewableSubscription, nil, at: Rules.later(350)))
        #expect(status.productIdentifier == "p3")
        #expect(status.since == Rules.later(100))
        #expect(status.state == .active)
        #expect(PurchaseStatus([], .autoRenewableSubscription, nil, at: Rules.now) == nil)
    }
}
