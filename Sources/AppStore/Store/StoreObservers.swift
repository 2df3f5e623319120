import Synchronization

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
