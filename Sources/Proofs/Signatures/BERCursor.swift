/// A position in bytes of BER (X.690), with the end of the readable range. DER is a subset of BER.
///
/// The cursor reads the encodings that proofs use: tags of one byte, definite lengths of up to four bytes, and
/// indefinite lengths. It limits the nesting and checks each length against the available bytes. The caller passes the
/// same bytes to each call. A receipt has thousands of elements, and a cursor that owned the bytes would change a
/// reference count for each.
public struct BERCursor: Sendable {
    /// The maximum nesting depth of elements. Xcode's receipts are the deepest and need ten.
    static let maximumDepth = 24

    private var position: Int
    private let end: Int

    /// Creates a cursor for a part of the bytes, such as an element's content.
    public init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    public var isAtEnd: Bool { position == end }

    /// The next element's tag. Nil at the end.
    func nextTag(in bytes: [UInt8]) -> UInt8? { position < end ? bytes[position] : nil }

    /// Reads the next element.
    ///
    /// - Throws: `BERError` at the end of the range, or if the element is truncated or its encoding is not supported.
    public mutating func next(in bytes: [UInt8]) throws(BERError) -> BERElement {
        try element(in: bytes, depth: 0)
    }

    /// Reads the next element, which must have the given tag.
    public mutating func next(_ tag: UInt8, in bytes: [UInt8]) throws(BERError) -> BERElement {
        guard nextTag(in: bytes) == tag else { throw .unexpectedTag }
        return try element(in: bytes, depth: 0)
    }

    /// Reads the next element, which must have the given tag, and returns a cursor for its content.
    public mutating func enter(_ tag: UInt8, in bytes: [UInt8]) throws(BERError) -> BERCursor {
        BERCursor(try next(tag, in: bytes).content)
    }

    /// Reads the next element, which must have the given tag, and returns the range of its content.
    public mutating func content(of tag: UInt8, in bytes: [UInt8]) throws(BERError) -> Range<Int> {
        // Most elements have a length of one byte. This path is faster for them.
        let start = position + 2
        if start <= end, bytes[position] == tag {
            let length = Int(bytes[position + 1])
            if length < 0x80, length <= end - start {
                position = start + length
                return start..<position
            }
        }
        return try next(tag, in: bytes).content
    }

    /// Throws if more bytes follow.
    public func finish() throws(BERError) {
        guard isAtEnd else { throw .trailingBytes }
    }

    /// Reads an INTEGER of at most 64 bits.
    public mutating func integer(in bytes: [UInt8]) throws(BERError) -> Int64 {
        let content = try content(of: BERTag.integer, in: bytes)
        guard (1...8).contains(content.count) else { throw .integerOutOfRange }
        var value: Int64 = bytes[content.lowerBound] >= 0x80 ? -1 : 0
        for index in content { value = value << 8 | Int64(bytes[index]) }
        return value
    }

    /// Reads an OCTET STRING. Xcode splits it into several pieces.
    public mutating func octets(in bytes: [UInt8]) throws(BERError) -> ArraySlice<UInt8> {
        switch nextTag(in: bytes) {
        case BERTag.octetString: return bytes[try next(in: bytes).content]
        case BERTag.constructedOctetString:
            var pieces = try enter(BERTag.constructedOctetString, in: bytes)
            if pieces.nextTag(in: bytes) == BERTag.octetString {
                let first = bytes[try pieces.next(in: bytes).content]
                if pieces.isAtEnd { return first }
                var joined = Array(first)
                while !pieces.isAtEnd { joined += bytes[try pieces.next(BERTag.octetString, in: bytes).content] }
                return joined[...]
            }
            guard pieces.isAtEnd else { throw .unexpectedTag }
            return []
        default: throw .unexpectedTag
        }
    }

    private mutating func element(in bytes: [UInt8], depth: Int) throws(BERError) -> BERElement {
        let start = position
        guard end - position >= 2 else { throw .truncated }
        let tag = bytes[position]
        guard tag & 0x1F != 0x1F else { throw .unexpectedTag }
        let first = bytes[position + 1]
        position += 2
        if first == 0x80 { return try indefinite(tag, in: bytes, from: start, depth: depth) }
        var length = Int(first)
        if first > 0x80 {
            let count = Int(first & 0x7F)
            guard count <= 4 else { throw .lengthOutOfRange }
            guard end - position >= count else { throw .truncated }
            length = 0
            for index in position..<position + count { length = length << 8 | Int(bytes[index]) }
            position += count
        }
        guard end - position >= length else { throw .truncated }
        let content = position..<position + length
        position += length
        return BERElement(tag: tag, content: content, encoded: start..<position)
    }

    /// Reads an element whose content ends with two zero bytes (X.690 section 8.1.3.6). Finding them requires reading
    /// the inner elements.
    private mutating func indefinite(
        _ tag: UInt8,
        in bytes: [UInt8],
        from start: Int,
        depth: Int
    ) throws(BERError) -> BERElement {
        guard tag & BERTag.constructed != 0 else { throw .lengthOutOfRange }
        guard depth < Self.maximumDepth else { throw .tooDeep }
        let content = position
        while true {
            guard end - position >= 2 else { throw .truncated }
            if bytes[position] == 0 {
                guard bytes[position + 1] == 0 else { throw .unexpectedTag }
                position += 2
                return BERElement(tag: tag, content: content..<position - 2, encoded: start..<position)
            }
            _ = try element(in: bytes, depth: depth + 1)
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
    /// True if the element, or the last one inside it, ends too early. `BERCursor` reads no such element.
    var isCut = false
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

/// A defect in BER-encoded bytes.
public enum BERError: Error, Equatable, Sendable {
    case truncated
    case unexpectedTag
    case lengthOutOfRange
    case integerOutOfRange
    case tooDeep
    case trailingBytes
}
