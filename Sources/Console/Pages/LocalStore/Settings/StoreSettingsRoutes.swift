import AppStore
import HTTPSupport
import Hummingbird

/// The settings of the local store, and the ways to clear it.
struct StoreSettingsRoutes: Sendable {
    private static let maximumFaults = 20

    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store/settings", .store) { _, context in
            try await BlockingWork.run { [store] in
                StoreSettingsPage(context: context, settings: try store.settings(), faults: try store.faults()).page
            }
        }
        pages.post("store/settings", .store) { _, context in
            let changes = try StoreSettingsForm.changes(context.form)
            try await BlockingWork.run { [store] in _ = try store.update(changes) }
            return done(.saved)
        }
        pages.post("store/faults", .store) { _, context in
            let faults = try Self.faults(context.form)
            try await BlockingWork.run { [store] in try store.add(faults) }
            return done(.saved)
        }
        pages.post("store/faults/clear", .store) { _, _ in
            try await BlockingWork.run { [store] in try store.clearFaults() }
            return done(.cleared)
        }
        pages.post("store/clear", .store) { _, _ in
            try await BlockingWork.run { [store] in try store.clearTransactions() }
            return done(.cleared)
        }
        pages.post("store/reset", .store) { _, _ in
            try await BlockingWork.run { [store] in _ = try store.reset() }
            return done(.cleared)
        }
    }

    private func done(_ notice: Notice) -> ConsolePath {
        ConsolePath("store", "settings", query: ["done": notice.rawValue])
    }

    private static func faults(_ form: ConsoleForm) throws -> [NotificationFault] {
        let kind = try form.requiredText("fault")
        let name = kind == "delay" ? "delay:\(try form.integer("delay") ?? -1)" : kind
        guard let fault = NotificationFault(name: name) else {
            throw kind == "delay"
                ? ConsoleForm.invalid("delay", "a number of seconds, at most a year")
                : ConsoleForm.invalid("fault", "duplicate, reorder, drop or delay")
        }
        guard let count = try form.integer("count"), (1...maximumFaults).contains(count) else {
            throw ConsoleForm.invalid("count", "from 1 to \(maximumFaults)")
        }
        return Array(repeating: fault, count: count)
    }
}
