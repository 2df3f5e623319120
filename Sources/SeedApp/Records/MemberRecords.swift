import Commerce
import Ledger

/// The ledger's statements about the members of the seed's own app, inside a transaction that the caller holds.
struct MemberRecords {
    let database: any LedgerDatabase

    /// - Returns: false for who is a member.
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
