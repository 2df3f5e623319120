import Ledger
import Logging
import ServiceLifecycle
import Synchronization

/// Work that the service repeats until it stops.
///
/// All background loops whose rounds can fail have this form: a failure is logged once, and again after growing pauses. The rounds have
/// growing pauses meanwhile, too. The log says when the work succeeds again. `companion` is the loop beside the routes. A beat that
/// cannot fail is `AsyncStream.ticksUntilShutdown`.
package struct RepeatedWork: Sendable {
    let failure: Logger.Message
    private let rhythm: Rhythm
    /// The ledger whose commits end a pause without work; nil if only time does.
    private let ledger: Ledger?
    private let logger: Logger
    private let cause: @Sendable (any Error) -> FailureCause
    private let onFailure: @Sendable (_ code: String) -> Void

    /// - Parameters:
    ///   - ledger: The ledger whose commits may bring work. A pause that has grown without work ends with the next commit.
    ///   - cause: Returns the cause of an error for the log. It never has the text of a stranger, nor a secret.
    ///   - onFailure: Called with the code of the error after each round that fails.
    package init(
        _ failure: Logger.Message, _ rhythm: Rhythm, awaiting ledger: Ledger? = nil, logger: Logger,
        cause: @escaping @Sendable (any Error) -> FailureCause = FailureCause.init,
        onFailure: @escaping @Sendable (_ code: String) -> Void = { _ in }
    ) {
        (self.failure, self.rhythm, self.ledger, self.logger) = (failure, rhythm, ledger, logger)
        (self.cause, self.onFailure) = (cause, onFailure)
    }

    /// The loop beside the routes. The end of the service cancels the round under way; the next start does it again.
    package func companion(_ round: @escaping @Sendable () async throws -> Bool) -> Companion {
        .untilShutdown({ await run(round) })
    }

    /// The loop beside the routes, whose rounds change what the next one begins with.
    package func companion<State: Sendable>(
        from state: State, _ round: @escaping @Sendable (inout State) async throws -> Bool
    ) -> Companion {
        .untilShutdown({
            var state = state
            await run { try await round(&state) }
        })
    }

    /// Repeats the work until the task is cancelled or the service shuts down.
    ///
    /// - Parameter round: The work. Returns true if there was any.
    package func run(_ round: () async throws -> Bool) async {
        let changes = ledger.map(LedgerChanges.init)
        var repetition = Repetition(rhythm, at: .now)
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            await run(round, in: &repetition, afterChange: changes?.take() ?? false)
            let rest = repetition.next - ContinuousClock.now
            // The end of the service ends the pause, and the loop then ends.
            try? await Task.sleep(for: changes == nil ? rest : min(rest, rhythm.interval))
        }
    }

    /// Repeats the work until the service shuts down, also at once after each wake. The round under way is finished.
    package func run(_ wakes: Wakes, _ round: () async throws -> Bool) async {
        var repetition = Repetition(rhythm, at: .now)
        await run(round, in: &repetition, afterChange: false)
        for await _ in wakes.stream { await run(round, in: &repetition, afterChange: wakes.changes.take()) }
    }

    /// Repeats the work until the task is cancelled, with pauses that something else may end.
    ///
    /// - Parameter pause: Waits for the rest of a pause at most; `hasFailed` is true after a round that failed.
    package func run(
        pausing pause: (_ rest: Duration, _ hasFailed: Bool) async -> Void, _ round: () async throws -> Bool
    ) async {
        var repetition = Repetition(rhythm, at: .now)
        while !Task.isCancelled {
            await run(round, in: &repetition)
            await pause(repetition.next - ContinuousClock.now, repetition.hasFailed)
        }
    }

    /// The beginning of a loop whose time the caller counts, as a simulation does.
    package func repetition(from now: ContinuousClock.Instant) -> Repetition { Repetition(rhythm, at: now) }

    /// Performs the next round of a loop, if it is due.
    ///
    /// - Parameter time: Returns the present.
    package func run(
        _ round: () async throws -> Bool, in repetition: inout Repetition, afterChange isChanged: Bool,
        at time: () -> ContinuousClock.Instant = { .now }
    ) async {
        guard repetition.isDue(at: time(), afterChange: isChanged) else { return }
        await run(round, in: &repetition, at: time)
    }

    private func run(
        _ round: () async throws -> Bool, in repetition: inout Repetition,
        at time: () -> ContinuousClock.Instant = { .now }
    ) async {
        let line: FailureLog.Line?
        do {
            let found = try await round()
            line = repetition.succeeded(found: found, at: time())
        } catch {
            // The end of the service is no failure.
            guard !Task.isCancelled, !(error is CancellationError) else { return }
            onFailure(Problem.code(of: error))
            line = repetition.failed(cause(error), at: time())
        }
        line?.log(failure, in: logger)
    }
}

/// The cause of a failure in the log: a code, or another text of the service's own.
package struct FailureCause: Hashable, Sendable {
    let key: String
    let text: String

    package init(key: String, text: String) { (self.key, self.text) = (key, text) }

    package init(_ error: any Error) { self.init(key: "code", text: Problem.code(of: error)) }
}

/// The pauses of repeated work.
package struct Rhythm: Hashable, Sendable {
    /// The pause after a round with work.
    let interval: Duration
    /// The longest pause while there is no work.
    let idle: Duration
    /// The pause after the first failure, and the longest one after several.
    let retry: ClosedRange<Duration>
    /// True if the first round begins at once.
    let beginsAtOnce: Bool

    /// The longest pause after failures, unless the interval is longer.
    private static let longestRetry = Duration.seconds(16)

    /// - Parameters:
    ///   - idle: The longest pause while there is no work; nil for that after a round with work.
    ///   - retry: The pauses after failures, which double; nil to begin with the interval.
    package init(
        every interval: Duration, idle: Duration? = nil, retry: ClosedRange<Duration>? = nil, beginsAtOnce: Bool = true
    ) {
        (self.interval, self.idle, self.beginsAtOnce) = (interval, max(idle ?? interval, interval), beginsAtOnce)
        self.retry = retry ?? interval...max(interval, Self.longestRetry)
    }
}

/// The rules of repeated work: the time of the next round, and the lines of the log.
package struct Repetition {
    private let rhythm: Rhythm
    private var log = FailureLog()
    private var failures = 0
    private var idleRounds = 0
    /// The start of the next round, unless a change brings it forward.
    package private(set) var next: ContinuousClock.Instant

    package init(_ rhythm: Rhythm, at now: ContinuousClock.Instant) {
        self.rhythm = rhythm
        next = rhythm.beginsAtOnce ? now : now + rhythm.interval
    }

    /// True after a round that failed.
    package var hasFailed: Bool { failures > 0 }

    /// True if a round begins now. A change does not end the pause after a failure.
    package func isDue(at now: ContinuousClock.Instant, afterChange isChanged: Bool) -> Bool {
        now >= next || isChanged && !hasFailed
    }

    /// - Parameter found: True if there was work.
    package mutating func succeeded(found: Bool, at now: ContinuousClock.Instant) -> FailureLog.Line? {
        idleRounds = found ? 0 : idleRounds + 1
        failures = 0
        next = now + min(Self.doubled(rhythm.interval, max(0, idleRounds - 1)), rhythm.idle)
        return log.succeeded(at: now)
    }

    package mutating func failed(_ cause: FailureCause, at now: ContinuousClock.Instant) -> FailureLog.Line? {
        failures += 1
        next = now + min(Self.doubled(rhythm.retry.lowerBound, failures - 1), rhythm.retry.upperBound)
        return log.failed(cause, at: now)
    }

    private static func doubled(_ pause: Duration, _ times: Int) -> Duration { pause * (1 << min(times, 20)) }
}

/// The rules for the lines about repeated failures.
///
/// A cause is logged at once, and again after pauses that grow from a minute to an hour, also if the work succeeds in between.
package struct FailureLog {
    package enum Line: Hashable {
        /// The failures of this cause since the last line about it, this one included.
        case failed(FailureCause, count: Int)
        /// The work succeeds again, after failures that were logged.
        case succeeded
    }

    private struct Known {
        var next: ContinuousClock.Instant
        var pause: Duration
        var unsaid = 0
    }

    private static let pauses = Duration.seconds(60)...Duration.seconds(3600)
    /// The largest number of causes that are remembered.
    private static let maximumCauses = 16

    private var known: [FailureCause: Known] = [:]
    private var isSaid = false

    package init() {}

    package mutating func failed(_ cause: FailureCause, at now: ContinuousClock.Instant) -> Line? {
        guard var entry = known[cause] else {
            if known.count >= Self.maximumCauses, let oldest = known.min(by: { $0.value.next < $1.value.next }) {
                known[oldest.key] = nil
            }
            known[cause] = Known(next: now + Self.pauses.lowerBound, pause: Self.pauses.lowerBound)
            isSaid = true
            return .failed(cause, count: 1)
        }
        entry.unsaid += 1
        defer { known[cause] = entry }
        guard now >= entry.next else { return nil }
        entry.pause = min(entry.pause * 2, Self.pauses.upperBound)
        entry.next = now + entry.pause
        isSaid = true
        defer { entry.unsaid = 0 }
        return .failed(cause, count: entry.unsaid)
    }

    package mutating func succeeded(at now: ContinuousClock.Instant) -> Line? {
        // A failure that returns within a pause was not over.
        known = known.filter { now < $0.value.next + $0.value.pause }
        guard isSaid else { return nil }
        isSaid = false
        return .succeeded
    }
}

extension FailureLog.Line {
    /// Writes the line, at `error` for a failure.
    package func log(_ failure: Logger.Message, in logger: Logger) {
        switch self {
        case .failed(let cause, let count):
            var metadata: Logger.Metadata = [cause.key: "\(cause.text)"]
            if count > 1 { metadata["failures"] = "\(count)" }
            logger.error(failure, metadata: metadata)
        case .succeeded: logger.notice("recovered", metadata: ["from": "\(failure)"])
        }
    }
}

extension FailureLog {
    /// Records an attempt, and logs what is due.
    ///
    /// - Parameter cause: The cause of the failure; nil if the attempt succeeded.
    package mutating func record(_ cause: FailureCause?, in logger: Logger, _ failure: Logger.Message) {
        let line = if let cause { failed(cause, at: .now) } else { succeeded(at: .now) }
        line?.log(failure, in: logger)
    }
}

/// A failure log of several tasks.
package final class SharedFailureLog: Sendable {
    private let log = Mutex(FailureLog())
    private let failure: Logger.Message
    private let logger: Logger

    package init(_ failure: Logger.Message, logger: Logger) { (self.failure, self.logger) = (failure, logger) }

    /// Performs a call, and logs its error.
    ///
    /// - Returns: Nil if it has failed.
    package func attempt<Value>(_ call: () async throws -> Value) async -> Value? {
        do {
            let value = try await call()
            record(nil)
            return value
        } catch {
            if !Task.isCancelled { record(FailureCause(error)) }
            return nil
        }
    }

    private func record(_ cause: FailureCause?) {
        log.withLock { $0.record(cause, in: logger, failure) }
    }
}

/// The commits to a ledger since the last look.
package final class LedgerChanges: Sendable {
    private let isChanged = Atomic(false)

    package convenience init(_ ledger: Ledger) {
        self.init()
        ledger.observe { [weak self] _ in self?.record() }
    }

    fileprivate init() {}

    func record() { isChanged.store(true, ordering: .releasing) }

    /// Returns true if there were commits, and forgets them.
    package func take() -> Bool { isChanged.exchange(false, ordering: .acquiring) }
}

/// Wakes after each change and after each interval. They end with the service.
package struct Wakes: Sendable {
    fileprivate let stream: AsyncStream<Void>
    fileprivate let changes = LedgerChanges()
    private let continuation: AsyncStream<Void>.Continuation

    /// The wakes after each commit to a ledger.
    ///
    /// - Parameter group: The group that runs the timer.
    package init(after ledger: Ledger, every interval: Duration, in group: inout DiscardingTaskGroup) {
        self.init(every: interval, in: &group) { wake in ledger.observe { _ in wake() } }
    }

    /// - Parameters:
    ///   - group: The group that runs the timer.
    ///   - observe: Registers a function that each change calls.
    package init(
        every interval: Duration, in group: inout DiscardingTaskGroup,
        observing observe: (_ wake: @escaping @Sendable () -> Void) -> Void
    ) {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        observe { [changes, continuation] in
            changes.record()
            continuation.yield()
        }
        group.addTask { [continuation] in
            await AsyncStream.ticksUntilShutdown(every: interval) { continuation.yield() }
            continuation.finish()
        }
    }

    /// Begins a round at once, as after a commit.
    package func wake() {
        changes.record()
        continuation.yield()
    }
}

extension Companion {
    /// Work that is cancelled when the service shuts down. The next start does what was under way.
    ///
    /// It is no initialiser, because a closure that follows `Companion` and throws nothing would choose it.
    package static func untilShutdown(_ work: @escaping @Sendable () async -> Void) -> Companion {
        Companion {
            _ = try await ShutdownBound.run { await work() }
            // The group takes the end of one of its services for the end of all.
            try? await gracefulShutdown()
        }
    }
}

/// Work that delays no end of the service.
package enum ShutdownBound {
    /// The time for which the end of the service waits for cancelled work. A thread that waits for a database server does not notice.
    private static let patience = Duration.seconds(1)

    /// Performs work, which is cancelled when the service shuts down.
    ///
    /// - Returns: Nil if the service shuts down, and the work does not end soon after. It is then left to itself.
    package static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, end) = AsyncStream<Result<Value, any Error>>.makeStream()
        let task = Task {
            do { end.yield(.success(try await work())) } catch { end.yield(.failure(error)) }
            end.finish()
        }
        let stop = { @Sendable in
            task.cancel()
            Task {
                try? await Task.sleep(for: patience)
                end.finish()
            }
        }
        let result = await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await results.first { _ in true }
            } onGracefulShutdown: {
                stop()
            }
        } onCancel: {
            stop()
        }
        return try result?.get()
    }
}
