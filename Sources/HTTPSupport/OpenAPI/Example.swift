import Proofs

extension Schema {
    /// A value that the schema allows: the declared example, or one that follows from the type.
    ///
    /// An object has the required fields, and the optional ones with a declared example.
    ///
    /// - Parameter words: The texts and numbers by the names of their fields.
    func example(_ words: [String: JSONValue]) -> JSONValue {
        Example(components: components, words: words).value(keywords, of: "")
    }

    /// The example of a text that neither its declaration nor its field's name gives one.
    package static let unknownText = "…"
}

private struct Example {
    let components: [String: JSONObject]
    let words: [String: JSONValue]

    func value(_ schema: JSONObject, of name: String) -> JSONValue {
        if let declared = declared(schema) { return declared }
        if let target = target(of: schema) { return value(target, of: name) }
        if let first = first("enum", of: schema) ?? schema["const"] { return first }
        if case .object(let alternative)? = first("oneOf", of: schema) { return value(alternative, of: name) }
        switch first("type", of: schema) ?? schema["type"] {
        case "object": return .object(object(schema))
        case "array":
            guard case .object(let element)? = schema["items"] else { return .array([]) }
            return .array([value(element, of: name)])
        case "boolean": return .bool(true)
        case "integer", "number":
            if case .number? = words[name] { return words[name] ?? .null }
            return schema["default"] ?? schema["minimum"] ?? .integer(1)
        default: return text(schema, of: name)
        }
    }

    private func object(_ schema: JSONObject) -> JSONObject {
        guard case .object(let fields)? = schema["properties"] else { return [:] }
        let required: [JSONValue] = if case .array(let names)? = schema["required"] { names } else { [] }
        return JSONObject(
            fields.members.compactMap { member in
                guard case .object(let field) = member.value,
                    required.contains(.string(member.key)) || declared(field) != nil
                else { return nil }
                return (member.key, value(field, of: member.key))
            })
    }

    private func text(_ schema: JSONObject, of name: String) -> JSONValue {
        switch schema["format"] {
        case "date-time": "2027-01-31T12:00:00Z"
        case "date": "2027-01-31"
        case "uuid": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10"
        default: words[name] ?? .string(Schema.unknownText)
        }
    }

    private func declared(_ schema: JSONObject) -> JSONValue? {
        first("examples", of: schema)
            ?? (schema["items"].flatMap { items in
                if case .object(let element) = items { declared(element).map { .array([$0]) } } else { nil }
            })
    }

    private func target(of schema: JSONObject) -> JSONObject? {
        schema.text("$ref")?.split(separator: "/").last.flatMap { components[String($0)] }
    }

    /// The first element of a list among the keywords.
    private func first(_ keyword: String, of schema: JSONObject) -> JSONValue? {
        if case .array(let values)? = schema[keyword] { values.first } else { nil }
    }
}
