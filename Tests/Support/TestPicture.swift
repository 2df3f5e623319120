/// Pictures for tests: their heads, because nothing reads the rest.
package enum TestPicture {
    /// - Parameter rest: Further bytes.
    package static func png(_ width: UInt32 = 1, _ height: UInt32 = 1, rest: [UInt8] = []) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let head = Array("IHDR".utf8) + bytes(width) + bytes(height) + [8, 6, 0, 0, 0]
        return signature + bytes(UInt32(13)) + head + [0, 0, 0, 0] + rest
    }

    /// - Parameters:
    ///   - marker: The marker of the frame header; 0xC0 for a baseline image.
    ///   - segments: The segments before the frame header, each with its marker.
    package static func jpeg(
        _ width: UInt16 = 1,
        _ height: UInt16 = 1,
        marker: UInt8 = 0xC0,
        after segments: [[UInt8]] = []
    ) -> [UInt8] {
        let head = [0xFF, marker] + bytes(UInt16(11)) + [8] + bytes(height) + bytes(width) + [1, 1, 0x11, 0]
        return [0xFF, 0xD8] + segments.flatMap(\.self) + head
    }

    /// A segment with as many bytes of content.
    package static func segment(_ marker: UInt8, _ count: UInt16) -> [UInt8] {
        [0xFF, marker] + bytes(count + 2) + [UInt8](repeating: 0xFF, count: Int(count))
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
