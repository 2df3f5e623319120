import AppStore
import Catalog
import HTTPSupport
import Hummingbird
import Proofs

/// The settings of the local store, the faults of the next notifications, and the ways to clear everything.
extension LocalStoreRoutes {
    private static let late = "delay"
    private static let fault = Field.choice(
        "fault", "Fault", ["duplicate", "reorder", "drop", late], expected: "duplicate, reorder, drop or delay",
        text: { $0 },
        shown: { kind in
            switch kind {
            case "duplicate": "Sent twice"
            case "reorder": "Sent after the next one"
            case "drop": "Never sent"
            default: "Sent late"
            }
        }, isRequired: true, parse: { $0 == late || NotificationFault(name: $0) != nil ? $0 : nil })
    private static let delay = Field.number(
        late, "Delay in seconds", value: "60", note: "Only for a late notification.")
    private static let count = Field.number(
        "count", "Number of notifications (1 to 20)", in: 1...20, expected: "from 1 to 20", value: "1")

    func addSettings(to pages: ConsolePages) {
        pages.getStore("store/settings", settings)
        let actions: [(path: RouterPath, notice: Notice, action: @Sendable (ConsoleForm) throws -> Void)] = [
            ("store/settings", .saved, { _ = try store.update(try changes($0)) }),
            (
                "store/faults", .saved,
                { form in
                    let added = try Self.faults(form)
                    try store.write { try $0.add(added) }
                }
            ),
            ("store/faults/clear", .cleared, { _ in try store.clearFaults() }),
            ("store/clear", .cleared, { _ in try store.write { try $0.clearSales() } }),
            ("store/reset", .cleared, { _ in _ = try store.reset() }),
        ]
        for (path, notice, action) in actions {
            pages.postStore(path) { _, context in
                try action(context.form)
                return ConsolePath("store", "settings", done: notice)
            }
        }
    }

    private static func faults(_ form: ConsoleForm) throws -> [NotificationFault] {
        let kind = try form[fault]
        let name = kind == late ? "delay:\(try form[delay] ?? -1)" : kind
        guard let fault = NotificationFault(name: name) else {
            throw ConsoleForm.invalid(late, "a number of seconds, at most a year")
        }
        return Array(repeating: fault, count: try form[count])
    }

    /// Reads the settings of a form.
    ///
    /// - Returns: A closure that applies them. It changes nothing else.
    private func changes(_ form: ConsoleForm) throws -> StoreSetting.Change {
        let settings = try store.settings()
        let fields = StoreSetting.all.flatMap { Self.fields(of: $0, settings) }
        let changes = try fields.map { try form[$0] }
        return { settings in for change in changes { change(&settings) } }
    }

    /// The fields of a setting with its present value. Each reads a change of the settings.
    private static func fields(
        of setting: StoreSetting, _ settings: StoreSettings
    ) -> [Field<StoreSetting.Change>] {
        let (name, title) = (setting.field, Phrase(stated: setting.title))
        let note = setting.note.map { Phrase(stated: $0) }
        switch setting.kind {
        case .flag(let path):
            return [
                Field.checkbox(name, title, isChecked: settings[keyPath: path])
                    .map { isOn in { $0[keyPath: path] = isOn } }
            ]
        case .text(let text):
            let value = text.text(settings)
            var field = Field.text(
                name, title, upTo: text.maximumLength, value: value ?? "", isRequired: text.isRequired, note: note)
            if !text.choices.isEmpty {
                let mayBeEmpty = !text.isRequired && text.change("") != nil
                field.control = choice(name, title, text.choices, value, mayBeEmpty: mayBeEmpty).control
            }
            return [field.parsed(text.expected, text.change)]
        case .number(let path, let minimum):
            let value = settings[keyPath: path].map { String($0) } ?? ""
            return [
                Field.number(name, title, value: value, note: note).map { sent throws(Problem) in
                    let number = sent.map(Int64.init)
                    if let number, let minimum, number < minimum {
                        throw ConsoleForm.invalid(name, "at least \(minimum), or empty")
                    }
                    return { $0[keyPath: path] = number == 0 ? nil : number }
                }
            ]
        case .simulatedErrors:
            return StoreKitCall.allCases.map { call in
                let failures = call.failures.map { ($0.rawValue, $0.rawValue) }
                return choice(
                    name + call.rawValue, Phrase(titled: call), failures,
                    settings.simulatedErrors[call]?.rawValue, mayBeEmpty: true
                )
                .optional("an error of the call") { call.failure(named: $0) }
                .map { failure in { $0.simulatedErrors[call] = failure } }
            }
        }
    }

    private static func choice(
        _ name: String, _ title: Phrase, _ choices: [StoreSetting.Text.Choice], _ chosen: String?, mayBeEmpty: Bool
    ) -> Field<String> {
        let none: [(value: String, title: Phrase)] = mayBeEmpty ? [("", "No error")] : []
        return Field.choice(
            name, title, none + choices.map { ($0.value, Phrase(same: $0.title)) }, chosen: chosen ?? "")
    }

    private func settings(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let (settings, faults) = (try store.settings(), try store.read { try $0.state.faults() })
        return LocalStoreTab.page("Settings of the store", LocalStoreTab.settings) {
            card("Set now") { Self.conditions(settings, faults) }
            context.form(to: LocalStoreTab.settings.path) {
                div(.class("columns")) {
                    for section in StoreSetting.Section.allCases {
                        card(Phrase(stated: section.rawValue)) {
                            for setting in StoreSetting.all where setting.section == section {
                                for field in Self.fields(of: setting, settings) { field }
                            }
                        }
                    }
                }
                button(.class("primary")) { "Save" }
            }
            card("Faults of the next notifications") {
                p { "Each fault is for one notification, in order. They test the server that receives notifications." }
                context.form(to: ConsolePath("store", "faults"), .class("narrow")) {
                    Self.fault
                    Self.delay
                    Self.count
                    button { "Add" }
                }
                if !faults.isEmpty {
                    context.form(to: ConsolePath("store", "faults", "clear")) { button { "Clear the faults" } }
                }
            }
            card("Clear") {
                context.action(
                    "Clear the transactions", to: ConsolePath("store", "clear"), submit: "Clear the transactions",
                    .danger
                ) {
                    p {
                        "Deletes all payments, sales, subscriptions and notifications of the store. The service keeps what it has granted."
                    }
                }
                context.action(
                    "Reset the store", to: ConsolePath("store", "reset"), submit: "Reset the store", .danger
                ) {
                    p {
                        "Clears the transactions, the clock and the settings. The keys, the products and the address of notifications stay."
                    }
                }
            }
        }
    }

    /// The simulated conditions that are set now.
    @HTMLBuilder static func conditions(_ settings: StoreSettings, _ faults: [NotificationFault]) -> HTML {
        let shown = present(settings, faults)
        p {
            spaced(by: ": ", Phrase("Storefront"), Shown.identifier(settings.storefront))
            also(spaced(by: ": ", Phrase("time rate"), Shown.identifier(settings.timeRate.name)), by: " · ")
        }
        if shown.isEmpty {
            emptyNote("Purchases and renewals succeed.")
        } else {
            ul { for condition in shown { li { condition } } }
        }
    }

    @ListBuilder<HTML> private static func present(
        _ settings: StoreSettings, _ faults: [NotificationFault]
    ) -> [HTML] {
        for setting in StoreSetting.all {
            if case .flag(let path) = setting.kind, settings[keyPath: path] {
                HTML { Phrase(stated: setting.title) }
            }
        }
        if settings.notificationsURL == nil { HTML { "Notifications are not sent" } }
        if let error = settings.failureError {
            spaced(
                Phrase("Payments fail with"), Shown.identifier((SKErrorCode(rawValue: error) ?? .unknown).name))
        }
        for (call, failure) in settings.simulatedErrors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            spaced(Phrase(titled: call), Phrase("fails with"), Shown.identifier(failure.rawValue))
        }
        if !faults.isEmpty {
            HTML {
                spaced(
                    by: ": ", Phrase("Faults of the next notifications"),
                    Shown.identifier(faults.prefix(10).map(\.name).joined(separator: ", ")))
                if faults.count > 10 { plain(" … (\(faults.count))") }
            }
        }
    }
}
