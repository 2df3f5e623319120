import Commerce

/// The durable record of profiles, wishes and the seed's own members; each call as those of `Ledger` are.
public protocol ProfileLedger: Ledger {
    /// A user's profile, wishes and items, as of one moment.
    func profile(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws(StorageFault) -> ProfileRecord

    /// Changes a profile, unless something is chosen that the user does not own.
    ///
    /// - Parameter free: What everybody owns.
    func change(
        _ change: ProfileChange,
        ofProfileOf user: User,
        owning free: [Item],
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws(LedgerError) -> ProfileAnswer

    /// Adds a wish; one that is there stays as it is.
    func add(_ wish: Wish, of user: User) throws(LedgerError)

    /// Takes a wish back; one that is not there stays so.
    func removeWish(for productIdentifier: String, of user: User, at moment: Timestamp) throws(StorageFault)

    /// Makes a user a member of the seed's own app.
    ///
    /// - Returns: false, and changes nothing, for who is one.
    func join(_ user: User, as member: MemberRecord, called nickname: String) throws(LedgerError) -> Bool

    /// nil for a user who is no member.
    func member(
        _ user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp
    ) throws(StorageFault) -> MemberReading?
}
