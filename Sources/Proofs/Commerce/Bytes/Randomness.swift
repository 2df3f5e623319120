import Foundation

/// A source of random bytes. Tests and simulations supply their own.
public struct Randomness: Sendable {
    private let next: @Sendable () -> UInt64

    /// - Parameter next: A closure that returns 64 random bits at each call.
    public init(next: @escaping @Sendable () -> UInt64) {
        self.next = next
    }

    /// The operating system's source.
    public static let system = Randomness {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    public func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }

    /// Returns random decimal digits with a fixed first digit.
    public func digits(_ count: Int, startingWith first: Character) -> String {
        var text = String(first)
        while text.count < count { text += String((next() >> 32) % 10) }
        return text
    }
}

extension UUID {
    /// A random UUID (RFC 9562 section 5.4).
    public init(randomness: Randomness) {
        var bytes = randomness.bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// The UUID in lowercase, as Apple writes it.
    public var lowercasedString: String { uuidString.lowercased() }
}
