import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The use cases of profiles and wishes. Each is one transaction of the ledger.
package struct ProfileService: Sendable {
    /// The service that knows the users' purchases, and gives their times and accepted origins.
    let entitlements: EntitlementService

    package var ledger: Ledger { entitlements.ledger }
    package var catalogs: Catalogs { entitlements.catalogs }

    package func profile(of user: User) async throws -> Profile {
        profile(try await ledger.read { try snapshot(of: user, $0) })
    }

    /// The profile with one item of each collection: the chosen one if the user owns it, otherwise the free one.
    package func profile(_ record: ProfileRecord) -> Profile {
        let free = catalogs.ownedByEverybody
        let owned = free + record.items
        return Profile(
            nickname: record.nickname,
            chosen: catalogs.collections.compactMap { collection in
                record.chosen.first { $0.collection == collection && owned.contains($0) }
                    ?? free.filter { $0.collection == collection }.min()
            })
    }

    /// Changes a user's profile.
    ///
    /// - Parameters:
    ///   - chosen: The newly chosen items, at most one of each collection.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `ProfileError`, `itemNotOwned`; `LedgerError`; nothing is changed then.
    package func change(
        _ nickname: NicknameChange, chosen: [Item], of user: User, newcomers: NewcomerAllowance? = nil
    ) async throws -> Profile {
        profile(
            try await ledger.write {
                try $0.changeProfile(
                    of: user, nickname, chosen: chosen, owning: catalogs.ownedByEverybody,
                    accepting: entitlements.accepted.origins(for: user), newcomers: newcomers,
                    at: try entitlements.now(of: user, $0))
            }.get())
    }

    /// The wishes and the items of a user, for the products in a shop.
    package func productState(of user: User) async throws -> UserProductState {
        let record = try await ledger.read { try snapshot(of: user, $0) }
        return UserProductState(
            wishes: Dictionary(record.wishes.map { ($0.productIdentifier, $0.wishedAt) }) { first, _ in first },
            items: Set(record.items + catalogs.ownedByEverybody))
    }

    /// Adds a wish for a product, unless there is one.
    ///
    /// - Parameters:
    ///   - product: The identifier of a product in the catalog.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    package func wish(for product: String, by user: User, newcomers: NewcomerAllowance?) async throws {
        try await ledger.write {
            try $0.addWish(for: product, of: user, newcomers: newcomers, at: entitlements.clock.now())
        }
    }

    /// Removes a wish if there is one.
    package func removeWish(for product: String, of user: User) async throws {
        try await ledger.write { transaction in
            guard let user = try transaction.users.known(user),
                try transaction.database.execute(
                    "DELETE FROM wish WHERE user_id = $1 AND product_id = $2", [user, product]) == 1
            else { return }
            try transaction.events.append(.wishRemoved, [(product, user)], at: entitlements.clock.now())
        }
    }

    /// The profile, the wishes and the items of a user now, inside the caller's transaction.
    package func snapshot(of user: User, _ transaction: LedgerTransaction) throws -> ProfileRecord {
        try transaction.profile(
            of: user, accepting: entitlements.accepted.origins(for: user),
            at: try entitlements.now(of: user, transaction))
    }
}

extension EntitlementService {
    /// The profiles of the users whose purchases the service knows.
    package var profiles: ProfileService { ProfileService(entitlements: self) }
}

/// A user's profile, also in answers.
package struct Profile: Codable, Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package let nickname: String?
    /// One item of each collection, in order.
    package let chosen: [Item]
}

package struct UserProductState: Sendable {
    let wishes: [String: Timestamp]
    let items: Set<Item>

    /// The time of the wish for a product; nil if there is none.
    package func wishedAt(_ productIdentifier: String) -> Timestamp? { wishes[productIdentifier] }

    /// Returns true if the user owns the item that a product grants. A consumable is never owned.
    package func owns(_ benefit: Benefit?) -> Bool {
        benefit?.item.map(items.contains) ?? false
    }
}
