import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import Proofs

/// A value in the JSON of answers.
package protocol AnswerValue: SendableMetatype {
    /// The schema of the value, optional if its field may be missing.
    static var schema: Schema { get }
    /// False if the field with this value is left out.
    var isPresent: Bool { get }
    func write(to json: inout AnswerJSON) throws
}

extension AnswerValue {
    package var isPresent: Bool { true }

    /// The value as JSON.
    ///
    /// - Parameters:
    ///   - keys: The names of API keys by their identifiers.
    ///   - capacity: The number of bytes for which room is made.
    package func json(
        naming keys: [String: String] = [:], reserving capacity: Int = AnswerJSON.capacity
    ) throws -> [UInt8] {
        var json = AnswerJSON(keyNames: keys, reserving: capacity)
        try write(to: &json)
        return json.bytes
    }

    /// A response with the value.
    ///
    /// - Parameter keys: The names of API keys by their identifiers.
    package func answer(
        naming keys: [String: String] = [:], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        JSONAnswer.response(bytes: try json(naming: keys), status: status, headers: headers)
    }
}

/// An object in the JSON of answers. Its JSON and its schema follow from one list of its fields.
package protocol AnswerObject: AnswerValue {
    static var answerFields: AnswerFields<Self> { get }
}

extension AnswerObject {
    package static var schema: Schema { answerFields.schema }

    package func write(to json: inout AnswerJSON) throws {
        try Self.answerFields.write(self, to: &json)
    }
}

/// The fields of an answer: their names, notes and values.
package struct AnswerFields<Object>: Sendable {
    private struct Field: Sendable {
        let name: String
        /// Writes the field's member, unless its value is missing.
        let write: @Sendable (Object, inout AnswerJSON) throws -> Void
    }

    package private(set) var schema: Schema
    /// The fields in the order of the JSON, which is that of their names.
    private var fields: [Field] = []

    /// - Parameters:
    ///   - name: The name of the schema's component; nil for a schema in place.
    ///   - isClosed: True if the schema allows no other fields.
    ///   - list: Adds the fields.
    package init(
        _ description: String? = nil,
        named name: String? = nil,
        isClosed: Bool = false,
        _ list: (inout Self) -> Void
    ) {
        schema = .object(description, named: name)
        list(&self)
        fields.sort { $0.name < $1.name }
        if isClosed { schema = schema.closed }
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - note: What the schema says about the field besides its type. A reference replaces the type.
    ///   - value: The value; nil leaves the field out.
    package mutating func field<Value: AnswerValue>(
        _ name: String,
        _ note: Schema,
        _ value: @escaping @Sendable (Object) throws -> Value
    ) {
        add(name, Value.schema.noted(note)) { object, _ in try value(object) }
    }

    /// Adds a field without a note.
    package mutating func field<Value: AnswerValue>(
        _ name: String,
        _ value: @escaping @Sendable (Object) throws -> Value
    ) {
        add(name, Value.schema) { object, _ in try value(object) }
    }

    /// Adds a field with the name of an API key.
    ///
    /// - Parameter identifier: The identifier of the key; nil if there is none.
    package mutating func keyName(
        _ name: String,
        note: Schema = "The name of the API key; absent if the service does not have the key.",
        _ identifier: @escaping @Sendable (Object) -> String?
    ) {
        add(name, String?.schema.noted(note)) { object, keys in identifier(object).flatMap { keys[$0] } }
    }

    private mutating func add<Value: AnswerValue>(
        _ name: String,
        _ schema: Schema,
        _ value: @escaping @Sendable (Object, _ keyNames: [String: String]) throws -> Value
    ) {
        self.schema = self.schema.fields([(name, schema)])
        var key: [UInt8] = []
        JSONValue.write(string: name, to: &key)
        fields.append(
            Field(name: name) { [key] object, json in
                try json.member(key, try value(object, json.keyNames))
            })
    }

    fileprivate func write(_ object: Object, to json: inout AnswerJSON) throws {
        json.append("{")
        for field in fields { try field.write(object, &json) }
        json.append("}")
    }
}

/// The JSON of an answer in the making, without white space.
package struct AnswerJSON {
    package private(set) var bytes: [UInt8] = []
    /// The names of API keys by their identifiers.
    let keyNames: [String: String]

    /// Most answers are as small, or need a few more bytes.
    package static let capacity = 1024

    /// - Parameter capacity: The number of bytes for which room is made.
    package init(keyNames: [String: String] = [:], reserving capacity: Int = capacity) {
        self.keyNames = keyNames
        bytes.reserveCapacity(capacity)
    }

    package mutating func append(_ json: StaticString) {
        json.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ number: some FixedWidthInteger) { bytes.append(contentsOf: String(number).utf8) }

    package mutating func append(_ number: JSONNumber) { bytes.append(contentsOf: number.text.utf8) }

    package mutating func append(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    /// Appends the name of an object's next member, which needs no escapes.
    package mutating func name(_ name: StaticString) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        append("\"")
        append(name)
        append("\":")
    }

    /// Appends an object's next member, unless its value is missing.
    package mutating func member(_ name: String, _ value: some AnswerValue) throws {
        guard value.isPresent else { return }
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
        try value.write(to: &self)
    }

    /// - Parameter key: The name in quotation marks.
    fileprivate mutating func member(_ key: [UInt8], _ value: some AnswerValue) throws {
        guard value.isPresent else { return }
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: key)
        bytes.append(UInt8(ascii: ":"))
        try value.write(to: &self)
    }

    package mutating func string(_ text: String) { JSONValue.write(string: text, to: &bytes) }

    package mutating func string(_ identifier: StoredIdentifier) {
        guard identifier.isNumber else { return string(identifier.text) }
        bytes.append(UInt8(ascii: "\""))
        identifier.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a date-time, which needs no escapes.
    package mutating func string(_ moment: Timestamp) {
        bytes.append(UInt8(ascii: "\""))
        moment.appendRFC3339(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}

extension String: AnswerValue {
    package static var schema: Schema { .text() }

    package func write(to json: inout AnswerJSON) { json.string(self) }
}

extension Int: AnswerValue {
    package static var schema: Schema { .integer() }

    package func write(to json: inout AnswerJSON) { json.append(self) }
}

extension Int64: AnswerValue {
    package static var schema: Schema { .integer().with(["format": "int64"]) }

    package func write(to json: inout AnswerJSON) { json.append(self) }
}

extension Bool: AnswerValue {
    package static var schema: Schema { .flag() }

    package func write(to json: inout AnswerJSON) { json.append(self ? "true" : "false") }
}

extension UUID: AnswerValue {
    package static var schema: Schema { .uuid() }

    package func write(to json: inout AnswerJSON) { json.string(lowercasedString) }
}

extension Timestamp: AnswerValue {
    package static var schema: Schema { .time() }

    package func write(to json: inout AnswerJSON) { json.string(self) }
}

extension Optional: AnswerValue where Wrapped: AnswerValue {
    package static var schema: Schema { Wrapped.schema.optional }

    package var isPresent: Bool { self != nil }

    package func write(to json: inout AnswerJSON) throws { try self?.write(to: &json) }
}

extension Array: AnswerValue where Element: AnswerValue {
    package static var schema: Schema { .array(of: Element.schema) }

    package func write(to json: inout AnswerJSON) throws {
        json.append("[")
        // Iterators are generic here, and take longer than the elements of some answers.
        for index in indices {
            if index > 0 { json.append(",") }
            try self[index].write(to: &json)
        }
        json.append("]")
    }
}

extension Dictionary: AnswerValue where Key == String, Value: AnswerValue {
    package static var schema: Schema { .map(of: Value.schema) }

    package func write(to json: inout AnswerJSON) throws {
        json.append("{")
        if count == 1, let (name, value) = first {
            // One member needs no order.
            try json.member(name, value)
        } else {
            for (name, value) in sorted(by: { $0.key < $1.key }) { try json.member(name, value) }
        }
        json.append("}")
    }
}

extension AnswerValue where Self: RawRepresentable<String> {
    package func write(to json: inout AnswerJSON) { json.string(rawValue) }
}

extension AnswerValue where Self: RawRepresentable<String> & CaseIterable {
    package static var schema: Schema { .one(of: Self.self) }
}

extension List where Element: AnswerValue {
    /// A response with the list.
    ///
    /// - Parameter keys: The names of API keys by their identifiers.
    package func answer(naming keys: [String: String] = [:]) throws -> Response {
        JSONAnswer.response(bytes: try json(naming: keys))
    }

    package func json(naming keys: [String: String] = [:]) throws -> [UInt8] {
        let members: [(name: String, value: any AnswerValue)] = [
            (Element.listName, elements), ("nextCursor", nextCursor),
        ]
        var json = AnswerJSON(keyNames: keys)
        json.append("{")
        for (name, value) in members.sorted(by: { $0.name < $1.name }) { try json.member(name, value) }
        json.append("}")
        return try unknownUser?.json(beside: json.bytes) ?? json.bytes
    }
}

extension Collection {
    package var nonEmpty: Self? { isEmpty ? nil : self }
}
