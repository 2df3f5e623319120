extension Collection<UInt8> {
    /// The bytes as lowercase hexadecimal digits.
    @inlinable public var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
        }
        return String(unsafeUninitializedCapacity: 2 * count) { digits in
            var end = digits.startIndex
            for byte in self {
                digits[end] = digit(byte >> 4)
                digits[end + 1] = digit(byte & 15)
                end += 2
            }
            return end
        }
    }
}
