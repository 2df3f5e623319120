import Proofs
import Synchronization

/// The questions to Google Play about the purchase tokens of an app: one at a time for each token, and, for callers who present a token,
/// one in ten seconds. Callers who ask meanwhile get the same answer.
///
/// Anybody who knows a token can present it without end, and Google counts each question. An error is an answer, too.
final class PurchaseQuestions: Sendable {
    /// The age up to which an answer counts for those who present the token, in seconds, from the start of its question.
    static let keptSeconds: Int64 = 10
    /// The answers in each half of the memory. `GooglePlayApp` admits far fewer questions in ten seconds.
    private static let maximumKept = 2048

    /// A statement, with the number of its question in the ledger; nil for the first question about a token.
    typealias Stated = (statement: GooglePlayStatement, number: Int64?)
    /// The same; `isOwn` if this call has asked for it.
    typealias Asked = (statement: GooglePlayStatement, number: Int64?, isOwn: Bool)

    private typealias Answer = Result<Stated, PlayDeveloperError>

    private struct Question {
        let number: Int
        let task: Task<Stated, any Error>
        /// The callers that await the answer. The last one that leaves cancels the question.
        var callers = 1
    }

    private struct Kept {
        let number: Int
        let askedAt: Timestamp
        let answer: Answer
    }

    private struct State {
        /// The number of the last question. Later questions have higher numbers.
        var last = 0
        var running: [ByteKey: Question] = [:]
        /// The answers of the last ten seconds or more, in two halves. The older one goes as a whole.
        var (kept, older): ([ByteKey: Kept], [ByteKey: Kept]) = ([:], [:])
        var halvedAt: Timestamp?
    }

    private enum Step {
        case answered(Answer)
        case asking(Question, isOwn: Bool)
        /// Another question runs, which began too early or has lost its callers.
        case waiting(Task<Stated, any Error>)
    }

    private let clock: any WallClock
    private let state = Mutex(State())

    init(clock: any WallClock) {
        self.clock = clock
    }

    /// The answer about a token, from a new question or from one that others have asked.
    ///
    /// - Parameters:
    ///   - isNew: True if only the answer to a question counts that begins after this call.
    ///   - admit: Admits a question. It is called if no other question has the answer, and must not wait.
    ///   - ask: Asks Google Play.
    func answer(
        about token: String, isNew: Bool, admit: () throws(PlayDeveloperError) -> Void,
        _ ask: @escaping @Sendable () async throws -> Stated
    ) async throws -> Asked {
        let key = ByteKey(token)
        let earliest = isNew ? state.withLock(\.last) + 1 : 0
        while true {
            switch try step(key, from: earliest, admit, ask) {
            case .answered(let answer):
                let stated = try answer.get()
                return (stated.statement, stated.number, false)
            case .asking(let question, let isOwn):
                let stated = try await withTaskCancellationHandler {
                    try await question.task.value
                } onCancel: {
                    leave(key, question.number)
                }
                return (stated.statement, stated.number, isOwn)
            case .waiting(let task):
                _ = await task.result
                guard !Task.isCancelled else { throw PlayDeveloperError.cancelled }
            }
        }
    }

    /// Forgets the answer about a token whose purchase has changed: it is acknowledged, or listed as voided.
    func forget(_ token: String) {
        let key = ByteKey(token)
        state.withLock { state in
            state.kept[key] = nil
            state.older[key] = nil
        }
    }

    /// Forgets all answers, which are of before a reset.
    func forgetAll() { state.withLock { ($0.kept, $0.older) = ([:], [:]) } }

    private func step(
        _ key: ByteKey, from earliest: Int, _ admit: () throws(PlayDeveloperError) -> Void,
        _ ask: @escaping @Sendable () async throws -> Stated
    ) throws(PlayDeveloperError) -> Step {
        let now = clock.now()
        return try state.withLock { (state) throws(PlayDeveloperError) in
            if let question = state.running[key] {
                guard question.number >= earliest, question.callers > 0 else { return .waiting(question.task) }
                state.running[key]?.callers += 1
                return .asking(question, isOwn: false)
            }
            if let kept = state.kept[key] ?? state.older[key], kept.number >= earliest,
                earliest > 0 || Self.isYoung(kept.askedAt, at: now)
            {
                return .answered(kept.answer)
            }
            try admit()
            state.last += 1
            let number = state.last
            let task = Task {
                do {
                    let stated = try await ask()
                    end(key, number, askedAt: now, .success(stated))
                    return stated
                } catch {
                    end(key, number, askedAt: now, (error as? PlayDeveloperError).map { .failure($0) })
                    throw error
                }
            }
            let question = Question(number: number, task: task)
            state.running[key] = question
            return .asking(question, isOwn: true)
        }
    }

    /// A moment after now is of before a clock went back, and is not young.
    private static func isYoung(_ moment: Timestamp, at now: Timestamp) -> Bool {
        (0..<keptSeconds * 1000).contains(now.millisecondsSince1970 - moment.millisecondsSince1970)
    }

    /// - Parameter answer: Nil for an error of the service itself, such as one of the ledger.
    private func end(_ key: ByteKey, _ number: Int, askedAt: Timestamp, _ answer: Answer?) {
        state.withLock { state in
            state.running[key] = nil
            guard let answer else { return }
            if case .failure(.cancelled) = answer { return }
            if state.kept.count >= Self.maximumKept || !(state.halvedAt.map { Self.isYoung($0, at: askedAt) } ?? false)
            {
                (state.older, state.kept, state.halvedAt) = (state.kept, [:], askedAt)
            }
            state.kept[key] = Kept(number: number, askedAt: askedAt, answer: answer)
        }
    }

    private func leave(_ key: ByteKey, _ number: Int) {
        state.withLock { state in
            guard let question = state.running[key], question.number == number else { return }
            state.running[key]?.callers -= 1
            if question.callers == 1 { question.task.cancel() }
        }
    }
}
