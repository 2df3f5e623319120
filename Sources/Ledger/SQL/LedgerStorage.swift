import Commerce

/// Where the rows of a ledger are, and the transactions on them.
package protocol LedgerStorage: Sendable {
    /// As of one moment; never waits for what writes.
    func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value

    /// All of `body` in one commit that is durable when this returns, or nothing; among use cases that run together, all of it
    /// with their commit, or nothing.
    func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value

    /// As `Ledger.together` promises.
    func together(_ useCases: [() -> Void]) -> [StorageFault?]

    /// Whether a question is answered sooner than another thread could be asked for it, with a disk that is well.
    var answersAtOnce: Bool { get }

    /// As `Ledger.observe` promises.
    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void)

    /// What is thrown where something just written is not there.
    var damaged: StorageFault { get }
}
