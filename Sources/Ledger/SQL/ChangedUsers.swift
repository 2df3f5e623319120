import Synchronization

/// The users that a transaction has changed so far.
final class ChangedUsers {
    private(set) var numbers: Set<Int64> = []

    func insert(_ number: Int64) {
        numbers.insert(number)
    }

    /// Removes all users before a retry.
    func removeAll() {
        numbers.removeAll(keepingCapacity: true)
    }
}

/// The observers of the users changed by a commit.
final class ChangeObservers: Sendable {
    private let observers = Mutex<[@Sendable (Set<Int64>) -> Void]>([])

    func add(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.withLock { $0.append(observer) }
    }

    func notify(_ users: Set<Int64>) {
        guard !users.isEmpty else { return }
        for observer in observers.withLock({ $0 }) { observer(users) }
    }
}
