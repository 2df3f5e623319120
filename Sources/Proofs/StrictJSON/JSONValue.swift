/// A JSON value that keeps the order of members and the digits of numbers.
public enum JSONValue: Hashable, Sendable {
    case object(JSONObject)
    case array([JSONValue])
    case string(String)
    case number(JSONNumber)
    case bool(Bool)
    case null

    /// The type of the value for messages: `object`, `array`, `string`, `number`, `boolean` or `null`.
    public var kind: String {
        switch self {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .number: "number"
        case .bool: "boolean"
        case .null: "null"
        }
    }

    public static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(Int64(value)))
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}
