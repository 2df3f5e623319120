/// A reader of BER elements: a cursor together with its bytes. It does not copy content.
public struct BERReader: Sendable {
    /// All bytes. The ranges of elements refer to them.
    public let bytes: [UInt8]
    private var cursor: BERCursor

    public init(_ bytes: [UInt8]) {
        self.init(bytes, in: bytes.indices)
    }

    /// Creates a reader for a part of the bytes, such as an element's content.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        cursor = BERCursor(range)
    }

    public var isAtEnd: Bool { cursor.isAtEnd }

    /// The next element's tag. Nil at the end.
    var nextTag: UInt8? { cursor.nextTag(in: bytes) }

    /// Reads the next element.
    ///
    /// - Throws: `BERError` at the end of the range, or if the element is truncated or its encoding is not supported.
    public mutating func next() throws(BERError) -> BERElement {
        try cursor.next(in: bytes)
    }

    /// Reads the next element, which must have the given tag.
    public mutating func next(_ tag: UInt8) throws(BERError) -> BERElement {
        try cursor.next(tag, in: bytes)
    }

    /// Reads the next element, which must have the given tag, and returns a reader of its content.
    public mutating func enter(_ tag: UInt8) throws(BERError) -> BERReader {
        BERReader(bytes, in: try next(tag).content)
    }

    /// Throws if more bytes follow.
    public func finish() throws(BERError) {
        try cursor.finish()
    }

    /// Reads an INTEGER of at most 64 bits.
    public mutating func integer() throws(BERError) -> Int64 {
        try cursor.integer(in: bytes)
    }

    /// Reads an OCTET STRING. Xcode splits it into several pieces.
    public mutating func octets() throws(BERError) -> ArraySlice<UInt8> {
        switch nextTag {
        case BERTag.octetString: return bytes[try next().content]
        case BERTag.constructedOctetString:
            var pieces = try enter(BERTag.constructedOctetString)
            if pieces.nextTag == BERTag.octetString {
                let first = bytes[try pieces.next().content]
                if pieces.isAtEnd { return first }
                var joined = Array(first)
                while !pieces.isAtEnd { joined += bytes[try pieces.next(BERTag.octetString).content] }
                return joined[...]
            }
            guard pieces.isAtEnd else { throw .unexpectedTag }
            return []
        default: throw .unexpectedTag
        }
    }
}

/// An element of BER: its tag and its ranges in the bytes.
public struct BERElement: Sendable {
    /// The class, form and number in one byte (X.690 section 8.1.2).
    public let tag: UInt8
    public let content: Range<Int>
    /// The range of the tag, length and content.
    public let encoded: Range<Int>
}

/// The BER tags in proofs.
public enum BERTag {
    public static let integer: UInt8 = 0x02
    public static let octetString: UInt8 = 0x04
    public static let null: UInt8 = 0x05
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let ia5String: UInt8 = 0x16
    public static let sequence: UInt8 = 0x30
    public static let set: UInt8 = 0x31
    /// The explicit or implicit tags of the container, by number.
    public static let context0: UInt8 = 0xA0
    static let context1: UInt8 = 0xA1

    static let constructed: UInt8 = 0x20
    static let constructedOctetString: UInt8 = 0x24
}
