import Commerce

/// What a PostgreSQL server, or the line to it, has refused.
///
/// The server's own words are not kept: they quote what was written.
struct PostgreSQLFailure: Error {
    /// The SQLSTATE (PostgreSQL, Appendix A); nil where there was no answer.
    let state: String?

    /// Whether the same transaction may succeed when it is run again, having met another: a serialization failure, a deadlock, a
    /// lock that was waited for too long; a key that another has just written, which is told of as such where the two are of one
    /// moment; another version of a row (22012, see `PostgreSQLDatabase.update`); or an internal error.
    var isConflict: Bool { ["40001", "40P01", "55P03", "22012"].contains(state) || isOfKey || isInternal }

    /// An internal error of the server; on Citus, also a conflict on a worker.
    var isInternal: Bool { state == "XX000" }

    /// Whether a key is taken.
    var isOfKey: Bool { state == "23505" }

    /// Whether the connection is of no use any more: it is lost, or its server is no primary (any more).
    var isOfConnection: Bool { isLineLost || state == "25006" }

    /// Whether the line is lost, or its server ends it: what was sent may have been done all the same.
    var isLineLost: Bool {
        guard let state else { return true }
        return state.hasPrefix("08") || state.hasPrefix("57P")
    }

    /// Whether the transaction may succeed when it is run again.
    var isWorthAnother: Bool { isConflict || isOfConnection }

    /// Whether the tables do not allow what was to be written, or no table could.
    var isRefusal: Bool { state.map { $0.hasPrefix("23") || $0.hasPrefix("22") } ?? false }
}

extension PostgreSQLFailure {
    /// The cause that operators are told.
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
