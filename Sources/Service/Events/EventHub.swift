import HTTPSupport
import Ledger
import ServiceLifecycle
import Synchronization

/// The event streams of all users. A commit wakes the streams of the users that it changed.
///
/// A woken stream reads the events from the ledger. No event waits in memory for a slow stream, and an extra wake-up does no
/// harm. Another process on the same ledger cannot wake streams here, so all are woken every five seconds, a few at a time.
package final class EventHub: Service, Sendable {
    /// The time in which every stream is woken once.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    private let state: Mutex<EventListeners>
    package let ledger: Ledger

    /// - Parameter listeners: No listeners, with the limits on them.
    package init(ledger: Ledger, _ listeners: EventListeners = EventListeners()) {
        self.ledger = ledger
        state = Mutex(listeners)
        ledger.observe { [weak self] users in self?.wake(users) }
    }

    var count: Int { state.withLock { $0.count } }

    /// A listener's registration, which ends with the answer, or without one if none was written.
    final class Listener: Sendable {
        let wakes: AsyncStream<Void>
        let number: Int
        private let hub: EventHub

        /// Opens a stream, and ends another one if a limit is reached. In a closed hub, the stream has ended.
        ///
        /// - Parameter address: The client address for the limit.
        init(to user: Int64, from address: String, in hub: EventHub) {
            let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            number = hub.state.withLock { $0.add(continuation, of: user, from: address) }
            self.wakes = wakes
            self.hub = hub
        }

        func leave() {
            hub.state.withLock { $0.remove(number) }
        }

        deinit { leave() }
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

/// The open event streams, limited in total, for each client address and for each user.
///
/// A stream above the limit of its user ends the user's oldest stream. A stream above the limit of its address ends the
/// address's oldest stream, once half of all places are taken. A stream above the total ends the oldest stream of the address
/// with the most.
package struct EventListeners {
    private struct Listener {
        let user: Int64
        let address: String
        let continuation: AsyncStream<Void>.Continuation
    }

    package var total = 512
    package var perAddress = 64
    package var perUser = 20
    /// The listeners by number; a lower number is older.
    private var listeners: [Int: Listener] = [:]
    private var numbersByUser: [Int64: Set<Int>] = [:]
    private var numbersByAddress: [String: Set<Int>] = [:]
    private var last = 0
    private var isClosed = false

    package init() {}

    package var count: Int { listeners.count }

    /// Adds a stream.
    ///
    /// - Returns: Its number.
    package mutating func add(_ continuation: AsyncStream<Void>.Continuation, of user: Int64, from address: String)
        -> Int
    {
        if let own = numbersByUser[user], own.count >= perUser { end(own.min()) }
        // Many users of a school or an office share an address, so the limit applies only once places are scarce.
        if listeners.count >= total / 2, let own = numbersByAddress[address], own.count >= perAddress {
            end(own.min())
        }
        if listeners.count >= total {
            end(numbersByAddress.values.max { $0.count < $1.count }?.min())
        }
        if isClosed { continuation.finish() }
        last += 1
        listeners[last] = Listener(user: user, address: address, continuation: continuation)
        numbersByUser[user, default: []].insert(last)
        numbersByAddress[address, default: []].insert(last)
        return last
    }

    package mutating func remove(_ number: Int) {
        guard let listener = listeners.removeValue(forKey: number) else { return }
        numbersByUser[listener.user]?.remove(number)
        if numbersByUser[listener.user]?.isEmpty == true { numbersByUser[listener.user] = nil }
        numbersByAddress[listener.address]?.remove(number)
        if numbersByAddress[listener.address]?.isEmpty == true { numbersByAddress[listener.address] = nil }
    }

    func wake(_ user: Int64) {
        for number in numbersByUser[user] ?? [] { listeners[number]?.continuation.yield() }
    }

    func wake(where isTurn: (Int) -> Bool) {
        for (number, listener) in listeners where isTurn(number) { listener.continuation.yield() }
    }

    mutating func close() {
        isClosed = true
        for listener in listeners.values { listener.continuation.finish() }
    }

    private mutating func end(_ number: Int?) {
        guard let number else { return }
        listeners[number]?.continuation.finish()
        remove(number)
    }
}
