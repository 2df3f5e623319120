import Synchronization

/// Lets so many in at once, and turns the others away.
final class ConcurrencyLimit: Sendable {
    private let free: Mutex<Int>

    init(_ maximum: Int) {
        free = Mutex(maximum)
    }

    /// - Throws: `Problem`, `tooBusy`, when there is no place.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        let isIn = free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
        guard isIn else { throw Problem.tooBusy }
        defer { free.withLock { $0 += 1 } }
        return try await body()
    }
}

extension Problem {
    static let tooBusy = Problem(
        status: .serviceUnavailable, code: "tooBusy",
        detail: "As many requests of this kind as can be are being answered: try again in a moment.",
        couldSucceedLater: true, retryAfter: 1)
}
