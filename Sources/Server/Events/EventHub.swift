import Ledger
import ServiceLifecycle
import Synchronization

/// Who listens to which user, and is woken when something has happened.
///
/// What has happened is read from the ledger by who is woken: nothing waits here in memory for a listener that is slow, and a
/// wake-up that comes twice, or for nothing, does no harm. Since another process on the same ledger wakes nobody here, all are
/// woken every five seconds, a few at a time.
public final class EventHub: Service, Sendable {
    /// Screens of one user at once; one more, and the first that came goes: it is likely gone already.
    static let maximumListenersOfUser = 20
    /// How long one round through all listeners takes.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    private struct State {
        var listeners: [Int64: [Int: AsyncStream<Void>.Continuation]] = [:]
        /// The number of the last listener.
        var last = 0
        var count = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    let ledger: any EventLedger

    private let maximumListeners: Int

    /// - Parameter maximumListeners: Of all users: each holds a connection, and others need some, too.
    public init(ledger: any EventLedger, maximumListeners: Int = 512) {
        self.ledger = ledger
        self.maximumListeners = maximumListeners
        ledger.observe { [weak self] users in self?.wake(users) }
    }

    /// How many listen.
    var count: Int { state.withLock { $0.count } }

    /// Somebody who listens to a user, until they leave.
    struct Listener: Sendable {
        let wakes: AsyncStream<Void>
        fileprivate let user: Int64
        let number: Int
    }

    /// - Returns: nil where as many listen as may. Of a hub that is closed, one whose stream has ended.
    func listen(to user: Int64) -> Listener? {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            guard state.count < maximumListeners else { return nil }
            let own = state.listeners[user] ?? [:]
            if own.count >= Self.maximumListenersOfUser, let first = own.keys.min() {
                own[first]?.finish()
                state.listeners[user]?[first] = nil
                state.count -= 1
            }
            if state.isClosed { continuation.finish() }
            state.last += 1
            state.count += 1
            state.listeners[user, default: [:]][state.last] = continuation
            return Listener(wakes: wakes, user: user, number: state.last)
        }
    }

    func leave(_ listener: Listener) {
        state.withLock { state in
            guard state.listeners[listener.user]?.removeValue(forKey: listener.number) != nil else { return }
            state.count -= 1
            if state.listeners[listener.user]?.isEmpty == true { state.listeners[listener.user] = nil }
        }
    }

    private func wake(_ users: Set<Int64>) {
        state.withLock { state in
            for user in users {
                for listener in state.listeners[user, default: [:]].values { listener.yield() }
            }
        }
    }

    /// Wakes listeners in turn until the service is told to stop; then all streams end, so that nobody waits for them.
    public func run() async throws {
        var step = 0
        // Ends with the service, gracefully or not.
        for await _ in AsyncStream.ticks(every: Self.round / Self.steps).cancelOnGracefulShutdown() {
            step = (step + 1) % Self.steps
            wakeSome(step)
        }
        state.withLock { state in
            state.isClosed = true
            for listener in state.listeners.values.flatMap(\.values) { listener.finish() }
        }
    }

    private func wakeSome(_ step: Int) {
        state.withLock { state in
            for (number, listener) in state.listeners.values.joined() where number % Self.steps == step {
                listener.yield()
            }
        }
    }
}
