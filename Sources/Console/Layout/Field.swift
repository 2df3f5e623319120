import HTTPSupport
import Proofs

/// A labelled field of a form.
enum Field {
    /// - Parameters:
    ///   - name: The name of the field, and its identifier on the page.
    ///   - maximumLength: The maximum length in characters. The service counts bytes.
    ///   - mark: An attribute by which the script finds the field.
    static func text(
        _ name: String,
        _ title: Phrase,
        value: String = "",
        autocomplete: String = "off",
        inputMode: String? = nil,
        maximumLength: Int = 256,
        isRequired: Bool = false,
        note: Phrase? = nil,
        _ mark: HTMLAttribute? = nil
    ) -> HTML {
        labelled(name, title, note: note) {
            input(
                .type("text"), .id(name), .name(name), .value(value), HTMLAttribute("autocomplete", autocomplete),
                HTMLAttribute("maxlength", String(maximumLength)), inputMode.map { HTMLAttribute("inputmode", $0) },
                isRequired ? .required : nil, note.map { _ in HTMLAttribute("aria-describedby", name + "-note") }, mark)
        }
    }

    static func number(
        _ name: String, _ title: Phrase, value: String = "", isRequired: Bool = false, note: Phrase? = nil
    ) -> HTML {
        labelled(name, title, note: note) {
            input(
                .type("number"), .id(name), .name(name), .value(value), HTMLAttribute("step", "1"),
                isRequired ? .required : nil, note.map { _ in HTMLAttribute("aria-describedby", name + "-note") })
        }
    }

    static func date(_ name: String, _ title: Phrase, value: String = "", note: Phrase? = nil) -> HTML {
        labelled(name, title, note: note) {
            input(
                .type("date"), .id(name), .name(name), .value(value),
                note.map { _ in HTMLAttribute("aria-describedby", name + "-note") })
        }
    }

    static func password(_ name: String, _ title: Phrase, autocomplete: String) -> HTML {
        labelled(name, title) {
            input(
                .type("password"), .id(name), .name(name), .required, HTMLAttribute("autocomplete", autocomplete),
                HTMLAttribute("maxlength", String(Password.maximumLength)))
        }
    }

    /// The two fields of a new password.
    @HTMLBuilder static var newPassword: HTML {
        password(
            "new-password",
            "New password (at least \(Password.minimumLength) characters)", autocomplete: "new-password")
        password("repetition", "The same again", autocomplete: "new-password")
    }

    static func area(
        _ name: String, _ title: Phrase, value: String = "", rows: Int = 4, isRequired: Bool = false,
        note: Phrase? = nil
    ) -> HTML {
        labelled(name, title, note: note) {
            textarea(
                .id(name), .name(name), HTMLAttribute("rows", String(rows)), HTMLAttribute("spellcheck", "false"),
                isRequired ? .required : nil, note.map { _ in HTMLAttribute("aria-describedby", name + "-note") }
            ) { plain(value) }
        }
    }

    /// - Parameters:
    ///   - empty: The title of the first option, which has no value. Nil for a field without it.
    ///   - options: The value and the title of each other option.
    static func choice(
        _ name: String, _ title: Phrase, empty: Phrase? = nil, _ options: [(value: String, title: Phrase)],
        chosen: String? = nil
    ) -> HTML {
        labelled(name, title) {
            select(.id(name), .name(name)) {
                if let empty { option(.value("")) { empty } }
                for each in options {
                    let isChosen = chosen.map(each.value.hasSameBytes) ?? false
                    option(.value(each.value), isChosen ? .selected : nil) { each.title }
                }
            }
        }
    }

    /// The choice of an app by its bundle identifier. Nothing for a service with one app.
    static func app(_ apps: [String], empty: Phrase, chosen: String?) -> HTML? {
        guard apps.count > 1 else { return nil }
        return choice("app", "App", empty: empty, apps.map { ($0, Phrase(same: $0)) }, chosen: chosen)
    }

    static func checkbox(_ name: String, _ title: Phrase, isChecked: Bool = false) -> HTML {
        div(.class("field check")) {
            input(.type("checkbox"), .id(name), .name(name), .value("yes"), isChecked ? .checked : nil)
            label(.for(name)) { title }
        }
    }

    private static func labelled(
        _ name: String, _ title: Phrase, note: Phrase? = nil, @HTMLBuilder control: () -> HTML
    ) -> HTML {
        div(.class("field")) {
            label(.for(name)) { title }
            control()
            if let note { small(.id(name + "-note")) { note } }
        }
    }
}

extension Field {
    /// A field for a moment to the second, in UTC.
    static func moment(_ name: String, _ title: Phrase, value: Timestamp? = nil) -> HTML {
        div(.class("field")) {
            label(.for(name)) { title }
            input(
                .type("datetime-local"), .id(name), .name(name), .required, HTMLAttribute("step", "1"),
                value.map { .value(String($0.rfc3339.prefix(19))) })
        }
    }
}

extension ConsoleForm {
    /// The moment of a field, in UTC.
    ///
    /// - Throws: `Problem`, `fieldInvalid`, for an empty field, too.
    func moment(_ name: String) throws(Problem) -> Timestamp {
        // Browsers leave out zero seconds.
        let text = try text(name, upTo: 32)
        let moment = Timestamp(rfc3339: text + "Z") ?? Timestamp(rfc3339: text + ":00Z")
        guard let moment else { throw Self.invalid(name, "a date and a time, such as 2027-01-31T12:00:00") }
        return moment
    }
}
