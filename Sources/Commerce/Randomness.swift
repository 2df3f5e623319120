/// Where chance comes from, so that a test or a simulation can own it.
public struct Randomness: Sendable {
    private let next: @Sendable () -> UInt64

    /// - Parameter next: 64 random bits at each call.
    public init(next: @escaping @Sendable () -> UInt64) {
        self.next = next
    }

    /// The operating system's.
    public static let system = Randomness {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    public func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }

    /// Decimal digits of which the first is given and the others are chance.
    public func digits(_ count: Int, startingWith first: Character) -> String {
        var text = String(first)
        while text.count < count { text += String((next() >> 32) % 10) }
        return text
    }
}
