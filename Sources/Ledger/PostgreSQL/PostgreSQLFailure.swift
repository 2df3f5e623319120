import Proofs

/// An error of a PostgreSQL server, or of the connection to it.
///
/// It does not contain the server's message, which quotes written values.
struct PostgreSQLFailure: Error {
    /// The SQLSTATE (PostgreSQL, Appendix A); nil if there was no answer.
    let state: String?

    /// True if a concurrent transaction may have caused the failure, so that a retry may succeed.
    ///
    /// The causes are a serialization failure, a deadlock, a lock timeout, a unique violation by a concurrent transaction,
    /// another version of a row (22012, see `PostgreSQLDatabase.update`) and an internal error.
    var isConflict: Bool { ["40001", "40P01", "55P03", "22012"].contains(state) || isUniqueViolation || isInternal }

    /// An internal error of the server; on Citus, also a conflict on a worker.
    var isInternal: Bool { state == "XX000" }

    /// True if a key already exists.
    var isUniqueViolation: Bool { state == "23505" }

    /// True if the connection is unusable: it is lost, or its server is not the primary.
    var isOfConnection: Bool { isConnectionLost || state == "25006" }

    /// True if the connection is lost, or the server closes it. The server may have run the commands nevertheless.
    var isConnectionLost: Bool {
        guard let state else { return true }
        return state.hasPrefix("08") || state.hasPrefix("57P")
    }

    /// True if a retry of the transaction may succeed.
    var isRetryable: Bool { isConflict || isOfConnection }

    /// True if a value violates a constraint, or is invalid for any table.
    var isConstraintViolation: Bool { state.map { $0.hasPrefix("23") || $0.hasPrefix("22") } ?? false }
}

extension PostgreSQLFailure {
    /// The cause of the reported fault.
    var cause: StorageFault.Cause {
        if isConflict && !isInternal || state == "53300" { return .busy }
        switch state {
        case "25006": return .readOnly
        case "53100": return .diskFull
        case "XX001", "XX002", "42P01", "42703": return .damaged
        case "42501": return .cannotOpen
        default: return isOfConnection ? .unreachable : .failed
        }
    }
}
