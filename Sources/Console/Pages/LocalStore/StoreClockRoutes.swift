import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The clocks of the local store and of its accounts, and the list of what happened during a step.
extension LocalStoreRoutes {
    private static let maximumEvents = 200
    /// The maximum number of accounts with their own clocks on the page.
    private static let maximumAccounts = 100
    /// The longest time that a browser waits for the due events and their notifications, below the time limit of a request.
    private static let patience = Duration.seconds(15)
    private static let step = Field.text(
        "step", "Another step", upTo: 8, isRequired: true,
        note: "A number and a unit: 90s, 5min, 2h, 3d, 1w, 1mo or 1y. At most ten years."
    ).parsed(TimeStep.form) { TimeStep($0) }

    /// The account whose clock is advanced; nil for the store's clock.
    static func account(_ form: ConsoleForm) throws(Problem) -> String? {
        let account = try form.text("account", upTo: Store.maximumAccountLength)
        return account.isEmpty ? nil : account
    }

    func addClock(to pages: ConsolePages) {
        pages.getStore("store/clock", clock)
        pages.post("store/clock", .store) { _, context in
            let (step, account) = (try context.form[Self.step], try Self.account(context.form))
            let start = try await BlockingWork.run { try store.time(of: account) }
            let end = try await BlockingWork.run(waitingUpTo: Self.patience) {
                try await store.advance(step, of: account, deliveringWithin: Store.longestDelivery)
            }
            // Years of a busy store take longer. The clock goes on.
            return ConsolePath.storeClock(
                of: account, from: String(start.millisecondsSince1970), done: end == nil ? .started : .advanced)
        }
    }

    private func clock(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let start = try request.query("from").map { text in
            guard let milliseconds = Int64(text), (0...(1 << 53)).contains(milliseconds) else {
                throw Problem.parameter("from", "a number of milliseconds since 1970")
            }
            return Timestamp(millisecondsSince1970: milliseconds)
        }
        let account = try StoreSelection(request)[.account]
        let now = try store.time(of: account)
        let events =
            try start.map { start in
                try store.read {
                    try $0.dueEvents(after: start, until: now, of: account, limit: Self.maximumEvents + 1)
                }
            } ?? []
        let others = account == nil ? try store.read { try $0.accountTimes(limit: Self.maximumAccounts) } : []
        return LocalStoreTab.page("Clock", LocalStoreTab.clock) {
            section(.class("card")) {
                if let account { p { StoreRows.account(account) } }
                p(.class("figure")) { Shown.moment(now) }
                Self.clockButtons(context, of: account)
                context.form(to: LocalStoreTab.clock.path, .class("narrow")) {
                    hidden("account", account)
                    Self.step
                    button { "Advance" }
                }
                if account != nil {
                    note(
                        "Only the time of this account moves. From the first step on, the store's clock moves it no more, until the store is reset."
                    )
                }
                note(
                    "The clock only moves forward. Everything that is due in between happens in order, at its own moment, and the service is notified."
                )
            }
            if let start { Self.happened(since: start, until: now, events) }
            if account == nil {
                h2 { "Accounts with their own time" }
                Listing.table(
                    "Accounts with their own time", of: others, empty: "Every account follows the store's clock."
                ) {
                    column("Account") { StoreRows.account($0.account) }
                    column("Time") { other in
                        a(.href(.storeClock(of: other.account))) { Shown.moment(other.now) }
                    }
                }
            }
        }
    }

    /// - Parameter events: The events since the start of the last step, up to one more than the page shows.
    @HTMLBuilder private static func happened(
        since start: Timestamp, until now: Timestamp, _ events: [DueEvent]
    ) -> HTML {
        h2 { "What happened" }
        p { spaced(by: " – ", Shown.moment(start), Shown.moment(now)) }
        if events.isEmpty {
            emptyNote("Nothing was due.")
        } else {
            ol(.class("timeline")) {
                for event in events.prefix(maximumEvents) {
                    li(.class(StoreWords.word(event.kind).mood.rawValue)) { sentence(event) }
                }
            }
        }
        if events.count > maximumEvents {
            note("These are the first \(maximumEvents) events. The list of transactions has all renewals.")
        }
    }

    private static func sentence(_ event: DueEvent) -> HTML {
        spaced(
            Shown.moment(event.date), StoreWords.word(event.kind).title,
            spaced(
                by: ", ", Shown.identifier(event.productIdentifier), StoreRows.account(event.account),
                StoreRows.transaction(event.transactionIdentifier)))
    }

    /// The buttons of common steps.
    ///
    /// - Parameter account: The account whose clock they advance; nil for the store's clock.
    /// - Parameter path: The receiver of the step.
    static func clockButtons(
        _ context: ConsoleContext, to path: ConsolePath = LocalStoreTab.clock.path, of account: String? = nil
    ) -> HTML {
        context.form(to: path, .class("actions")) {
            hidden("account", account)
            for (step, title) in [
                ("1d", Phrase("Day", context: "step")), ("1w", Phrase("Week", context: "step")),
                ("1mo", Phrase("Month", context: "step")),
            ] {
                button(.name("step"), .value(step)) { spaced(plain("+"), title) }
            }
        }
    }
}
