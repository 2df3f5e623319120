import Proofs

/// A JSON Schema, with the named schemas that it refers to.
///
/// As a note on a field it may have some keywords only, such as a description. A text literal is a schema with this description.
package struct Schema: Sendable, ExpressibleByStringInterpolation {
    package private(set) var keywords: JSONObject
    /// The schemas that the keywords refer to, directly or not, by name.
    private(set) var components: [String: JSONObject] = [:]
    /// The reasons why a type has no schema.
    private(set) var defects: [String] = []
    /// True if the field may be missing.
    private(set) var isOptional = false

    /// The schema as a component, to which others refer.
    private func component(_ name: String) -> Schema {
        var reference = self
        reference.components[name] = keywords
        reference.keywords = ["$ref": .string("#/components/schemas/\(name)")]
        return reference
    }

    /// The schema as a component, if it is an object with fields in place, or an enumeration.
    package func named(_ name: String) -> Schema {
        keywords["properties"] == nil && keywords["enum"] == nil ? self : component(name)
    }

    /// The keywords of the component to which the schema refers, or its own.
    private var target: JSONObject {
        get { componentName.flatMap { components[$0] } ?? keywords }
        set { if let name = componentName { components[name] = newValue } else { keywords = newValue } }
    }

    private var properties: JSONObject {
        if case .object(let properties)? = target["properties"] { properties } else { [:] }
    }

    /// The object with more fields.
    package func fields(_ fields: KeyValuePairs<String, Schema>) -> Schema {
        self.fields(fields.map { ($0.key, $0.value) })
    }

    package func fields(_ fields: [(name: String, schema: Schema)]) -> Schema {
        var (object, properties) = (self, properties)
        for (name, field) in fields {
            if !properties.add(name, .object(field.keywords)) { object.defects.append("\"\(name)\" twice") }
            object.merge(field)
        }
        let others: [JSONValue] = if case .array(let names)? = target["required"] { names } else { [] }
        let required = others + fields.filter { !$0.schema.isOptional }.map { JSONValue.string($0.name) }
        if !required.isEmpty { object.target = object.target.adding(["required": .array(required)]) }
        object.target = object.target.adding(["properties": .object(properties)])
        return object
    }

    /// The object with notes on its fields: what the schema says about them besides their types. A reference replaces the type.
    package func noting(_ notes: KeyValuePairs<String, Schema>) -> Schema {
        var (object, properties) = (self, properties)
        for (name, note) in notes {
            guard case .object(let field)? = properties[name] else {
                object.defects.append("no field \"\(name)\" of \(JSONValue.object(target).compactText)")
                continue
            }
            properties = properties.adding([name: .object(Schema(keywords: field).noted(note).keywords)])
            object.merge(note)
        }
        object.target = object.target.adding(["properties": .object(properties)])
        return object
    }

    /// The schema of a field with a note on it. A description of a moment keeps the format.
    func noted(_ note: Schema) -> Schema {
        var schema = self
        if keywords["format"] == "date-time", let text = note.keywords.text("description") {
            schema.keywords = Schema.time(text).keywords
            return schema
        }
        schema.keywords = note.keywords["$ref"] == nil ? keywords.adding(note.keywords) : note.keywords
        schema.merge(note)
        return schema
    }

    package var fieldNames: [String] { properties.keys }

    /// A list whose elements have this schema, a component.
    ///
    /// - Parameters:
    ///   - name: The field with the elements.
    ///   - isPage: True if the list has a cursor of the next page.
    func list(_ description: String, _ name: String, isPage: Bool) -> Schema {
        let element = componentName ?? name
        var fields = [(name, Schema.array(of: self))]
        if isPage {
            fields.append(("nextCursor", .text("The `cursor` of the next page; absent on the last page.").optional))
        }
        let list = Schema.object(description, named: element + "List").fields(fields)
        return components[element]?["additionalProperties"] == nil ? list : list.closed
    }

    /// The name of the component to which the schema refers.
    private var componentName: String? {
        guard let reference = keywords.text("$ref") else { return nil }
        return reference.split(separator: "/").last.map { String($0) }
    }

    private mutating func merge(_ other: Schema) {
        for (name, schema) in other.components where components.updateValue(schema, forKey: name) ?? schema != schema {
            defects.append("two schemas are named \"\(name)\"")
        }
        defects += other.defects
    }
}

extension Schema {
    package init(stringLiteral description: String) {
        self.init(keywords: ["description": .string(description)])
    }

    private init(type: JSONValue, _ description: String?, _ keywords: JSONObject = [:]) {
        let common: JSONObject = ["type": type, "description": description.map { .string($0) }]
        self.init(keywords: common.adding(keywords))
    }

    package static let anyObject = Schema(type: "object", nil)

    package static func text(_ description: String? = nil, upTo maximum: Int? = nil) -> Schema {
        Schema(type: "string", description, ["maxLength": maximum.map { .integer($0) }])
    }

    /// - Parameter length: The allowed lengths; without an end up to `Int.max`.
    package static func text(_ description: String? = nil, length: ClosedRange<Int>) -> Schema {
        Schema(type: "string", description, ["minLength": .integer(length.lowerBound), "maxLength": end(of: length)])
    }

    /// - Parameter range: The allowed numbers; without an end up to `Int.max`.
    package static func integer(
        _ description: String? = nil,
        in range: ClosedRange<Int>? = nil,
        default: Int? = nil
    ) -> Schema {
        Schema(
            type: "integer", description,
            [
                "minimum": range.map { .integer($0.lowerBound) }, "maximum": range.flatMap { end(of: $0) },
                "default": `default`.map { .integer($0) },
            ])
    }

    private static func end(of range: ClosedRange<Int>) -> JSONValue? {
        range.upperBound == .max ? nil : .integer(range.upperBound)
    }

    package static let number = Schema(type: "number", nil)
    package static let null = Schema(type: "null", nil)

    package static func flag(_ description: String? = nil) -> Schema { Schema(type: "boolean", description) }

    package static func uuid(_ description: String? = nil) -> Schema {
        Schema(type: "string", description, ["format": "uuid"])
    }

    package static let binary = text().with(["format": "binary"])

    /// A moment of an answer, in RFC 3339 and UTC.
    package static func time(_ description: String? = nil) -> Schema {
        let text = (description.map { $0 + " " } ?? "") + "RFC 3339, UTC."
        return Schema(type: "string", text, ["format": "date-time"])
    }

    /// A moment of a request, in RFC 3339.
    package static func anyTime(_ description: String) -> Schema {
        Schema(type: "string", description, ["format": "date-time"])
    }

    package static func day(_ description: String? = nil) -> Schema {
        Schema(type: "string", description, ["format": "date"])
    }

    /// A text of an enumeration.
    package static func one(of values: [String], _ description: String? = nil, default: String? = nil) -> Schema {
        Schema(
            type: "string", description,
            ["enum": .array(values.map { .string($0) }), "default": `default`.map { .string($0) }])
    }

    /// A case of a type, whose name without the module is the component's.
    package static func one<Value: CaseIterable & RawRepresentable<String>>(
        of type: Value.Type,
        _ description: String? = nil,
        default: Value? = nil
    ) -> Schema {
        one(of: type.allCases.map(\.rawValue))
            .component(String(reflecting: type).split(separator: ".").dropFirst().joined())
            .with([
                "description": description.map { .string($0) }, "default": (`default`?.rawValue).map { .string($0) },
            ])
    }

    /// An enumeration as a component.
    package static func one(of values: [String], named name: String, _ description: String? = nil) -> Schema {
        one(of: values).component(name).with(["description": description.map { .string($0) }])
    }

    package static func array(of element: Schema, _ description: String? = nil, count: ClosedRange<Int>? = nil)
        -> Schema
    {
        var schema = Schema(
            type: "array", description,
            [
                "items": .object(element.keywords),
                "minItems": count.flatMap { $0.lowerBound == 0 ? nil : .integer($0.lowerBound) },
                "maxItems": count.flatMap { end(of: $0) },
            ])
        schema.merge(element)
        return schema
    }

    /// An object with any names.
    package static func map(of value: Schema, _ description: String? = nil) -> Schema {
        var schema = Schema(type: "object", description, ["additionalProperties": .object(value.keywords)])
        schema.merge(value)
        return schema
    }

    /// An object, to which `fields` adds its fields.
    ///
    /// - Parameter name: The name of the component; nil for a schema in place.
    package static func object(_ description: String? = nil, named name: String? = nil) -> Schema {
        let object = Schema(type: "object", description)
        return name.map { object.component($0) } ?? object
    }

    package static func either(_ schemas: Schema...) -> Schema {
        var either = Schema(keywords: ["oneOf": .array(schemas.map { .object($0.keywords) })])
        for schema in schemas { either.merge(schema) }
        return either
    }

    /// The field may be missing.
    package var optional: Schema {
        var schema = self
        schema.isOptional = true
        return schema
    }

    package var nullable: Schema { keywords["type"].map { with(["type": .array([$0, "null"])]) } ?? self }

    /// An object, or the component of one, that has no other fields.
    package var closed: Schema {
        var schema = self
        schema.target = target.adding(["additionalProperties": .bool(false)])
        return schema
    }

    package func with(_ keywords: JSONObject) -> Schema {
        var schema = self
        schema.keywords = self.keywords.adding(keywords)
        return schema
    }

    /// The schema with the value that examples have. They have no optional field without one.
    package func example(_ value: JSONValue) -> Schema { with(["examples": .array([value])]) }

    package func described(_ description: String) -> Schema { with(["description": .string(description)]) }
}

extension JSONObject {
    package init(_ members: [(String, JSONValue)]) {
        self.init()
        for (key, value) in members { _ = add(key, value) }
    }

    /// The members, then those of `others`, which replace members with the same keys.
    package func adding(_ others: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in members { _ = result.add(member.key, others[member.key] ?? member.value) }
        for member in others.members { _ = result.add(member.key, member.value) }
        return result
    }
}
