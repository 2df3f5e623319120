import Proofs

/// A type with a schema in the OpenAPI document.
package protocol SchemaSource {
    static var schema: Schema { get }
}

/// A JSON Schema, with the named schemas that it refers to.
///
/// As a note on a field it may have some keywords only, such as a description. A text literal is a schema with this description.
package struct Schema: Sendable, ExpressibleByStringLiteral {
    package private(set) var keywords: JSONObject
    /// The schemas that the keywords refer to, directly or not, by name.
    private(set) var components: [String: JSONObject] = [:]
    /// The reasons why a type has no schema.
    private(set) var defects: [String] = []
    /// True if the field may be missing.
    private(set) var isOptional = false

    package init(_ keywords: JSONObject) {
        self.keywords = keywords
    }

    package init(stringLiteral description: String) {
        keywords = ["description": .string(description)]
    }

    private init(type: JSONValue, _ description: String?, _ keywords: JSONObject = [:]) {
        self.keywords = (["type": type] as JSONObject).adding(keywords)
        if let description { self.keywords = self.keywords.adding(["description": .string(description)]) }
    }

    /// The schema of a type's JSON, as its decoding reads it.
    ///
    /// - Parameters:
    ///   - name: The name of the component; nil for a schema in place.
    ///   - notes: What the schema says about the fields besides their types.
    package init(
        of type: (some Decodable).Type,
        named name: String? = nil,
        _ description: String?,
        _ notes: KeyValuePairs<String, Schema> = [:]
    ) {
        var fields: [(String, Schema)] = []
        var defects: [String] = []
        do {
            fields = try SchemaProbe.fields(of: type)
        } catch {
            defects.append("\(type): \(error)")
        }
        let known = Set(fields.map(\.0))
        defects += notes.filter { !known.contains($0.key) }.map { "\(type) has no field \"\($0.key)\"" }
        let noted = fields.map { field in
            (field.0, notes.first { $0.key == field.0 }.map { field.1.noted($0.value) } ?? field.1)
        }
        self.init(description, noted, named: name)
        self.defects += defects
    }

    /// The schema of an object with fields.
    ///
    /// - Parameter name: The name of the component; nil for a schema in place.
    private init(_ description: String?, _ fields: [(String, Schema)], named name: String?) {
        self.init(type: "object", description)
        let required = fields.filter { !$0.1.isOptional }.map { JSONValue.string($0.0) }
        if !required.isEmpty { keywords = keywords.adding(["required": .array(required)]) }
        var properties = JSONObject()
        for (name, field) in fields {
            if !properties.add(name, .object(field.keywords)) { defects.append("\"\(name)\" twice") }
            merge(field)
        }
        keywords = keywords.adding(["properties": .object(properties)])
        if let name { self = component(name) }
    }

    /// The schema as a component, to which others refer.
    private func component(_ name: String) -> Schema {
        var reference = self
        reference.components[name] = keywords
        reference.keywords = ["$ref": .string("#/components/schemas/\(name)")]
        return reference
    }

    /// The names of an object's fields.
    package var fieldNames: [String] {
        let object = componentName.flatMap { components[$0] } ?? keywords
        guard case .object(let properties)? = object["properties"] else { return [] }
        return properties.keys
    }

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
        let list = Schema(description, fields, named: element + "List")
        return components[element]?["additionalProperties"] == nil ? list : list.closed
    }

    /// The name of the component to which the schema refers.
    private var componentName: String? {
        guard case .string(let reference)? = keywords["$ref"] else { return nil }
        return reference.split(separator: "/").last.map { String($0) }
    }

    private mutating func merge(_ other: Schema) {
        for (name, schema) in other.components where components.updateValue(schema, forKey: name) ?? schema != schema {
            defects.append("two schemas are named \"\(name)\"")
        }
        defects += other.defects
    }

    /// The schema with the keywords of a note. A reference in the note replaces the schema.
    private func noted(_ note: Schema) -> Schema {
        var result = self
        result.keywords = note.keywords["$ref"] == nil ? keywords.adding(note.keywords) : note.keywords
        result.isOptional = isOptional || note.isOptional
        result.merge(note)
        return result
    }
}

extension Schema {
    package static let anyObject = Schema(type: "object", nil)

    package static func text(_ description: String? = nil, upTo maximum: Int? = nil) -> Schema {
        Schema(type: "string", description, maximum.map { ["maxLength": .integer($0)] } ?? [:])
    }

    package static func text(_ description: String? = nil, length: ClosedRange<Int>) -> Schema {
        let keywords: JSONObject = ["minLength": .integer(length.lowerBound)]
        return length.upperBound == .max
            ? Schema(type: "string", description, keywords) : text(description, upTo: length.upperBound).with(keywords)
    }

    package static func integer(
        _ description: String? = nil,
        in range: ClosedRange<Int>? = nil,
        default: Int? = nil
    ) -> Schema {
        var keywords = JSONObject()
        if let range {
            if range.lowerBound > .min { _ = keywords.add("minimum", .integer(range.lowerBound)) }
            if range.upperBound < .max { _ = keywords.add("maximum", .integer(range.upperBound)) }
        }
        if let `default` { _ = keywords.add("default", .integer(`default`)) }
        return Schema(type: "integer", description, keywords)
    }

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

    /// A day.
    package static func day(_ description: String? = nil) -> Schema {
        Schema(type: "string", description, ["format": "date"])
    }

    /// A text of an enumeration.
    package static func one(of values: [String], _ description: String? = nil, default: String? = nil) -> Schema {
        var keywords: JSONObject = ["enum": .array(values.map { .string($0) })]
        if let `default` { _ = keywords.add("default", .string(`default`)) }
        return Schema(type: "string", description, keywords)
    }

    /// A text of an enumeration.
    package static func one<Value: CaseIterable & RawRepresentable<String>>(
        of type: Value.Type,
        _ description: String? = nil,
        default: Value? = nil
    ) -> Schema {
        one(of: type.allCases.map(\.rawValue), description, default: `default`?.rawValue)
    }

    /// An enumeration as a component.
    package static func one(of values: [String], named name: String, _ description: String) -> Schema {
        one(of: values, description).component(name)
    }

    package static func array(of element: Schema, _ description: String? = nil, count: ClosedRange<Int>? = nil)
        -> Schema
    {
        var keywords: JSONObject = ["items": .object(element.keywords)]
        if let count {
            if count.lowerBound > 0 { _ = keywords.add("minItems", .integer(count.lowerBound)) }
            _ = keywords.add("maxItems", .integer(count.upperBound))
        }
        var schema = Schema(type: "array", description, keywords)
        schema.merge(element)
        return schema
    }

    /// An object with any names.
    package static func map(of value: Schema, _ description: String? = nil) -> Schema {
        var schema = Schema(type: "object", description, ["additionalProperties": .object(value.keywords)])
        schema.merge(value)
        return schema
    }

    /// An object with these fields.
    ///
    /// - Parameter name: The name of the component; nil for a schema in place.
    package static func object(
        _ description: String?,
        named name: String? = nil,
        _ fields: KeyValuePairs<String, Schema>
    ) -> Schema {
        object(description, named: name, fields: fields.map { ($0.key, $0.value) })
    }

    package static func object(
        _ description: String?,
        named name: String? = nil,
        fields: [(String, Schema)]
    ) -> Schema {
        Schema(description, fields, named: name)
    }

    /// One of several schemas.
    package static func either(_ schemas: Schema..., description: String? = nil) -> Schema {
        var either = Schema(["oneOf": .array(schemas.map { .object($0.keywords) })])
        if let description { either = either.with(["description": .string(description)]) }
        for schema in schemas { either.merge(schema) }
        return either
    }

    /// The field may be missing.
    package var optional: Schema {
        var schema = self
        schema.isOptional = true
        return schema
    }

    /// The value may be null.
    package var nullable: Schema { keywords["type"].map { with(["type": .array([$0, "null"])]) } ?? self }

    /// An object, or the component of one, that has no other fields.
    package var closed: Schema {
        var schema = self
        let rule: JSONObject = ["additionalProperties": .bool(false)]
        if let name = componentName {
            schema.components[name] = components[name]?.adding(rule)
        } else {
            schema.keywords = keywords.adding(rule)
        }
        return schema
    }

    package func with(_ keywords: JSONObject) -> Schema {
        var schema = self
        schema.keywords = self.keywords.adding(keywords)
        return schema
    }

    /// The schema with another description.
    package func described(_ description: String) -> Schema { with(["description": .string(description)]) }
}

extension JSONObject {
    /// The members, then those of `others`, which replace members with the same keys.
    func adding(_ others: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in members { _ = result.add(member.key, others[member.key] ?? member.value) }
        for member in others.members { _ = result.add(member.key, member.value) }
        return result
    }
}
