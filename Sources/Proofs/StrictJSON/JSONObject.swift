/// The members of a JSON object in the order of the text. Each key is unique.
public struct JSONObject: Hashable, Sendable {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        public let key: String
        public let value: JSONValue
    }

    public private(set) var members: [Member] = []

    public init() {}

    /// The value of a key, or nil if the key is absent.
    ///
    /// Keys are compared by their bytes, as JSON defines. Swift's own comparison of strings takes quadratic time on
    /// some untrusted strings.
    public subscript(key: String) -> JSONValue? {
        for member in members where member.key.hasSameBytes(as: key) { return member.value }
        return nil
    }

    public var keys: [String] { members.map(\.key) }

    /// Adds a member at the end.
    ///
    /// - Returns: False if the key exists. Then nothing changes.
    public mutating func add(_ key: String, _ value: JSONValue) -> Bool {
        guard self[key] == nil else { return false }
        members.append(Member(key: key, value: value))
        return true
    }

    /// Adds a member with a new key. The parser has checked that the key is new.
    mutating func addUnique(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates the members in the order of the literal. If a key is repeated, its first value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements {
            _ = add(key, value)
        }
    }
}
