import AppStore
import HTTPSupport
import Proofs

/// The form of the store's settings. `StoreSetting` has the fields.
enum StoreSettingsForm {
    static func html(_ settings: StoreSettings, _ context: ConsoleContext) -> HTML {
        context.form(to: LocalStoreTab.settings.path) {
            div(.class("columns")) {
                for section in StoreSetting.Section.allCases {
                    card(Phrase(stated: section.rawValue)) {
                        for setting in StoreSetting.all where setting.section == section { field(setting, settings) }
                    }
                }
            }
            button(.class("primary")) { "Save" }
        }
    }

    @HTMLBuilder private static func field(_ setting: StoreSetting, _ settings: StoreSettings) -> HTML {
        let (name, title, note) = (setting.field, setting.words, setting.note.map { Phrase(stated: $0) })
        switch setting.kind {
        case .flag(let path): Field.checkbox(name, title, isChecked: settings[keyPath: path])
        case .text(let text) where text.choices.isEmpty:
            Field.text(
                name, title, value: text.text(settings) ?? "", maximumLength: text.maximumLength,
                isRequired: text.isRequired, note: note)
        case .text(let text):
            let mayBeEmpty = !text.isRequired && text.change("") != nil
            choice(name, title, text.choices, text.text(settings), mayBeEmpty: mayBeEmpty)
        case .number(let path, _):
            Field.number(name, title, value: settings[keyPath: path].map(String.init) ?? "", note: note)
        case .simulatedErrors:
            for call in StoreKitCall.allCases {
                choice(
                    name + call.rawValue, Phrase(same: call.rawValue), call.failures.map { ($0.rawValue, $0.rawValue) },
                    settings.simulatedErrors[call]?.rawValue, mayBeEmpty: true)
            }
        }
    }

    private static func choice(
        _ name: String, _ title: Phrase, _ choices: [StoreSetting.Text.Choice], _ chosen: String?, mayBeEmpty: Bool
    ) -> HTML {
        let none: [(value: String, title: Phrase)] = mayBeEmpty ? [("", "No error")] : []
        return Field.choice(
            name, title, none + choices.map { ($0.value, Phrase(same: $0.title)) }, chosen: chosen ?? "")
    }

    /// Reads the settings of a form.
    ///
    /// - Returns: A closure that applies them. It changes nothing else.
    static func changes(_ form: ConsoleForm) throws -> StoreSetting.Change {
        let changes = try StoreSetting.all.map { try change($0, form) }
        return { settings in for change in changes { change(&settings) } }
    }

    private static func change(_ setting: StoreSetting, _ form: ConsoleForm) throws(Problem) -> StoreSetting.Change {
        let name = setting.field
        switch setting.kind {
        case .flag(let path):
            let isOn = form.isChecked(name)
            return { $0[keyPath: path] = isOn }
        case .text(let text):
            let sent =
                text.isRequired
                ? try form.requiredText(name, upTo: text.maximumLength) : try form.text(name, upTo: text.maximumLength)
            guard let change = text.change(sent) else { throw ConsoleForm.invalid(name, text.expected) }
            return change
        case .number(let path, let minimum):
            let number = try form.integer(name).map(Int64.init)
            if let number, let minimum, number < minimum {
                throw ConsoleForm.invalid(name, "at least \(minimum), or empty")
            }
            return { $0[keyPath: path] = number == 0 ? nil : number }
        case .simulatedErrors:
            var errors: [StoreKitCall: StoreKitFailure] = [:]
            for call in StoreKitCall.allCases {
                let sent = try form.text(name + call.rawValue)
                guard !sent.isEmpty else { continue }
                guard let failure = call.failure(named: sent) else {
                    throw ConsoleForm.invalid(name + call.rawValue, "an error of the call")
                }
                errors[call] = failure
            }
            return { [errors] in $0.simulatedErrors = errors }
        }
    }
}

extension StoreSetting {
    /// The label in each language.
    fileprivate var words: Phrase { Phrase(stated: title) }
}

/// The simulated conditions that are set now.
enum StoreConditions {
    @HTMLBuilder static func list(_ settings: StoreSettings, _ faults: [NotificationFault]) -> HTML {
        let shown = conditions(settings, faults)
        p {
            "Storefront"
            plain(": ")
            Shown.identifier(settings.storefront)
            plain(" · ")
            "time rate"
            plain(": ")
            Shown.identifier(settings.timeRate.name)
        }
        if shown.isEmpty {
            emptyNote("Purchases and renewals succeed.")
        } else {
            ul { for condition in shown { li { condition } } }
        }
    }

    private static func conditions(_ settings: StoreSettings, _ faults: [NotificationFault]) -> [HTML] {
        var shown = StoreSetting.all.compactMap { setting -> HTML? in
            guard case .flag(let path) = setting.kind, settings[keyPath: path] else { return nil }
            return HTML { setting.words }
        }
        if settings.notificationsURL == nil { shown.append(HTML { "Notifications are not sent" }) }
        if let error = settings.failureError {
            shown.append(
                HTML {
                    "Payments fail with"
                    plain(" ")
                    Shown.identifier((SKErrorCode(rawValue: error) ?? .unknown).name)
                })
        }
        for (call, failure) in settings.simulatedErrors.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            shown.append(
                HTML {
                    Shown.identifier(call.rawValue)
                    plain(" ")
                    "fails with"
                    plain(" ")
                    Shown.identifier(failure.rawValue)
                })
        }
        if !faults.isEmpty {
            shown.append(
                HTML {
                    "Faults of the next notifications"
                    plain(": ")
                    Shown.identifier(faults.prefix(10).map(\.name).joined(separator: ", "))
                    if faults.count > 10 { plain(" … (\(faults.count))") }
                })
        }
        return shown
    }
}
