import AppStore
import PlayStore
import Proofs

/// The clocks of the local stores that have sold the purchases of a ledger. A store whose clock is behind is at the time of the other.
struct StoreClocks: Sendable {
    let appStore: Store?
    let play: GooglePlay?

    /// The clock by which subscriptions end: the machine's without a store.
    var current: any WallClock {
        guard let appStore else { return play?.clock ?? SystemClock() }
        return play.map { ClockOfBothStores(appStore: appStore.clock, play: $0.clock) } ?? appStore.clock
    }

    /// The clock of a verifier: no proof of the stores is signed after it.
    var latest: any WallClock {
        guard let appStore else { return current }
        return play.map { LaterClock(first: appStore.latestClock, second: $0.clock) } ?? appStore.latestClock
    }
}

/// The later of two clocks.
private struct LaterClock: WallClock {
    let first: any WallClock
    let second: any WallClock

    func now() -> Timestamp { max(first.now(), second.now()) }
}

/// The later clock of an App Store and a Play. Customers of the App Store may have their own.
private struct ClockOfBothStores: CustomerClocks {
    let appStore: StoreClock
    let play: PlayClock

    func now() -> Timestamp { max(appStore.now(), play.now()) }

    var hasCustomers: Bool { appStore.hasCustomers }

    func time(ofBuyerOf transactionIdentifier: String) -> Timestamp? {
        appStore.time(ofBuyerOf: transactionIdentifier)
    }

    func customers() -> [CustomerTime] { appStore.customers() }
}

extension DataDirectory {
    /// The clocks of the stores of this directory.
    var clocks: StoreClocks {
        get throws {
            StoreClocks(appStore: try hasStore() ? store() : nil, play: try openedPlay)
        }
    }

    /// The local Google Play; nil if there is none.
    var openedPlay: GooglePlay? {
        get throws { try playFile.exists() ? openPlay() : nil }
    }
}
