import GRDB
import Synchronization

/// The registration of an observer of a store, until `cancel` or its last reference.
package final class StoreObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }

    package func cancel() { end() }
}

extension Store {
    /// Notifies an observer of each commit that has changed the store.
    ///
    /// Commits of this process notify it at once. Another process may use the same database. A slow check of SQLite's
    /// `data_version`, which only such commits change, finds them.
    ///
    /// - Parameters:
    ///   - interval: The pause between checks for commits of other processes.
    ///   - observer: The observer, which must not block. Several commits may result in one call.
    package func observe(
        checkingEvery interval: Duration = .seconds(2),
        _ observer: @escaping @Sendable () -> Void
    ) -> StoreObservation {
        let number = observers.add(observer)
        let first = try? queue.read(Self.dataVersion)
        let check = Task { [queue] in
            var known = first
            // A cancelled sleep ends the loop.
            while (try? await Task.sleep(for: interval)) != nil {
                // An error ends nothing: the next use case reports it.
                guard let version = try? await queue.read(Self.dataVersion), version != known else { continue }
                known = version
                observer()
            }
        }
        return StoreObservation { [observers] in
            observers.remove(number)
            check.cancel()
        }
    }

    /// The number of observers.
    package var observerCount: Int { observers.count }

    /// A number that changes with each commit of another connection, and not with those of this one.
    @Sendable private static func dataVersion(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "PRAGMA data_version")
    }
}

/// The observers of the commits that change a store's database.
final class StoreObservers: Sendable {
    private struct State {
        var last = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// The number of observers.
    var count: Int { state.withLock { $0.observers.count } }

    /// - Returns: The number of the observer, for its removal.
    func add(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.observers[state.last] = observer
            return state.last
        }
    }

    func remove(_ number: Int) {
        _ = state.withLock { $0.observers.removeValue(forKey: number) }
    }

    func notify() {
        for observer in state.withLock({ Array($0.observers.values) }) { observer() }
    }
}
