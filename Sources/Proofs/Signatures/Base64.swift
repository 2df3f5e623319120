/// Base64 in its two alphabets (RFC 4648). The strict decoder accepts one text per value, so signed bytes have only one
/// spelling.
public enum Base64 {
    /// The two alphabets in proofs.
    public enum Alphabet: Sendable {
        /// The alphabet with `+`, `/` and padding (section 4), for app receipts and the certificates of `x5c`.
        case standard
        /// The alphabet with `-` and `_`, without padding (section 5), for the segments of a JWS.
        case urlSafe
    }

    public static func encode(_ bytes: some Sequence<UInt8>, _ alphabet: Alphabet = .standard) -> String {
        let symbols = alphabet == .standard ? standardSymbols : urlSafeSymbols
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(symbols[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(symbols[Int(buffer << UInt32(6 - bits) & 63)]) }
        if alphabet == .standard {
            while !text.count.isMultiple(of: 4) { text.append(padding) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    public static func decode(_ text: some Sequence<UInt8>, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        decode(Array(text)[...], alphabet)
    }

    /// - Returns: Nil if the text has a character outside the alphabet (including white space), wrong padding, or
    ///   nonzero bits after the last byte.
    public static func decode(_ text: ArraySlice<UInt8>, _ alphabet: Alphabet = .standard) -> [UInt8]? {
        let values = alphabet == .standard ? standardValues : urlSafeValues
        var length = text.count
        if alphabet == .standard {
            guard length.isMultiple(of: 4) else { return nil }
            length -= text.suffix(2).reversed().prefix { $0 == padding }.count
        }
        guard length % 4 != 1 else { return nil }
        // The union of all values. The table's 255 marks invalid symbols, so one comparison at the end finds them.
        var all: UInt8 = 0
        var rest: UInt32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: length / 4 * 3 + 2) { output, count in
            text.withUnsafeBufferPointer { input in
                values.withUnsafeBufferPointer { values in
                    var index = 0
                    while index + 4 <= length {
                        let (a, b) = (values[Int(input[index])], values[Int(input[index + 1])])
                        let (c, d) = (values[Int(input[index + 2])], values[Int(input[index + 3])])
                        all |= a | b | c | d
                        let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
                        output[count] = UInt8(truncatingIfNeeded: group >> 16)
                        output[count + 1] = UInt8(truncatingIfNeeded: group >> 8)
                        output[count + 2] = UInt8(truncatingIfNeeded: group)
                        count += 3
                        index += 4
                    }
                    var bits: UInt32 = 0
                    while index < length {
                        all |= values[Int(input[index])]
                        rest = rest << 6 | UInt32(values[Int(input[index])] & 63)
                        bits += 6
                        if bits >= 8 {
                            bits -= 8
                            output[count] = UInt8(truncatingIfNeeded: rest >> bits)
                            rest &= 1 << bits - 1
                            count += 1
                        }
                        index += 1
                    }
                }
            }
        }
        return all < 64 && rest == 0 ? bytes : nil
    }

    /// The bytes of a text in PEM (RFC 7468 section 2), such as a `CERTIFICATE`. Nil for another label, and for text around it.
    static func pem(_ text: String, _ label: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.first == "-----BEGIN \(label)-----", lines.last == "-----END \(label)-----" else { return nil }
        return decode(lines.dropFirst().dropLast().joined().utf8)
    }

    /// True for a symbol of either alphabet.
    static func isSymbol(_ byte: UInt8) -> Bool { min(standardValues[Int(byte)], urlSafeValues[Int(byte)]) < 64 }

    private static let padding = UInt8(ascii: "=")
    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardSymbols = Array((common + "+/").utf8)
    private static let urlSafeSymbols = Array((common + "-_").utf8)
    private static let standardValues = values(of: standardSymbols)
    private static let urlSafeValues = values(of: urlSafeSymbols)

    /// Returns a table from symbol to value. Symbols outside the alphabet have the value 255.
    private static func values(of symbols: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, symbol) in symbols.enumerated() { values[Int(symbol)] = UInt8(value) }
        return values
    }
}

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
