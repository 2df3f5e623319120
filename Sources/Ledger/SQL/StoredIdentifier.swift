import Proofs

/// The identifier of a transaction in a row. Up to 19 digits, as the App Store makes them, are a number without memory of its own.
package struct StoredIdentifier: Hashable, Sendable {
    private enum Content: Hashable {
        case digits(UInt64, count: UInt8)
        case text(ByteKey)
    }

    /// The number of digits of which each number has 64 bits.
    private static let maximumDigits = 19

    private let content: Content

    package init(_ text: String) {
        let digits = text.utf8.withContiguousStorageIfAvailable { Self.digits(in: UnsafeRawBufferPointer($0)) } ?? nil
        content = digits ?? .text(ByteKey(text))
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        content = Self.digits(in: bytes) ?? .text(ByteKey(String(decoding: bytes, as: UTF8.self)))
    }

    private static func digits(in bytes: UnsafeRawBufferPointer) -> Content? {
        guard !bytes.isEmpty, bytes.count <= maximumDigits else { return nil }
        var number: UInt64 = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return .digits(number, count: UInt8(bytes.count))
    }

    package var text: String {
        switch content {
        case .text(let key): key.text
        case .digits(_, let count):
            String(unsafeUninitializedCapacity: Int(count)) { bytes in
                write(to: UnsafeMutableBufferPointer(rebasing: bytes[..<Int(count)]))
                return Int(count)
            }
        }
    }

    /// Appends the bytes of the text.
    package func append(to bytes: inout [UInt8]) {
        switch content {
        case .text(let key): bytes.append(contentsOf: key.text.utf8)
        case .digits(_, let count):
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(count)) { digits in
                write(to: digits)
                bytes.append(contentsOf: digits)
            }
        }
    }

    /// True if the text is only digits, which need no escapes.
    package var isNumber: Bool {
        if case .digits = content { true } else { false }
    }

    /// Writes the digits to as many bytes.
    private func write(to bytes: UnsafeMutableBufferPointer<UInt8>) {
        guard case .digits(var rest, _) = content else { return }
        for place in bytes.indices.reversed() {
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}
