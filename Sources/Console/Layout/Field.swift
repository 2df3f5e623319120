import Features
import HTTPSupport
import Proofs

/// A labelled field of a form: its control on the page, and the reading of what the browser sends.
///
/// ```swift
/// static let token = Field.text("token", "Account token", note: "…").optional("a UUID") { UUID(uuidString: $0) }
/// …
/// Self.token                              // on the page
/// let token = try form[Self.token]        // in the receiver
/// ```
struct Field<Value: Sendable>: Sendable {
    /// The name of the field, and its identifier on the page.
    let name: String
    var control: @Sendable (_ value: String?) -> HTML
    let reading: @Sendable (ConsoleForm) throws(Problem) -> Value

    /// - Parameter value: The text in the field; nil for the standard one. Only fields of text and choices take one.
    func html(_ value: String? = nil) -> HTML { control(value) }

    /// A field with another type of value.
    func map<Other>(_ change: @escaping @Sendable (Value) throws(Problem) -> Other) -> Field<Other> {
        Field<Other>(name: name, control: control) { [reading] form throws(Problem) in try change(try reading(form)) }
    }
}

extension HTMLBuilder {
    static func buildExpression<Value>(_ field: Field<Value>?) -> HTML { field?.html() ?? HTML() }
}

extension ConsoleForm {
    /// The value of a field.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    subscript<Value>(field: Field<Value>) -> Value {
        get throws(Problem) { try field.reading(self) }
    }
}

extension Field<String> {
    /// - Parameters:
    ///   - limit: The maximum length, in bytes.
    ///   - maximumLength: The maximum length that the page states, in characters.
    ///   - mark: An attribute by which the script finds the field.
    static func text(
        _ name: String, _ title: Phrase, upTo limit: Int = JSONBody.maximumLength, value standard: String = "",
        autocomplete: String = "off", inputMode: String? = nil, maximumLength: Int? = nil, isRequired: Bool = false,
        note: Phrase? = nil, _ mark: HTMLAttribute? = nil
    ) -> Field {
        Field(name: name) { value in
            input(
                "text", name, title, note: note,
                [
                    .value(value ?? standard), HTMLAttribute("autocomplete", autocomplete),
                    HTMLAttribute("maxlength", String(maximumLength ?? limit)),
                    inputMode.map { HTMLAttribute("inputmode", $0) }, isRequired ? .required : nil,
                ], mark)
        } reading: { form throws(Problem) in
            isRequired ? try form.requiredText(name, upTo: limit) : try form.text(name, upTo: limit)
        }
    }

    static func date(_ name: String, _ title: Phrase, value: String = "", note: Phrase? = nil) -> Field {
        Field(name: name) { _ in
            input("date", name, title, note: note, [.value(value)])
        } reading: { form throws(Problem) in
            try form.text(name)
        }
    }

    static func password(_ name: String, _ title: Phrase, autocomplete: String) -> Field {
        Field(name: name) { _ in
            input(
                "password", name, title,
                [
                    .required, HTMLAttribute("autocomplete", autocomplete),
                    HTMLAttribute("maxlength", String(Password.maximumLength)),
                ])
        } reading: { form throws(Problem) in
            try form.password(name)
        }
    }

    static func area(
        _ name: String, _ title: Phrase, value: String = "", rows: Int, note: Phrase? = nil
    ) -> Field {
        Field(name: name) { _ in
            labelled(name, title, note: note) {
                textarea(
                    .id(name), .name(name), HTMLAttribute("rows", String(rows)), HTMLAttribute("spellcheck", "false"),
                    note.map { _ in described(name) }
                ) { plain(value) }
            }
        } reading: { form throws(Problem) in
            try form.text(name)
        }
    }

    /// A choice among texts, which the receiver checks.
    ///
    /// - Parameters:
    ///   - empty: The title of the first option, which has no value. Nil for a field without it.
    ///   - options: The value and the title of each other option.
    ///   - moments: The moments whose days are in the titles, which the script shows in the browser's time zone.
    static func choice(
        _ name: String, _ title: Phrase, empty: Phrase? = nil, _ options: [(value: String, title: Phrase)],
        chosen: String? = nil, moments: [Timestamp] = []
    ) -> Field {
        Field(name: name) { value in
            let chosen = value ?? chosen
            return labelled(name, title) {
                select(.id(name), .name(name)) {
                    if let empty { option(.value("")) { empty } }
                    for (index, each) in options.enumerated() {
                        let isChosen = chosen.map(each.value.hasSameBytes) ?? false
                        let moment = moments.indices.contains(index) ? moments[index].rfc3339 : nil
                        option(
                            .value(each.value), isChosen ? .selected : nil,
                            moment.map { HTMLAttribute("data-moment", $0) }
                        ) { each.title }
                    }
                }
            }
        } reading: { form throws(Problem) in
            try form.text(name)
        }
    }

    /// The choice of an app by its bundle identifier. Nothing for a service with one app.
    static func app(_ apps: [String], empty: Phrase, chosen: String?) -> Field? {
        guard apps.count > 1 else { return nil }
        return choice("app", "App", empty: empty, apps.map { ($0, Phrase(same: $0)) }, chosen: chosen)
    }

    static func store(empty: Phrase, chosen: String?) -> Field {
        choice("store", "Store", empty: empty, PurchaseStore.allCases.map { ($0.rawValue, $0.title) }, chosen: chosen)
    }

    /// The reason of a change, which the audit log keeps.
    static func reason(_ name: String = "reason") -> Field {
        Field(
            name: name,
            control: text(
                name, "Reason", maximumLength: Reason.maximumLength, isRequired: true,
                note: "The audit log keeps it with your name."
            ).control
        ) { form throws(Problem) in
            try form.reason(name)
        }
    }

    /// A field with another type of value.
    ///
    /// - Parameter expected: The rule of the text, for the error.
    func parsed<Parsed>(_ expected: String, _ parse: @escaping @Sendable (String) -> Parsed?) -> Field<Parsed> {
        map { [name] text throws(Problem) in
            guard let value = parse(text) else { throw ConsoleForm.invalid(name, expected) }
            return value
        }
    }

    /// A field with another type of value; nil if it is empty.
    func optional<Parsed>(_ expected: String, _ parse: @escaping @Sendable (String) -> Parsed?) -> Field<Parsed?> {
        parsed(expected) { text in text.isEmpty ? .some(nil) : parse(text).map { .some($0) } }
    }
}

extension Field<Int?> {
    static func number(
        _ name: String, _ title: Phrase, value: String = "", isRequired: Bool = false, note: Phrase? = nil
    ) -> Field {
        Field(name: name) { _ in
            input(
                "number", name, title, note: note,
                [.value(value), HTMLAttribute("step", "1"), isRequired ? .required : nil])
        } reading: { form throws(Problem) in
            try form.integer(name)
        }
    }
}

extension Field<Int> {
    /// - Parameter expected: The rule of the number, for the error.
    static func number(
        _ name: String, _ title: Phrase, in range: ClosedRange<Int>, expected: String, value: String = ""
    ) -> Field {
        Field<Int?>.number(name, title, value: value, isRequired: true).map { sent throws(Problem) in
            guard let sent, range.contains(sent) else { throw ConsoleForm.invalid(name, expected) }
            return sent
        }
    }
}

extension Field<Bool> {
    static func checkbox(_ name: String, _ title: Phrase, isChecked: Bool = false) -> Field {
        Field(name: name) { _ in
            div(.class("field check")) {
                Console.input(
                    .type("checkbox"), .id(name), .name(name), .value("yes"), isChecked ? .checked : nil)
                label(.for(name)) { title }
            }
        } reading: { form throws(Problem) in
            form.isChecked(name)
        }
    }
}

extension Field<Timestamp> {
    /// A field for a moment to the second, in UTC. An empty one is refused.
    static func moment(_ name: String, _ title: Phrase) -> Field {
        Field(name: name) { value in
            input("datetime-local", name, title, [.required, HTMLAttribute("step", "1"), value.map { .value($0) }])
        } reading: { form throws(Problem) in
            // Browsers leave out zero seconds.
            let text = try form.text(name, upTo: 32)
            let moment = Timestamp(rfc3339: text + "Z") ?? Timestamp(rfc3339: text + ":00Z")
            guard let moment else {
                throw ConsoleForm.invalid(name, "a date and a time, such as 2027-01-31T12:00:00")
            }
            return moment
        }
    }

    func html(_ moment: Timestamp) -> HTML { html(String(moment.rfc3339.prefix(19))) }
}

extension Field {
    /// A choice among values.
    ///
    /// - Parameters:
    ///   - expected: The rule of the choice, for the error.
    ///   - text: The value in the form.
    ///   - absent: The value of an empty field; nil if it is refused.
    ///   - parse: The value of a text that the list may not have; nil for another text.
    static func choice(
        _ name: String, _ title: Phrase, _ values: [Value], expected: String,
        text: @escaping @Sendable (Value) -> String, shown: (Value) -> Phrase,
        chosen: Value? = nil, absent: Value? = nil, isRequired: Bool = false,
        parse: (@Sendable (String) -> Value?)? = nil
    ) -> Field {
        let choice = Field<String>.choice(
            name, title, values.map { (text($0), shown($0)) }, chosen: chosen.map(text))
        return Field(name: name, control: choice.control) { form throws(Problem) in
            let sent = isRequired ? try form.requiredText(name) : try form.text(name)
            if sent.isEmpty, let absent { return absent }
            guard let value = parse.map({ $0(sent) }) ?? values.first(where: { text($0).hasSameBytes(as: sent) }) else {
                throw ConsoleForm.invalid(name, expected)
            }
            return value
        }
    }

    /// - Parameter mark: An attribute after the others.
    private static func input(
        _ type: StaticString, _ name: String, _ title: Phrase, note: Phrase? = nil, _ attributes: [HTMLAttribute?],
        _ mark: HTMLAttribute? = nil
    ) -> HTML {
        let first: [HTMLAttribute?] = [.type(type), .id(name), .name(name)]
        return labelled(name, title, note: note) {
            Console.input((first + attributes + [note.map { _ in described(name) }, mark]).compactMap(\.self))
        }
    }

    private static func described(_ name: String) -> HTMLAttribute {
        HTMLAttribute("aria-describedby", name + "-note")
    }
}
