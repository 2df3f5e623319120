import Commerce
import Dispatch
import Entitlements
import Ledger
import Synchronization

/// The queue in front of the ledger: use cases that arrive together share a commit, and each is answered after it.
///
/// One commit is under way at a time; what arrives meanwhile waits for the next. What arrives when too much waits is turned
/// away, so that memory is bounded however slow the disk.
package final class CommitQueue: Sendable {
    /// How many use cases share a commit at most.
    private static let groupSize = 128
    /// How many claims are decided together at most. Where databases meet others' commits, each half of a group is tried alone.
    private static let claimsTogether = 64

    private let ledger: Ledger
    private let decide: @Sendable ([ClaimRequest]) throws -> [ClaimAnswer]
    private let maximumWaiting: Int
    private let onCommit: @Sendable (Duration) -> Void
    /// Of its own, since it spends its time waiting for the disk.
    private let thread = DispatchQueue(label: "till.commits")
    private let state = Mutex(State.idle)

    /// - Parameters:
    ///   - decide: Answers claims together, in the ledger; each request gets its answer.
    ///   - maximumWaiting: How many use cases wait for the next commit at most.
    ///   - onCommit: Told how long each commit has taken, with the work of its use cases.
    package init(
        ledger: Ledger,
        decide: @escaping @Sendable ([ClaimRequest]) throws -> [ClaimAnswer] = { _ in throw Problem.unexpected },
        maximumWaiting: Int = 512,
        onCommit: @escaping @Sendable (Duration) -> Void = { _ in }
    ) {
        self.ledger = ledger
        self.decide = decide
        self.maximumWaiting = maximumWaiting
        self.onCommit = onCommit
    }

    /// Something to do, and who waits for it.
    private struct Entry: Sendable {
        enum Work: Sendable {
            case useCase(@Sendable () -> Void)
            /// Claims that wait together are decided together.
            case claims(ClaimRequest, @Sendable (Result<ClaimAnswer, any Error>) -> Void)
        }

        let work: Work
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
        try await result { keep in .useCase { keep(Result { try useCase() }) } }
    }

    /// Has claims decided, together with others that wait, and returns when what follows is durable.
    ///
    /// - Throws: `StorageFault`; `Problem`, `tooBusy`.
    package func answer(_ request: ClaimRequest) async throws -> ClaimAnswer {
        try await result { keep in .claims(request, keep) }
    }

    private func result<Value: Sendable>(
        of work: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Entry.Work
    ) async throws -> Value {
        let result = Mutex<Result<Value, any Error>?>(nil)
        let fault: StorageFault? = try await withCheckedThrowingContinuation { continuation in
            let entry = Entry(
                work: work { performed in result.withLock { $0 = performed } },
                finish: { continuation.resume(returning: $0) })
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
            let parts = parts(of: group)
            let faults = ledger.together(parts.map(\.perform))
            onCommit(ContinuousClock.now - started)
            for (part, fault) in zip(parts, faults) {
                for entry in part.entries { entry.finish(fault) }
            }
        }
    }

    /// Entries that are performed as one.
    private struct Part {
        let entries: [Entry]
        let perform: () -> Void
    }

    private func parts(of group: [Entry]) -> [Part] {
        var parts: [Part] = []
        var claims: [(entry: Entry, request: ClaimRequest, keep: @Sendable (Result<ClaimAnswer, any Error>) -> Void)] =
            []
        for entry in group {
            switch entry.work {
            case .useCase(let perform): parts.append(Part(entries: [entry], perform: perform))
            case .claims(let request, let keep): claims.append((entry, request, keep))
            }
        }
        for start in stride(from: 0, to: claims.count, by: Self.claimsTogether) {
            let together = Array(claims[start..<min(start + Self.claimsTogether, claims.count)])
            parts.append(
                Part(entries: together.map(\.entry)) { [decide] in
                    do {
                        let answers = try decide(together.map(\.request))
                        for (claim, answer) in zip(together, answers) { claim.keep(.success(answer)) }
                    } catch {
                        guard together.count > 1 else { return together[0].keep(.failure(error)) }
                        // One of them may have broken the others.
                        for claim in together {
                            claim.keep(
                                Result {
                                    guard let answer = try decide([claim.request]).first else {
                                        throw Problem.unexpected
                                    }
                                    return answer
                                })
                        }
                    }
                })
        }
        return parts
    }
}
