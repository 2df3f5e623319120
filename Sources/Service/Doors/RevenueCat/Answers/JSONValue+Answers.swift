import Proofs

/// Values of the protocol's answers. A missing value is null.
extension JSONValue {
    /// A date in UTC with whole seconds: `2026-11-24T12:00:00Z`.
    static func date(_ date: Timestamp?) -> JSONValue { date.map { .string($0.rfc3339) } ?? .null }

    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// An amount in major units with its currency.
    static func price(_ price: Price?) -> JSONValue {
        guard let price else { return .null }
        return .object([
            "amount": .number(JSONNumber(thousandths: price.milliunits)), "currency": .string(price.currency),
        ])
    }

    /// An object with a member for each key, in the order of the keys' bytes.
    static func members<Value>(_ values: [ByteKey: Value], _ json: (Value) -> JSONValue) -> JSONValue {
        var object = JSONObject()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { _ = object.add(key.text, json(value)) }
        return .object(object)
    }
}
