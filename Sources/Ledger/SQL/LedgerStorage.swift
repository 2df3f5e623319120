import Proofs

/// The rows of a ledger, and the transactions on them.
package protocol LedgerStorage: Sendable {
    /// Reads a snapshot. Readers never wait for writers.
    ///
    /// - Throws: `StorageFault`; the errors of `body`.
    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value

    /// Performs parts in order, in one commit if possible. Each part is durable when this returns, or left no trace.
    ///
    /// - Returns: The error of each request of each part; nil for a request of a committed part.
    func commit(_ parts: [LedgerPart]) -> [(any Error)?]

    var dialect: SQLDialect { get }

    /// True if reads are cheap enough to run inline.
    var prefersInlineReads: Bool { get }

    /// Returns true if a retry of the read may succeed within seconds, after a failover of the database server.
    func mayReturn(after error: any Error) -> Bool

    /// Adds an observer of the users changed by each commit (`Ledger.observe`).
    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void)

    /// The state of the database server; nil for a file.
    var serverReachability: ServerReachability? { get }

    /// The fault of a ledger that lacks a row just written.
    var damaged: StorageFault { get }
}

extension LedgerStorage {
    package func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        try read(.snapshot, body)
    }

    package func mayReturn(after error: any Error) -> Bool { false }

    package var serverReachability: ServerReachability? { nil }

    /// Runs `body` in a separate commit. It is durable when this returns, or left no trace.
    package func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        var value: Value?
        let errors = withoutActuallyEscaping(body) { body in commit([LedgerPart { value = try body($0) }]) }
        if let error = errors.first ?? nil { throw error }
        guard let value else { throw damaged }
        return value
    }
}
