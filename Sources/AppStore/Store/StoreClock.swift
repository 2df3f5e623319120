import Proofs

/// The store's clock: the machine's clock plus an offset (`Store.advance`). A verifier of the store's proofs on the same
/// machine uses it too. Otherwise proofs would seem to be signed in the future.
package struct StoreClock: WallClock {
    let store: Store

    package func now() -> Timestamp { store.now }
}
