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
