import Entitlements
import Ledger
import Proofs

/// A running SHA-256 of the steps of a simulation: each with its answers and the state that it leads to. Two plays of one seed
/// have equal traces.
///
/// The seed decides all that the trace has. The simulation awaits each request before the next one, so that the threads of a
/// ledger never choose an order; the clocks are the stores', and identifiers, tokens and salts are drawn from the dice. The bytes
/// of proofs are not in the trace: OpenSSL draws the keys and signatures itself. Neither are the texts of unexpected errors, which
/// may name a temporary folder. Swift orders the elements of sets and dictionaries alike within a process, so the traces of two
/// processes (`make simulate SEED=N`) tell more than those of one.
struct SimulationTrace {
    struct Step {
        /// What happened, and the state after it. The first line names the step.
        let lines: [String]
        /// The SHA-256 of the lines of all steps up to this one, in hexadecimal digits.
        let digest: String
    }

    private var state = SHA256State()
    private(set) var steps: [Step] = []

    mutating func add(_ lines: [String]) {
        state.update(Array((lines.joined(separator: "\n") + "\n\n").utf8)[...])
        steps.append(Step(lines: lines, digest: state.digest().hexadecimal))
    }

    /// The first step that differs from another trace, in words; nil if all are the same.
    func difference(to other: SimulationTrace) -> String? {
        for (number, (own, others)) in zip(steps, other.steps).enumerated() where own.digest != others.digest {
            let lines = others.lines.difference(from: own.lines).map { change in
                switch change {
                case .remove(_, let line, _): "- \(line)"
                case .insert(_, let line, _): "+ \(line)"
                }
            }
            return "step \(number + 1), \(own.lines.first ?? "empty"), differs:\n\(lines.joined(separator: "\n"))"
        }
        return steps.count == other.steps.count
            ? nil : "one play has \(steps.count) steps, the other has \(other.steps.count)"
    }
}

extension Simulation {
    /// Adds the step that the last lines of the story tell to the trace.
    func addToTrace(from line: Int) throws {
        trace.add(
            Array(story[line...]) + answers + (try ledgerState()) + (try storeState()) + (try playState())
                + (try acmeState())
                + knownState())
        answers = []
    }

    private func ledgerState() throws -> [String] {
        let now = now
        return try people.flatMap { person in
            let (user, name) = (person.user, person.account)
            return try ledger.readNow { transaction in
                let audit = try transaction.audit(of: user).map { record in
                    let entry = record.entry
                    return "\(name)'s entry \(record.number): \(entry.event) \(entry.reference) \(entry.subject) at "
                        + "\(entry.happenedAt.rfc3339), \(record.digest.hexadecimal)"
                }
                let redeemed = try transaction.transactions(of: user, before: nil, limit: 10_000).map {
                    "\(name)'s transaction \($0.sequence): \($0.transactionIdentifier) in \($0.app ?? "-") "
                        + "\($0.productIdentifier) until \($0.expiresAt?.rfc3339 ?? "-"), revoked "
                        + "\($0.revocationDate?.rfc3339 ?? "-") \($0.revocation?.reason ?? "-")"
                }
                let items = try transaction.items(of: user, at: now)
                let balances = try transaction.balances(of: user, accepting: .ofEveryStore)
                return audit + redeemed + ["\(name)'s items: \(items)", "\(name)'s balances: \(balances)"]
            }
        }
    }

    private func storeState() throws -> [String] {
        try sales().map { "sale: \($0)" }
            + apps.flatMap { app in
                let name = app.bundleIdentifier
                let queue = try app.store.transactions().map {
                    "\(name)'s queue: \($0.transaction.identifier) \($0.transaction.state)"
                }
                let notifications = try app.store.notifications().map {
                    "\(name)'s notification: \($0.notificationUUID) \($0.type.rawValue) \($0.subtype?.rawValue ?? "-") "
                        + "\($0.transactionIdentifier ?? "-") at \($0.date.rfc3339)"
                }
                return queue + notifications
            }
    }

    /// What devices and the back end know, and which processes run.
    private func knownState() -> [String] {
        let known =
            acknowledged.map { "acknowledged: \($0.key.name) to \($0.value)" } + takenBack.map { "revoked: \($0.name)" }
            + spent.map { "spent: \($0.value) by \($0.key)" } + given.map { "given: \($0.value) to \($0.key)" }
        let open = openSpendings.map { "open spending: \($0.spending.amount) of \(people[$0.person].account)" }
        return known.sorted() + open + processes.indices.map { "process \($0) stopped: \(processes[$0].isStopped)" }
    }
}
