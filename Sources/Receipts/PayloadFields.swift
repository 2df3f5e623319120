import Commerce
import Foundation
import StrictJSON

/// Typed access to the fields of a signed JSON object. `null` equals an absent field. A field of another type is an
/// error.
struct PayloadFields {
    let object: JSONObject

    /// The years 1 to 9999. Xcode writes year 1, and the calendar ends with year 9999.
    private static let dates: ClosedRange<Int64> = -62_135_769_600_000...253_402_300_799_999

    private static let dateDescription = "a date in milliseconds, from year 1 to 9999"

    init(_ object: JSONObject) {
        self.object = object
    }

    init(_ value: JSONValue) throws(PayloadError) {
        guard case .object(let object) = value else {
            throw PayloadError(message: "The payload must be a JSON object.")
        }
        self.object = object
    }

    func string(_ name: String) throws(PayloadError) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text
        case .some(let value): throw mismatch(name, "a string", value)
        }
    }

    func requiredString(_ name: String) throws(PayloadError) -> String {
        guard let text = try string(name) else { throw missing(name) }
        return text
    }

    func integer(_ name: String) throws(PayloadError) -> Int64? {
        switch object[name] {
        case nil, .null: return nil
        case .number(let number):
            guard let integer = number.int64 else { throw mismatch(name, "a whole number", .number(number)) }
            return integer
        case .some(let value): throw mismatch(name, "a whole number", value)
        }
    }

    func requiredInteger(_ name: String) throws(PayloadError) -> Int64 {
        guard let integer = try integer(name) else { throw missing(name) }
        return integer
    }

    /// The quantity of a product, from 1 to 2147483647. It is 1 if Apple sends none.
    func quantity(_ name: String) throws(PayloadError) -> Int {
        let quantity = try integer(name) ?? 1
        guard (1...Int64(Int32.max)).contains(quantity) else {
            throw PayloadError(message: "The field \(name) must be from 1 to \(Int32.max).")
        }
        return Int(quantity)
    }

    func bool(_ name: String) throws(PayloadError) -> Bool? {
        switch object[name] {
        case nil, .null: return nil
        case .bool(let bool): return bool
        case .some(let value): throw mismatch(name, "true or false", value)
        }
    }

    /// A date in milliseconds since 1970, rounded down. Xcode writes a fraction.
    func date(_ name: String) throws(PayloadError) -> Timestamp? {
        switch object[name] {
        case nil, .null: return nil
        case .number(let number):
            let milliseconds = number.int64 ?? number.double.flatMap { Int64(exactly: $0.rounded(.down)) }
            guard let milliseconds, Self.dates.contains(milliseconds) else {
                throw mismatch(name, Self.dateDescription, .number(number))
            }
            return Timestamp(millisecondsSince1970: milliseconds)
        case .some(let value): throw mismatch(name, Self.dateDescription, value)
        }
    }

    func requiredDate(_ name: String) throws(PayloadError) -> Timestamp {
        guard let date = try date(name) else { throw missing(name) }
        return date
    }

    func uuid(_ name: String) throws(PayloadError) -> UUID? {
        guard let text = try string(name) else { return nil }
        guard let uuid = UUID(uuidString: text) else { throw mismatch(name, "a UUID", .string(text)) }
        return uuid
    }

    func enumeration<Value: RawRepresentable<String>>(
        _ name: String
    ) throws(PayloadError) -> OpenEnumeration<Value>? {
        guard let text = try string(name) else { return nil }
        return OpenEnumeration(rawValue: text)
    }

    func enumeration<Value: RawRepresentable<Int>>(_ name: String) throws(PayloadError) -> OpenEnumeration<Value>? {
        guard let number = try integer(name) else { return nil }
        return OpenEnumeration(rawValue: Int(number))
    }

    func requiredEnumeration<Value: RawRepresentable<String>>(
        _ name: String
    ) throws(PayloadError) -> OpenEnumeration<Value> {
        guard let value: OpenEnumeration<Value> = try enumeration(name) else { throw missing(name) }
        return value
    }

    func strings(_ name: String) throws(PayloadError) -> [String]? {
        guard let values = try array(name) else { return nil }
        var strings: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw mismatch(name, "an array of strings", value) }
            strings.append(text)
        }
        return strings
    }

    func object(_ name: String) throws(PayloadError) -> PayloadFields? {
        switch object[name] {
        case nil, .null: return nil
        case .object(let object): return PayloadFields(object)
        case .some(let value): throw mismatch(name, "an object", value)
        }
    }

    /// Reads the object of a field.
    func object<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(PayloadError) -> Value
    ) throws(PayloadError) -> Value? {
        guard let fields = try object(name) else { return nil }
        return try read(fields)
    }

    /// Reads the objects of an array.
    func objects<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(PayloadError) -> Value
    ) throws(PayloadError) -> [Value]? {
        guard let values = try array(name) else { return nil }
        var objects: [Value] = []
        for value in values {
            guard case .object(let object) = value else { throw mismatch(name, "an array of objects", value) }
            objects.append(try read(PayloadFields(object)))
        }
        return objects
    }

    private func array(_ name: String) throws(PayloadError) -> [JSONValue]? {
        switch object[name] {
        case nil, .null: return nil
        case .array(let values): return values
        case .some(let value): throw mismatch(name, "an array", value)
        }
    }

    private func missing(_ name: String) -> PayloadError {
        PayloadError(message: "The field \(name) is missing.")
    }

    private func mismatch(_ name: String, _ expected: String, _ value: JSONValue) -> PayloadError {
        PayloadError(message: "The field \(name) must be \(expected); it is of type \(value.kind).")
    }
}
