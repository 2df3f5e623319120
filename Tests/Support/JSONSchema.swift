import Foundation
import Proofs

/// A JSON Schema (draft 2020-12) with the keywords of the files in `Schemas`. Other keywords are refused, because a
/// validator would ignore a misspelled one.
package struct JSONSchema {
    /// An invalid schema.
    package struct Invalid: Error {
        package let reason: String
    }

    /// A keyword that an instance violates.
    package struct Violation: Hashable, CustomStringConvertible {
        /// The path in the instance (RFC 6901).
        package let path: String
        package let keyword: String

        package var description: String { "\(path): \(keyword)" }
    }

    private static let keywords: Set = [
        "$defs", "$ref", "$schema", "additionalProperties", "anyOf", "enum", "items", "minItems", "minLength",
        "minimum",
        "pattern", "properties", "required", "title", "type",
    ]

    private let root: JSONObject

    /// - Parameter name: The name of a file in `Schemas`.
    package init(named name: String) throws {
        try self.init(text: try Project.text("Tests/Doors/Schemas/\(name).json"))
    }

    package init(text: String) throws {
        guard case .object(let root) = try JSONParser.parse(Array(text.utf8)) else {
            throw Invalid(reason: "The schema is not an object.")
        }
        self.root = root
    }

    package func violations(in instance: JSONValue) throws -> [Violation] {
        try violations(instance, .object(root), at: "")
    }

    /// The instances that differ from a valid one in one place, and that the schema must refuse: without a required
    /// member, or with a value of another type.
    package func mutations(of instance: JSONValue) throws -> [(path: String, instance: JSONValue)] {
        try mutations(instance, .object(root), at: "")
    }

    private func resolved(_ schema: JSONValue) throws -> JSONObject {
        guard case .object(let object) = schema else { throw Invalid(reason: "A subschema is not an object.") }
        if let unknown = object.keys.first(where: { !Self.keywords.contains($0) }) {
            throw Invalid(reason: "The keyword \"\(unknown)\" is not supported.")
        }
        guard case .string(let reference)? = object["$ref"] else { return object }
        let prefix = "#/$defs/"
        guard reference.hasPrefix(prefix), object.keys.count == 1, case .object(let definitions)? = root["$defs"],
            let target = definitions[String(reference.dropFirst(prefix.count))]
        else { throw Invalid(reason: "The reference \"\(reference)\" leads nowhere.") }
        return try resolved(target)
    }

    private func violations(_ instance: JSONValue, _ schema: JSONValue, at path: String) throws -> [Violation] {
        let schema = try resolved(schema)
        func violation(_ keyword: String) -> Violation { Violation(path: path, keyword: keyword) }
        if let types = try Self.types(schema), !types.contains(where: { Self.has(instance, type: $0) }) {
            return [violation("type")]
        }
        var found: [Violation] = []
        if case .array(let values)? = schema["enum"], !values.contains(instance) { found.append(violation("enum")) }
        if case .array(let alternatives)? = schema["anyOf"],
            try alternatives.allSatisfy({ try !violations(instance, $0, at: path).isEmpty })
        {
            found.append(violation("anyOf"))
        }
        switch instance {
        case .string(let text):
            if case .string(let pattern)? = schema["pattern"], try text.firstMatch(of: Regex(pattern)) == nil {
                found.append(violation("pattern"))
            }
            if case .number(let number)? = schema["minLength"], Int64(text.unicodeScalars.count) < number.int64 ?? 0 {
                found.append(violation("minLength"))
            }
        case .number(let value):
            if case .number(let number)? = schema["minimum"], value.double ?? 0 < number.double ?? 0 {
                found.append(violation("minimum"))
            }
        case .array(let elements):
            if case .number(let number)? = schema["minItems"], Int64(elements.count) < number.int64 ?? 0 {
                found.append(violation("minItems"))
            }
            guard let items = schema["items"] else { break }
            for (index, element) in elements.enumerated() {
                found += try violations(element, items, at: "\(path)/\(index)")
            }
        case .object(let object):
            found += Self.required(schema).filter { object[$0] == nil }
                .map { Violation(path: "\(path)/\($0)", keyword: "required") }
            for member in object.members {
                guard let inner = Self.schema(of: member.key, in: schema) else { continue }
                found += try violations(member.value, inner, at: "\(path)/\(member.key)")
            }
        case .bool, .null: break
        }
        return found
    }

    private func mutations(
        _ instance: JSONValue,
        _ schema: JSONValue,
        at path: String
    ) throws -> [(path: String, instance: JSONValue)] {
        let schema = try resolved(schema)
        var found: [(path: String, instance: JSONValue)] = []
        if let types = try Self.types(schema) {
            let others: [JSONValue] = ["text", .number(JSONNumber(thousandths: 500)), .bool(true), .null, .array([])]
            if let other = others.first(where: { value in !types.contains { Self.has(value, type: $0) } }) {
                found.append((path, other))
            }
        }
        switch instance {
        case .array(let elements):
            guard let items = schema["items"] else { break }
            for (index, element) in elements.enumerated() {
                found += try mutations(element, items, at: "\(path)/\(index)").map { mutation in
                    var changed = elements
                    changed[index] = mutation.instance
                    return (mutation.path, .array(changed))
                }
            }
        case .object(let object):
            for name in Self.required(schema) where object[name] != nil {
                found.append(("\(path)/\(name) absent", .object(object.replacing(name, with: nil))))
            }
            for member in object.members {
                guard let inner = Self.schema(of: member.key, in: schema) else { continue }
                found += try mutations(member.value, inner, at: "\(path)/\(member.key)").map { mutation in
                    (mutation.path, .object(object.replacing(member.key, with: mutation.instance)))
                }
            }
        case .string, .number, .bool, .null: break
        }
        return found
    }

    private static func required(_ schema: JSONObject) -> [String] {
        guard case .array(let names)? = schema["required"] else { return [] }
        return names.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }

    private static func schema(of member: String, in schema: JSONObject) -> JSONValue? {
        if case .object(let properties)? = schema["properties"], let inner = properties[member] { return inner }
        return schema["additionalProperties"]
    }

    private static func types(_ schema: JSONObject) throws -> [String]? {
        switch schema["type"] {
        case nil: nil
        case .string(let type): [type]
        case .array(let types): types.compactMap { if case .string(let type) = $0 { type } else { nil } }
        default: throw Invalid(reason: "The keyword \"type\" is not a string or an array.")
        }
    }

    private static func has(_ instance: JSONValue, type: String) -> Bool {
        if type == "integer", case .number(let number) = instance { return number.int64 != nil }
        return instance.kind == type
    }
}

extension JSONObject {
    /// The object with another value of a member, or without the member.
    package func replacing(_ key: String, with value: JSONValue?) -> JSONObject {
        var object = JSONObject()
        for member in members {
            if member.key != key {
                _ = object.add(member.key, member.value)
            } else if let value {
                _ = object.add(key, value)
            }
        }
        return object
    }
}
