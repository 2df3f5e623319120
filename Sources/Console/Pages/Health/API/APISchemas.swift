import StrictJSON

/// The components of an OpenAPI document, for its references.
struct APISchemas {
    /// The depth at which a schema is not followed any more: schemas may contain themselves.
    private static let maximumDepth = 6

    private let document: JSONValue

    init(_ document: JSONValue) {
        self.document = document
    }

    /// The value that a reference names, or the value itself.
    func resolved(_ value: JSONValue) -> JSONValue {
        var value = value
        for _ in 0..<Self.maximumDepth {
            guard let reference = value["$ref"]?.text, reference.hasPrefix("#/") else { return value }
            var target: JSONValue? = document
            for key in reference.dropFirst(2).split(separator: "/") { target = target?[String(key)] }
            value = target ?? .null
        }
        return value
    }

    /// The schema with its references replaced by what they name.
    func expanded(_ schema: JSONValue, depth: Int = 0) -> JSONValue {
        guard depth < Self.maximumDepth else { return schema }
        switch resolved(schema) {
        case .object(let object):
            var copy = JSONObject()
            for member in object.members { _ = copy.add(member.key, expanded(member.value, depth: depth + 1)) }
            return .object(copy)
        case .array(let elements): return .array(elements.map { expanded($0, depth: depth + 1) })
        case let value: return value
        }
    }

    /// A value with the required members of a schema.
    func example(of schema: JSONValue, depth: Int = 0) -> JSONValue {
        let schema = resolved(schema)
        if let example = schema["example"] { return example }
        if let first = schema["enum"]?.elements.first { return first }
        guard depth < Self.maximumDepth else { return .null }
        switch type(of: schema) {
        case "object":
            let required = (schema["required"]?.elements ?? []).compactMap(\.text)
            var object = JSONObject()
            for name in required {
                _ = object.add(name, example(of: schema["properties"]?[name] ?? .null, depth: depth + 1))
            }
            return .object(object)
        case "array": return .array([example(of: schema["items"] ?? .null, depth: depth + 1)])
        case "integer", "number": return schema["minimum"] ?? .integer(1)
        case "boolean": return .bool(true)
        default: return .string(schema["format"]?.text == "date-time" ? "2027-01-31T00:00:00Z" : "…")
        }
    }

    /// The type and the limits of a value in words.
    func summary(of schema: JSONValue) -> String {
        var words = [schema["format"]?.text ?? type(of: schema)]
        switch (schema["minimum"]?.number, schema["maximum"]?.number) {
        case (let low?, let high?): words.append("\(low)–\(high)")
        case (let low?, nil): words.append("≥ \(low)")
        case (nil, let high?): words.append("≤ \(high)")
        case (nil, nil): break
        }
        if let standard = schema["default"]?.number ?? schema["default"]?.text { words.append("= \(standard)") }
        return words.joined(separator: ", ")
    }

    /// The first type of a schema that is not null.
    private func type(of schema: JSONValue) -> String {
        schema["type"]?.text ?? schema["type"]?.elements.compactMap(\.text).first { $0 != "null" }
            ?? (schema["properties"] == nil ? "string" : "object")
    }
}

extension JSONValue {
    /// The member of an object; nil for other values.
    subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The members of an object, in order; none for other values.
    var members: [(key: String, value: JSONValue)] {
        if case .object(let object) = self { object.members.map { ($0.key, $0.value) } } else { [] }
    }

    /// The elements of an array; none for other values.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    fileprivate var number: String? {
        if case .number(let number) = self { number.text } else { nil }
    }
}
