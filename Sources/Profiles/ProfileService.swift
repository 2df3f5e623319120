import Catalog
import Commerce
import Ledger

/// How users show themselves, and what they wish for.
///
/// Each use case is one transaction of the ledger.
public struct ProfileService: Sendable {
    private let apps: Apps
    package let ledger: Ledger
    package let clock: any WallClock
    package let counting: @Sendable (User) -> Set<Origin>

    /// - Parameter counting: Whose purchases count for a user.
    public init(
        apps: Apps,
        ledger: Ledger,
        clock: any WallClock,
        counting: @escaping @Sendable (User) -> Set<Origin>
    ) {
        self.apps = apps
        self.ledger = ledger
        self.clock = clock
        self.counting = counting
    }

    /// The catalogs as they are now.
    package var catalogs: Catalogs { apps.catalogs }

    public func profile(of user: User) async throws -> Profile {
        profile(try await record(of: user))
    }

    /// - Parameter chosen: At most one of each collection.
    /// - Throws: `ProfileError`, `itemNotOwned`; then nothing was changed.
    public func change(
        _ nickname: ProfileChange.Nickname,
        chosen: [Item],
        of user: User
    ) async throws -> Profile {
        let answer = try await ledger.write {
            try $0.change(
                ProfileChange(nickname: nickname, chosen: chosen), ofProfileOf: user, owning: catalogs.ownedByEverybody,
                counting: counting(user), at: clock.now())
        }
        switch answer {
        case .changed(let record): return profile(record)
        case .notOwned(let item): throw ProfileError.itemNotOwned(item)
        }
    }

    /// What a user's shop shows of each product: whether it is wished for, and owned.
    public func shelf(of user: User) async throws -> Shelf {
        let record = try await record(of: user)
        return Shelf(wishes: record.wishes, items: Set(record.items + catalogs.ownedByEverybody))
    }

    /// Wishes for a product; twice is once.
    ///
    /// - Parameter productIdentifier: Of a product of the catalog.
    public func wish(for productIdentifier: String, by user: User) async throws {
        try await ledger.write {
            try $0.add(Wish(productIdentifier: productIdentifier, wishedAt: clock.now()), of: user)
        }
    }

    /// Takes a wish back; one that is not there stays so.
    public func removeWish(for productIdentifier: String, of user: User) async throws {
        try await ledger.write { try $0.removeWish(for: productIdentifier, of: user, at: clock.now()) }
    }

    private func record(of user: User) async throws -> ProfileRecord {
        try await ledger.read { try $0.profile(of: user, counting: counting(user), at: clock.now()) }
    }

    package func profile(_ record: ProfileRecord) -> Profile {
        Profile(record, collections: catalogs.collections, free: catalogs.ownedByEverybody)
    }
}
