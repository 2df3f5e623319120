import Proofs
import Synchronization

/// The runs of a reconciler in this process: the present and the last one of each subject, and requests to run now.
///
/// The schedule makes all runs, one after the other, so that a requested run never overlaps with a regular one.
package final class ReconciliationRuns: Sendable {
    /// The subject of a run.
    package enum Subject: String, Sendable, CaseIterable {
        /// The notifications since the last run.
        case notifications
        /// The histories of all customers.
        case histories
    }

    /// A run that has ended.
    package struct Run: Hashable, Sendable {
        package let startedAt: Timestamp
        package let endedAt: Timestamp
        /// The number of each outcome; empty for a failed run.
        package let findings: [String: Int]
        /// The code of the error; nil for a complete run.
        package let errorCode: String?
    }

    /// The state of a subject.
    package struct State: Hashable, Sendable {
        /// The start of the run under way; nil if there is none.
        package fileprivate(set) var runningSince: Timestamp?
        /// The last run of this process; nil if there was none.
        package fileprivate(set) var last: Run?
        /// True if a run was requested and has not started.
        package fileprivate(set) var isRequested = false

        /// True if a run is under way or requested.
        package var isRunning: Bool { runningSince != nil || isRequested }
    }

    private struct Entry {
        var state = State()
        var wake: AsyncStream<Void>.Continuation?
    }

    private let entries = Mutex<[Subject: Entry]>([:])

    package init() {}

    private func entry<Value>(_ subject: Subject, _ body: (inout Entry) -> Value) -> Value {
        entries.withLock { body(&$0[subject, default: Entry()]) }
    }

    package func state(of subject: Subject) -> State { entry(subject) { $0.state } }

    /// Requests a run, which the schedule starts at once.
    ///
    /// - Returns: False if a run is under way or already requested.
    package func request(_ subject: Subject) -> Bool {
        entry(subject) { entry in
            guard !entry.state.isRunning else { return false }
            entry.state.isRequested = true
            entry.wake?.finish()
            return true
        }
    }

    /// Waits until a run is requested, or the time has passed.
    ///
    /// - Parameter seconds: The longest time; nil for no limit.
    package func wait(for subject: Subject, upTo seconds: Int64?) async {
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        entry(subject) { entry in
            entry.wake = wake
            if entry.state.isRequested { wake.finish() }
        }
        await withTaskGroup { group in
            group.addTask { for await _ in wakes {} }
            if let seconds { group.addTask { try? await Task.sleep(for: .seconds(seconds)) } }
            await group.next()
            group.cancelAll()
        }
    }

    package func begin(_ subject: Subject, at moment: Timestamp) {
        entry(subject) { entry in
            entry.state.runningSince = moment
            entry.state.isRequested = false
        }
    }

    /// Records the end of a run.
    ///
    /// - Parameter errorCode: The code of the error; nil for a complete run.
    package func end(_ subject: Subject, _ findings: [String: Int], errorCode: String?, at moment: Timestamp) {
        entry(subject) { entry in
            guard let startedAt = entry.state.runningSince else { return }
            entry.state.runningSince = nil
            entry.state.last = Run(
                startedAt: startedAt, endedAt: moment, findings: findings, errorCode: errorCode)
        }
    }
}
