import Foundation
import HTTPSupport
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import Testing

/// A call that waits for its answer, and does not notice that it is cancelled.
private final class HeldCall: Sendable {
    private let caller = Mutex<CheckedContinuation<Void, Never>?>(nil)

    func call() async {
        await withCheckedContinuation { continuation in caller.withLock { $0 = continuation } }
    }

    func answer() {
        caller.withLock { caller in
            caller?.resume()
            caller = nil
        }
    }
}

/// The end of a service with work that does not end.
@Suite struct ServiceEndTests {
    @Test func `a thread that never returns does not keep the service from its end`() async throws {
        let recorder = LogRecorder()
        let held = HeldCall()
        let (starts, start) = AsyncStream<Void>.makeStream()
        // As a read from a database server that takes connections and never answers.
        let stuck = Companion({ await held.call() })
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.gracePeriod = .milliseconds(10)
        let server = Companion { [configuration] in
            try await ServiceServer.run(
                Router(context: ServiceContext.self), backgroundServices: [stuck], configuration: configuration,
                logger: recorder.logger
            ) { _ in start.yield() }
        }
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        async let ended: Void = group.run()
        for await _ in starts { break }
        await group.triggerGracefulShutdown()
        // Without a bound, this would wait for the answer for ever.
        try await ended
        held.answer()
        let lines = recorder.lines
        #expect(lines.contains { $0.hasPrefix("warning stopped before all work was done") }, "\(lines)")
    }
}
