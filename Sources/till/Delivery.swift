import AppStore
import Proofs

/// The last step of `till resume` and `till restore`: delivers unfinished transactions and prints the result.
struct Delivery {
    let user: User
    let common: CommonOptions
    let terminal: Terminal

    func perform(_ parties: Parties) async throws {
        let reporter = StepReporter(terminal: terminal)
        let (delivered, items) = try await parties.withDevice(of: user, report: reporter.report) { device, service in
            (try await device.resume(), try await service.items())
        }
        let waiting = try parties.store.transactions(account: user.name).filter { $0.transaction.state == .deferred }
        for queued in waiting {
            let number = String(queued.transaction.identifier)
            terminal.line("#\(number) waits for approval: \(common.hint("approve", number))")
        }
        if delivered.isEmpty, waiting.isEmpty { terminal.line("Nothing was unfinished.") }
        terminal.owned(items.map(\.item), by: parties.named(user), names: parties.catalog.name(of:))
        try terminal.json(
            DeliveryReport(
                delivered: delivered.map { TransactionReport($0, user: user.name) },
                refused: Dictionary(uniqueKeysWithValues: reporter.refused.map { (String($0), $1.code) }), items: items)
        )
        guard let (number, refusal) = reporter.refused.min(by: { $0.key < $1.key }) else { return }
        try terminal.end("Transaction \(number) stays in the queue: \(refusal.message)")
    }
}

/// The JSON output of `till resume` and `till restore`.
private struct DeliveryReport: Encodable {
    let delivered: [TransactionReport]
    /// The error codes of refused transactions, by number.
    let refused: [String: String]
    let items: [OwnedItemResource]
}
