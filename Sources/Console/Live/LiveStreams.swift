import AppStore
import HTTPSupport
import Ledger
import ServiceLifecycle
import Synchronization

/// The open event streams of the console, limited in total and for each member.
///
/// A woken stream reads what it shows, so an extra wake-up does no harm. Another process on the same ledger may not wake streams
/// here, and a session may end without a change, so all are woken every five seconds, too. A stream above the limit ends the
/// oldest one.
package final class LiveStreams: Service, Sendable {
    /// The limit on the open streams of a member.
    package static let maximumPerMember = 6

    /// An open stream.
    package struct Listener: Sendable {
        package let wakes: AsyncStream<Void>
        let number: Int
    }

    private struct State {
        /// The streams by number; a lower number is older.
        var open: [Int: (member: String, wake: AsyncStream<Void>.Continuation)] = [:]
        var last = 0
        var changeCount = 0
        /// The observation of a local store that wakes the streams.
        var observation: StoreObservation?
        var isClosed = false

        func wake() {
            for stream in open.values { stream.wake.yield() }
        }
    }

    private static let interval = Duration.seconds(5)

    private let (maximum, maximumPerMember): (Int, Int)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximum: The limit on open streams.
    ///   - maximumPerMember: The limit on the open streams of a member.
    package init(maximum: Int = 64, maximumPerMember: Int = LiveStreams.maximumPerMember) {
        (self.maximum, self.maximumPerMember) = (maximum, maximumPerMember)
    }

    /// The number of open streams.
    package var count: Int { state.withLock { $0.open.count } }

    /// The number of changes that have woken the streams.
    var changeCount: Int { state.withLock { $0.changeCount } }

    /// Wakes the streams after each commit that changes a user.
    func wake(after ledger: Ledger) {
        ledger.observe { [weak self] _ in self?.change() }
    }

    /// Wakes the streams after each commit of a local store, also one of another process.
    func wake(after store: Store) {
        let observation = store.observe { [weak self] in self?.change() }
        state.withLock { $0.observation = observation }
    }

    /// Wakes the streams without a change.
    package func wake() { state.withLock { $0.wake() } }

    private func change() {
        state.withLock { state in
            state.changeCount += 1
            state.wake()
        }
    }

    /// Opens a stream. After the shutdown it has ended already.
    package func listen(_ member: String) -> Listener {
        let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let own = state.open.filter { $0.value.member.hasSameBytes(as: member) }
            if own.count >= maximumPerMember { Self.end(own.keys.min(), in: &state) }
            if state.open.count >= maximum { Self.end(state.open.keys.min(), in: &state) }
            if state.isClosed { wake.finish() }
            state.last += 1
            state.open[state.last] = (member, wake)
            return state.last
        }
        return Listener(wakes: wakes, number: number)
    }

    func leave(_ listener: Listener) {
        state.withLock { _ = $0.open.removeValue(forKey: listener.number) }
    }

    /// Wakes all streams from time to time until the service stops, then ends them.
    package func run() async throws {
        await AsyncStream.ticksUntilShutdown(every: Self.interval) { wake() }
        close()
    }

    /// Ends all streams, and those that are opened later.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            state.observation = nil
            for stream in state.open.values { stream.wake.finish() }
        }
    }

    private static func end(_ number: Int?, in state: inout State) {
        guard let number else { return }
        state.open.removeValue(forKey: number)?.wake.finish()
    }
}
