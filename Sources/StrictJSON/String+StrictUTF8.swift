extension String {
    /// Reads UTF-8, and nothing that is not.
    ///
    /// `String(validating:as:)` does the same at many times the cost, since the library's generic code is not specialised.
    ///
    /// - Returns: nil for bytes that are no UTF-8.
    public init?(strictUTF8 bytes: ArraySlice<UInt8>) {
        // What is no UTF-8 is repaired, which changes it; plain ASCII never is.
        self.init(decoding: bytes, as: UTF8.self)
        guard bytes.allSatisfy({ $0 < 0x80 }) || utf8.elementsEqual(bytes) else { return nil }
    }

    /// Whether both are the same bytes, in a time that follows from their length alone; `==` asks for canonical equivalence.
    @inline(__always)
    public func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
