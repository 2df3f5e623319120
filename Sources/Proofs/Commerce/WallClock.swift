#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
