import Acme
import Catalog
import Entitlements
import Proofs
import TestSupport
import Vocabulary

/// The purchases of the devices at a store that the service has no line of.
extension Simulation {
    enum AcmeStep: CaseIterable {
        case sell, present, deliver, ask, renew, turn, decline, payBack, replace

        /// The steps, each as often as its weight.
        static let all = allCases + [.sell, .present, .present, .deliver, .renew]
    }

    /// The plans, each with the one that replaces it.
    private static let otherPlans = [
        "garden.basic.monthly": "garden.premium.monthly", "garden.premium.monthly": "garden.basic.monthly",
    ]
    private static let prices: [String: Int64] = [
        "garden.gate": 20000, "garden.seeds": 1000, "garden.basic.monthly": 5000, "garden.premium.monthly": 10000,
    ]
    private static let daysOfPlan: Int64 = 30

    func takeAcmeStep() async throws {
        guard let acme, let step = acme.dice.pick(AcmeStep.all) else { return }
        story.append("\(step) at acme")
        switch step {
        case .sell: try await sell(at: acme)
        case .present: if let one = acme.dice.pick(acmeContracts) { try await present(one, from: acme) }
        case .deliver: if let message = acme.dice.pick(acmeMessages) { await deliver(message, from: acme) }
        case .ask:
            guard let one = acme.dice.pick(acmeContracts) else { return }
            let outcomes = try? await acme.ask(about: one, by: someService(acme))
            answers.append("asked about \(one.name): \(outcomes.map { "\($0)" } ?? "no answer")")
        case .renew, .turn, .decline, .payBack, .replace:
            guard let one = acme.dice.pick(acmeContracts) else { return }
            try change(one, step, at: acme)
        }
    }

    private func someService(_ acme: SimulatedAcme) -> EntitlementService {
        processes[acme.dice.number(below: processes.count)].service
    }

    private func sell(at acme: SimulatedAcme) async throws {
        let dice = acme.dice
        guard let person = dice.pick(people), let product = dice.pick(Self.prices.keys.sorted()) else { return }
        let isPlan = Self.otherPlans[product] != nil
        let units = product == "garden.seeds" ? 1 + dice.number(below: 3) : 1
        let price = Self.prices[product] ?? 0
        let charge = AcmeStatement.Charge(
            1, product, isPlan ? .plan : product == "garden.seeds" ? .credit : .goods, units: units, from: now,
            until: isPlan ? now.adding(days: Self.daysOfPlan) : nil, price: price * Int64(units),
            recurring: isPlan ? price : nil)
        let name = acme.shop.sell(
            charge, of: acme.app.bundleIdentifier, to: dice.happens(50) ? person.token : nil,
            next: isPlan ? .renews(as: product) : nil)
        let contract = SimulatedAcme.Contract(name: name, user: person.user)
        acmeContracts.append(contract)
        try tell(of: contract, "sold", at: acme)
        if dice.happens(60) { try await present(contract, from: acme) }
    }

    private func tell(of contract: SimulatedAcme.Contract, _ type: String, at acme: SimulatedAcme) throws {
        acmeMessages.append(try acme.shop.notification(type, about: contract.name))
    }

    /// Sends a ticket as the app does. The request or its answer may be lost, and the request may arrive twice.
    private func present(_ contract: SimulatedAcme.Contract, from acme: SimulatedAcme) async throws {
        if !isMended, acme.dice.happens(10) { return }
        for _ in 0..<(acme.dice.happens(10) ? 2 : 1) {
            do {
                try await acme.redeem(contract, at: someService(acme))
                answers.append("\(contract.user) redeemed \(contract.name)")
                answeredAtAcme.insert(contract.name)
            } catch {
                answers.append("\(contract.name): \((error as? any CodedError)?.code ?? "failed")")
                guard !isMended else {
                    throw SimulationError.broken("\(contract.name) is not redeemed: \(error)")
                }
            }
        }
    }

    private func deliver(_ message: [UInt8], from acme: SimulatedAcme) async {
        for _ in 0..<(acme.dice.happens(20) ? 2 : 1) {
            let outcomes = try? await acme.deliver(message, to: someService(acme))
            answers.append("a message of acme: \(outcomes.map { "\($0)" } ?? "no answer")")
        }
    }

    /// Changes a contract as acme, the customer or the bank does, if it is in a state for it.
    private func change(_ contract: SimulatedAcme.Contract, _ step: AcmeStep, at acme: SimulatedAcme) throws {
        let (now, statement) = (now, try acme.shop.contract(contract.name))
        guard let last = statement.charges.last, last.paidBack == nil else { return }
        let isOver = last.until.map { $0 <= now } ?? false
        func change(_ type: String, _ change: (inout AcmeStatement) -> Void) throws {
            try acme.shop.change(contract.name, change)
            answers.append("\(contract.name) is \(type)")
            try tell(of: contract, type, at: acme)
        }
        func charge(_ product: String, continues: Bool) -> AcmeStatement.Charge {
            let price = Self.prices[product] ?? 0
            return AcmeStatement.Charge(
                last.number + 1, product, .plan, from: now, until: now.adding(days: Self.daysOfPlan), price: price,
                recurring: price, continues: continues)
        }
        switch (step, statement.next) {
        case (.payBack, _):
            try change("paid back") {
                $0.charges[$0.charges.count - 1].paidBack = .init(amount: last.price, at: now, takesGoods: true)
            }
        case (.renew, .renews(let product)?) where isOver:
            try change("renewed") { $0.charges.append(charge(product, continues: true)) }
        case (.renew, .grace?), (.renew, .retry?):
            try change("recovered") {
                $0.charges.append(charge(last.product, continues: true))
                $0.next = .renews(as: last.product)
            }
        case (.turn, .renews?) where !isOver: try change("stopped") { $0.next = .stops }
        case (.turn, .stops?) where !isOver: try change("resumed") { $0.next = .renews(as: last.product) }
        case (.turn, .stops?): try change("over") { $0.next = .over(.customer) }
        case (.decline, .renews?) where isOver:
            let grace = acme.dice.happens(50) ? now.adding(days: 7) : nil
            try change("declined") { $0.next = grace.map { .grace(until: $0) } ?? .retry }
        case (.replace, .renews?) where !isOver:
            guard let other = Self.otherPlans[last.product] else { return }
            try change("replaced") {
                $0.charges[$0.charges.count - 1].isReplaced = true
                $0.charges.append(charge(other, continues: false))
                $0.next = .renews(as: other)
            }
        default: break
        }
    }

    /// Presents all tickets, delivers all messages in any order, and asks about all contracts, without faults.
    func settleAcme() async throws {
        guard let acme else { return }
        for contract in acmeContracts { try await present(contract, from: acme) }
        for message in acme.dice.shuffle(acmeMessages) { await deliver(message, from: acme) }
        try advance(seconds: 2)
        for contract in acmeContracts { _ = try await acme.ask(about: contract, by: processes[0].service) }
    }
}

/// The invariants of the purchases at acme.
extension Simulation {
    /// After every step: what was answered is its user's alone.
    func checkAcme() throws {
        guard acme != nil else { return }
        let owners = try owners()
        for contract in acmeContracts {
            let found = owners.filter {
                SimulatedAcme.origins.contains($0.key.origin) && $0.key.identifier.hasPrefix("\(contract.name)-")
            }
            guard found.values.allSatisfy({ $0 == contract.user }) else {
                throw SimulationError.broken("\(contract.name) of \(contract.user) is \(found)")
            }
            guard !found.isEmpty || !answeredAtAcme.contains(contract.name) else {
                throw SimulationError.broken("\(contract.name) was answered to \(contract.user), and is nobody's")
            }
        }
    }

    /// At the end: each charge is granted once, and what was paid back is taken back.
    func checkAcmeEnd() throws {
        guard let acme else { return }
        for contract in acmeContracts {
            let kept = try ledger.readNow { try $0.transactions(of: contract.user, before: nil, limit: 10_000) }
                .filter {
                    SimulatedAcme.origins.contains($0.origin)
                        && $0.transactionIdentifier.hasPrefix("\(contract.name)-")
                }
            let charges = try acme.shop.contract(contract.name).charges
            let expected = charges.map { "\(contract.name)-\($0.number) \($0.product) \($0.paidBack?.amount ?? 0)" }
            let got = kept.map {
                "\($0.transactionIdentifier) \($0.productIdentifier) \($0.paidBack?.amount ?? 0)"
            }
            guard got.sorted() == expected.sorted() else {
                throw SimulationError.broken(
                    "\(contract.name) of \(contract.user) is \(got), and should be \(expected)")
            }
        }
    }

    /// The contracts of a person.
    private func contracts(of person: Person) throws -> [AcmeStatement] {
        guard let acme else { return [] }
        return try acmeContracts.filter { $0.user == person.user }.map { try acme.shop.contract($0.name) }
    }

    /// The items that a person has from acme at a moment, as far as they are paid now.
    func itemsFromAcme(of person: Person, at moment: Timestamp) throws -> [Item] {
        try contracts(of: person).compactMap { contract in
            guard let last = contract.charges.last, last.paidBack == nil else { return nil }
            switch acme?.app.garden.catalog.benefit(of: last.product) {
            case .item(let item)?: return item
            case .itemWhilePaid(let item)?:
                var end = last.until
                if case .grace(let until?)? = contract.next { end = until }
                return end.map { moment < $0 } ?? false ? item : nil
            case .itemFor?, .credit?, nil: return nil
            }
        }
    }

    /// The seeds that a person has bought at acme.
    func seedsFromAcme(of person: Person) throws -> Int {
        try contracts(of: person).reduce(0) { sum, contract in
            guard let last = contract.charges.last, last.paidBack == nil,
                case .credit(let credit)? = acme?.app.garden.catalog.benefit(of: last.product)
            else { return sum }
            return sum + credit.amount * last.units
        }
    }

    /// The contracts at acme, for the trace.
    func acmeState() throws -> [String] {
        try acmeContracts.compactMap { contract in
            try acme.map { "contract \(contract.name) of \(contract.user): \(try $0.shop.contract(contract.name))" }
        }
    }
}
