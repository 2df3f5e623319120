import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing

@Suite struct SharedBudgetTests {
    private static let day: Int64 = 86_400_000

    private let clock = ManualClock()

    /// A budget of 400 tokens, of which a host has 50 and a site 100. The last 100 are for the first five of each site.
    private func budget() -> SharedBudget {
        SharedBudget(
            .init(atOnce: 400, perMinute: 4), host: .init(atOnce: 50, perMinute: 1), .init(first: 5), clock: clock)
    }

    private func isGranted(_ count: Int = 1, from address: String, of budget: SharedBudget, for name: String = "")
        -> Bool
    {
        if case .granted = budget.take(count, from: ClientNetwork(forwarded: address), for: name) {
            true
        } else {
            false
        }
    }

    /// The tokens that addresses get, one at a time.
    private func granted(to addresses: [String], of budget: SharedBudget, for name: String = "") -> Int {
        addresses.reduce(0) { sum, address in
            sum + (0..<500).prefix { _ in isGranted(from: address, of: budget, for: name) }.count
        }
    }

    @Test(arguments: [
        (["192.0.2.1"], 50),
        (["2001:db8::1", "2001:db8::2"], 50),
        ((0..<16).map { "192.0.2.\($0)" }, 100),
        ((0..<256).map { "192.0.2.\($0)" }, 100),
        ((1..<5).map { "2001:db8:0:\($0)::1" }, 100),
        ((0..<256).map { "2001:db8:1:\(String($0 * 257, radix: 16))::1" }, 100),
    ])
    func `one site has a quarter of the whole at most`(addresses: [String], tokens: Int) {
        let budget = budget()
        #expect(granted(to: addresses, of: budget) == tokens)
        #expect(isGranted(50, from: "198.51.100.1", of: budget))
    }

    @Test func `a subscriber has four times as much as a host`() {
        let budget = SharedBudget(
            .init(atOnce: 10_000, perMinute: 1), host: .init(atOnce: 10, perMinute: 1), .init(first: 5), clock: clock)
        // Two of 50 networks may share one of 65,536 places.
        let networks = (0..<50).map { "2001:db8:1:\(String($0, radix: 16))::1" }
        #expect(granted(to: networks, of: budget) == 40)
        #expect(isGranted(from: "2001:db8:1:100::1", of: budget))
    }

    @Test func `sites that have used nothing get their first tokens when others have used up the rest`() {
        let budget = budget()
        for site in 1...3 { #expect(granted(to: (0..<4).map { "192.0.\(site).\($0)" }, of: budget) == 100) }
        // A site that has used its first tokens gets none of the kept ones.
        #expect(!isGranted(from: "192.0.3.9", of: budget))
        #expect(granted(to: ["198.51.100.1"], of: budget) == 5)
        #expect(granted(to: ["198.51.100.2"], of: budget) == 0)
        #expect(!isGranted(6, from: "203.0.113.1", of: budget))
        #expect(isGranted(5, from: "203.0.113.1", of: budget))
        // The kept tokens have an end, too.
        #expect(granted(to: (0..<40).map { "203.1.\($0).1" }, of: budget) >= 85)
        #expect(!isGranted(from: "203.2.1.1", of: budget))
    }

    @Test func `a site has its first tokens again after a day`() {
        let budget = SharedBudget(
            .init(atOnce: 40, perMinute: 1), host: .init(atOnce: 10, perMinute: 1), .init(first: 4), clock: clock)
        func useUp(_ sites: ClosedRange<Int>) {
            for site in sites { #expect(isGranted(10, from: "192.0.\(site).1", of: budget)) }
        }
        useUp(1...3)
        #expect(granted(to: ["198.51.100.1"], of: budget) == 4)
        #expect(granted(to: ["198.51.100.2"], of: budget) == 0)
        clock.advance(milliseconds: Self.day)
        useUp(4...6)
        #expect(granted(to: ["198.51.100.1"], of: budget) == 4)
        #expect(granted(to: ["192.0.4.2"], of: budget) == 0)
    }

    @Test func `a refusal takes nothing`() {
        let budget = budget()
        for _ in 0..<20 { #expect(!isGranted(51, from: "192.0.2.1", of: budget)) }
        #expect(granted(to: (1...4).map { "192.0.\($0).1" }, of: budget) == 200)
        for site in 5...6 { #expect(isGranted(50, from: "192.0.\(site).1", of: budget)) }
        // The common tokens are used up, and a site has five of the kept ones.
        for _ in 0..<20 { #expect(!isGranted(6, from: "198.51.100.1", of: budget)) }
        #expect(granted(to: ["198.51.100.1"], of: budget) == 5)
    }

    @Test func `tokens are put back where they were taken`() throws {
        let budget = budget()
        let network = ClientNetwork(forwarded: "198.51.100.1")
        func takeAndGiveBack() throws {
            let answer = budget.take(from: network)
            guard case .granted(let taken) = answer else {
                Issue.record("\(answer)")
                return
            }
            budget.giveBack(taken, from: network)
        }
        for _ in 0..<1000 { try takeAndGiveBack() }
        #expect(budget.isUntouched(""))
        for site in 1...3 { #expect(granted(to: (0..<4).map { "192.0.\(site).\($0)" }, of: budget) == 100) }
        #expect(!budget.isUntouched(""))
        for _ in 0..<1000 { try takeAndGiveBack() }
        #expect(granted(to: ["198.51.100.1"], of: budget) == 5)
    }

    @Test func `each name has a budget of its own`() {
        let budget = budget()
        for site in 1...4 { _ = granted(to: ["192.0.\(site).1", "192.0.\(site).2"], of: budget, for: "a") }
        #expect(granted(to: ["192.0.1.1"], of: budget, for: "a") == 0)
        #expect(budget.isUntouched("b"))
        #expect(granted(to: ["192.0.1.1"], of: budget, for: "b") == 50)
    }

    @Test func `a process begins with four times as many kept tokens as common ones of the same part`() {
        let budget = SharedBudget(
            .init(perDay: 128_000), host: .init(perDay: 128_000), .init(first: 250), clock: clock)
        // A site begins with a quarter of 1,000.
        for site in 1...3 { #expect(isGranted(250, from: "192.0.\(site).1", of: budget)) }
        #expect((4...10).count { isGranted(250, from: "192.0.\($0).1", of: budget) } == 4)
    }
}
