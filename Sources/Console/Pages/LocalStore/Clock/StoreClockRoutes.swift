import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The clock of the local store.
struct StoreClockRoutes: Sendable {
    /// The longest time that a browser waits for the due events and their notifications, below the time limit of a request.
    private static let patience = Duration.seconds(15)

    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store/clock", .store) { request, context in
            let start = try request.query("from").map { text in
                guard let milliseconds = Int64(text), (0...(1 << 53)).contains(milliseconds) else {
                    throw Problem.parameter("from", "a number of milliseconds since 1970")
                }
                return Timestamp(millisecondsSince1970: milliseconds)
            }
            return try await BlockingWork.run { [store] in
                let now = store.now
                let events =
                    try start.map {
                        try store.dueEvents(after: $0, until: now, limit: StoreClockPage.maximumEvents + 1)
                    } ?? []
                return StoreClockPage(context: context, now: now, start: start, events: events).page
            }
        }
        pages.post("store/clock", .store) { _, context in
            let text = try context.form.requiredText("step", upTo: 8)
            guard let step = TimeStep(text) else {
                throw ConsoleForm.invalid("step", "a number and one of s, min, h, d, w, mo and y, such as 1mo")
            }
            let start = try await BlockingWork.run { [store] in store.now }
            let end = try await BlockingWork.run(waitingUpTo: Self.patience) { [store] in
                try await store.advance(step, deliveringWithin: Store.longestDelivery)
            }
            // Years of a busy store take longer. The clock goes on.
            let notice = end == nil ? Notice.started : .advanced
            return ConsolePath(
                "store", "clock", query: ["from": String(start.millisecondsSince1970), "done": notice.rawValue])
        }
    }
}
