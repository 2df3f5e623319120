import Ledger
import Proofs

extension GrantRecords {
    /// The newest grants, and every older one with an effect on rights, newest first: of each item the valid grant that lasts
    /// longest.
    ///
    /// - Parameter count: The number of the newest grants.
    func grants(of user: Int64, newest count: Int) throws -> [Grant] {
        let newest = try grants(of: user, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        return newest
            + (try database.rows(
                """
                SELECT * FROM (
                    SELECT team_grant.*, row_number() OVER (
                        PARTITION BY collection, number
                        ORDER BY (CASE WHEN ends_at IS NULL THEN 0 ELSE 1 END), ends_at DESC, sequence DESC) AS place
                    FROM team_grant WHERE user_id = $1 AND sequence < $2 AND revoked_at IS NULL) AS lasting
                WHERE place = 1 ORDER BY sequence DESC
                """,
                [user, oldest.sequence]
            ).map(Self.grant))
    }
}
