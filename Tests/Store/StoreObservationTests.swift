import AppStore
import Proofs
import Synchronization
import TestSupport
import Testing

/// The observers of a store's commits.
@Suite struct StoreObservationTests {
    /// The number of notifications that an observer got.
    private final class Count: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func increase() { number.withLock { $0 += 1 } }
    }

    @Test func `a commit notifies the observers if it has changed anything`() throws {
        let garden = try TestGarden()
        let count = Count()
        let observation = garden.store.observe { count.increase() }
        #expect(garden.store.observerCount == 1)
        try garden.buy("garden.seeds")
        let afterPurchase = count.value
        #expect(afterPurchase >= 1)
        _ = try garden.store.history(of: "alice")
        try garden.store.catchUp()
        #expect(count.value == afterPurchase)
        _ = try garden.store.advance(seconds: 60)
        #expect(count.value == afterPurchase + 1)
        try garden.store.clearFaults()
        #expect(count.value == afterPurchase + 2)
        observation.cancel()
    }

    @Test func `events that become due notify the observers`() throws {
        let garden = try TestGarden()
        try garden.buy("garden.premium.monthly")
        let count = Count()
        let observation = garden.store.observe { count.increase() }
        garden.clock.advance(milliseconds: 40 * 86_400_000)
        _ = try garden.store.history(of: "alice")
        #expect(count.value >= 1)
        observation.cancel()
    }

    @Test func `a refused change notifies nobody`() throws {
        let garden = try TestGarden()
        let count = Count()
        let observation = garden.store.observe { count.increase() }
        #expect(throws: StoreError.self) { try garden.store.refund("1") }
        #expect(count.value == 0)
        observation.cancel()
    }

    @Test func `a commit of another process is noticed`() async throws {
        let shop = try TestShop()
        let other = try shop.reopened()
        let count = Count()
        let observation = shop.store.observe(checkingEvery: .milliseconds(5)) { count.increase() }
        _ = try other.advance(seconds: 60)
        await expectEventually { count.value == 1 }
        observation.cancel()
    }

    @Test func `an observation ends with its cancellation, or with its last reference`() throws {
        let garden = try TestGarden()
        let count = Count()
        let observation = garden.store.observe { count.increase() }
        observation.cancel()
        _ = try garden.store.advance(seconds: 60)
        #expect(count.value == 0)
        do {
            let other = garden.store.observe { count.increase() }
            withExtendedLifetime(other) { #expect(garden.store.observerCount == 1) }
        }
        #expect(garden.store.observerCount == 0)
    }
}
