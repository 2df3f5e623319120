import Synchronization

/// The queue of the requests of a batch.
protocol BatchQueue: AnyObject, Sendable {
    /// Takes the oldest requests, which wait for the commit that is about to run.
    func dequeue(_ count: Int) -> [GroupCommits.Work]
}

/// A queue of requests of one kind. Requests that wait together are read, decided and written together, in one commit.
package final class LedgerBatch<Request: Sendable, Answer: Sendable>: BatchQueue {
    private struct Waiting: Sendable {
        let request: Request
        let continuation: CheckedContinuation<Answer, any Error>
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
        try await withCheckedThrowingContinuation { continuation in
            let isAccepted = commits.enqueue(.batch(self)) {
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
                    entry.continuation.resume(with: slots.result(index, error: errors[index]))
                }
            })
    }

    /// A part that answers requests. The indices of the requests are those of the slots.
    private func part(_ requests: ArraySlice<Request>, _ slots: AnswerSlots<Answer>) -> LedgerPart {
        let middle = requests.startIndex + requests.count / 2
        return LedgerPart(
            count: requests.count,
            pieces: { [self.part(requests[..<middle], slots), self.part(requests[middle...], slots)] },
            { [answers] database in
                slots.fill(from: requests.startIndex, try answers(Array(requests), database))
            })
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
private final class AnswerSlots<Answer: Sendable>: Sendable {
    private let answers: Mutex<[Answer?]>

    init(count: Int) {
        answers = Mutex(Array(repeating: nil, count: count))
    }

    func fill(from start: Int, _ new: [Answer]) {
        answers.withLock { answers in
            for (offset, answer) in new.enumerated() { answers[start + offset] = answer }
        }
    }

    func result(_ index: Int, error: (any Error)?) -> Result<Answer, any Error> {
        if let error { return .failure(error) }
        guard let answer = answers.withLock({ $0[index] }) else { return .failure(MissingAnswer()) }
        return .success(answer)
    }
}

/// The error of a batch that returned fewer answers than requests.
struct MissingAnswer: Error {}
