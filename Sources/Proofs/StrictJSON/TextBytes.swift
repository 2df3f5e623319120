import Foundation

/// Texts as the bytes that were signed: no byte is repaired, and no two texts are equal by their looks.
extension String {
    /// True if the text contains NUL, which PostgreSQL does not store.
    public var hasNUL: Bool {
        // The search for a byte reads many at once, where a collection is read one by one.
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }

    /// True if all bytes are visible characters of ASCII. Such texts are equal only if their bytes are.
    package var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Decodes strict UTF-8.
    ///
    /// `String(validating:as:)` is much slower, because the library's generic code is not specialized.
    ///
    /// - Returns: Nil if the bytes are not UTF-8.
    public init?(strictUTF8 bytes: ArraySlice<UInt8>) {
        // Decoding repairs invalid UTF-8 and thereby changes the bytes. ASCII is always valid.
        self.init(decoding: bytes, as: UTF8.self)
        guard bytes.allSatisfy({ $0 < 0x80 }) || utf8.elementsEqual(bytes) else { return nil }
    }

    /// True if both strings have the same bytes. The time depends only on their length. `==` compares by canonical
    /// equivalence.
    public func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.hasSameBytes(as: $0) }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if both have the same bytes.
    @usableFromInline
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let others = other.baseAddress else { return true }
        return memcmp(start, others, count) == 0
    }
}

extension ArraySlice<UInt8> {
    /// True if both slices contain the same bytes.
    public func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        withUnsafeBufferPointer { bytes in other.withUnsafeBufferPointer { bytes.hasSameBytes(as: $0) } }
    }
}
