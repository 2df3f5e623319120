import SwiftASN1

/// Reads the attributes of a `SET OF ReceiptAttribute` one by one, in any order. Xcode does not sort them.
///
/// The reader decodes an attribute's value on demand and does not copy it. A receipt has thousands of attributes, and
/// each copy would change a reference count.
struct ReceiptAttributeReader: ~Copyable {
    private let payload: [UInt8]
    private var elements: BERCursor
    private(set) var type = 0
    private var version = 0
    private var value: Range<Int> = 0..<0
    private var seen = SeenTypes()
    /// The attributes without a documented meaning and those in another form, unchanged and in their original order.
    private(set) var others: [ReceiptAttribute] = []
    /// The types of the attributes that were read as absent because of their form. It may have a type more than once.
    private(set) var unreadableTypes: [Int] = []

    init(_ payload: [UInt8]) throws(BERError) {
        try self.init(payload, in: payload.indices)
    }

    private init(_ payload: [UInt8], in range: Range<Int>) throws(BERError) {
        var root = BERCursor(range)
        let elements = BERCursor(try root.content(of: BERTag.set, in: payload))
        try root.finish()
        self.payload = payload
        self.elements = elements
        // Apple writes seven attributes without a documented meaning.
        others.reserveCapacity(8)
    }

    /// Returns a reader of the set inside the current attribute's value.
    func inner() throws(BERError) -> ReceiptAttributeReader {
        try ReceiptAttributeReader(payload, in: value)
    }

    /// Moves to the next attribute.
    ///
    /// - Parameter repeatable: The type that may appear more than once.
    /// - Returns: False at the end.
    mutating func next(repeatable: Int? = nil) throws -> Bool {
        guard !elements.isAtEnd else { return false }
        var fields = BERCursor(try elements.content(of: BERTag.sequence, in: payload))
        type = Int(try fields.integer(in: payload))
        version = Int(try fields.integer(in: payload))
        value = try fields.content(of: BERTag.octetString, in: payload)
        try fields.finish()
        guard type == repeatable || seen.insert(type) else {
            throw ProofRefusal(.payloadInvalid, "Attribute \(type) appears twice.")
        }
        return true
    }

    /// Keeps the current attribute unchanged.
    mutating func keep() {
        others.append(ReceiptAttribute(type: type, version: version, value: payload[value]))
    }

    var bytes: [UInt8] { Array(payload[value]) }

    /// The text, or nil if it is empty. Apple's receipts have two types of strings.
    func string() throws -> String? {
        let content = try content(BERTag.utf8String, BERTag.ia5String)
        guard !content.isEmpty else { return nil }
        // PostgreSQL stores no NUL.
        guard !content.contains(0), let text = String(strictUTF8: content) else {
            throw ProofRefusal(.payloadInvalid, "Attribute \(type) must be a string.")
        }
        return text
    }

    /// The date, or nil if the string is empty.
    func date() throws -> Timestamp? {
        let text = try content(BERTag.ia5String, BERTag.utf8String)
        guard !text.isEmpty else { return nil }
        guard let date = Timestamp(rfc3339: text) else {
            throw ProofRefusal(.payloadInvalid, "Attribute \(type) must be a date.")
        }
        return date
    }

    /// The number, or nil if the attribute has no value.
    func integer() throws -> Int64? {
        guard !value.isEmpty else { return nil }
        var cursor = BERCursor(value)
        let number = try cursor.integer(in: payload)
        try cursor.finish()
        return number
    }

    /// Reads an attribute that no decision needs. An attribute in another form is kept, noted and read as absent.
    mutating func optional<Value>(_ read: (borrowing Self) throws -> Value?) -> Value? {
        do { return try read(self) } catch {
            keep()
            unreadableTypes.append(type)
            return nil
        }
    }

    /// Takes over the notes of the reader of an inner set.
    mutating func note(_ types: [Int]) {
        unreadableTypes += types
    }

    /// The content of a string with one of two tags. An attribute without a value is an empty string.
    private func content(_ tag: UInt8, _ other: UInt8) throws -> ArraySlice<UInt8> {
        guard !value.isEmpty else { return [] }
        var cursor = BERCursor(value)
        let content = try cursor.content(of: payload[value.lowerBound] == other ? other : tag, in: payload)
        try cursor.finish()
        return payload[content]
    }
}

/// The attribute types read so far, as bits. It covers the types below 64 and those from 1700 to 1763, which include
/// all known types. It ignores the others, because nothing reads them.
private struct SeenTypes {
    private var receipt: UInt64 = 0
    private var inAppPurchase: UInt64 = 0

    /// - Returns: False if the type appeared before.
    mutating func insert(_ type: Int) -> Bool {
        switch type {
        case 0..<64: Self.insert(type, into: &receipt)
        case 1700..<1764: Self.insert(type - 1700, into: &inAppPurchase)
        default: true
        }
    }

    private static func insert(_ bit: Int, into bits: inout UInt64) -> Bool {
        let mask: UInt64 = 1 << UInt64(bit)
        defer { bits |= mask }
        return bits & mask == 0
    }
}

/// An attribute of an app receipt's payload: a type, a version and a value. The type determines the form of the value.
///
///     ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
///
/// The definition is from Apple's "Receipt Fields" and from measured receipts.
public struct ReceiptAttribute: Hashable, Sendable {
    public let type: Int
    /// The version: 2 for the opaque value, otherwise 1.
    public let version: Int
    public let value: ArraySlice<UInt8>
}

extension ReceiptAttribute {
    public init(type: Int, version: Int = 1, value: [UInt8]) {
        self.init(type: type, version: version, value: value[...])
    }
}

extension ReceiptAttribute: DERSerializable {
    /// Encodes a payload: `SET OF ReceiptAttribute`, sorted as DER requires.
    static func encode(_ attributes: [ReceiptAttribute]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serializeSetOf(attributes)
        return serializer.serializedBytes
    }

    public func serialize(into serializer: inout DER.Serializer) throws {
        try serializer.appendConstructedNode(identifier: .sequence) { fields in
            try fields.serialize(type)
            try fields.serialize(version)
            try fields.serialize(ASN1OctetString(contentBytes: value))
        }
    }

    public static func string(_ type: Int, _ text: String) throws -> ReceiptAttribute {
        try encoded(type, ASN1UTF8String(text))
    }

    /// Encodes a date as an IA5String in RFC 3339. The string is empty if there is no date.
    public static func date(_ type: Int, _ date: Timestamp?) throws -> ReceiptAttribute {
        try ia5String(type, date?.rfc3339 ?? "")
    }

    public static func ia5String(_ type: Int, _ text: String) throws -> ReceiptAttribute {
        try encoded(type, ASN1IA5String(text))
    }

    public static func integer(_ type: Int, _ number: Int64) throws -> ReceiptAttribute {
        try encoded(type, number)
    }

    private static func encoded(_ type: Int, _ value: some DERSerializable) throws -> ReceiptAttribute {
        var serializer = DER.Serializer()
        try serializer.serialize(value)
        return ReceiptAttribute(type: type, value: serializer.serializedBytes)
    }
}
