import Catalog
import TestSupport
import Testing

/// The size that a picture states, and its limit.
@Suite struct PictureSizeTests {
    private static let unreadable = "its width and height cannot be read"

    /// The reason for the refusal of a picture; nil if it is accepted.
    private func refusal(of bytes: [UInt8]) -> String? {
        do throws(CatalogError) { _ = try Picture(bytes: bytes, file: "p") } catch { return error.reason }
        return nil
    }

    private static func tooLarge(_ width: Int, _ height: Int) -> String {
        "its size is \(width) × \(height) pixels; at most 4096 × 4096 are allowed"
    }

    /// A PNG whose first chunk is another one.
    private static let otherChunk: [UInt8] = {
        var bytes = TestPicture.png()
        bytes.replaceSubrange(12..<16, with: "CgBI".utf8)
        return bytes
    }()

    /// A PNG whose first chunk has another length.
    private static let otherLength: [UInt8] = {
        var bytes = TestPicture.png()
        bytes[11] = 12
        return bytes
    }()

    private static let comments = [[UInt8]](repeating: TestPicture.segment(0xFE, 0), count: 60_000)

    @Test(
        arguments: [
            (TestPicture.png(1, 1), nil), (TestPicture.png(4096, 4096), nil),
            (TestPicture.png(4097, 1), tooLarge(4097, 1)), (TestPicture.png(1, 4097), tooLarge(1, 4097)),
            (TestPicture.png(60_000, 60_000), tooLarge(60_000, 60_000)),
            (TestPicture.png(.max, 1), tooLarge(4_294_967_295, 1)),
            (TestPicture.png(0, 1), unreadable), (TestPicture.png(1, 0), unreadable),
            (Array(TestPicture.png().prefix(8)), unreadable), (Array(TestPicture.png().prefix(24)), unreadable),
            (Array(TestPicture.png().prefix(32)), unreadable),
            (otherChunk, unreadable), (otherLength, unreadable),
        ] as [([UInt8], String?)])
    func `a PNG states its size in its first chunk`(bytes: [UInt8], refusal: String?) {
        #expect(self.refusal(of: bytes) == refusal)
    }

    @Test(
        arguments: [
            (TestPicture.jpeg(4096, 4096), nil), (TestPicture.jpeg(4097, 1), tooLarge(4097, 1)),
            (TestPicture.jpeg(1, 4097), tooLarge(1, 4097)),
            (TestPicture.jpeg(65_535, 65_535), tooLarge(65_535, 65_535)),
            (TestPicture.jpeg(9000, 1, marker: 0xC2), tooLarge(9000, 1)),
            (TestPicture.jpeg(9000, 1, marker: 0xCF), tooLarge(9000, 1)),
            (TestPicture.jpeg(1, 1, after: [TestPicture.segment(0xE0, 14), TestPicture.segment(0xDB, 65)]), nil),
            // Tables and extensions are no frame header.
            (
                TestPicture.jpeg(
                    9000, 1,
                    after: [TestPicture.segment(0xC4, 9), TestPicture.segment(0xC8, 9), TestPicture.segment(0xCC, 9)]),
                tooLarge(9000, 1)
            ),
            (TestPicture.jpeg(1, 1, after: [[0xFF, 0x01], [0xFF, 0xD0], [0xFF, 0xFF]]), nil),
            (TestPicture.jpeg(0, 1), unreadable), (TestPicture.jpeg(1, 0), unreadable),
            ([0xFF, 0xD8, 0xFF], unreadable), ([0xFF, 0xD8, 0xFF, 0xE0, 0], unreadable),
            ([0xFF, 0xD8] + TestPicture.segment(0xE0, 14).dropLast(), unreadable),
            ([0xFF, 0xD8] + TestPicture.segment(0xC0, 5), unreadable),
            (TestPicture.jpeg(1, 1, after: [[0xFF, 0xE0, 0, 1]]), unreadable),
            // Bytes between segments, the image's data or the end of the image come before the frame header.
            (TestPicture.jpeg(1, 1, after: [TestPicture.segment(0xE0, 2), [0]]), unreadable),
            (TestPicture.jpeg(1, 1, after: [TestPicture.segment(0xDA, 2)]), unreadable),
            (TestPicture.jpeg(1, 1, after: [TestPicture.segment(0xE0, 2), [0xFF, 0xD9]]), unreadable),
        ] as [([UInt8], String?)])
    func `a JPEG states its size in its frame header`(bytes: [UInt8], refusal: String?) {
        #expect(self.refusal(of: bytes) == refusal)
    }

    @Test func `a JPEG may have as many segments as its bytes allow`() {
        #expect(refusal(of: TestPicture.jpeg(1, 1, after: Self.comments)) == nil)
        #expect(refusal(of: TestPicture.jpeg(1, 1, after: Self.comments).dropLast(13).map(\.self)) == Self.unreadable)
    }

    @Test(
        arguments: [
            ("", nil), ("width='4096' height='4096'", nil), ("width=\"4097\"", tooLarge(4097, 150)),
            ("height = '60000px'", tooLarge(300, 60_000)), ("width='3072pt' height='1in'", nil),
            ("width='3073pt'", tooLarge(4098, 150)), ("width='44in'", tooLarge(4224, 150)), ("width='1e3'", nil),
            ("width='5e3'", tooLarge(5000, 150)), ("width='100%' height='auto'", nil), ("width=' 10 '", nil),
            // Other units are relative to the page, or ignored.
            ("width='100vw' height='60000vh'", nil), ("width='1em' height='60000%'", nil), ("width='60000x'", nil),
            ("width='256em'", nil), ("width='257em'", tooLarge(4112, 150)), ("width='300rlh'", tooLarge(6000, 150)),
            ("width='60000PX'", tooLarge(60_000, 150)), ("width='400000Q'", tooLarge(377_953, 150)),
            // The box has no pixels. It counts where one length is missing.
            ("viewBox='0 0 24 24'", nil), ("viewBox='0 0 60000 24'", nil),
            ("viewBox='0,0,24,60000' width='100%' height='100vh'", nil), ("viewBox='0 0 1'", nil),
            ("viewBox='0 0 60000 60000' width='10' height='10'", nil),
            ("viewBox='0 0 10 4000' width='4000'", tooLarge(4000, 1_600_000)),
            ("viewBox='0 0 4000 10' height='4000'", tooLarge(1_600_000, 4000)),
            ("WIDTH='60000' data-width='60000' title='&gt;>'", nil),
            ("width='0'", unreadable), ("width='-1'", unreadable), ("width='x'", unreadable), ("width=''", unreadable),
            ("width='1 2'", unreadable), ("width='nan'", unreadable), ("width='inf'", unreadable),
            ("width='calc(60000px)'", unreadable),
            ("width='1e999'", unreadable), ("width='&#49;'", unreadable), ("width='٣'", unreadable),
            ("width='1' width='60000'", unreadable), ("width=1", unreadable), ("width", unreadable),
            ("width='1", unreadable),
            ("width='\(String(repeating: "0", count: 256))1'", unreadable), ("width='1' viewBox='0 0 1'", unreadable),
            ("width='1' viewBox='0 0 0 1'", unreadable), ("height='1' viewBox='0 0 x 1'", unreadable),
            ("height='1' viewBox=''", unreadable),
        ] as [(String, String?)])
    func `an SVG states its size in its first element`(attributes: String, refusal: String?) {
        #expect(
            self.refusal(of: Array("<?xml version='1.0'?><svg xmlns='a' \(attributes)><g width='60000'/></svg>".utf8))
                == refusal)
    }

    @Test func `an SVG without the end of its first element is refused`() {
        #expect(refusal(of: Array("<svg ".utf8)) == Self.unreadable)
    }
}
