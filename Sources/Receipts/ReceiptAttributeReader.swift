import Commerce
import Signatures
import StrictJSON

/// Takes the attributes of a `SET OF ReceiptAttribute` one by one, in any order, since Xcode does not sort.
///
/// An attribute's value stays where it lies, and is read in the form its type asks for when somebody asks. Not copied, since
/// a copy would count a reference, and a receipt has thousands of attributes.
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

    /// Reads the set inside the current attribute's value.
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
    /// - Parameter repeatable: The type that may stand there more than once.
    /// - Returns: false at the end.
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

    /// The attribute as it is.
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

    /// nil for the empty text that says there is no date.
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

/// The attribute types met so far, as bits: those below 64 and those from 1700 on, where all that have a meaning lie. Of
/// others it keeps no account, since nobody reads them.
private struct SeenTypes {
    private var receipt: UInt64 = 0
    private var inAppPurchase: UInt64 = 0

    /// - Returns: false when the type was met before.
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
