import Ledger
import ServiceLifecycle

extension AsyncStream<Void> {
    /// A stream with an element after each commit and after each interval, which finds what other processes have written. It
    /// ends with the service.
    ///
    /// - Parameter group: The group that runs the timer.
    package static func wakes(
        after ledger: Ledger,
        every interval: Duration,
        in group: inout DiscardingTaskGroup
    ) -> (wakes: AsyncStream<Void>, wake: Continuation) {
        let (wakes, wake) = makeStream(bufferingPolicy: .bufferingNewest(1))
        ledger.observe { _ in wake.yield() }
        group.addTask {
            for await _ in ticks(every: interval).cancelOnGracefulShutdown() { wake.yield() }
            wake.finish()
        }
        return (wakes, wake)
    }
}
