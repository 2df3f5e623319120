import Entitlements
import Proofs
import Testing
import Vocabulary

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

    private static let coins = Balance(name: "coins", parts: [(bought: 10, spent: 4, isMerged: false)])
    private static let earlier = (spending: spending(4, key: "k"), left: 6)

    @Test(
        arguments: [
            (spending(1), [coins], nil, "5 left"),
            (spending(6), [coins], nil, "0 left"),
            (spending(7), [coins], nil, "balanceTooLow 6"),
            (spending(.max), [coins], nil, "balanceTooLow 6"),
            (spending(1, from: "gems"), [coins], nil, "balanceTooLow 0"),
            (spending(1), [], nil, "balanceTooLow 0"),
            // The purchase was refunded after it was spent.
            (
                spending(1), [Balance(name: "coins", parts: [(bought: 0, spent: 4, isMerged: false)])], nil,
                "balanceTooLow 0"
            ),
            // A retry, regardless of the balance.
            (spending(4, key: "k"), [], earlier, "6 left again"),
            (spending(4, key: "k", digest: 2), [coins], earlier, "idempotencyKeyReused"),
        ] as [(Spending, [Balance], Spending.Earlier?, String)])
    func `a user spends what is left`(
        spending: Spending,
        balances: [Balance],
        earlier: Spending.Earlier?,
        answer: String
    ) {
        let words: String
        do throws(BalanceError) {
            let spent = try spending.answer(from: balances, earlier: earlier)
            #expect(spent.spending == (spent.isRepeated ? earlier?.spending : spending))
            words = "\(spent.left) left" + (spent.isRepeated ? " again" : "")
        } catch .balanceTooLow(_, let amount) {
            words = "balanceTooLow \(amount)"
        } catch {
            words = error.code
        }
        #expect(words == answer)
    }

    @Test(
        arguments: [
            ([], 0), ([(10, 4, false)], 6),
            // The customer's own debt stays.
            ([(0, 4, false)], -4), ([(0, 4, false), (10, 0, true)], 6),
            // The debt of a customer who has logged in as this one does not count.
            ([(10, 0, false), (0, 4, true)], 10), ([(10, 3, false), (5, 5, true), (0, 9, true)], 7),
            ([(10, 0, false), (7, 4, true)], 13), ([(10, 12, false), (7, 4, true)], 1),
        ] as [([(bought: Int, spent: Int, isMerged: Bool)], Int)])
    func `a log-in brings no debt`(parts: [(bought: Int, spent: Int, isMerged: Bool)], left: Int) {
        #expect(Balance(name: "coins", parts: parts).left == left)
        let debt = (bought: 3, spent: 8, isMerged: true)
        #expect(Balance(name: "coins", parts: parts + [debt]).left == left)
    }

    @Test func `users see no negative balance`() {
        #expect(
            Balance(name: "coins", parts: [(bought: 0, spent: 4, isMerged: false)]).credit
                == Credit(balance: "coins", amount: 0))
        #expect(Self.coins.credit == Credit(balance: "coins", amount: 6))
    }
}
