import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The clock of the local store, and the list of what happened during a step.
extension LocalStoreRoutes {
    private static let maximumEvents = 200
    /// The longest time that a browser waits for the due events and their notifications, below the time limit of a request.
    private static let patience = Duration.seconds(15)
    private static let step = Field.text(
        "step", "Another step", upTo: 8, isRequired: true,
        note: "A number and a unit: 90s, 5min, 2h, 3d, 1w, 1mo or 1y. At most ten years."
    ).parsed(TimeStep.form) { TimeStep($0) }

    func addClock(to pages: ConsolePages) {
        pages.getStore("store/clock", clock)
        pages.post("store/clock", .store) { _, context in
            let step = try context.form[Self.step]
            let start = try await BlockingWork.run { store.now }
            let end = try await BlockingWork.run(waitingUpTo: Self.patience) {
                try await store.advance(step, deliveringWithin: Store.longestDelivery)
            }
            // Years of a busy store take longer. The clock goes on.
            return ConsolePath(
                "store", "clock", query: ["from": String(start.millisecondsSince1970)],
                done: end == nil ? .started : .advanced)
        }
    }

    private func clock(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let start = try request.query("from").map { text in
            guard let milliseconds = Int64(text), (0...(1 << 53)).contains(milliseconds) else {
                throw Problem.parameter("from", "a number of milliseconds since 1970")
            }
            return Timestamp(millisecondsSince1970: milliseconds)
        }
        let now = store.now
        let events =
            try start.map { start in
                try store.read { try $0.dueEvents(after: start, until: now, limit: Self.maximumEvents + 1) }
            } ?? []
        return Page("Clock", section: .localStore) {
            LocalStoreTab.links(LocalStoreTab.clock)
            section(.class("card")) {
                p(.class("figure")) { Shown.moment(now) }
                Self.clockButtons(context)
                context.form(to: LocalStoreTab.clock.path, .class("narrow")) {
                    Self.step
                    button { "Advance" }
                }
                note(
                    "The clock only moves forward. Everything that is due in between happens in order, at its own moment, and the service is notified."
                )
            }
            if let start { Self.happened(since: start, until: now, events) }
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

    @HTMLBuilder private static func sentence(_ event: DueEvent) -> HTML {
        spaced(Shown.moment(event.date), Shown.badge(StoreWords.word(event.kind)))
        div {
            switch event.kind {
            case .renewed: "The subscription renewed and was charged:"
            case .renewalFailed: "The renewal could not be charged. The store tries again:"
            case .gracePeriodEnded: "The grace period ended without a charge. The customer lost access:"
            case .expired: "The subscription ended:"
            }
            also(
                spaced(
                    by: ", ", Shown.identifier(event.productIdentifier), StoreRows.account(event.account),
                    StoreRows.transaction(event.transactionIdentifier)))
        }
    }

    static func clockButtons(_ context: ConsoleContext) -> HTML {
        context.form(to: LocalStoreTab.clock.path, .class("actions")) {
            for (step, title) in [
                ("1d", Phrase("Day", context: "step")), ("1w", Phrase("Week", context: "step")),
                ("1mo", Phrase("Month", context: "step")),
            ] {
                button(.name("step"), .value(step)) { spaced(plain("+"), title) }
            }
        }
    }
}
