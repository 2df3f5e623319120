import Commerce
import Entitlements
import Ledger

extension LedgerTransaction {
    /// A user's profile, wishes and items at a moment.
    public func profile(
        of user: User,
        accepting origins: Set<Origin>,
        at moment: Timestamp
    ) throws -> ProfileRecord {
        guard let user = try users.known(user) else { return .empty }
        return try ProfileRecords(database: database).profile(of: user, accepting: origins, at: moment)
    }

    /// Changes a profile, unless the user does not own a chosen item.
    ///
    /// - Parameter free: The items that every user owns.
    public func change(
        _ change: ProfileChange,
        ofProfileOf user: User,
        owning free: [Item],
        accepting origins: Set<Origin>,
        at moment: Timestamp
    ) throws -> ProfileAnswer {
        let user = try number(of: user, at: moment)
        let records = ProfileRecords(database: database)
        let items = try ReadingRecords(database: database).items(of: user, accepting: origins, at: moment)
        if let foreign = change.chosen.first(where: { !free.contains($0) && !items.contains($0) }) {
            return .notOwned(foreign)
        }
        try records.apply(change, to: user)
        try EventRecords(database: database).append(
            UserChange(kind: .profileChanged, subject: "", happenedAt: moment), to: user)
        return .changed(try records.profile(of: user, accepting: origins, at: moment))
    }

    /// Adds a wish. An existing wish stays unchanged.
    public func add(_ wish: Wish, of user: User) throws {
        let user = try number(of: user, at: wish.wishedAt)
        guard try ProfileRecords(database: database).insert(wish, of: user) else { return }
        try EventRecords(database: database).append(
            UserChange(kind: .wished, subject: wish.productIdentifier, happenedAt: wish.wishedAt), to: user)
    }

    /// Removes a wish if there is one.
    public func removeWish(
        for productIdentifier: String,
        of user: User,
        at moment: Timestamp
    ) throws {
        guard let user = try users.known(user),
            try ProfileRecords(database: database).delete(wishFor: productIdentifier, of: user)
        else { return }
        try EventRecords(database: database).append(
            UserChange(kind: .wishRemoved, subject: productIdentifier, happenedAt: moment), to: user)
    }
}
