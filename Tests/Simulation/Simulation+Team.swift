import Entitlements
import Ledger
import Proofs
import TestSupport
import Vocabulary

/// The steps of the team's back end.
extension Simulation {
    func spend() async throws {
        let index = dice.number(below: people.count)
        let service = processes[0].service
        let request = Spending.Request(
            idempotencyKey: dice.randomness.digits(16, startingWith: "1"), digest: dice.randomness.bytes(32))
        openSpendings.append(
            (
                index,
                service.newSpending(
                    of: 1 + dice.number(below: 15), from: "seeds", reason: "sown", by: "team", for: request)
            ))
        try await trySpendings()
    }

    /// Retries the spendings without an answer.
    func trySpendings() async throws {
        let open = openSpendings
        openSpendings = []
        for (person, spending) in open {
            let user = people[person].user
            let service = processes[dice.number(below: processes.count)].service
            do {
                _ = try await service.spend(spending, for: user)
                if !isMended, dice.happens(20) {
                    openSpendings.append((person, spending))
                } else {
                    spent[user.name, default: 0] += spending.amount
                }
            } catch BalanceError.balanceTooLow {
            } catch {
                openSpendings.append((person, spending))
            }
        }
    }

    func change(_ takesBack: Bool) async throws {
        guard let sale = try sale() else { return }
        let (identifier, app) = (sale.transactionIdentifier, sale.app.bundleIdentifier)
        for person in people {
            let changed = try await insist { service -> RedeemedTransaction? in
                do {
                    return try await service.change(
                        takesBack ? .revoke(reason: "a fraud") : .reinstate(), ofTransaction: identifier, origin: nil,
                        in: app, of: person.user, by: "team")
                } catch is GrantError {
                    return nil
                }
            }
            guard let changed else { continue }
            guard changed.app == app else { throw SimulationError.broken("the team changed \(changed), not \(sale)") }
            let original = sale.app.key(changed.originalTransactionIdentifier)
            takenBack.remove(original)
            if takesBack { takenBack.insert(original) }
        }
    }

    func give() async throws {
        let person = somebody()
        let grant = try processes[0].service.newGrant(
            of: Item(collection: "gate", number: 1 + dice.number(below: apps.count)), reason: "a present", endsAt: nil,
            by: "team")
        let key = IdempotencyKey(caller: "team", key: grant.identifier)
        let answer = key.answer([], to: dice.randomness.bytes(32))
        _ = try await insist { try await $0.give(grant, to: person.user, keeping: answer) }
        given[person.user.name, default: []].append(grant.item)
    }

    /// Retries a request until there is an answer, as a back end does. A failed process restarts meanwhile.
    func insist<Value>(_ ask: (EntitlementService) async throws -> Value) async throws -> Value {
        while true {
            let index = dice.number(below: processes.count)
            do {
                return try await ask(processes[index].service)
            } catch  where error is StorageFault || error is LedgerError {
                processes[index].restart()
            }
        }
    }
}
