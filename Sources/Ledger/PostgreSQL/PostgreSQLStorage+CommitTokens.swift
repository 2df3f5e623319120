import Commerce

extension PostgreSQLStorage {
    /// Looks up a commit whose answer was lost.
    ///
    /// Writing its token waits for what may be left of it on the server. Where that succeeds it was not committed, and never
    /// will be. Where it was, this writes all the same: a commit that writes waits for the standby, which has what came before
    /// it then, too. A number that the server gives its transactions would not do: after a fail-over another may have it.
    func isCommitted(_ token: [UInt8]) throws -> Bool {
        try attempt(until: .now + Self.patience) {
            try pool.withConnection { connection in
                connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
                let row = try connection.query(
                    SQLQuery(
                        """
                        INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 0)
                        ON CONFLICT (token) DO UPDATE SET is_committed = ledger_commit.is_committed RETURNING is_committed
                        """,
                        [token])
                ).rows.first
                try connection.commit()
                guard let row else { throw damaged }
                return try row["is_committed"]
            }
        }
    }

    /// Takes out the tokens of old commits. What goes wrong here does no harm, and is tried again.
    func sweep() {
        try? pool.withConnection { connection in
            connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.runLater("DELETE FROM ledger_commit WHERE committed_at < now() - interval '1 day'")
            try connection.commit()
        }
    }
}
