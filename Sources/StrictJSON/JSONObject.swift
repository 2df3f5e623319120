/// The members of a JSON object, each key once, in the order of the text.
public struct JSONObject: Hashable, Sendable {
    /// A key and its value.
    public struct Member: Hashable, Sendable {
        public let key: String
        public let value: JSONValue
    }

    public private(set) var members: [Member] = []

    public init() {}

    /// The value of a key; nil when there is none.
    ///
    /// Keys are compared by their bytes: it is what JSON says, and Swift's own comparison of texts takes time out of
    /// proportion on some that a stranger can send.
    public subscript(key: String) -> JSONValue? {
        for member in members where member.key.hasSameBytes(as: key) { return member.value }
        return nil
    }

    public var keys: [String] { members.map(\.key) }

    /// Adds a member at the end.
    ///
    /// - Returns: false, and changes nothing, when the key is there already.
    public mutating func add(_ key: String, _ value: JSONValue) -> Bool {
        guard self[key] == nil else { return false }
        members.append(Member(key: key, value: value))
        return true
    }

    /// Adds a member whose key the parser has found to be new.
    mutating func addUnique(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Members in the order written; of a key written twice, the first counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements {
            _ = add(key, value)
        }
    }
}
