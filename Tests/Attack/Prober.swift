import NIOCore
import Synchronization

/// A sender of probes, with a loopback address and a thread of its own, that records the latency of each answer.
final class Prober: Sendable {
    private struct State {
        var latencies: [String: Latencies] = [:]
        var underWay: [EventLoopFuture<Void>] = []
        var isFinished = false
    }

    private static let addresses = ["127.0.0.2"]

    let client: LoopbackClient
    private let state = Mutex(State())

    /// - Parameter port: The port of the service.
    init(port: Int) throws {
        client = try LoopbackClient(from: Self.addresses, to: port)
    }

    /// Sends a probe's first request, which must succeed.
    func warmUp(_ probe: Probe) async throws {
        _ = try await client.answer(to: probe.requests[0], until: probe.extent, expecting: probe.status)
    }

    /// Sends a probe at its intervals, however long the answers take.
    func start(_ probe: Probe) {
        let turn = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: client.eventLoop)
        client.eventLoop.scheduleRepeatedTask(initialDelay: probe.interval, delay: probe.interval) { task in
            guard !self.state.withLock({ $0.isFinished }) else { return task.cancel() }
            turn.value += 1
            self.send(probe, probe.requests[turn.value % probe.requests.count])
        }
    }

    private func send(_ probe: Probe, _ request: ByteBuffer) {
        let recorded = client.exchange(request, until: probe.extent, within: Probe.limit)
            .map { answer in
                if answer.status == probe.status {
                    self.record(probe) { $0.add(answer.latency) }
                } else {
                    self.record(probe) { $0.addFailure("\(answer.status) \(answer.body)") }
                }
            }
            .recover { error in self.record(probe) { $0.addFailure("\(error)") } }
        state.withLock { $0.underWay.append(recorded) }
    }

    private func record(_ probe: Probe, _ change: (inout Latencies) -> Void) {
        state.withLock { change(&$0.latencies[probe.name, default: Latencies()]) }
    }

    /// Stops sending probes, and waits for the pending answers.
    ///
    /// - Returns: The latencies by the probe's name.
    func finish() async throws -> [String: Latencies] {
        // The sending thread reads the list, so no probe is missed.
        let underWay = try await client.eventLoop.submit {
            self.state.withLock { state in
                state.isFinished = true
                return state.underWay
            }
        }.get()
        try await EventLoopFuture.andAllComplete(underWay, on: client.eventLoop).get()
        return state.withLock { $0.latencies }
    }

    func stop() async throws {
        try await client.stop()
    }
}
