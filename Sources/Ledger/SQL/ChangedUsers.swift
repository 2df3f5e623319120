import Synchronization

/// Whom a transaction has changed something of, gathered while it runs.
final class ChangedUsers {
    private(set) var numbers: Set<Int64> = []

    func insert(_ number: Int64) {
        numbers.insert(number)
    }

    /// Of one that is run again.
    func removeAll() {
        numbers.removeAll(keepingCapacity: true)
    }
}

/// Who is told, after each commit, whom it has changed something of.
final class ChangeObservers: Sendable {
    private let observers = Mutex<[@Sendable (Set<Int64>) -> Void]>([])

    func add(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    func tell(_ users: Set<Int64>) {
        guard !users.isEmpty else { return }
        for observer in observers.withLock({ $0 }) { observer(users) }
    }
}
