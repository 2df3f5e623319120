import Catalog
import Commerce
import Entitlements
import HTTPSupport
import Ledger
import Profiles
import SeedApp

/// The members of the app that Till began with: users who have signed up there, with what its form asks for.
struct SeedAppMembers: Sendable {
    let profiles: ProfileService

    /// A member as their app shows them, as of one moment.
    struct Member: Sendable {
        let record: MemberRecord
        let profile: Profile
        /// What they own, with what everybody owns, in order.
        let items: [Item]
        /// Of what they have redeemed, newest first.
        let transactionIdentifiers: [String]
    }

    /// - Returns: false, and changes nothing, for who is a member.
    func join(_ user: User, as member: MemberRecord, called nickname: Nickname) async throws -> Bool {
        try await profiles.ledger.write { transaction in
            guard try transaction.join(user, as: member) else { return false }
            _ = try transaction.change(
                ProfileChange(nickname: .set(nickname.text)), ofProfileOf: user, owning: [], counting: [],
                at: member.joinedAt)
            return true
        }
    }

    /// nil for who is none.
    func member(_ user: User) async throws -> Member? {
        let (origins, moment, free) = (
            profiles.counting(user), profiles.clock.now(), profiles.catalogs.ownedByEverybody
        )
        return try await profiles.ledger.read { transaction in
            guard let record = try transaction.member(of: user) else { return nil }
            let profile = try transaction.profile(of: user, counting: origins, at: moment)
            return Member(
                record: record, profile: profiles.profile(profile), items: Set(profile.items + free).sorted(),
                transactionIdentifiers: try transaction.transactions(of: user, before: nil, limit: .max)
                    .map(\.transactionIdentifier))
        }
    }
}
