import Entitlements
import Testing

/// The effect of a log-in on the ids of a customer.
@Suite struct LogInRuleTests {
    private func decision(
        customer: Int64?,
        isAnonymous: Bool = true,
        to new: Int64?,
        isSame: Bool = false
    ) -> LogInDecision {
        LogInDecision(from: .init(customer: customer, isAnonymous: isAnonymous), to: new, isSame: isSame)
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

    @Test func `an id that logs in as itself makes no alias`() {
        #expect(decision(customer: nil, to: nil, isSame: true) == .newCustomer)
        #expect(decision(customer: 1, to: 1, isSame: true) == .unchanged)
    }
}
