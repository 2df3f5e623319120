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
        let (name, title) = (setting.field, Phrase(stated: setting.title))
        let note = setting.note.map { Phrase(stated: $0) }
        switch setting.kind {
        case .flag(let path): Field.checkbox(name, title, isChecked: settings[keyPath: path])
        case .text(let text) where text.choices.isEmpty:
            Field.text(
                name, title, value: text.text(settings) ?? "", maximumLength: text.maximumLength,
                isRequired: text.isRequired, note: note)
        case .text(let text):
            let none = text.isRequired || text.change("") == nil ? [] : [("", Self.none)]
            Field.choice(
                name, title, none + text.choices.map { ($0.value, Phrase(same: $0.title)) },
                chosen: text.text(settings) ?? "")
        case .number(let path, _):
            Field.number(name, title, value: settings[keyPath: path].map(String.init) ?? "", note: note)
        case .simulatedErrors:
            for call in StoreKitCall.allCases {
                Field.choice(
                    name + call.rawValue, Phrase(same: call.rawValue),
                    [("", Self.none)] + call.failures.map { ($0.rawValue, Phrase(same: $0.rawValue)) },
                    chosen: settings.simulatedErrors[call]?.rawValue ?? "")
            }
        }
    }

    private static let none = Phrase("No error")

    /// Reads the settings of a form.
    ///
    /// - Returns: A closure that applies them. It changes nothing else.
    static func changes(_ form: ConsoleForm) throws -> StoreSetting.Change {
        var changes: [StoreSetting.Change] = []
        for setting in StoreSetting.all {
            let name = setting.field
            switch setting.kind {
            case .flag(let path):
                let isOn = form.isChecked(name)
                changes.append { $0[keyPath: path] = isOn }
            case .text(let text):
                let value = try form.text(name, upTo: text.maximumLength)
                if text.isRequired, value.isEmpty { throw ConsoleForm.invalid(name, "not empty") }
                guard let change = text.change(value) else { throw ConsoleForm.invalid(name, text.expected) }
                changes.append(change)
            case .number(let path, let minimum):
                let number = try form.integer(name).map(Int64.init)
                if let minimum, let number, number < minimum {
                    throw ConsoleForm.invalid(name, "at least \(minimum), or empty")
                }
                changes.append { $0[keyPath: path] = number == 0 ? nil : number }
            case .simulatedErrors:
                for call in StoreKitCall.allCases {
                    let error = try form.text(name + call.rawValue)
                    let failure = call.failure(named: error)
                    guard error.isEmpty || failure != nil else {
                        throw ConsoleForm.invalid(name + call.rawValue, "an error of the call")
                    }
                    changes.append { $0.simulatedErrors[call] = failure }
                }
            }
        }
        return { [changes] settings in for change in changes { change(&settings) } }
    }
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
        var shown: [HTML] = []
        for setting in StoreSetting.all {
            guard case .flag(let path) = setting.kind, settings[keyPath: path] else { continue }
            shown.append(HTML { Phrase(stated: setting.title) })
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
