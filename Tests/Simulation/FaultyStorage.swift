import Ledger
import Proofs
import Synchronization
import TestSupport
import Vocabulary

/// A ledger on a disk with random faults. A commit fails because the disk is full for a while, or its outcome is unknown. After
/// an unknown outcome, the storage answers nothing until the process restarts.
final class FaultyStorage: LedgerStorage {
    private let storage: any LedgerStorage
    private let dice: Dice
    /// The number of faults in a hundred commits.
    private let faults: Int
    /// True if the disk reports lost commits as written.
    private let lies: Bool
    private let stopped = Mutex(false)

    init(_ storage: any LedgerStorage, dice: Dice, faults: Int, lies: Bool) {
        self.storage = storage
        self.dice = dice
        self.faults = faults
        self.lies = lies
    }

    var isStopped: Bool { stopped.withLock(\.self) }

    var dialect: SQLDialect { storage.dialect }

    var damaged: StorageFault { storage.damaged }

    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        storage.observe(observer)
    }

    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        try checkRunning()
        return try storage.read(extent, body)
    }

    func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        func all(_ cause: StorageFault.Cause) -> [(any Error)?] {
            parts.flatMap { Array(repeating: StorageFault(cause: cause, path: "ledger"), count: $0.count) }
        }
        if isStopped { return all(.stopped) }
        guard dice.happens(faults) else { return storage.commit(parts) }
        if lies {
            rollBack(parts)
            return parts.flatMap { Array(repeating: nil, count: $0.count) }
        }
        switch dice.number(below: 3) {
        case 0:
            rollBack(parts)
            return all(.diskFull)
        case 1: rollBack(parts)
        default: _ = storage.commit(parts)
        }
        stopped.withLock { $0 = true }
        return all(.stopped)
    }

    /// Performs parts, and rolls back the whole transaction, as SQLite does on a full disk.
    private func rollBack(_ parts: [LedgerPart]) {
        _ = storage.commit([
            LedgerPart { database in
                for part in parts { try? part.perform(database) }
                throw RolledBack()
            }
        ])
    }

    private struct RolledBack: Error {}

    private func checkRunning() throws(StorageFault) {
        guard !isStopped else { throw StorageFault(cause: .stopped, path: "ledger") }
    }
}
