import Commerce
import Wire

/// The end that `till resume` and `till restore` share: everything unfinished is delivered, and the result told.
struct Delivery {
    let user: User
    let common: CommonOptions
    let console: Console

    func perform(_ parties: Parties) async throws {
        let reporter = StepReporter(console: console)
        let (delivered, items) = try await parties.withDevice(of: user, report: reporter.report) { device, service in
            (try await device.resume(), try await service.items())
        }
        let waiting = try parties.store.transactions(account: user.name).filter { $0.transaction.state == .deferred }
        for queued in waiting {
            let number = String(queued.transaction.identifier)
            console.line("#\(number) waits for approval: \(common.hint("approve", number))")
        }
        if delivered.isEmpty, waiting.isEmpty { console.line("Nothing was unfinished.") }
        console.owned(items.map(\.item), by: parties.named(user), names: parties.catalog.name(of:))
        try console.json(
            DeliveryReport(
                delivered: delivered.map { TransactionReport($0, user: user.name) },
                refused: Dictionary(uniqueKeysWithValues: reporter.refused.map { (String($0), $1.code) }), items: items)
        )
        guard let (number, refusal) = reporter.refused.min(by: { $0.key < $1.key }) else { return }
        try console.end("Transaction \(number) stays in the queue: \(refusal.message)")
    }
}

/// What `till resume` and `till restore` did, as JSON.
private struct DeliveryReport: Encodable {
    let delivered: [TransactionReport]
    /// The codes of the service's refusals, by the transaction's number.
    let refused: [String: String]
    let items: [OwnedItemResource]
}
