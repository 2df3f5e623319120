extension [UInt8] {
    /// The bytes of hexadecimal digits.
    init(digits hexadecimal: String) {
        let values = hexadecimal.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// The sum of two big-endian numbers of the same length. Nil if the sum is longer.
    func adding(_ other: [UInt8]) -> [UInt8]? {
        guard count == other.count else { return nil }
        var sum: [UInt8] = []
        var carry = 0
        for (a, b) in zip(reversed(), other.reversed()) {
            let digit = Int(a) + Int(b) + carry
            sum.append(UInt8(digit & 0xFF))
            carry = digit >> 8
        }
        return carry == 0 ? sum.reversed() : nil
    }
}
