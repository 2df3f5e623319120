import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The settings of the store, the faults of the next notifications, and the ways to clear everything.
struct StoreSettingsPage {
    let context: ConsoleContext
    let settings: StoreSettings
    let faults: [NotificationFault]

    var page: Page {
        Page("Settings of the store", section: .localStore) {
            LocalStoreTab.links(.settings)
            card("Set now") { StoreConditions(settings: settings, faults: faults).list }
            StoreSettingsForm(context: context, settings: settings).html
            card("Faults of the next notifications") { faultForm }
            card("Clear") { clearing }
        }
    }

    @HTMLBuilder private var faultForm: HTML {
        p { "Each fault is for one notification, in order. They test the server that receives notifications." }
        context.form(to: ConsolePath("store", "faults"), .class("narrow")) {
            Field.choice("fault", "Fault", Self.faults)
            Field.number("delay", "Delay in seconds", value: "60", note: "Only for a late notification.")
            Field.number("count", "Number of notifications (1 to 20)", value: "1", isRequired: true)
            button { "Add" }
        }
        if !faults.isEmpty {
            context.form(to: ConsolePath("store", "faults", "clear")) { button { "Clear the faults" } }
        }
    }

    private static let faults: [(value: String, title: Phrase)] = [
        ("duplicate", "Sent twice"),
        ("reorder", "Sent after the next one"),
        ("drop", "Never sent"), ("delay", "Sent late"),
    ]

    @HTMLBuilder private var clearing: HTML {
        context.action(
            "Clear the transactions", to: ConsolePath("store", "clear"), submit: "Clear the transactions", .danger
        ) {
            p {
                "Deletes all payments, sales, subscriptions and notifications of the store. The service keeps what it has granted."
            }
        }
        context.action("Reset the store", to: ConsolePath("store", "reset"), submit: "Reset the store", .danger) {
            p {
                "Clears the transactions, the clock and the settings. The keys, the products and the address of notifications stay."
            }
        }
    }
}

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
