import Commerce
import StrictJSON

/// The fields of a signed JSON object by name and type; an absent field and `null` are the same, a field of another type
/// is an error.
struct PayloadFields {
    let object: JSONObject

    /// The years 1 to 9999: Xcode writes the first, and no calendar of ours goes beyond the last.
    private static let dates: ClosedRange<Int64> = -62_135_769_600_000...253_402_300_799_999

    init(_ object: JSONObject) {
        self.object = object
    }

    init(_ value: JSONValue) throws(PayloadError) {
        guard case .object(let object) = value else { throw PayloadError(message: "It is no JSON object.") }
        self.object = object
    }

    func string(_ name: String) throws(PayloadError) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text): return text
        case .some(let value): throw mismatch(name, "text", value)
        }
    }

    func requiredString(_ name: String) throws(PayloadError) -> String {
        guard let text = try string(name) else { throw PayloadError(message: "The field \(name) is missing.") }
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

    func bool(_ name: String) throws(PayloadError) -> Bool? {
        switch object[name] {
        case nil, .null: return nil
        case .bool(let bool): return bool
        case .some(let value): throw mismatch(name, "true or false", value)
        }
    }

    /// A date in milliseconds since 1970, which Xcode writes with a fraction; rounded towards the past.
    func date(_ name: String) throws(PayloadError) -> Timestamp? {
        switch object[name] {
        case nil, .null: return nil
        case .number(let number):
            let milliseconds = number.int64 ?? number.double.flatMap { Int64(exactly: $0.rounded(.down)) }
            guard let milliseconds, Self.dates.contains(milliseconds) else {
                throw mismatch(name, "a date in milliseconds", .number(number))
            }
            return Timestamp(millisecondsSince1970: milliseconds)
        case .some(let value): throw mismatch(name, "a date in milliseconds", value)
        }
    }

    func requiredDate(_ name: String) throws(PayloadError) -> Timestamp {
        guard let date = try date(name) else { throw PayloadError(message: "The field \(name) is missing.") }
        return date
    }

    func object(_ name: String) throws(PayloadError) -> PayloadFields? {
        switch object[name] {
        case nil, .null: return nil
        case .object(let object): return PayloadFields(object)
        case .some(let value): throw mismatch(name, "an object", value)
        }
    }

    private func mismatch(_ name: String, _ expected: String, _ value: JSONValue) -> PayloadError {
        PayloadError(message: "The field \(name) should be \(expected); it is \(value.kind).")
    }
}
