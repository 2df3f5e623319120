import ArgumentParser
import Commerce

/// `till resume`
struct Resume: Command {
    static let configuration = CommandConfiguration(
        abstract: "Launch the app again: what is unfinished is delivered, redeemed and finished.",
        discussion: """
            Example:
              till resume --user alice
            """)

    @Option(help: "Whose app.")
    var user: User

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try await Delivery(user: user, console: console).perform(try Parties(common.dataDirectory))
    }
}

/// The end that `till resume` and `till restore` share: everything unfinished is delivered, and the result told.
struct Delivery {
    let user: User
    let console: Console

    func perform(_ parties: Parties) async throws {
        let reporter = StepReporter(console: console)
        let (delivered, items) = try await parties.withDevice(of: user, report: reporter.report) { device, service in
            (try await device.resume(), try await service.items())
        }
        if delivered.isEmpty { console.line("Nothing was unfinished.") }
        console.owned(items, by: user, names: parties.name(of:))
        if let refusal = reporter.firstRefusal { throw refusal }
        struct Report: Encodable {
            let delivered: [TransactionReport]
            let items: [Item]
        }
        try console.json(Report(delivered: delivered.map { TransactionReport($0, user: user.name) }, items: items))
    }
}
