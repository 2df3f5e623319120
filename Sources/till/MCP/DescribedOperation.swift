import AppStore
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

/// An operation of the HTTP API for back ends, as the OpenAPI document describes it.
struct DescribedOperation {
    /// The code of a request whose argument is wrong.
    static let argumentInvalid = "parameterInvalid"

    /// A parameter of the path or the query, or a field of the body.
    struct Argument {
        fileprivate enum Place: String {
            case path, query, body
        }

        let name: String
        /// The JSON Schema, without references.
        let schema: JSONObject
        let isRequired: Bool
        fileprivate let place: Place
    }

    let method: OutgoingRequest.Method
    /// The scope that the API key needs.
    let scope: String
    /// The parameters of the path and the query, then the fields of the body.
    let arguments: [Argument]
    private let template: String
    private let hasBody: Bool

    /// - Parameters:
    ///   - identifier: The `operationId`.
    ///   - names: The fields that are taken of the body; nil for all.
    ///   - required: The arguments that are required, whatever the document says.
    /// - Returns: Nil if the document has no such operation for back ends.
    init?(_ identifier: String, in document: JSONObject, taking names: [String]?, requiring required: [String]) {
        let operations = document.object("paths").members.lazy.flatMap { path in
            JSONObject(path.value).members.map { (path: path.key, method: $0.key, JSONObject($0.value)) }
        }
        guard let (path, word, operation) = operations.first(where: { $0.2.text("operationId") == identifier }),
            let method = OutgoingRequest.Method(rawValue: word.uppercased()),
            let scope = operation.elements("security").lazy.flatMap({ JSONObject($0).elements("apiKey") }).first,
            case .string(let scope) = scope
        else { return nil }
        let parameters = operation.elements("parameters").map { JSONObject($0).resolved(in: document) }
        let body = operation.object("requestBody").object("content").object("application/json").object("schema")
            .resolved(in: document)
        let needed = body.elements("required")
        (self.method, self.scope, template, hasBody) = (method, scope, path, operation["requestBody"] != nil)
        arguments =
            parameters.compactMap { parameter in
                // A header is for programs.
                guard let name = parameter.text("name"),
                    let place = Argument.Place(rawValue: parameter.text("in") ?? "")
                else { return nil }
                let schema = parameter.object("schema").adding([
                    "description": parameter["description"], "examples": parameter["example"].map { .array([$0]) },
                ])
                return Argument(
                    name: name, schema: schema, isRequired: parameter["required"] == .bool(true), place: place)
            }
            + body.object("properties").members.filter { names?.contains($0.key) ?? true }.map { field in
                Argument(
                    name: field.key, schema: JSONObject(field.value),
                    isRequired: needed.contains(.string(field.key)) || required.contains(field.key), place: .body)
            }
    }

    /// The path of a request with its query.
    ///
    /// - Parameter values: The values by the names of arguments.
    func path(_ values: JSONObject) throws(CommandError) -> String {
        var (path, query) = (template, [(name: String, value: String?)]())
        for argument in arguments where argument.place != .body {
            guard let value = values[argument.name] else { continue }
            // A segment of dots alone would name another path.
            guard let text = value.textOfParameter, argument.place == .query || text.contains(where: { $0 != "." })
            else {
                throw CommandError(
                    Self.argumentInvalid, "The argument \"\(argument.name)\" must be a text or a number, and no path.")
            }
            if argument.place == .query {
                query.append((argument.name, text))
            } else {
                path = path.replacing("{\(argument.name)}", with: HTTPServiceConnection.segment(text))
            }
        }
        return ServiceClient.path(path, query)
    }

    /// The body of a request; nil for an operation without one.
    ///
    /// - Parameter values: The values by the names of arguments.
    func body(_ values: JSONObject) -> JSONObject? {
        guard hasBody else { return nil }
        return JSONObject(
            arguments.filter { $0.place == .body }.compactMap { field in values[field.name].map { (field.name, $0) } })
    }
}

extension JSONValue {
    /// The text of a value in a path or a query; nil for an object, a list or null.
    fileprivate var textOfParameter: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.text
        case .bool(let flag): flag ? "true" : "false"
        case .object, .array, .null: nil
        }
    }
}

extension JSONObject {
    /// The deepest nesting of a schema.
    private static let maximumDepth = 16

    /// The members of an object; empty for another value.
    init(_ value: JSONValue) {
        if case .object(let object) = value { self = object } else { self.init() }
    }

    fileprivate func object(_ name: String) -> JSONObject { self[name].map { JSONObject($0) } ?? [:] }

    fileprivate func elements(_ name: String) -> [JSONValue] {
        if case .array(let elements)? = self[name] { elements } else { [] }
    }

    /// The object with the components of the document in the place of references to them.
    fileprivate func resolved(in document: JSONObject, depth: Int = 0) -> JSONObject {
        guard depth < Self.maximumDepth else { return self }
        var object = self
        if let reference = text("$ref") {
            let component = reference.split(separator: "/").dropFirst().reduce(document) { $0.object(String($1)) }
            object = component.adding(JSONObject(members.filter { $0.key != "$ref" }.map { ($0.key, $0.value) }))
        }
        return JSONObject(object.members.map { ($0.key, $0.value.resolved(in: document, depth: depth + 1)) })
    }
}

extension JSONValue {
    fileprivate func resolved(in document: JSONObject, depth: Int) -> JSONValue {
        switch self {
        case .object(let object): .object(object.resolved(in: document, depth: depth))
        case .array(let elements): .array(elements.map { $0.resolved(in: document, depth: depth) })
        case .string, .number, .bool, .null: self
        }
    }
}
