import Foundation
import HTTPSupport
import Proofs
import Testing

/// The OpenAPI document of an API, with which tests compare the routes and the answers.
package struct DescribedAPI {
    package let document: JSONContent
    /// The operations, by method in upper case and path, such as `GET /sandbox/v1/time`.
    package let operations: [String: JSONContent]

    package init(_ bytes: [UInt8]) throws {
        document = try JSONDecoder().decode(JSONContent.self, from: Data(bytes))
        var operations: [String: JSONContent] = [:]
        for (path, methods) in Self.members(document["paths"]) {
            for (method, operation) in Self.members(methods) {
                operations["\(method.uppercased()) \(path)"] = operation
            }
        }
        self.operations = operations
    }

    package static func members(_ content: JSONContent?) -> [String: JSONContent] {
        guard case .object(let members)? = content else { return [:] }
        return members
    }

    package static func texts(_ content: JSONContent?) -> [String] {
        guard case .array(let elements)? = content else { return [] }
        return elements.compactMap(\.text)
    }

    /// The error codes that a page explains.
    package static func codes(_ page: String) -> [String] {
        page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    }

    /// The components, as references name them.
    package var components: Set<String> {
        Set(
            ["parameters", "responses", "schemas"].flatMap { kind in
                Self.members(document["components"]?[kind]).keys.map { "#/components/\(kind)/\($0)" }
            })
    }

    /// The references of the document.
    package var references: Set<String> { Self.references(in: document) }

    private static func references(in value: JSONContent) -> Set<String> {
        switch value {
        case .object(let members):
            Set(members.values.flatMap { references(in: $0) }).union([members["$ref"]?.text].compactMap(\.self))
        case .array(let elements): Set(elements.flatMap { references(in: $0) })
        default: []
        }
    }

    /// The places of a value that its schema does not allow, with the keyword or the value.
    package func faults(of value: JSONContent, _ schema: JSONContent, _ place: String = "") -> [String] {
        if let reference = schema["$ref"]?.text {
            let name = String(reference.split(separator: "/").last ?? "")
            guard let target = document["components"]?["schemas"]?[name] else { return ["\(place): \(reference)"] }
            return faults(of: value, target, place)
        }
        if case .array(let alternatives)? = schema["oneOf"] {
            return alternatives.contains { self.faults(of: value, $0, place).isEmpty } ? [] : ["\(place): oneOf"]
        }
        var (faults, kind): ([String], String) = ([], "null")
        switch value {
        case .object(let members):
            kind = "object"
            faults = Self.texts(schema["required"]).filter { members[$0] == nil }.map { "\(place)/\($0): required" }
            for (name, member) in members {
                if let field = schema["properties"]?[name] {
                    faults += self.faults(of: member, field, "\(place)/\(name)")
                } else if schema["additionalProperties"] == .bool(false) {
                    faults.append("\(place)/\(name): additionalProperties")
                }
            }
        case .array(let elements):
            kind = "array"
            faults = Self.isInside(elements.count, schema["minItems"], schema["maxItems"]) ? [] : ["\(place): items"]
            if let element = schema["items"] {
                faults += elements.flatMap { self.faults(of: $0, element, place) }
            }
        case .string(let text):
            kind = "string"
            faults = Self.allows(text, schema) ? [] : ["\(place): \(text)"]
        case .integer(let number):
            kind = "integer"
            faults = Self.isInside(Int(number), schema["minimum"], schema["maximum"]) ? [] : ["\(place): \(number)"]
        case .number: kind = "number"
        case .bool: kind = "boolean"
        case .null: kind = "null"
        }
        let types = schema["type"]?.text.map { [$0] } ?? Self.texts(schema["type"])
        return types.isEmpty || types.contains(kind) ? faults : ["\(place): type"]
    }

    private static func isInside(_ number: Int, _ minimum: JSONContent?, _ maximum: JSONContent?) -> Bool {
        if case .integer(let minimum)? = minimum, number < minimum { return false }
        if case .integer(let maximum)? = maximum, number > maximum { return false }
        return true
    }

    private static func allows(_ text: String, _ schema: JSONContent) -> Bool {
        if schema["enum"] != nil, !texts(schema["enum"]).contains(text) { return false }
        if let pattern = schema["pattern"]?.text {
            guard let expression = try? Regex(pattern), text.firstMatch(of: expression) != nil else { return false }
        }
        switch schema["format"]?.text {
        case "uuid" where UUID(uuidString: text) == nil: return false
        case "date-time" where Timestamp(rfc3339: text) == nil: return false
        default: break
        }
        return text != Schema.unknownText && isInside(text.count, schema["minLength"], schema["maxLength"])
    }

    /// Compares an answer with the schema of its operation, field by field.
    package func check(_ json: some Sequence<UInt8>, of name: String, _ status: Int) throws {
        let operation = try #require(operations[name], "\(name)")
        let schema = operation["responses"]?[String(status)]?["content"]?["application/json"]?["schema"]
        try check(JSONDecoder().decode(JSONContent.self, from: Data(json)), schema, name)
    }

    private func check(_ value: JSONContent, _ schema: JSONContent?, _ place: String) throws {
        var schema = try #require(schema, "\(place)")
        if let reference = schema["$ref"]?.text {
            let name = String(reference.split(separator: "/").last ?? "")
            schema = try #require(document["components"]?["schemas"]?[name], "\(place)")
        }
        switch value {
        case .object(let members):
            #expect(schema["type"]?.text == "object", "\(place)")
            #expect(Set(Self.texts(schema["required"])).subtracting(members.keys) == [], "\(place)")
            guard schema["additionalProperties"] == nil else { return }
            for (name, member) in members { try check(member, schema["properties"]?[name], "\(place)/\(name)") }
        case .array(let elements):
            #expect(schema["type"]?.text == "array", "\(place)")
            for element in elements { try check(element, schema["items"], place) }
        case .string(let text):
            #expect(schema["type"]?.text == "string", "\(place)")
            if schema["enum"] != nil { #expect(Self.texts(schema["enum"]).contains(text), "\(place): \(text)") }
        case .integer: #expect(schema["type"]?.text == "integer", "\(place)")
        case .bool: #expect(schema["type"]?.text == "boolean", "\(place)")
        case .number, .null: Issue.record("\(place)")
        }
    }
}
