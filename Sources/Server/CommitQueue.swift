import Commerce
import Dispatch
import Ledger
import Synchronization

/// The queue in front of the ledger: use cases that arrive together share a commit, and each is answered after it.
///
/// One commit is under way at a time; what arrives meanwhile waits for the next. What arrives when too much waits is turned
/// away, so that memory is bounded however slow the disk.
package final class CommitQueue: Sendable {
    /// How many use cases share a commit at most.
    private static let groupSize = 128

    private let ledger: Ledger
    private let maximumWaiting: Int
    private let onCommit: @Sendable (Duration) -> Void
    /// Of its own, since it spends its time waiting for the disk.
    private let thread = DispatchQueue(label: "till.commits")
    private let state = Mutex(State.idle)

    /// - Parameters:
    ///   - maximumWaiting: How many use cases wait for the next commit at most.
    ///   - onCommit: Told how long each commit has taken, with the work of its use cases.
    package init(
        ledger: Ledger, maximumWaiting: Int = 512, onCommit: @escaping @Sendable (Duration) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.maximumWaiting = maximumWaiting
        self.onCommit = onCommit
    }

    /// A use case, and who waits for it.
    private struct Entry: Sendable {
        let perform: @Sendable () -> Void
        /// Told when what was done is durable, or with why it is not.
        let finish: @Sendable (StorageFault?) -> Void
    }

    private enum State {
        case idle
        case committing(waiting: [Entry])

        enum Arrival {
            case start
            case wait
            case refuse
        }

        mutating func arrive(_ entry: Entry, maximumWaiting: Int) -> Arrival {
            switch self {
            case .idle:
                self = .committing(waiting: [entry])
                return .start
            case .committing(var waiting):
                guard waiting.count < maximumWaiting else { return .refuse }
                // Given up here, so that the array is not copied for each who waits.
                self = .idle
                waiting.append(entry)
                self = .committing(waiting: waiting)
                return .wait
            }
        }

        /// - Returns: What shares the next commit; nothing when nobody waits, and then the next who comes starts anew.
        mutating func next() -> [Entry] {
            guard case .committing(let waiting) = self, !waiting.isEmpty else {
                self = .idle
                return []
            }
            self = .committing(waiting: Array(waiting.dropFirst(CommitQueue.groupSize)))
            return Array(waiting.prefix(CommitQueue.groupSize))
        }
    }

    /// How many use cases wait.
    package var depth: Int {
        state.withLock { if case .committing(let waiting) = $0 { waiting.count } else { 0 } }
    }

    /// Performs a use case that writes to the ledger, and returns when it is durable.
    ///
    /// - Throws: What the use case throws; `StorageFault` where the commit failed; `Problem`, `tooBusy`.
    package func run<Value: Sendable>(_ useCase: @Sendable @escaping () throws -> Value) async throws -> Value {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let fault: StorageFault? = try await withCheckedThrowingContinuation { continuation in
            let entry = Entry(
                perform: {
                    let performed = Result { try useCase() }
                    result.withLock { $0 = performed }
                }, finish: { continuation.resume(returning: $0) })
            switch state.withLock({ $0.arrive(entry, maximumWaiting: maximumWaiting) }) {
            case .start: thread.async { self.commitAll() }
            case .wait: break
            case .refuse: continuation.resume(throwing: Problem.tooBusy)
            }
        }
        if let fault { throw fault }
        guard let performed = result.withLock({ $0 }) else { throw Problem.unexpected }
        return try performed.get()
    }

    private func commitAll() {
        while true {
            let group = state.withLock { $0.next() }
            guard !group.isEmpty else { return }
            let started = ContinuousClock.now
            let faults = ledger.together(group.map(\.perform))
            onCommit(ContinuousClock.now - started)
            for (entry, fault) in zip(group, faults) { entry.finish(fault) }
        }
    }
}
