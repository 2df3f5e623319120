import AppStore
import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Vocabulary

/// The same messages in other orders.
extension Simulation {
    /// The same posts and notifications in two other orders, with copies, end in one state.
    func checkOrder() async throws {
        // The order decides the owner of a purchase without a token that two users present.
        guard !sharesDevices else { return }
        let notifications = try notifications().map { Array($0.utf8) }
        let statements = try sales().map { try statement(about: $0) }
        let messages =
            posts.map { Message.post($0.proof, $0.user) } + notifications.map(Message.notification)
            + statements.map(Message.statement) + acmeContracts.map(Message.ticket) + acmeMessages.map(Message.acme)
        var states: [[[String]]] = []
        for number in 0..<2 {
            let name = "order \(number)"
            let place = try SimulatedLedger.make(in: folder, named: name)
            let ledger = try place.open(randomness: dice.randomness)
            let service = EntitlementService(
                apps: try Apps(apps.map { App($0.garden.catalog) }), verifier: verifier, ledger: ledger,
                clock: apps[0].store.clock, accepted: SimulatedAcme.accepted,
                policy: policy)
            for person in people { _ = try await service.setAppAccountToken(person.token, of: person.user) }
            for message in dice.shuffle(messages + messages.filter { _ in dice.happens(30) }) {
                switch message {
                case .post(let proof, let user): _ = try? await service.redeem(proof, for: user)
                case .notification(let payload): _ = try await service.receive(notification: payload)
                case .statement(let signed): _ = try await service.receive(statement: signed)
                case .ticket(let contract): try await acme?.redeem(contract, at: service)
                case .acme(let message): _ = try await acme?.deliver(message, to: service)
                }
            }
            try await checkStates(in: ledger, of: service, named: name, takenBack: [])
            try await checkFigures(of: ledger, named: name)
            let problems = try place.problems()
            guard problems.isEmpty else { throw SimulationError.broken(problems.joined(separator: " ")) }
            var state: [[String]] = []
            for person in people {
                let transactions = try ledger.readNow {
                    try $0.transactions(of: person.user, before: nil, limit: 10_000)
                }.map {
                    [
                        $0.app ?? "-", $0.transactionIdentifier, "\($0.revocationDate?.rfc3339 ?? "-")",
                        "\($0.expiresAt?.rfc3339 ?? "-")",
                    ].joined(separator: " ")
                }
                let items = try [Int64](arrayLiteral: 0, 5, 20, 45, 200, 400).map { days in
                    let moment = now.adding(days: days)
                    return try ledger.readNow { try $0.items(of: person.user, at: moment).description }
                }
                state.append(
                    transactions.sorted() + items + [try await service.balances(of: person.user).description])
            }
            states.append(state)
        }
        guard states[0] == states[1] else {
            throw SimulationError.broken("two orders end differently: \(states[0]) and \(states[1])")
        }
    }
}

private enum Message {
    case post([UInt8], User)
    case notification([UInt8])
    case statement([UInt8])
    case ticket(SimulatedAcme.Contract)
    case acme([UInt8])
}
