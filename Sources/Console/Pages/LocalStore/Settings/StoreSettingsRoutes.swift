import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// The settings of the local store, the faults of the next notifications, and the ways to clear everything.
enum StoreSettingsRoutes {
    private static let delay = "delay"
    private static let fault = FormField.choice(
        "fault", "Fault", ["duplicate", "reorder", "drop", delay], expected: "duplicate, reorder, drop or delay",
        text: { $0 },
        shown: { kind in
            switch kind {
            case "duplicate": "Sent twice"
            case "reorder": "Sent after the next one"
            case "drop": "Never sent"
            default: "Sent late"
            }
        }, isRequired: true, parse: { $0 == delay || NotificationFault(name: $0) != nil ? $0 : nil })
    private static let count = FormField.number(
        "count", "Number of notifications (1 to 20)", in: 1...20, expected: "from 1 to 20", value: "1")

    static func add(to pages: StorePages) {
        pages.get("store/settings", page)
        let actions: [(path: RouterPath, notice: Notice, action: @Sendable (ConsoleForm, Store) throws -> Void)] = [
            ("store/settings", .saved, { _ = try $1.update(try StoreSettingsForm.changes($0)) }),
            (
                "store/faults", .saved,
                { form, store in
                    let added = try faults(form)
                    try store.write { try $0.add(added) }
                }
            ),
            ("store/faults/clear", .cleared, { try $1.clearFaults() }),
            ("store/clear", .cleared, { try $1.write { try $0.clearSales() } }),
            ("store/reset", .cleared, { _ = try $1.reset() }),
        ]
        for (path, notice, action) in actions {
            pages.post(path) { context, store in
                try action(context.form, store)
                return ConsolePath("store", "settings", done: notice)
            }
        }
    }

    private static func faults(_ form: ConsoleForm) throws -> [NotificationFault] {
        let kind = try form[fault]
        let name = kind == delay ? "delay:\(try form.integer(delay) ?? -1)" : kind
        guard let fault = NotificationFault(name: name) else {
            throw ConsoleForm.invalid(delay, "a number of seconds, at most a year")
        }
        return Array(repeating: fault, count: try form[count])
    }

    private static func page(_ request: Request, _ context: ConsoleContext, _ store: Store) throws -> Page {
        let (settings, faults) = (try store.settings(), try store.read { try $0.state.faults() })
        return Page("Settings of the store", section: .localStore) {
            LocalStoreTab.links(.settings)
            card("Set now") { StoreConditions.list(settings, faults) }
            StoreSettingsForm.html(settings, context)
            card("Faults of the next notifications") { faultForm(faults, context) }
            card("Clear") { clearing(context) }
        }
    }

    @HTMLBuilder private static func faultForm(_ faults: [NotificationFault], _ context: ConsoleContext) -> HTML {
        p { "Each fault is for one notification, in order. They test the server that receives notifications." }
        context.form(to: ConsolePath("store", "faults"), .class("narrow")) {
            fault.html()
            Field.number(delay, "Delay in seconds", value: "60", note: "Only for a late notification.")
            count.html()
            button { "Add" }
        }
        if !faults.isEmpty {
            context.form(to: ConsolePath("store", "faults", "clear")) { button { "Clear the faults" } }
        }
    }

    @HTMLBuilder private static func clearing(_ context: ConsoleContext) -> HTML {
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
