import HTTPSupport
import Ledger
import ServiceLifecycle
import Synchronization

/// The event streams of all users, each woken when something has happened to its user.
///
/// The stream that is woken reads the events from the ledger. Nothing waits in memory for a slow one, and a wake-up that comes
/// twice, or for nothing, does no harm. Another process on the same ledger wakes nobody here, so all are woken every five
/// seconds, a few at a time.
public final class EventHub: Service, Sendable {
    /// The limits on open streams.
    public struct Limits: Sendable {
        public var total: Int
        public var perAddress: Int
        public var perUser: Int

        public init(total: Int = 512, perAddress: Int = 64, perUser: Int = 20) {
            self.total = total
            self.perAddress = perAddress
            self.perUser = perUser
        }
    }

    /// The time of one round through all streams.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    private let state: Mutex<EventListeners>
    public let ledger: Ledger

    public init(ledger: Ledger, limits: Limits = Limits()) {
        self.ledger = ledger
        state = Mutex(EventListeners(limits: limits))
        ledger.observe { [weak self] users in self?.wake(users) }
    }

    /// The number of open streams.
    var count: Int { state.withLock { $0.count } }

    /// A stream of one user, until it leaves.
    struct Listener: Sendable {
        let wakes: AsyncStream<Void>
        let number: Int
    }

    /// Opens a stream, ending another where a limit is reached. The stream of a closed hub has ended.
    ///
    /// - Parameter address: The address that the client is counted by.
    func listen(to user: Int64, from address: String) -> Listener {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { $0.add(continuation, of: user, from: address) }
        return Listener(wakes: wakes, number: number)
    }

    func leave(_ listener: Listener) {
        state.withLock { $0.remove(listener.number) }
    }

    private func wake(_ users: Set<Int64>) {
        state.withLock { state in
            for user in users { state.wake(user) }
        }
    }

    /// Wakes streams in turn until the service stops; then all streams end, so that nobody waits for them.
    public func run() async throws {
        var step = 0
        // Ends with the service, gracefully or not.
        for await _ in AsyncStream.ticks(every: Self.round / Self.steps).cancelOnGracefulShutdown() {
            step = (step + 1) % Self.steps
            state.withLock { $0.wake { $0 % Self.steps == step } }
        }
        state.withLock { $0.close() }
    }
}
