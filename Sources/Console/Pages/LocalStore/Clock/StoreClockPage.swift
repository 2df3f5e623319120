import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The store's clock, and the list of what happened during a step.
struct StoreClockPage {
    /// The maximum number of events on the page.
    static let maximumEvents = 200

    let context: ConsoleContext
    let now: Timestamp
    /// The start of the last step; nil if there was none.
    let start: Timestamp?
    /// The events since the start, up to one more than the page shows.
    let events: [DueEvent]

    var page: Page {
        Page("Clock", section: .localStore) {
            LocalStoreTab.links(.clock)
            section(.class("card")) {
                p(.class("figure")) { Shown.moment(now) }
                Self.buttons(context)
                context.form(to: LocalStoreTab.clock.path, .class("narrow")) {
                    StoreClockRoutes.step.html()
                    button { "Advance" }
                }
                note(
                    "The clock only moves forward. Everything that is due in between happens in order, at its own moment, and the service is notified."
                )
            }
            if let start { happened(since: start) }
        }
    }

    @HTMLBuilder private func happened(since start: Timestamp) -> HTML {
        h2 { "What happened" }
        p { spaced(by: " – ", Shown.moment(start), Shown.moment(now)) }
        if events.isEmpty {
            emptyNote("Nothing was due.")
        } else {
            ol(.class("timeline")) {
                for event in events.prefix(Self.maximumEvents) {
                    li(.class(StoreWords.word(event.kind).mood.rawValue)) { sentence(event) }
                }
            }
        }
        if events.count > Self.maximumEvents {
            note("These are the first \(Self.maximumEvents) events. The list of transactions has all renewals.")
        }
    }

    @HTMLBuilder private func sentence(_ event: DueEvent) -> HTML {
        spaced(Shown.moment(event.date), Shown.badge(StoreWords.word(event.kind)))
        div {
            switch event.kind {
            case .renewed: "The subscription renewed and was charged:"
            case .renewalFailed: "The renewal could not be charged. The store tries again:"
            case .gracePeriodEnded: "The grace period ended without a charge. The customer lost access:"
            case .expired: "The subscription ended:"
            }
            plain(" ")
            spaced(by: ", ", Shown.identifier(event.productIdentifier), StoreRows.account(event.account))
            plain(", ")
            a(.href(.storeTransaction(event.transactionIdentifier))) {
                Shown.identifier(event.transactionIdentifier)
            }
        }
    }

    /// The buttons for the common steps.
    static func buttons(_ context: ConsoleContext) -> HTML {
        context.form(to: LocalStoreTab.clock.path, .class("actions")) {
            for (step, title) in [
                ("1d", Phrase("Day", context: "step")), ("1w", Phrase("Week", context: "step")),
                ("1mo", Phrase("Month", context: "step")),
            ] {
                button(.name("step"), .value(step)) {
                    plain("+ ")
                    title
                }
            }
        }
    }
}

/// The clock of the local store.
struct StoreClockRoutes: Sendable {
    /// The longest time that a browser waits for the due events and their notifications, below the time limit of a request.
    private static let patience = Duration.seconds(15)
    static let step = FormField.text(
        "step", "Another step", upTo: 8, isRequired: true,
        note: "A number and a unit: 90s, 5min, 2h, 3d, 1w, 1mo or 1y. At most ten years."
    ).parsed("a number and one of s, min, h, d, w, mo and y, such as 1mo") { TimeStep($0) }

    let store: Store

    func add(to pages: StorePages) {
        pages.get("store/clock") { request, context, store in
            let start = try request.query("from").map { text in
                guard let milliseconds = Int64(text), (0...(1 << 53)).contains(milliseconds) else {
                    throw Problem.parameter("from", "a number of milliseconds since 1970")
                }
                return Timestamp(millisecondsSince1970: milliseconds)
            }
            let (now, limit) = (store.now, StoreClockPage.maximumEvents + 1)
            let events = try start.map { try store.dueEvents(after: $0, until: now, limit: limit) } ?? []
            return StoreClockPage(context: context, now: now, start: start, events: events).page
        }
        pages.pages.post("store/clock", .store) { _, context in
            let step = try context.form[Self.step]
            let start = try await BlockingWork.run { [store] in store.now }
            let end = try await BlockingWork.run(waitingUpTo: Self.patience) { [store] in
                try await store.advance(step, deliveringWithin: Store.longestDelivery)
            }
            // Years of a busy store take longer. The clock goes on.
            return ConsolePath(
                "store", "clock", query: ["from": String(start.millisecondsSince1970)],
                done: end == nil ? .started : .advanced)
        }
    }
}
