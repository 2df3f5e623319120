import Catalog
import Ledger
import Proofs

/// The use cases of profiles and wishes. Each is one transaction of the ledger.
package struct ProfileService: Sendable {
    private let apps: Apps
    package let ledger: Ledger
    package let clock: any WallClock
    package let acceptedOrigins: @Sendable (User) -> Set<Origin>

    /// - Parameter acceptedOrigins: Returns the accepted origins of a user's purchases.
    package init(
        apps: Apps,
        ledger: Ledger,
        clock: any WallClock,
        acceptedOrigins: @escaping @Sendable (User) -> Set<Origin>
    ) {
        self.apps = apps
        self.ledger = ledger
        self.clock = clock
        self.acceptedOrigins = acceptedOrigins
    }

    /// The current catalogs.
    package var catalogs: Catalogs { apps.catalogs }

    package func profile(of user: User) async throws -> Profile {
        profile(try await record(of: user))
    }

    /// Changes a user's profile.
    ///
    /// - Parameters:
    ///   - chosen: The newly chosen items, at most one of each collection.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `ProfileError`, `itemNotOwned`; `LedgerError`; nothing is changed then.
    package func change(
        _ nickname: ProfileChange.Nickname,
        chosen: [Item],
        of user: User,
        newcomers: NewcomerAllowance? = nil
    ) async throws -> Profile {
        let answer = try await ledger.write {
            try $0.change(
                ProfileChange(nickname: nickname, chosen: chosen), ofProfileOf: user, owning: catalogs.ownedByEverybody,
                accepting: acceptedOrigins(user), newcomers: newcomers, at: clock.now())
        }
        switch answer {
        case .changed(let record): return profile(record)
        case .notOwned(let item): throw ProfileError.itemNotOwned(item)
        }
    }

    /// The wishes and the items of a user, for the products in a shop.
    package func productState(of user: User) async throws -> UserProductState {
        let record = try await record(of: user)
        return UserProductState(wishes: record.wishes, items: Set(record.items + catalogs.ownedByEverybody))
    }

    /// Adds a wish for a product, unless there is one.
    ///
    /// - Parameters:
    ///   - productIdentifier: The identifier of a product in the catalog.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    package func wish(for productIdentifier: String, by user: User, newcomers: NewcomerAllowance? = nil) async throws {
        try await ledger.write {
            try $0.add(
                Wish(productIdentifier: productIdentifier, wishedAt: clock.now()), of: user, newcomers: newcomers)
        }
    }

    /// Removes a wish if there is one.
    package func removeWish(for productIdentifier: String, of user: User) async throws {
        try await ledger.write { try $0.removeWish(for: productIdentifier, of: user, at: clock.now()) }
    }

    private func record(of user: User) async throws -> ProfileRecord {
        try await ledger.read { try $0.profile(of: user, accepting: acceptedOrigins(user), at: clock.now()) }
    }

    package func profile(_ record: ProfileRecord) -> Profile {
        Profile(record, collections: catalogs.collections, free: catalogs.ownedByEverybody)
    }
}

/// A user's profile.
package struct Profile: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package let nickname: String?
    /// One item of each collection, in order: the chosen one if the user owns it, otherwise the free one.
    package let chosen: [Item]

    /// - Parameter free: The items that every user owns.
    init(_ record: ProfileRecord, collections: [String], free: [Item]) {
        nickname = record.nickname
        chosen = collections.compactMap { collection in
            let owned = free + record.items
            return record.chosen.first { $0.collection == collection && owned.contains($0) }
                ?? free.filter { $0.collection == collection }.min()
        }
    }
}

/// The wishes and the items of a user.
package struct UserProductState: Sendable {
    private let wishes: [String: Timestamp]
    private let items: Set<Item>

    init(wishes: [Wish], items: Set<Item>) {
        self.wishes = Dictionary(wishes.map { ($0.productIdentifier, $0.wishedAt) }) { first, _ in first }
        self.items = items
    }

    /// The time of the wish for a product; nil if there is none.
    package func wishedAt(_ productIdentifier: String) -> Timestamp? { wishes[productIdentifier] }

    /// Returns true if the user owns the item that a product grants. A consumable is never owned.
    package func owns(_ benefit: Benefit?) -> Bool {
        benefit?.item.map(items.contains) ?? false
    }
}
