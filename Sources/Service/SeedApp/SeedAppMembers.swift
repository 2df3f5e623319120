import Catalog
import Features
import HTTPSupport
import Ledger
import Proofs

/// The members of the seed's own app: users who have signed up there, with the fields of its form.
struct SeedAppMembers: Sendable {
    let profiles: ProfileService

    /// A member as the app shows them, as one snapshot.
    struct Member: Sendable {
        let record: MemberRecord
        let profile: Profile
        /// The owned items, with those that everybody owns, in order.
        let items: [Item]
        /// The identifiers of the redeemed transactions, newest first.
        let transactionIdentifiers: [String]
    }

    /// - Returns: False if the user is a member already. Nothing is then changed.
    func join(_ user: User, as member: MemberRecord, called nickname: Nickname) async throws -> Bool {
        try await profiles.ledger.write { transaction in
            guard try transaction.join(user, as: member) else { return false }
            _ = try transaction.change(
                ProfileChange(nickname: .set(nickname.text)), ofProfileOf: user, owning: [], accepting: [],
                at: member.joinedAt)
            return true
        }
    }

    /// The member; nil if the user is not a member.
    func member(_ user: User) async throws -> Member? {
        let (origins, moment, free) = (
            profiles.acceptedOrigins(user), profiles.clock.now(), profiles.catalogs.ownedByEverybody
        )
        return try await profiles.ledger.read { transaction in
            guard let record = try transaction.member(of: user) else { return nil }
            let profile = try transaction.profile(of: user, accepting: origins, at: moment)
            return Member(
                record: record, profile: profiles.profile(profile), items: Set(profile.items + free).sorted(),
                transactionIdentifiers: try transaction.transactions(of: user, before: nil, limit: .max)
                    .map(\.transactionIdentifier))
        }
    }
}
