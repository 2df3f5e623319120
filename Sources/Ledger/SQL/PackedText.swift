import Foundation
import Proofs

/// The bytes of an identifier in PostgreSQL, where four columns and three indexes of a purchase have one.
///
/// The 16 digits of the App Store take seven bytes, and a UUID 17. Any other text follows a byte that begins neither. Equal texts have
/// equal bytes, and digits have the order of their texts, so that an export has one order. SQLite, which stores the text, packs pages
/// without padding.
package enum PackedText {
    /// The number of digits of the first seven bytes. 11 to its power is less than 2 to the power of 56.
    private static let digitsAtOnce = 16
    private static let bytesAtOnce = 7
    /// The first byte of a UUID, and of another text. The digits' first byte is lower.
    private static let (uuidMark, textMark): (UInt8, UInt8) = (0xFE, 0xFF)

    package static func bytes(of text: String) -> [UInt8] {
        let utf8 = Array(text.utf8)
        if utf8.isEmpty { return [] }
        if utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) { return bytes(ofDigits: utf8) }
        if utf8.count == 36, let uuid = UUID(uuidString: text), uuid.lowercasedString.hasSameBytes(as: text) {
            return [uuidMark] + withUnsafeBytes(of: uuid.uuid) { Array($0) }
        }
        return [textMark] + utf8
    }

    /// - Returns: Nil for bytes that no text has.
    package static func text(of bytes: [UInt8]) -> String? {
        switch bytes.first {
        case nil: return ""
        case textMark: return String(validating: bytes.dropFirst(), as: UTF8.self)
        case uuidMark:
            guard bytes.count == 17 else { return nil }
            let value = bytes.dropFirst().withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
            return UUID(uuid: value).lowercasedString
        default: return digits(of: bytes)
        }
    }

    /// A digit is its value and 1, and 0 after the end.
    private static func bytes(ofDigits digits: [UInt8]) -> [UInt8] {
        func number(_ digits: ArraySlice<UInt8>, count: Int) -> UInt64 {
            let values = digits.map { UInt64($0 - UInt8(ascii: "0")) + 1 }
            return (values + repeatElement(0, count: count - values.count)).reduce(0) { $0 * 11 + $1 }
        }
        let first = number(digits.prefix(digitsAtOnce), count: digitsAtOnce)
        var bytes = (0..<bytesAtOnce).map { UInt8(truncatingIfNeeded: first >> (8 * UInt64(bytesAtOnce - 1 - $0))) }
        var rest = digits.dropFirst(digitsAtOnce)
        while !rest.isEmpty {
            bytes.append(UInt8(number(rest.prefix(2), count: 2)))
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func digits(of bytes: [UInt8]) -> String? {
        func digits(_ number: UInt64, count: Int) -> [UInt8] {
            var (rest, values): (UInt64, [UInt8]) = (number, [])
            for _ in 0..<count {
                values.append(UInt8(rest % 11))
                rest /= 11
            }
            return values.reversed()
        }
        var values = digits(bytes.prefix(bytesAtOnce).reduce(0) { $0 << 8 | UInt64($1) }, count: digitsAtOnce)
        for byte in bytes.dropFirst(bytesAtOnce) { values += digits(UInt64(byte), count: 2) }
        let text = String(
            decoding: values.prefix { $0 > 0 }.map { $0 - 1 + UInt8(ascii: "0") }, as: UTF8.self)
        // No text has other bytes than its own.
        return self.bytes(of: text) == bytes ? text : nil
    }
}
