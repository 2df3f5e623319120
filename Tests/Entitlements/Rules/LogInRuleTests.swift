import Entitlements
import Ledger
import Testing

/// The effect of a log-in on the ids of a customer.
@Suite struct LogInRuleTests {
    private func decision(
        customer: Int64?,
        isAnonymous: Bool = true,
        to new: Int64?,
        isSame: Bool = false
    ) -> LogInDecision {
        LogInDecision(from: customer, isAnonymous: isAnonymous, to: new, isSame: isSame)
    }

    @Test func `an anonymous id becomes one with the known id`() {
        #expect(decision(customer: nil, to: nil) == .alias)
        #expect(decision(customer: nil, to: 2) == .alias)
        #expect(decision(customer: 1, to: nil) == .renaming(1))
        #expect(decision(customer: 1, to: 2) == .merge(1, into: 2))
        #expect(decision(customer: 2, to: 2) == .unchanged)
    }

    @Test func `a known customer stays apart from another`() {
        #expect(decision(customer: 1, isAnonymous: false, to: 2) == .unchanged)
        #expect(decision(customer: 1, isAnonymous: false, to: nil) == .newCustomer)
        #expect(decision(customer: nil, isAnonymous: false, to: nil) == .newCustomer)
    }

    @Test func `of two anonymous customers the smaller one moves`() {
        func head(_ count: Int64) -> UserHead {
            var head = UserHead.first
            (head.lastTransaction, head.auditNumber) = (count, count)
            return head
        }
        let merge = LogInDecision.merge(1, into: 2)
        let (large, small) = (
            [1: head(9), 2: head(3)] as [Int64: UserHead], [1: head(3), 2: head(9)] as [Int64: UserHead]
        )
        #expect(merge.reversed(large, areBothAnonymous: true) == .merge(2, into: 1))
        #expect(merge.reversed(small, areBothAnonymous: true) == nil)
        // A known customer keeps the number and the audit log.
        #expect(merge.reversed(large, areBothAnonymous: false) == nil)
        #expect(LogInDecision.alias.reversed(large, areBothAnonymous: true) == nil)
    }

    @Test func `an id that logs in as itself makes no alias`() {
        #expect(decision(customer: nil, to: nil, isSame: true) == .newCustomer)
        #expect(decision(customer: 1, to: 1, isSame: true) == .unchanged)
    }
}
