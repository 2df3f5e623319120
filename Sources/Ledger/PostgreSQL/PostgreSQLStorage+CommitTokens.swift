import Proofs

extension PostgreSQLStorage {
    /// Looks up a commit whose answer was lost.
    ///
    /// The insertion of its token waits for a transaction that may still run on the server. If the insertion succeeds, the
    /// transaction was not committed and never will be. If the token exists, the statement writes nevertheless: its commit
    /// waits for the standby, which then has the earlier commit, too. PostgreSQL's own transaction numbers do not suffice,
    /// because another transaction may have the same number after a failover.
    func isCommitted(_ token: [UInt8]) throws -> Bool {
        try attempt(until: .now + Self.retryTime) {
            try pool.withConnection { connection in
                connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
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

    /// Deletes the tokens of old commits. A failure does no harm: a later sweep deletes them.
    func sweep() {
        try? pool.withConnection { connection in
            connection.enqueue("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.enqueue("DELETE FROM ledger_commit WHERE committed_at < now() - interval '1 day'")
            try connection.commit()
        }
    }
}
