import AppStore
import ArgumentParser

/// `till store time`
struct StoreTime: Command {
    static let configuration = CommandConfiguration(
        commandName: "time",
        abstract: "Print the store's time, or advance it and perform all due events in order.",
        discussion: """
            While `till store` or `till serve --store` runs, the clock waits at each due
            event until the notifications are delivered, for ten minutes at most.

            Examples:
              till store time
              till store time --advance 1mo     # or 90s, 5min, 2h, 3d, 1w, 1y
            """)

    @Option(help: ArgumentHelp("The time to advance: a number and one of s, min, h, d, w, mo, y.", valueName: "time"))
    var advance: TimeStep?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        var events: [DueEvent]?
        if let advance {
            let start = store.now
            events = try store.dueEvents(
                after: start, until: try await store.advance(advance, deliveringWithin: Store.longestDelivery))
        }
        let now = store.now
        terminal.line(now.rfc3339)
        if let events {
            var table = TextTable(header: ["DATE", "EVENT", "PRODUCT", "ACCOUNT", "TRANSACTION"])
            for event in events {
                table.add([
                    event.date.rfc3339, event.kind.words, event.productIdentifier,
                    TextTable.shortened(event.account), event.transactionIdentifier,
                ])
            }
            if events.isEmpty { terminal.line("Nothing was due.") } else { table.lines.forEach(terminal.line) }
        }
        try terminal.json(TimeResource(now: now, events: events))
    }
}

extension TimeStep: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}

extension DueEvent.Kind {
    var words: String {
        switch self {
        case .renewed: "renewed"
        case .renewalFailed: "renewal failed"
        case .gracePeriodEnded: "grace period ended"
        case .expired: "expired"
        }
    }
}
