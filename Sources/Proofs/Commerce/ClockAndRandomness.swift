import Foundation

/// A source of the time of day. Tests and simulations supply their own.
public protocol WallClock: Sendable {
    func now() -> Timestamp
}

public struct SystemClock: WallClock {
    public init() {}

    public func now() -> Timestamp {
        Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }
}

/// A clock beside which some customers have their own, as at a local App Store.
package protocol CustomerClocks: WallClock {
    /// True if any customer has an own clock.
    var hasCustomers: Bool { get }

    /// The time of the customer who bought a transaction; nil if the customer has no own clock.
    func time(ofBuyerOf transactionIdentifier: String) -> Timestamp?

    /// The customers with their own clocks.
    func customers() -> [CustomerTime]
}

/// A customer with an own clock.
package struct CustomerTime: Hashable, Sendable {
    /// The customer's account at the App Store.
    package let account: String
    package let now: Timestamp
    /// The original transactions of all purchases.
    package let originalTransactionIdentifiers: [String]

    package init(account: String, now: Timestamp, originalTransactionIdentifiers: [String]) {
        self.account = account
        self.now = now
        self.originalTransactionIdentifiers = originalTransactionIdentifiers
    }
}

/// A timeout for asynchronous work.
package enum Deadline {
    package struct Passed: Error {}

    /// Runs the body. If the limit passes first, it cancels the body and throws `Passed`.
    package static func run<Value: Sendable>(
        within limit: Duration,
        _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw Passed()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw Passed() }
            return value
        }
    }
}

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
