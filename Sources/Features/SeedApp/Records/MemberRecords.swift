import Ledger
import Proofs

/// The statements on the members of the seed app, inside the caller's transaction.
struct MemberRecords {
    let database: any LedgerDatabase

    /// - Returns: False if the user is a member already.
    func insert(_ member: MemberRecord, of user: Int64) throws -> Bool {
        try database.execute(
            """
            INSERT INTO member (user_id, phone_number, email, fcm_token, birth, gender, joined_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """,
            [
                user, member.phoneNumber, member.email, member.fcmToken, member.birth, member.gender, member.joinedAt,
            ]) == 1
    }

    func member(of user: Int64) throws -> MemberRecord? {
        try database.row("SELECT * FROM member WHERE user_id = $1", [user]).map { row in
            MemberRecord(
                phoneNumber: try row["phone_number"], email: try row["email"], fcmToken: try row["fcm_token"],
                birth: try row["birth"], gender: try row["gender"], joinedAt: try row["joined_at"])
        }
    }
}
