import Synchronization

protocol BatchQueue: AnyObject, Sendable {
    /// Takes the oldest requests, which wait for the commit that is about to run.
    func dequeue(_ count: Int) -> [GroupCommits.Work]
}

/// A queue of requests of one kind. Requests that wait together are read, decided and written together, in one commit.
package final class LedgerBatch<Request: Sendable, Answer: Sendable>: BatchQueue {
    private struct Waiting: Sendable {
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>
        let receipt = CommitReceipt.current
    }

    private let commits: GroupCommits
    private let maximumSize: Int
    private let answers: @Sendable ([Request], any LedgerDatabase) throws -> [Answer]
    private let waiting = Mutex<[Waiting]>([])

    init(
        _ commits: GroupCommits,
        upTo maximumSize: Int,
        _ answers: @escaping @Sendable ([Request], any LedgerDatabase) throws -> [Answer]
    ) {
        self.commits = commits
        self.maximumSize = maximumSize
        self.answers = answers
    }

    /// Answers a request together with other waiting requests, and returns when the answer is durable.
    ///
    /// - Throws: The error of the batch for this request alone; `StorageFault`.
    package func answer(_ request: Request) async throws -> Answer {
        guard !ReadOnlyTask.isCurrent else { throw WriteOfReadOnlyTask() }
        return try await withCheckedThrowingContinuation { continuation in
            let isAccepted = commits.enqueue(self) {
                waiting.withLock { $0.append(Waiting(request: request, continuation: continuation)) }
            }
            if !isAccepted { continuation.resume(throwing: commits.overloaded) }
        }
    }

    func dequeue(_ count: Int) -> [GroupCommits.Work] {
        let taken = waiting.withLock { waiting in
            defer { waiting.removeFirst(count) }
            return Array(waiting.prefix(count))
        }
        return stride(from: 0, to: count, by: maximumSize).map { start in
            work(Array(taken[start..<min(start + maximumSize, count)]))
        }
    }

    private func work(_ entries: [Waiting]) -> GroupCommits.Work {
        let requests = entries.map(\.request)
        let slots = AnswerSlots<Answer>(count: entries.count)
        return GroupCommits.Work(
            count: entries.count,
            part: { self.part(requests[...], slots) },
            finish: { errors in
                for (index, entry) in entries.enumerated() {
                    if let receipt = entry.receipt, errors[index] == nil, let position = slots.position(index) {
                        receipt.note(position)
                    }
                    entry.continuation.resume(with: slots.result(index, error: errors[index]))
                }
            })
    }

    /// A part that answers requests. The indices of the requests are those of the slots.
    private func part(_ requests: ArraySlice<Request>, _ slots: AnswerSlots<Answer>) -> LedgerPart {
        let middle = requests.startIndex + requests.count / 2
        return LedgerPart(
            count: requests.count,
            perform: { [answers] database in
                slots.fill(
                    from: requests.startIndex, try answers(Array(requests), database), after: database.position)
            },
            pieces: { [self.part(requests[..<middle], slots), self.part(requests[middle...], slots)] })
    }

    /// A part that answers requests, for a caller that commits by itself, and a function that returns the results.
    package func part(
        of requests: [Request]
    ) -> (part: LedgerPart, results: ([(any Error)?]) -> [Result<Answer, any Error>]) {
        let slots = AnswerSlots<Answer>(count: requests.count)
        return (
            part(requests[...], slots),
            { errors in errors.enumerated().map { slots.result($0.offset, error: $0.element) } }
        )
    }
}

/// The answers of a part, filled by its last run.
final class AnswerSlots<Answer: Sendable>: Sendable {
    /// An answer, and the position of its commit.
    private let answers: Mutex<[(answer: Answer, position: LedgerPosition?)?]>

    init(count: Int) {
        answers = Mutex(Array(repeating: nil, count: count))
    }

    func fill(from start: Int, _ new: [Answer], after position: LedgerPosition?) {
        answers.withLock { answers in
            for (offset, answer) in new.enumerated() { answers[start + offset] = (answer, position) }
        }
    }

    func position(_ index: Int) -> LedgerPosition? { answers.withLock { $0[index]?.position } }

    func result(_ index: Int, error: (any Error)?) -> Result<Answer, any Error> {
        if let error { return .failure(error) }
        guard let answer = answers.withLock({ $0[index]?.answer }) else { return .failure(MissingAnswer()) }
        return .success(answer)
    }
}

/// The error of a batch that returned fewer answers than requests.
struct MissingAnswer: Error {}

/// A part of a group commit. All of it is committed, or nothing.
package struct LedgerPart {
    /// The number of requests that the part serves.
    package let count: Int
    /// Runs inside the transaction, and runs again if the transaction does. The last run is valid.
    package let perform: (any LedgerDatabase) throws -> Void
    /// The same work in smaller parts, for the retry of a failed part. Empty for a part of one request.
    let pieces: () -> [LedgerPart]

    /// Performs the part, or its pieces one by one if it fails.
    ///
    /// - Parameter attempt: Performs a part in a savepoint. Returns the error that undid the part, and throws if the
    ///   transaction has ended.
    /// - Returns: The error of each request; nil for a performed request.
    func errors(_ attempt: (LedgerPart) throws -> (any Error)?) rethrows -> [(any Error)?] {
        guard let error = try attempt(self) else { return Array(repeating: nil, count: count) }
        guard count > 1 else { return [error] }
        return try pieces().flatMap { try $0.errors(attempt) }
    }
}

extension LedgerPart {
    package init(_ perform: @escaping (any LedgerDatabase) throws -> Void) {
        self.init(count: 1, perform: perform, pieces: { [] })
    }
}

extension [LedgerPart] {
    /// True if the group has work for two smaller groups.
    var isDivisible: Bool { count > 1 || (first?.count ?? 0) > 1 }

    /// Two smaller groups with the same work, for a divisible group.
    var halves: ([LedgerPart], [LedgerPart]) {
        let parts = count == 1 ? self[0].pieces() : self
        return (Array(parts[..<(parts.count / 2)]), Array(parts[(parts.count / 2)...]))
    }
}

/// The mark of tasks that answer a question. In such a task, the ledger writes nothing, whatever a route asks of it.
package enum ReadOnlyTask {
    @TaskLocal package static var isCurrent = false
}

/// The error of a write in a task that answers a question. It is a defect of the route.
struct WriteOfReadOnlyTask: Error {}

/// The part of the places in the queue of commits that a request may take.
///
/// If many requests wait, those that are cheapest to send again are refused first, so that purchases find a place.
package enum CommitPriority: Sendable, CaseIterable {
    /// The first quarter of the places.
    case low
    /// The first half of the places.
    case medium
    /// All places.
    case high

    /// The priority of the use cases of a task.
    @TaskLocal package static var current = high

    /// The number of requests that may wait before a further one is refused.
    func places(of maximum: Int) -> Int {
        switch self {
        case .low: maximum / 4
        case .medium: maximum / 2
        case .high: maximum
        }
    }
}
