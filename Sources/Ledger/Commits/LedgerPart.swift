/// A part of a group commit. All of it is committed, or nothing.
package struct LedgerPart {
    /// The number of requests that the part serves.
    package let count: Int
    /// Runs inside the transaction, and runs again if the transaction does. The last run is valid.
    package let perform: (any LedgerDatabase) throws -> Void
    /// The same work in smaller parts, for the retry of a failed part. Empty for a part of one request.
    let pieces: () -> [LedgerPart]

    /// A part of one request.
    package init(_ perform: @escaping (any LedgerDatabase) throws -> Void) {
        self.init(count: 1, pieces: { [] }, perform)
    }

    init(
        count: Int,
        pieces: @escaping () -> [LedgerPart],
        _ perform: @escaping (any LedgerDatabase) throws -> Void
    ) {
        self.count = count
        self.perform = perform
        self.pieces = pieces
    }

    /// Performs the part, or its pieces one by one if it fails.
    ///
    /// - Parameter attempt: Performs a part in a savepoint. Returns the error that undid the part, and throws if the
    ///   transaction has ended.
    /// - Returns: The error of each request; nil for a performed request.
    func errors(_ attempt: (LedgerPart) throws -> (any Error)?) rethrows -> [(any Error)?] {
        guard let error = try attempt(self) else { return Array(repeating: nil, count: count) }
        guard count > 1 else { return [error] }
        return try pieces().flatMap { try $0.errors(attempt) }
    }
}

extension [LedgerPart] {
    /// True if the group has work for two smaller groups.
    var isDivisible: Bool { count > 1 || (first?.count ?? 0) > 1 }

    /// Two smaller groups with the same work, for a divisible group.
    var halves: ([LedgerPart], [LedgerPart]) {
        let parts = count == 1 ? self[0].pieces() : self
        return (Array(parts[..<(parts.count / 2)]), Array(parts[(parts.count / 2)...]))
    }
}
