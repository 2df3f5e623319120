import HTTPSupport
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// The background work that the service repeats.
@Suite struct RepeatedWorkTests {
    private let start = ContinuousClock.now
    private let unreachable = FailureCause(key: "code", text: "storageUnreachable")
    private let full = FailureCause(key: "code", text: "storageDiskFull")

    /// The result of a round.
    private enum Round {
        case worked, idle, failed
    }

    @Test(arguments: [
        // Work comes at the interval.
        (Rhythm(every: .seconds(1), idle: .seconds(5)), [Round.worked, .worked, .worked], [1, 1, 1]),
        // Without work, the pauses grow up to the longest one.
        (Rhythm(every: .seconds(1), idle: .seconds(5)), [.idle, .idle, .idle, .idle, .idle], [1, 2, 4, 5, 5]),
        // Work brings the interval back.
        (Rhythm(every: .seconds(1), idle: .seconds(5)), [.idle, .idle, .worked, .idle, .idle], [1, 2, 1, 1, 2]),
        // Without a longest pause, nothing grows.
        (Rhythm(every: .seconds(2)), [.idle, .idle, .idle], [2, 2, 2]),
        // After failures, the pauses double.
        (Rhythm(every: .seconds(1)), [.failed, .failed, .failed, .failed, .failed, .failed], [1, 2, 4, 8, 16, 16]),
        (Rhythm(every: .seconds(1)), [.failed, .failed, .worked, .failed], [1, 2, 1, 1]),
        // A long interval is a long pause after a failure, unless there are others.
        (Rhythm(every: .seconds(60)), [.failed, .failed, .worked], [60, 60, 60]),
        (
            Rhythm(every: .seconds(600), retry: .seconds(60)...(.seconds(600))), [.failed, .failed, .worked],
            [60, 120, 600]
        ),
    ])
    private func `the pauses follow from the rounds`(rhythm: Rhythm, rounds: [Round], pauses: [Int]) {
        var repetition = Repetition(rhythm, at: start)
        #expect(repetition.isDue(at: start, afterChange: false))
        var now = start
        for (round, pause) in zip(rounds, pauses) {
            switch round {
            case .worked: _ = repetition.succeeded(found: true, at: now)
            case .idle: _ = repetition.succeeded(found: false, at: now)
            case .failed: _ = repetition.failed(unreachable, at: now)
            }
            #expect(repetition.next - now == .seconds(pause))
            #expect(!repetition.isDue(at: now, afterChange: false))
            now = repetition.next
            #expect(repetition.isDue(at: now, afterChange: false))
        }
    }

    @Test func `a change ends a pause without work, and no pause after a failure`() {
        var repetition = Repetition(Rhythm(every: .seconds(1), idle: .seconds(5)), at: start)
        for _ in 0..<5 { _ = repetition.succeeded(found: false, at: start) }
        #expect(!repetition.isDue(at: start + .seconds(1), afterChange: false))
        #expect(repetition.isDue(at: start + .seconds(1), afterChange: true))
        for _ in 0..<5 { _ = repetition.failed(unreachable, at: start) }
        #expect(!repetition.isDue(at: start + .seconds(1), afterChange: true))
    }

    @Test func `work that need not begin at once waits for its first interval`() {
        let repetition = Repetition(Rhythm(every: .seconds(60), beginsAtOnce: false), at: start)
        #expect(!repetition.isDue(at: start + .seconds(59), afterChange: false))
        #expect(repetition.isDue(at: start + .seconds(60), afterChange: false))
    }

    @Test func `a failure is said at once, and again after growing pauses`() {
        var log = FailureLog()
        var said: [Int: FailureLog.Line] = [:]
        for second in 0...10_000 {
            if let line = log.failed(unreachable, at: start + .seconds(second)) { said[second] = line }
        }
        // After pauses of 1, 2, 4, 8, 16, 32 and 60 minutes.
        #expect(said.keys.sorted() == [0, 60, 180, 420, 900, 1860, 3780, 7380])
        #expect(said[0] == .failed(unreachable, count: 1))
        #expect(said[60] == .failed(unreachable, count: 60))
        #expect(said[180] == .failed(unreachable, count: 120))
    }

    @Test func `the end of failures is said once`() {
        var log = FailureLog()
        #expect(log.succeeded(at: start) == nil)
        #expect(log.failed(unreachable, at: start) != nil)
        #expect(log.failed(unreachable, at: start + .seconds(1)) == nil)
        #expect(log.succeeded(at: start + .seconds(2)) == .succeeded)
        #expect(log.succeeded(at: start + .seconds(3)) == nil)
    }

    @Test func `another cause is said at once`() {
        var log = FailureLog()
        #expect(log.failed(unreachable, at: start) == .failed(unreachable, count: 1))
        #expect(log.failed(full, at: start) == .failed(full, count: 1))
        #expect(log.failed(unreachable, at: start) == nil)
        #expect(log.failed(full, at: start) == nil)
    }

    @Test func `failures that come and go fill no log`() {
        var log = FailureLog()
        var lines = 0
        for second in 0..<3600 {
            let moment = start + .seconds(second)
            if log.failed(unreachable, at: moment) != nil { lines += 1 }
            if log.succeeded(at: moment) != nil { lines += 1 }
        }
        // Two after 0, 60, 180, 420, 900 and 1860 seconds.
        #expect(lines == 12)
    }

    @Test func `a failure after a long time of success is said at once`() {
        var log = FailureLog()
        #expect(log.failed(unreachable, at: start) != nil)
        #expect(log.succeeded(at: start + .seconds(1)) == .succeeded)
        #expect(log.succeeded(at: start + .seconds(120)) == nil)
        #expect(log.failed(unreachable, at: start + .seconds(120)) == .failed(unreachable, count: 1))
    }

    @Test func `work that fails is logged once, with its code, and its end, too`() async {
        let recorder = LogRecorder()
        let codes = Mutex<[String]>([])
        let rounds = Mutex(0)
        let work = RepeatedWork(
            "mails failed", Rhythm(every: .milliseconds(1)), logger: recorder.logger,
            onFailure: { code in codes.withLock { $0.append(code) } })
        let task = Task {
            await work.run {
                let round = rounds.withLock { rounds in
                    rounds += 1
                    return rounds
                }
                if round <= 3 { throw Problem.tooBusy }
                return false
            }
        }
        await expectEventually { rounds.withLock(\.self) > 5 }
        task.cancel()
        await task.value
        #expect(recorder.lines == ["error mails failed code=tooBusy", "notice recovered from=mails failed"])
        #expect(codes.withLock(\.self) == ["tooBusy", "tooBusy", "tooBusy"])
    }

    @Test func `the end of the service ends a pause at once`() async throws {
        let recorder = LogRecorder()
        let (rounds, begun) = AsyncStream<Void>.makeStream()
        let work = RepeatedWork("names not read", Rhythm(every: .seconds(3600)), logger: recorder.logger)
        let companion = Companion.untilShutdown({
            await work.run {
                begun.yield()
                return true
            }
        })
        try await end(companion, after: rounds)
        #expect(recorder.lines == [])
    }

    @Test func `the end of the service does not wait for work that ignores it`() async throws {
        let (rounds, begun) = AsyncStream<Void>.makeStream()
        let (answers, answer) = AsyncStream<Void>.makeStream()
        let companion = Companion.untilShutdown({
            begun.yield()
            // A thread that waits for a database server does not notice the cancellation either.
            await Task.detached { for await _ in answers {} }.value
        })
        // Without a bound, this would wait for the answer for ever.
        try await end(companion, after: rounds)
        answer.finish()
    }

    private func end(_ companion: Companion, after rounds: AsyncStream<Void>) async throws {
        let group = ServiceGroup(
            services: [companion], logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        async let ended: Void = group.run()
        for await _ in rounds { break }
        await group.triggerGracefulShutdown()
        try await ended
    }
}
