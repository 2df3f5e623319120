import Commerce
import Entitlements
import Testing

/// The rules of spendings.
@Suite struct BalanceRuleTests {
    private static func spending(
        _ amount: Int,
        from balance: String = "coins",
        key: String? = nil,
        digest: UInt8 = 1
    ) -> Spending {
        Spending(
            identifier: "s", balance: balance, amount: amount, reason: "a hat", spentBy: "K", spentAt: RuleFixture.now,
            request: key.map { .init(idempotencyKey: $0, digest: [digest]) })
    }

    private static let coins = Balance(name: "coins", bought: 10, spent: 4)
    private static let earlier = Spending.Earlier(spending: spending(4, key: "k"), left: 6)

    @Test(
        arguments: [
            (spending(1), [coins], nil, SpendingAnswer.spent(left: 5)),
            (spending(6), [coins], nil, .spent(left: 0)),
            (spending(7), [coins], nil, .tooLow(6)),
            (spending(.max), [coins], nil, .tooLow(6)),
            (spending(1, from: "gems"), [coins], nil, .tooLow(0)),
            (spending(1), [], nil, .tooLow(0)),
            // The purchase was refunded after it was spent.
            (spending(1), [Balance(name: "coins", bought: 0, spent: 4)], nil, .tooLow(0)),
            // A retry, regardless of the balance.
            (spending(4, key: "k"), [], earlier, .repeated(earlier.spending, left: 6)),
            (spending(4, key: "k", digest: 2), [coins], earlier, .keyReused),
        ] as [(Spending, [Balance], Spending.Earlier?, SpendingAnswer)])
    func `a user spends what is left`(
        spending: Spending,
        balances: [Balance],
        earlier: Spending.Earlier?,
        answer: SpendingAnswer
    ) {
        #expect(spending.answer(from: balances, earlier: earlier) == answer)
    }

    @Test func `users see no negative balance`() {
        #expect(Balance(name: "coins", bought: 0, spent: 4).credit == Credit(balance: "coins", amount: 0))
        #expect(Self.coins.credit == Credit(balance: "coins", amount: 6))
    }
}
