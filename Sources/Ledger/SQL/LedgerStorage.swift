import Commerce

/// The rows of a ledger, and the transactions on them.
package protocol LedgerStorage: Sendable {
    /// Reads as of one moment. Readers never wait for writers.
    ///
    /// - Throws: `StorageFault`; other errors of `body` as they are.
    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value

    /// Performs parts in order, in one commit where possible. Each part is durable when this returns, or left no trace.
    ///
    /// - Returns: The error of each request of each part; nil for a request whose part is committed.
    func commit(_ parts: [LedgerPart]) -> [(any Error)?]

    var dialect: SQLDialect { get }

    /// Whether reads are cheap enough to run inline.
    var prefersInlineReads: Bool { get }

    /// Whether the same read may succeed in some seconds, after a failover of the database server.
    func mayReturn(after error: any Error) -> Bool

    /// As `Ledger.observe` promises.
    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void)

    /// The fault of a ledger that lacks a row just written.
    var damaged: StorageFault { get }
}

extension LedgerStorage {
    package func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        try read(.snapshot, body)
    }

    package func mayReturn(after error: any Error) -> Bool { false }

    /// Writes all of `body` in a commit of its own that is durable when this returns, or nothing.
    package func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        var value: Value?
        let errors = withoutActuallyEscaping(body) { body in commit([LedgerPart { value = try body($0) }]) }
        if let error = errors.first ?? nil { throw error }
        guard let value else { throw damaged }
        return value
    }
}
