import Proofs
import Testing

@Suite struct BERCursorTests {
    static let integers: [([UInt8], Int64)] = [
        ([0x02, 1, 0x05], 5), ([0x02, 1, 0xFF], -1), ([0x02, 2, 0x00, 0x80], 128),
        ([0x02, 8, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
        ([0x02, 8, 0x80, 0, 0, 0, 0, 0, 0, 0], Int64.min), ([0x02, 0x81, 1, 0x05], 5),
        ([0x02, 0x84, 0, 0, 0, 1, 0x05], 5),
    ]

    @Test(arguments: integers)
    func `integers of up to 64 bits are read`(bytes: [UInt8], expected: Int64) throws {
        var cursor = BERCursor(bytes.indices)
        #expect(try cursor.integer(in: bytes) == expected)
        #expect(cursor.isAtEnd)
    }

    static let noIntegers: [([UInt8], BERError)] = [
        // An integer without content, and one of more than 64 bits.
        ([0x02, 0], .integerOutOfRange), ([0x02, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8], .integerOutOfRange),
        ([0x04, 1, 0], .unexpectedTag), ([], .unexpectedTag), ([0x02], .truncated), ([0x02, 2, 0], .truncated),
        // A length of five bytes, and a truncated length.
        ([0x02, 0x85, 0, 0, 0, 0, 1, 5], .lengthOutOfRange), ([0x02, 0x82, 0], .truncated),
    ]

    @Test(arguments: noIntegers)
    func `other integers are refused`(bytes: [UInt8], expected: BERError) {
        var cursor = BERCursor(bytes.indices)
        #expect(throws: expected) { try cursor.integer(in: bytes) }
    }

    static let noElements: [([UInt8], BERError)] = [
        // A tag of several bytes.
        ([0x3F, 0x21, 0], .unexpectedTag),
        // An indefinite length of a primitive element.
        ([0x04, 0x80, 0, 0], .lengthOutOfRange),
        // A missing or incomplete end of the content.
        ([0x30, 0x80], .truncated), ([0x30, 0x80, 0], .truncated), ([0x30, 0x80, 0, 1], .unexpectedTag),
        ([0x30, 0x80, 0x05, 0], .truncated),
    ]

    @Test(arguments: noElements)
    func `unsupported encodings are refused`(bytes: [UInt8], expected: BERError) {
        var cursor = BERCursor(bytes.indices)
        #expect(throws: expected) { try cursor.next(in: bytes) }
    }

    @Test func `an element cannot exceed its parent`() throws {
        let bytes: [UInt8] = [0x30, 3, 0x04, 2, 0xAA, 0xBB]
        var cursor = BERCursor(bytes.indices)
        var inner = BERCursor(try cursor.content(of: BERTag.sequence, in: bytes))
        #expect(throws: BERError.truncated) { try inner.content(of: BERTag.octetString, in: bytes) }
        #expect(throws: BERError.trailingBytes) { try cursor.finish() }
    }
}
