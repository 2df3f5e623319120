/// A string that is compared, ordered and hashed by its UTF-8 bytes.
///
/// `String` compares by canonical equivalence. That takes quadratic time on long runs of combining marks, which a
/// client can send. Untrusted strings are compared through this type.
public struct ByteKey: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    public let text: String

    @inlinable
    public init(_ text: String) {
        self.text = text
    }

    @inlinable
    public init(stringLiteral text: String) {
        self.text = text
    }

    @inlinable
    public static func == (left: ByteKey, right: ByteKey) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count else { return false }
        // A comparison byte by byte was a fifth of the instructions of a decision.
        return left.withBytes(and: right) { $0.hasSameBytes(as: $1) } ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    @inlinable
    public static func < (left: ByteKey, right: ByteKey) -> Bool {
        left.withBytes(and: right) { $0.lexicographicallyPrecedes($1) }
            ?? left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// - Returns: Nil if the bytes of a string are not contiguous, as those of Objective-C strings may be.
    @inlinable
    func withBytes(
        and other: ByteKey,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool? {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            other.text.utf8.withContiguousStorageIfAvailable { body(bytes, $0) }
        } ?? nil
    }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        let isContiguous: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isContiguous == nil { for byte in text.utf8 { hasher.combine(byte) } }
        // The terminator separates consecutive strings.
        hasher.combine(0xFF as UInt8)
    }
}
