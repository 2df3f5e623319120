import HTTPSupport
import Ledger
import ServiceLifecycle
import Synchronization

/// The event streams of all users. A commit wakes the streams of the users that it changed.
///
/// A woken stream reads the events from the ledger. No event waits in memory for a slow stream, and an extra wake-up does no
/// harm. Another process on the same ledger cannot wake streams here, so all are woken every five seconds, a few at a time.
package final class EventHub: Service, Sendable {
    /// The limits on open streams.
    package struct Limits: Sendable {
        package var total: Int
        package var perAddress: Int
        package var perUser: Int

        package init(total: Int = 512, perAddress: Int = 64, perUser: Int = 20) {
            self.total = total
            self.perAddress = perAddress
            self.perUser = perUser
        }
    }

    /// The time in which every stream is woken once.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    private let state: Mutex<EventListeners>
    package let ledger: Ledger

    package init(ledger: Ledger, limits: Limits = Limits()) {
        self.ledger = ledger
        state = Mutex(EventListeners(limits: limits))
        ledger.observe { [weak self] users in self?.wake(users) }
    }

    /// The number of open streams.
    var count: Int { state.withLock { $0.count } }

    /// An open stream of one user.
    struct Listener: Sendable {
        let wakes: AsyncStream<Void>
        let number: Int
    }

    /// Opens a stream, and ends another one if a limit is reached. A closed hub returns a stream that has ended.
    ///
    /// - Parameter address: The client address for the limit.
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

    /// Wakes streams in turn until the service stops, then ends all streams.
    package func run() async throws {
        var step = 0
        // The loop ends with the service, gracefully or not.
        for await _ in AsyncStream.ticks(every: Self.round / Self.steps).cancelOnGracefulShutdown() {
            step = (step + 1) % Self.steps
            state.withLock { $0.wake { $0 % Self.steps == step } }
        }
        state.withLock { $0.close() }
    }
}
