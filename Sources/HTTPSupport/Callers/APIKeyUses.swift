import Ledger
import Proofs
import Synchronization

/// The last uses of API keys that are not in the ledger yet.
///
/// Only keys of the ledger are noted, so callers cannot make it grow.
final class APIKeyUses: Sendable {
    /// The shortest time between two records of a key's use.
    private static let interval: Int64 = 60 * 60

    private let waiting = Mutex<[String: Timestamp]>([:])

    /// Records a use, unless the ledger has one of the last hour.
    func record(_ key: APIKeyRecord, at moment: Timestamp) {
        if let last = key.lastUsedAt, moment < last.adding(seconds: Self.interval) { return }
        waiting.withLock { $0[key.identifier] = moment }
    }

    /// Returns all recorded uses, by the identifiers of the keys, and removes them.
    func drain() -> [String: Timestamp] {
        waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }
}
