import HTTPSupport
import Proofs

/// A field of a form: its control on the page, and the reading of what the browser sends.
///
/// ```swift
/// static let token = FormField.text("token", "Account token", note: "…").optional("a UUID") { UUID(uuidString: $0) }
/// …
/// Self.token.html()                       // on the page
/// let token = try form[Self.token]        // in the receiver
/// ```
struct FormField<Value: Sendable>: Sendable {
    let name: String
    /// - Parameter value: The text in the field; nil for the standard one.
    fileprivate let control: @Sendable (_ value: String?) -> HTML
    fileprivate let reading: @Sendable (ConsoleForm) throws(Problem) -> Value

    func html(_ value: String? = nil) -> HTML { control(value) }
}

extension ConsoleForm {
    /// The value of a field.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    subscript<Value>(field: FormField<Value>) -> Value {
        get throws(Problem) { try field.reading(self) }
    }
}

extension FormField<String> {
    /// - Parameters:
    ///   - limit: The maximum length, in bytes.
    ///   - maximumLength: The maximum length that the page states, in characters.
    static func text(
        _ name: String, _ title: Phrase, upTo limit: Int = JSONBody.maximumLength, maximumLength: Int? = nil,
        value standard: String = "", inputMode: String? = nil, isRequired: Bool = false, note: Phrase? = nil
    ) -> FormField {
        FormField(name: name) { value in
            Field.text(
                name, title, value: value ?? standard, inputMode: inputMode, maximumLength: maximumLength ?? limit,
                isRequired: isRequired, note: note)
        } reading: { form throws(Problem) in
            isRequired ? try form.requiredText(name, upTo: limit) : try form.text(name, upTo: limit)
        }
    }

    /// A choice among texts, which the receiver checks.
    static func choice(_ name: String, _ title: Phrase, _ options: [(value: String, title: Phrase)]) -> FormField {
        FormField(name: name) {
            Field.choice(name, title, options, chosen: $0)
        } reading: { form throws(Problem) in
            try form.text(name)
        }
    }

    static func reason(_ name: String = "reason") -> FormField {
        FormField(name: name) { _ in
            Field.reason(name)
        } reading: { form throws(Problem) in
            try form.reason(name)
        }
    }

    /// A field with another type of value.
    ///
    /// - Parameter expected: The rule of the text, for the error.
    func parsed<Parsed>(
        _ expected: String, _ parse: @escaping @Sendable (String) -> Parsed?
    ) -> FormField<Parsed> {
        FormField<Parsed>(name: name, control: control) { [name, reading] form throws(Problem) in
            guard let value = parse(try reading(form)) else { throw ConsoleForm.invalid(name, expected) }
            return value
        }
    }

    /// A field with another type of value; nil if it is empty.
    func optional<Parsed>(
        _ expected: String, _ parse: @escaping @Sendable (String) -> Parsed?
    ) -> FormField<Parsed?> {
        FormField<Parsed?>(name: name, control: control) { [name, reading] form throws(Problem) in
            let text = try reading(form)
            guard !text.isEmpty else { return nil }
            guard let value = parse(text) else { throw ConsoleForm.invalid(name, expected) }
            return value
        }
    }
}

extension FormField<Int> {
    /// - Parameters:
    ///   - expected: The rule of the number, for the error.
    ///   - absent: The number of an empty field; nil if it is required.
    static func number(
        _ name: String, _ title: Phrase, in range: ClosedRange<Int>, expected: String, value: String = "",
        absent: Int? = nil
    ) -> FormField {
        FormField(name: name) { _ in
            Field.number(name, title, value: value, isRequired: true)
        } reading: {
            form throws(Problem) in
            guard let number = try form.integer(name) ?? absent, range.contains(number) else {
                throw ConsoleForm.invalid(name, expected)
            }
            return number
        }
    }
}

extension FormField {
    /// A choice among values.
    ///
    /// - Parameters:
    ///   - expected: The rule of the choice, for the error.
    ///   - text: The value in the form.
    ///   - absent: The value of an empty field; nil if it is refused.
    ///   - parse: The value of a text that the list may not have; nil for another text.
    static func choice(
        _ name: String, _ title: Phrase, _ values: [Value], expected: String,
        text: @escaping @Sendable (Value) -> String, shown: @escaping @Sendable (Value) -> Phrase,
        chosen: Value? = nil, absent: Value? = nil, isRequired: Bool = false,
        parse: (@Sendable (String) -> Value?)? = nil
    ) -> FormField {
        FormField(name: name) { value in
            Field.choice(name, title, values.map { (text($0), shown($0)) }, chosen: value ?? chosen.map(text))
        } reading: { form throws(Problem) in
            let sent = isRequired ? try form.requiredText(name) : try form.text(name)
            if sent.isEmpty, let absent { return absent }
            guard let value = parse.map({ $0(sent) }) ?? values.first(where: { text($0).hasSameBytes(as: sent) }) else {
                throw ConsoleForm.invalid(name, expected)
            }
            return value
        }
    }
}
