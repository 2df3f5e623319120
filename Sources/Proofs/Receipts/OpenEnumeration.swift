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
