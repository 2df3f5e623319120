import Commerce
import Ledger
import Synchronization
import TestSupport

/// A ledger's file on a disk that fails as the dice fall: it is full, and later is not; or it fails to take a commit, of which
/// nobody knows whether it is there, and nothing more is read or written until somebody starts again.
final class FaultyStorage: LedgerStorage {
    private let storage: SQLiteStorage
    private let dice: Dice
    /// Of a hundred commits.
    private let faults: Int
    /// Whether it says that it has taken what it has not, as no disk may.
    private let lies: Bool
    private let stopped = Mutex(false)

    private struct DiskFull: Error {}

    init(_ storage: SQLiteStorage, dice: Dice, faults: Int, lies: Bool) {
        self.storage = storage
        self.dice = dice
        self.faults = faults
        self.lies = lies
    }

    var isStopped: Bool { stopped.withLock(\.self) }

    var answersAtOnce: Bool { storage.answersAtOnce }

    var damaged: StorageFault { storage.damaged }

    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }

    func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        try checkRunning()
        return try storage.read(body)
    }

    func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        try checkRunning()
        guard dice.happens(faults) else { return try storage.write(body) }
        if lies, let value = takeBack(body) { return value }
        switch dice.number(below: 3) {
        case 0:
            _ = takeBack(body)
            throw StorageFault(cause: .diskFull, path: "ledger")
        case 1: _ = takeBack(body)
        default: _ = try storage.write(body)
        }
        stopped.withLock { $0 = true }
        throw StorageFault(cause: .stopped, path: "ledger")
    }

    func together(_ useCases: [() -> Void]) -> [StorageFault?] {
        func all(_ cause: StorageFault.Cause) -> [StorageFault?] {
            useCases.map { _ in StorageFault(cause: cause, path: "ledger") }
        }
        if isStopped { return all(.stopped) }
        guard dice.happens(faults) else { return storage.together(useCases) }
        switch dice.number(below: 3) {
        case 0:
            rollBack(useCases)
            return all(.diskFull)
        case 1: rollBack(useCases)
        default: _ = storage.together(useCases)
        }
        stopped.withLock { $0 = true }
        return all(.stopped)
    }

    /// As SQLite does it on a full disk: all that shared the transaction is gone when the last of it fails.
    private func rollBack(_ useCases: [() -> Void]) {
        _ = storage.together(useCases + [{ try? self.storage.write { try $0.write("ROLLBACK", []) } }])
    }

    /// All that is written is taken back before the commit.
    ///
    /// - Returns: What would have been answered.
    private func takeBack<Value>(_ body: (any LedgerDatabase) throws -> Value) -> Value? {
        var value: Value?
        let _: Void? = try? storage.write { database in
            value = try body(database)
            throw DiskFull()
        }
        return value
    }

    private func checkRunning() throws(StorageFault) {
        guard !isStopped else { throw StorageFault(cause: .stopped, path: "ledger") }
    }
}
