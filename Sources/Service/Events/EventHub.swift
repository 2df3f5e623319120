import HTTPSupport
import Ledger
import ServiceLifecycle

/// The event streams of all users. A commit wakes the streams of the users that it changed.
///
/// Another process on the same ledger cannot wake streams here, so all are woken every five seconds, a few at a time.
package final class EventHub: Service, Sendable {
    /// The time in which every stream is woken once.
    private static let round = Duration.seconds(5)
    private static let steps = 50

    let streams: OpenEventStreams<Int64>
    package let ledger: Ledger

    /// - Parameter listeners: No listeners, with the limits on them.
    package init(ledger: Ledger, _ listeners: EventListeners<Int64> = EventListeners()) {
        self.ledger = ledger
        streams = OpenEventStreams(listeners)
        ledger.observe { [weak streams] users in streams?.wake(users) }
    }

    /// Wakes streams in turn until the service stops, then ends all streams.
    package func run() async throws {
        var step = 0
        // The loop ends with the service, gracefully or not.
        for await _ in AsyncStream.ticks(every: Self.round / Self.steps).cancelOnGracefulShutdown() {
            step = (step + 1) % Self.steps
            streams.wake { [step] in $0 % Self.steps == step }
        }
        streams.close()
    }
}
