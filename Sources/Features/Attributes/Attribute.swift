import Proofs

/// The last statement about an attribute of a customer.
package struct Attribute: Hashable, Sendable {
    /// The maximum length of a name, in bytes of UTF-8: 40 characters.
    package static let maximumNameLength = 160
    /// The maximum length of a value, in bytes of UTF-8: 500 characters.
    package static let maximumValueLength = 2000
    /// The maximum number of a customer's attributes. As many removed ones are remembered.
    package static let maximumCount = 100

    /// The name. Names that begin with a dollar sign, such as `$email`, are reserved for personal data.
    package let name: String
    /// Nil for a removed attribute.
    package let value: String?
    /// The time of the statement.
    package let statedAt: Timestamp
    /// True for a statement with the public key of an app, which proves nobody's identity.
    package let isPublic: Bool

    /// - Throws: `AttributeError`, `nameInvalid` or `valueInvalid`.
    package init(name: String, value: String?, statedAt: Timestamp, isPublic: Bool = false) throws(AttributeError) {
        guard (1...Self.maximumNameLength).contains(name.utf8.count), Self.isPrintable(name) else {
            throw .nameInvalid(String(name.unicodeScalars.prefix(40)))
        }
        guard value.map({ $0.utf8.count <= Self.maximumValueLength && !$0.utf8.contains(0) }) ?? true else {
            throw .valueInvalid(name: name)
        }
        self.init(stored: name, value: value, statedAt: statedAt, isPublic: isPublic)
    }

    /// The attribute of a row.
    init(stored name: String, value: String?, statedAt: Timestamp, isPublic: Bool) {
        self.name = name
        self.value = value
        self.statedAt = statedAt
        self.isPublic = isPublic
    }

    /// True if the name is reserved for personal data.
    package var isPersonal: Bool { name.utf8.first == UInt8(ascii: "$") }

    private static func isPrintable(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    package static func == (left: Attribute, right: Attribute) -> Bool {
        left.key == right.key && left.value.map { ByteKey($0) } == right.value.map { ByteKey($0) }
            && left.statedAt == right.statedAt && left.isPublic == right.isPublic
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(statedAt)
    }
}
