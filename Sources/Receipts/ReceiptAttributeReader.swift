import Commerce
import Signatures
import StrictJSON

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

    init(_ payload: [UInt8]) throws(BERError) {
        self.init(payload, elements: try Self.elements(ofSetIn: payload.indices, of: payload))
    }

    private init(_ payload: [UInt8], elements: BERCursor) {
        self.payload = payload
        self.elements = elements
    }

    /// Returns a reader of the set inside the current attribute's value.
    func inner() throws(BERError) -> ReceiptAttributeReader {
        ReceiptAttributeReader(payload, elements: try Self.elements(ofSetIn: value, of: payload))
    }

    private static func elements(ofSetIn range: Range<Int>, of payload: [UInt8]) throws(BERError) -> BERCursor {
        var root = BERCursor(range)
        let elements = BERCursor(try root.content(of: BERTag.set, in: payload))
        try root.finish()
        return elements
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
        guard type == repeatable || seen.insert(type) else { throw AppReceiptError.attributeRepeated(type) }
        return true
    }

    /// The current attribute, undecoded.
    var attribute: ReceiptAttribute {
        ReceiptAttribute(type: type, version: version, value: payload[value])
    }

    var bytes: [UInt8] { Array(payload[value]) }

    func string() throws -> String {
        guard let text = String(strictUTF8: try content(BERTag.utf8String)) else {
            throw AppReceiptError.textInvalid(attribute: type)
        }
        return text
    }

    func ia5String() throws -> String {
        let content = try content(BERTag.ia5String)
        guard content.allSatisfy({ $0 < 0x80 }) else { throw AppReceiptError.textInvalid(attribute: type) }
        return String(decoding: content, as: UTF8.self)
    }

    /// The date, or nil if the string is empty.
    func date() throws -> Timestamp? {
        let text = try content(BERTag.ia5String)
        guard !text.isEmpty else { return nil }
        guard let date = Timestamp(rfc3339: text) else { throw AppReceiptError.dateInvalid(attribute: type) }
        return date
    }

    func requiredDate() throws -> Timestamp {
        guard let date = try date() else { throw AppReceiptError.attributeMissing(type) }
        return date
    }

    func integer() throws -> Int64 {
        var cursor = BERCursor(value)
        let number = try cursor.integer(in: payload)
        try cursor.finish()
        return number
    }

    private func content(_ tag: UInt8) throws -> ArraySlice<UInt8> {
        var cursor = BERCursor(value)
        let content = try cursor.content(of: tag, in: payload)
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
