import Commerce

/// The store's own time of day: the machine's, moved on by hand (`Store.advance`). Who judges the store's proofs on the same
/// machine goes by it too, else they would seem to be signed in the future.
public struct StoreClock: WallClock {
    let store: Store

    public func now() -> Timestamp { store.now }
}
