/// Takes elements of BER off bytes without copying them; a cursor and the bytes it stands in.
public struct BERReader: Sendable {
    /// Everything there is; ranges of elements point into it.
    public let bytes: [UInt8]
    private var cursor: BERCursor

    public init(_ bytes: [UInt8]) {
        self.init(bytes, in: bytes.indices)
    }

    /// Reads a part of the bytes, such as an element's content.
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        cursor = BERCursor(range)
    }

    public var isAtEnd: Bool { cursor.isAtEnd }

    /// The next element's tag; nil at the end.
    public var nextTag: UInt8? { cursor.nextTag(in: bytes) }

    /// Takes the next element.
    ///
    /// - Throws: `BERError` at the end, or when the element is cut off or written as nobody writes it.
    public mutating func next() throws(BERError) -> BERElement {
        try cursor.next(in: bytes)
    }

    /// Takes the next element, which has to have a tag.
    public mutating func next(_ tag: UInt8) throws(BERError) -> BERElement {
        try cursor.next(tag, in: bytes)
    }

    /// Takes the next element and gives a reader of what is inside.
    public mutating func enter(_ tag: UInt8) throws(BERError) -> BERReader {
        BERReader(bytes, in: try next(tag).content)
    }

    /// Says that nothing may follow.
    public func finish() throws(BERError) {
        try cursor.finish()
    }

    /// Takes an INTEGER that fits 64 bits.
    public mutating func integer() throws(BERError) -> Int64 {
        try cursor.integer(in: bytes)
    }

    /// Takes an OCTET STRING, in one piece or, as Xcode writes it, in several.
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
