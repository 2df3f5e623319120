import Commerce
import Ledger

/// The members of the seed's own app: users who have signed up there, with what its form asks for.
extension ProfileService {
    /// A member as their app shows them.
    public struct Member: Sendable {
        public let record: MemberRecord
        public let profile: Profile
        /// What they own, with what everybody owns, in order.
        public let items: [Item]
        /// Of what they have redeemed, newest first.
        public let transactionIdentifiers: [String]
    }

    /// - Returns: false, and changes nothing, for who is a member.
    public func join(
        _ user: User,
        phoneNumber: String,
        email: String,
        fcmToken: String,
        birth: String,
        gender: Int,
        called nickname: Nickname
    ) async throws -> Bool {
        try await ledger.write {
            try $0.join(
                user,
                as: MemberRecord(
                    phoneNumber: phoneNumber, email: email, fcmToken: fcmToken, birth: birth, gender: gender,
                    joinedAt: clock.now()),
                called: nickname.text)
        }
    }

    /// nil for who is none.
    public func member(_ user: User) async throws -> Member? {
        guard let reading = try await ledger.read({ try $0.member(user, counting: counting(user), at: clock.now()) })
        else { return nil }
        let free = catalog.ownedByEverybody
        return Member(
            record: reading.member,
            profile: profile(reading.profile),
            items: Set(reading.profile.items + free).sorted(),
            transactionIdentifiers: reading.transactionIdentifiers)
    }
}
