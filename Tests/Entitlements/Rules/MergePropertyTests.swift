import Entitlements
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Purchases, log-ins and notifications lead to the same owners in any order, under each ownership policy.
@Suite struct MergePropertyTests {
    typealias Rules = RuleFixture

    /// The ids of customers and their numbers, as the ledger keeps them.
    private struct Customers {
        var decision: EntitlementDecision
        private var numbers: [String: Int64] = [:]
        /// The own id of each number.
        private var names: [Int64: String] = [:]
        private var last: Int64 = 0

        /// - Parameter known: The ids that are known from the start, each with an account token.
        init(_ policy: OwnershipPolicy, knowing known: [String] = []) {
            var facts = EntitlementFacts()
            for id in known {
                last += 1
                (numbers[id], names[last]) = (last, id)
                facts.tokenOwners[Rules.token(of: last)] = last
            }
            decision = facts.decision(under: policy, accepting: [.localSandbox], at: Rules.later(1000))
        }

        static func isAnonymous(_ id: String) -> Bool { id.hasPrefix("$") }

        mutating func number(of id: String) -> Int64 {
            if let known = numbers[id] { return known }
            last += 1
            (numbers[id], names[last]) = (last, id)
            return last
        }

        func owner(of original: String) -> String? { decision.owner(of: original).flatMap { names[$0] } }

        mutating func logIn(_ current: String, as new: String) {
            let former = numbers[current]
            let name = former.flatMap { names[$0] } ?? current
            let rule = LogInDecision(
                from: former, isAnonymous: Self.isAnonymous(current) && Self.isAnonymous(name), to: numbers[new],
                isSame: current == new)
            switch rule {
            case .unchanged: break
            case .newCustomer: _ = number(of: new)
            case .alias: numbers[current] = number(of: new)
            case .renaming(let number): (numbers[new], names[number]) = (number, new)
            case .merge(let former, let number):
                decision.merge(former, into: number, identifier: current, by: .user)
                numbers = numbers.mapValues { $0 == former ? number : $0 }
                names[former] = nil
            }
        }
    }

    /// A step of a story.
    private enum Step: Hashable {
        case redeem(Claim, String)
        case state(Claim)
        case logIn(String, String)
    }

    /// The anonymous ids of each known customer.
    private static let ids = ["mint": ["$1", "$2"], "rose": ["$3"], "fern": []]
    /// All ids. The account token of an id is that of its number.
    private static let all = ids.keys.sorted().flatMap { [$0] + (ids[$0] ?? []) }

    /// The steps of a purchase that any ids of one customer present.
    private static func purchase(_ number: Int, of customer: String, hasTokens: Bool, _ dice: Dice) -> [Step] {
        let ids = [customer] + (ids[customer] ?? [])
        let kind = dice.number(below: 3)
        return (0..<(kind == 0 ? 1 : 1 + dice.number(below: 2))).flatMap { index in
            let naming = hasTokens && dice.happens(50) ? dice.pick(ids).flatMap { all.firstIndex(of: $0) } : nil
            let token = naming.map { Int64($0 + 1) }
            let claim = Rules.claim(
                "\(number).\(index)", original: "\(number).0", bought: Int64(index * 100), signed: Int64(index * 100),
                of: token, item: kind == 0 ? nil : Rules.sprout,
                credit: kind == 0 ? Credit(balance: "coins", amount: 1) : nil,
                // Some subscriptions still run at the time of the decisions.
                expires: kind == 2 ? Int64(index * 100 + (dice.happens(50) ? 100 : 10_000)) : nil)
            let refund = Rules.claim(
                "\(number).\(index)", original: "\(number).0", bought: Int64(index * 100), revoked: dice.happens(50),
                signed: Int64(index * 100 + 5), of: token, item: claim.item, credit: claim.credit,
                expires: kind == 2 ? Int64(index * 100 + 100) : nil)
            let presented = (0...dice.number(below: 2)).compactMap { _ in dice.pick(ids) }
            return presented.map { Step.redeem(claim, $0) } + (dice.happens(50) ? [.state(refund)] : [])
        }
    }

    private static func steps(_ dice: Dice, hasTokens: Bool) -> [Step] {
        let customers = ids.keys.sorted()
        let purchases = (0..<(1 + dice.number(below: 5))).flatMap { number in
            purchase(number, of: customers[number % customers.count], hasTokens: hasTokens, dice)
        }
        let logIns = customers.flatMap { customer in (ids[customer] ?? []).map { Step.logIn($0, customer) } }
        // One anonymous id is found again after a backup of the device, before or after it has logged in.
        return purchases + logIns + (dice.happens(50) ? [.logIn("$2", "$1")] : [])
    }

    /// The owners after a story. At its end, each proof is presented once more, as a queue does until a purchase is finished.
    private static func owners(
        _ steps: [Step],
        _ policy: OwnershipPolicy,
        hasTokens: Bool
    ) -> [String: String] {
        var customers = Customers(policy, knowing: hasTokens ? all : [])
        func play(_ step: Step, _ customers: inout Customers) {
            switch step {
            case .redeem(let claim, let id):
                _ = customers.decision.redeem(claim, for: customers.number(of: id), by: .user)
            case .state(let claim): _ = customers.decision.state(claim)
            case .logIn(let current, let new): customers.logIn(current, as: new)
            }
        }
        for step in steps { play(step, &customers) }
        for case .redeem(let claim, let id) in steps { play(.redeem(claim, id), &customers) }
        let originals = Set(customers.decision.facts.purchases.keys.map(\.identifier))
        return Dictionary(uniqueKeysWithValues: originals.map { ($0, customers.owner(of: $0) ?? "nobody") })
    }

    private static let policies: [OwnershipPolicy] = [
        .keep, .transfer(pauseSeconds: 0), .transfer(pauseSeconds: 5000), .transferIfInactive(pauseSeconds: 0),
        .transferIfInactive(pauseSeconds: 5000),
    ]

    @Test(arguments: 0..<20)
    func `any order of purchases, log-ins and notifications leads to the same owners`(part: UInt64) {
        for seed in part * 25..<(part + 1) * 25 {
            let dice = Dice(seed: seed)
            // Half of the stories begin with known ids, whose account tokens are in purchases.
            let hasTokens = dice.happens(50)
            let steps = Self.steps(dice, hasTokens: hasTokens)
            for policy in Self.policies {
                let expected = Self.owners(steps, policy, hasTokens: hasTokens)
                #expect(!expected.isEmpty)
                for (original, owner) in expected {
                    let number = Int(original.prefix { $0 != "." }) ?? 0
                    #expect(owner == Self.ids.keys.sorted()[number % Self.ids.count], "seed \(seed), \(policy)")
                }
                for _ in 0..<6 {
                    let again = steps.filter { _ in dice.happens(30) }
                    let order = dice.shuffle(steps + again)
                    #expect(
                        Self.owners(order, policy, hasTokens: hasTokens) == expected,
                        "seed \(seed), \(policy): \(order)")
                }
            }
        }
    }

    @Test func `a merge keeps the pause between two transfers`() {
        var customers = Customers(.transfer(pauseSeconds: 5000))
        let claim = Rules.claim()
        _ = customers.decision.redeem(claim, for: customers.number(of: "rose"), by: .user)
        #expect(customers.decision.redeem(claim, for: customers.number(of: "$1"), by: .user) == .granted)
        customers.logIn("$1", as: "mint")
        #expect(customers.owner(of: "1") == "mint")
        #expect(customers.decision.redeem(claim, for: customers.number(of: "rose"), by: .user) == .transferTooSoon)
    }

    @Test func `under keep, an anonymous customer gets nothing of a known one`() {
        var customers = Customers(.keep)
        let claim = Rules.claim()
        _ = customers.decision.redeem(claim, for: customers.number(of: "rose"), by: .user)
        #expect(
            customers.decision.redeem(claim, for: customers.number(of: "$1"), by: .user) == .ownedByAnotherUser)
        customers.logIn("$1", as: "mint")
        customers.logIn("rose", as: "mint")
        customers.logIn("$1", as: "rose")
        #expect(customers.owner(of: "1") == "rose")
        #expect(
            customers.decision.redeem(claim, for: customers.number(of: "mint"), by: .user) == .ownedByAnotherUser)
    }
}
