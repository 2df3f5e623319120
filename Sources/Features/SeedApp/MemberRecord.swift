import Ledger
import Proofs
import Vocabulary

/// The data of a member who signed up in the seed app, without the nickname.
package struct MemberRecord: Hashable, Sendable {
    package let phoneNumber: String
    package let email: String
    /// The registration token of Firebase Cloud Messaging.
    package let fcmToken: String
    /// The date of birth in the app's format.
    package let birth: String
    /// The gender in the app's numbers: 0 for women, 1 for men, -1 if not stated.
    package let gender: Int
    package let joinedAt: Timestamp
}

extension LedgerTransaction {
    /// Makes a user a member.
    ///
    /// - Returns: False if the user is a member already. Nothing is changed then.
    package func join(
        _ user: User, phoneNumber: String, email: String, fcmToken: String, birth: String, gender: Int,
        at moment: Timestamp
    ) throws -> Bool {
        try database.execute(
            """
            INSERT INTO member (user_id, phone_number, email, fcm_token, birth, gender, joined_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
            """,
            [try number(of: user, at: moment), phoneNumber, email, fcmToken, birth, gender, moment]) == 1
    }

    /// The data of a member; nil if the user is not a member.
    package func member(of user: User) throws -> MemberRecord? {
        guard try database.has("member"), let user = try users.known(user) else { return nil }
        return try database.row(
            "SELECT phone_number, email, fcm_token, birth, gender, joined_at FROM member WHERE user_id = $1", [user]
        ) { row in
            MemberRecord(
                phoneNumber: try row.next(), email: try row.next(), fcmToken: try row.next(), birth: try row.next(),
                gender: try row.next(), joinedAt: try row.next())
        }
    }
}

extension LedgerFeature {
    /// The members of the seed app, Till's first app.
    package static let seedApp = LedgerFeature(tables: [.member])
}

extension Table {
    fileprivate static let member = Table(
        name: "member", family: .userData,
        columns: [
            .integer("user_id"), .text("phone_number"), .text("email"), .text("fcm_token"), .text("birth"),
            .integer("gender"), .integer("joined_at"),
        ],
        key: ["user_id"], erasure: .deletion)
}
