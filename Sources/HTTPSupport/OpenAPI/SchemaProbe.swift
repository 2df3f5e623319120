import Foundation
import Proofs

/// A type of JSON values, with a value for a probe of the types that contain it.
package protocol PlaceholderSource: SchemaSource {
    static var placeholder: Self { get }
}

/// A decoder that notes the fields that a type reads, and gives each a placeholder.
final class SchemaProbe: Decoder {
    /// A type that is neither an object nor a known value.
    struct Unsupported: Error {}

    private var fields: [(name: String, schema: Schema)] = []
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The fields of a type's JSON, in the order in which its decoding reads them.
    static func fields(of type: (some Decodable).Type) throws -> [(name: String, schema: Schema)] {
        let probe = SchemaProbe()
        _ = try type.init(from: probe)
        return probe.fields
    }

    /// The schema of a type, with a value of it.
    static func schema<Value: Decodable>(of type: Value.Type) throws -> (schema: Schema, value: Value) {
        switch type {
        case let type as any PlaceholderSource.Type:
            guard let value = type.placeholder as? Value else { throw Unsupported() }
            return (type.schema, value)
        case let type as any CaseIterable.Type:
            guard let (values, value) = enumeration(type), let value = value as? Value else { throw Unsupported() }
            return ((type as? any SchemaSource.Type)?.schema ?? .one(of: values), value)
        default:
            let probe = SchemaProbe()
            let value = try type.init(from: probe)
            let schema = (type as? any SchemaSource.Type)?.schema
            return (schema ?? Schema(of: type), value)
        }
    }

    private static func enumeration<Value: CaseIterable>(_ type: Value.Type) -> (values: [String], first: Value)? {
        let values = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        return type.allCases.first.map { (values, $0) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields<Key>(probe: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unsupported() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Unsupported() }

    private final class Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let probe: SchemaProbe
        let codingPath: [any CodingKey] = []
        let allKeys: [Key] = []
        /// The keys that were asked for null, so the fields may be missing.
        private var optional: Set<String> = []

        init(probe: SchemaProbe) {
            self.probe = probe
        }

        func contains(_ key: Key) -> Bool { true }

        func decodeNil(forKey key: Key) -> Bool {
            optional.insert(key.stringValue)
            return false
        }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            let (schema, value) = try SchemaProbe.schema(of: type)
            probe.fields.append((key.stringValue, optional.contains(key.stringValue) ? schema.optional : schema))
            return value
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw Unsupported() }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Unsupported() }

        func superDecoder() throws -> any Decoder { throw Unsupported() }

        func superDecoder(forKey key: Key) throws -> any Decoder { throw Unsupported() }
    }
}

extension String: PlaceholderSource {
    package static var placeholder: String { "" }
    package static var schema: Schema { .text() }
}

extension UUID: PlaceholderSource {
    package static var placeholder: UUID { UUID() }
    package static var schema: Schema { .uuid() }
}

extension Int: PlaceholderSource {
    package static var placeholder: Int { 0 }
    package static var schema: Schema { .integer() }
}

extension Int64: PlaceholderSource {
    package static var placeholder: Int64 { 0 }
    package static var schema: Schema { .integer().with(["format": "int64"]) }
}

extension Bool: PlaceholderSource {
    package static var placeholder: Bool { false }
    package static var schema: Schema { .flag() }
}

extension Array: SchemaSource, PlaceholderSource where Element: Decodable {
    package static var placeholder: [Element] { [] }
    package static var schema: Schema {
        (try? SchemaProbe.schema(of: Element.self)).map { .array(of: $0.schema) } ?? Schema(of: Element.self)
    }
}

extension Dictionary: SchemaSource, PlaceholderSource where Key == String, Value: Decodable {
    package static var placeholder: [String: Value] { [:] }
    package static var schema: Schema {
        (try? SchemaProbe.schema(of: Value.self)).map { .map(of: $0.schema) } ?? Schema(of: Value.self)
    }
}
