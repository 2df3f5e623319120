import Foundation
import Synchronization

/// Typed access to the fields of a signed JSON object. `null` and an empty text equal an absent field.
///
/// The store's signature is the authority. A field in another form is read as absent and noted, unless a decision needs
/// it. Then it is an error, because a guess could grant too much or take what was bought.
struct PayloadFields {
    let object: JSONObject
    /// The names of the optional fields that are an error in another form.
    private let deciding: Set<String>
    private let unreadable: UnreadableFields

    /// The years 1 to 9999. Xcode writes year 1, and the calendar ends with year 9999.
    private static let dates: ClosedRange<Int64> = -62_135_769_600_000...253_402_300_799_999

    private static let dateDescription = "a date in milliseconds, from year 1 to 9999"

    init(_ object: JSONObject) {
        self.init(object, deciding: [], unreadable: UnreadableFields())
    }

    init(_ value: JSONValue) throws(PayloadError) {
        guard case .object(let object) = value else {
            throw PayloadError(message: "The payload must be a JSON object.")
        }
        self.init(object)
    }

    private init(_ object: JSONObject, deciding: Set<String>, unreadable: UnreadableFields) {
        self.object = object
        self.deciding = deciding
        self.unreadable = unreadable
    }

    /// The same fields, of which a decision needs some.
    func deciding(_ names: Set<String>) -> PayloadFields {
        PayloadFields(object, deciding: names, unreadable: unreadable)
    }

    /// The fields that were read as absent because of their form, also those of inner objects, in order.
    var unreadableNames: [String] { unreadable.names.withLock { $0.sorted() } }

    /// A text. The digits of a number are the text of an identifier.
    func string(_ name: String) throws(PayloadError) -> String? {
        try string(name, decides: deciding.contains(name))
    }

    private func string(_ name: String, decides: Bool) throws(PayloadError) -> String? {
        switch stated(name) {
        case nil: return nil
        // PostgreSQL stores no NUL.
        case .string(let text) where !text.utf8.contains(0): return text
        case .number(let number) where !decides: return number.text
        case .some(let value): return try absent(name, "a string", value, decides)
        }
    }

    func requiredString(_ name: String) throws(PayloadError) -> String {
        guard let text = try string(name, decides: true) else { throw missing(name) }
        return text
    }

    func integer(_ name: String) throws(PayloadError) -> Int64? {
        try integer(name, decides: deciding.contains(name))
    }

    private func integer(_ name: String, decides: Bool) throws(PayloadError) -> Int64? {
        guard let value = stated(name) else { return nil }
        if case .number(let number) = value, let integer = Self.whole(number) { return integer }
        return try absent(name, "a whole number", value, decides)
    }

    func requiredInteger(_ name: String) throws(PayloadError) -> Int64 {
        guard let integer = try integer(name, decides: true) else { throw missing(name) }
        return integer
    }

    /// The quantity of a product, from 1 to 2147483647. It is 1 if Apple sends none.
    func quantity(_ name: String) throws(PayloadError) -> Int {
        let quantity = try integer(name, decides: true) ?? 1
        guard (1...Int64(Int32.max)).contains(quantity) else {
            throw PayloadError(message: "The field \(name) must be from 1 to \(Int32.max).")
        }
        return Int(quantity)
    }

    /// True or false. Apple's verifyReceipt writes the same facts as `"true"` and `"1"`.
    func bool(_ name: String) throws(PayloadError) -> Bool? {
        guard let value = stated(name) else { return nil }
        switch value {
        case .bool(true), "true", "1", .number(JSONNumber(1)): return true
        case .bool(false), "false", "0", .number(JSONNumber(0)): return false
        default: return try absent(name, "true or false", value)
        }
    }

    /// A date in milliseconds since 1970, rounded down. Xcode writes a fraction.
    func date(_ name: String) throws(PayloadError) -> Timestamp? {
        try date(name, decides: deciding.contains(name))
    }

    private func date(_ name: String, decides: Bool) throws(PayloadError) -> Timestamp? {
        guard let value = stated(name) else { return nil }
        if case .number(let number) = value,
            let milliseconds = number.int64 ?? number.double.flatMap({ Int64(exactly: $0.rounded(.down)) }),
            Self.dates.contains(milliseconds)
        {
            return Timestamp(millisecondsSince1970: milliseconds)
        }
        return try absent(name, Self.dateDescription, value, decides)
    }

    func requiredDate(_ name: String) throws(PayloadError) -> Timestamp {
        guard let date = try date(name, decides: true) else { throw missing(name) }
        return date
    }

    func uuid(_ name: String) throws(PayloadError) -> UUID? {
        guard let text = try string(name) else { return nil }
        guard let uuid = UUID(uuidString: text) else { return try absent(name, "a UUID", .string(text)) }
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
        OpenEnumeration(rawValue: try requiredString(name))
    }

    func strings(_ name: String) throws(PayloadError) -> [String]? {
        guard let values = try array(name) else { return nil }
        var strings: [String] = []
        for value in values {
            guard case .string(let text) = value else { return try absent(name, "an array of strings", value) }
            strings.append(text)
        }
        return strings
    }

    func object(_ name: String) throws(PayloadError) -> PayloadFields? {
        switch stated(name) {
        case nil: return nil
        case .object(let object): return PayloadFields(object, deciding: [], unreadable: unreadable)
        case .some(let value): return try absent(name, "an object", value)
        }
    }

    /// Reads the object of a field. An object without one of its required fields is in another form.
    func object<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(PayloadError) -> Value
    ) throws(PayloadError) -> Value? {
        guard let fields = try object(name) else { return nil }
        do { return try read(fields) } catch { return try absent(name, error, deciding.contains(name)) }
    }

    func object(_ name: String, _ type: any PayloadObject.Type) throws(PayloadError) -> (any PayloadObject)? {
        try object(name) { (fields) throws(PayloadError) in try type.init(fields) }
    }

    /// Reads the objects of an array.
    func objects<Value>(
        _ name: String,
        _ read: (PayloadFields) throws(PayloadError) -> Value
    ) throws(PayloadError) -> [Value]? {
        guard let values = try array(name) else { return nil }
        var objects: [Value] = []
        for value in values {
            guard case .object(let object) = value else { return try absent(name, "an array of objects", value) }
            do {
                objects.append(try read(PayloadFields(object, deciding: [], unreadable: unreadable)))
            } catch {
                return try absent(name, error, deciding.contains(name))
            }
        }
        return objects
    }

    /// Reads fields, which notes those in another form.
    ///
    /// - Throws: `PayloadError` for a required field that is missing or in another form.
    func check(_ known: [PayloadField]) throws(PayloadError) {
        for field in known {
            let (name, isRequired) = (field.name, field.isRequired)
            let isStated =
                switch field.form {
                case .text: try string(name, decides: isRequired) != nil
                case .integer: try integer(name, decides: isRequired) != nil
                case .date: try date(name) != nil
                case .texts: try strings(name) != nil
                case .object(let inner):
                    try object(name) { (fields) throws(PayloadError) in try fields.check(inner) } != nil
                case .objects(let inner):
                    try objects(name) { (fields) throws(PayloadError) in try fields.check(inner) } != nil
                }
            guard isStated || !isRequired else { throw missing(name) }
        }
    }

    private func array(_ name: String) throws(PayloadError) -> [JSONValue]? {
        switch stated(name) {
        case nil: return nil
        case .array(let values): return values
        case .some(let value): return try absent(name, "an array", value)
        }
    }

    /// The value of a field; nil if the store has stated nothing.
    private func stated(_ name: String) -> JSONValue? {
        switch object[name] {
        case nil, .null: nil
        case .string(let text) where text.isEmpty: nil
        case .some(let value): value
        }
    }

    /// A whole number in any spelling, such as `1` and `1.0`.
    private static func whole(_ number: JSONNumber) -> Int64? {
        number.int64 ?? number.double.flatMap { Int64(exactly: $0) }
    }

    private func missing(_ name: String) -> PayloadError {
        PayloadError(message: "The field \(name) is missing.")
    }

    /// Notes a field in another form, and reads it as absent.
    ///
    /// - Throws: `PayloadError` if a decision needs the field.
    private func absent<Value>(
        _ name: String,
        _ expected: String,
        _ value: JSONValue,
        _ decides: Bool? = nil
    ) throws(PayloadError) -> Value? {
        try absent(
            name, PayloadError(message: "The field \(name) must be \(expected); it is of type \(value.kind)."),
            decides ?? deciding.contains(name))
    }

    private func absent<Value>(
        _ name: String,
        _ error: PayloadError,
        _ decides: Bool
    ) throws(PayloadError) -> Value? {
        guard !decides else { throw error }
        unreadable.names.withLock { _ = $0.insert(name) }
        return nil
    }
}

/// An object inside a payload.
protocol PayloadObject: Sendable {
    init(_ fields: PayloadFields) throws(PayloadError)
}

/// A known field of an object that is kept as JSON.
struct PayloadField: Sendable {
    indirect enum Form: Sendable {
        case text, integer, date, texts
        case object([PayloadField])
        case objects([PayloadField])
    }

    let name: String
    let form: Form
    let isRequired: Bool

    static func optional(_ name: String, _ form: Form) -> Self { Self(name: name, form: form, isRequired: false) }

    static func required(_ name: String, _ form: Form) -> Self { Self(name: name, form: form, isRequired: true) }
}

/// The names of the fields that were read as absent because of their form.
private final class UnreadableFields: Sendable {
    let names = Mutex<Set<String>>([])
}

/// A value known to Till, or one that Apple has added since. Unknown values are kept, never refused.
public enum OpenEnumeration<Value: RawRepresentable & Hashable & Sendable>: Hashable, Sendable
where Value.RawValue: Hashable & Sendable {
    case known(Value)
    case unknown(Value.RawValue)

    init(rawValue: Value.RawValue) {
        self = Value(rawValue: rawValue).map { .known($0) } ?? .unknown(rawValue)
    }

    /// The value exactly as Apple wrote it.
    public var rawValue: Value.RawValue {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let value): value
        }
    }
}

/// A mismatch between the signed JSON of a JWS and its kind.
struct PayloadError: Error, Equatable {
    /// The field and its expected value.
    let message: String
}
