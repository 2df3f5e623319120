import Store
import Synchronization

/// The open streams that tell browsers of changes in the local store.
///
/// One observation of the store serves all streams. Their number is limited: a new stream ends the oldest one, whose browser
/// connects again.
final class StoreStreams: Sendable {
    private static let limit = 32

    private struct State {
        var last = 0
        /// The listeners by number; a lower number is older.
        var listeners: [Int: Listener] = [:]
        var observation: StoreObservation?
    }

    private let store: Store
    private let state = Mutex(State())

    init(store: Store) {
        self.store = store
    }

    /// An open stream.
    final class Listener: Sendable {
        fileprivate let number: Int
        /// An element after each change and each tick.
        let wakes: AsyncStream<Void>
        private let wake: AsyncStream<Void>.Continuation
        private let hasChanged = Atomic(false)

        fileprivate init(number: Int) {
            self.number = number
            (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        /// Wakes the stream without a change.
        func tick() { wake.yield() }

        func end() { wake.finish() }

        /// Returns true if the store has changed since the last call.
        func takeChange() -> Bool { hasChanged.exchange(false, ordering: .relaxed) }

        fileprivate func change() {
            hasChanged.store(true, ordering: .relaxed)
            wake.yield()
        }
    }

    /// The registration of a listener. It ends with the answer, or without one if none was written.
    final class Subscription: Sendable {
        let listener: Listener
        private let streams: StoreStreams

        fileprivate init(_ listener: Listener, in streams: StoreStreams) {
            self.listener = listener
            self.streams = streams
        }

        deinit { streams.remove(listener) }
    }

    /// Opens a stream. It reads the store, so it may block for a moment.
    func subscribe() -> Subscription {
        let listener = state.withLock { state in
            if state.listeners.count >= Self.limit, let oldest = state.listeners.keys.min() {
                state.listeners.removeValue(forKey: oldest)?.end()
            }
            state.last += 1
            let listener = Listener(number: state.last)
            state.listeners[listener.number] = listener
            if state.observation == nil {
                state.observation = store.observe { [weak self] in self?.notify() }
            }
            return listener
        }
        return Subscription(listener, in: self)
    }

    private func notify() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.change() }
    }

    private func remove(_ listener: Listener) {
        listener.end()
        let ended = state.withLock { state in
            state.listeners[listener.number] = nil
            guard state.listeners.isEmpty else { return nil as StoreObservation? }
            defer { state.observation = nil }
            return state.observation
        }
        ended?.cancel()
    }
}
