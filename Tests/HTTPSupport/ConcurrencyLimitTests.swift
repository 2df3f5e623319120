import HTTPSupport
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing

@Suite struct ConcurrencyLimitTests {
    /// A limit of one job, which a first job occupies until its end.
    private final class Occupied: Sendable {
        let limit: ConcurrencyLimit
        let log = Mutex<[String]>([])
        private let ending: AsyncStream<Void>.Continuation
        private let job: Task<Void, any Error>

        init(places: Int) async {
            let limit = ConcurrencyLimit(1, maximumWaiting: places)
            let (end, ending) = AsyncStream<Void>.makeStream()
            let (start, starting) = AsyncStream<Void>.makeStream()
            job = Task {
                try await limit.run(for: .unknown) {
                    starting.finish()
                    for await _ in end {}
                }
            }
            for await _ in start {}
            (self.limit, self.ending) = (limit, ending)
        }

        /// Starts a job, and waits until it is in the queue or something is refused.
        func add(_ address: String, isPreferred: Bool = false) async -> Task<Void, Never> {
            let (waiting, refused) = (limit.waitingCount, log.withLock { $0.count })
            let task = Task {
                do {
                    try await limit.run(for: ClientNetwork(forwarded: address), isPreferred: isPreferred) {
                        log.withLock { $0.append(address) }
                    }
                } catch {
                    log.withLock { $0.append("\((error as? Problem)?.code ?? "\(error)") \(address)") }
                }
            }
            await expectEventually { self.limit.waitingCount > waiting || self.log.withLock { $0.count } > refused }
            return task
        }

        func end() async throws {
            ending.finish()
            try await job.value
        }
    }

    @Test func `networks that wait take turns, and preferred callers go first`() async throws {
        let occupied = await Occupied(places: 100)
        var tasks: [Task<Void, Never>] = []
        for address in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "198.51.100.1"] {
            tasks.append(await occupied.add(address))
        }
        tasks.append(await occupied.add("203.0.113.1", isPreferred: true))
        try await occupied.end()
        for task in tasks { await task.value }
        #expect(
            occupied.log.withLock { $0 } == ["203.0.113.1", "192.0.2.1", "198.51.100.1", "192.0.2.2", "192.0.2.1"])
        #expect(occupied.limit.waitingCount == 0)
    }

    @Test func `a full queue refuses the last of the network with the most`() async throws {
        let occupied = await Occupied(places: 8)
        var tasks: [Task<Void, Never>] = []
        for site in 1...4 {
            for _ in 0..<2 { tasks.append(await occupied.add("192.0.\(site).1")) }
        }
        tasks.append(await occupied.add("192.0.2.1"))
        tasks.append(await occupied.add("198.51.100.1"))
        #expect(occupied.log.withLock { $0 } == ["tooBusy 192.0.2.1", "tooBusy 192.0.1.1"])
        try await occupied.end()
        for task in tasks { await task.value }
        #expect(occupied.log.withLock { $0.filter { $0 == "198.51.100.1" } }.count == 1)
        #expect(occupied.log.withLock { $0.count } == 10)
    }

    /// At the end of the service, nobody may wait for work that takes longer than the grace period.
    @Test func `a cancelled caller ends at once, and its place goes to the next`() async throws {
        let occupied = await Occupied(places: 100)
        let cancelled = await occupied.add("192.0.2.1")
        let next = await occupied.add("192.0.2.1")
        cancelled.cancel()
        await cancelled.value
        #expect(occupied.log.withLock { $0 } == ["tooBusy 192.0.2.1"])
        try await occupied.end()
        await next.value
        #expect(occupied.log.withLock { $0.last } == "192.0.2.1")
        #expect(occupied.limit.waitingCount == 0)
        try await occupied.limit.run(for: .unknown) {}
    }
}
