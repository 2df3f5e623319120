import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Synchronization
import Vocabulary

/// Requests about a user with an `Idempotency-Key`. A repeated request gets the same answer, also after a restart. The answer is kept
/// with the user, whose erasure deletes it, so an operation about no user takes no key.
///
/// The service keeps an answer before it sends it, so a client never sees two different answers. It keeps no refusal
/// that may succeed later, by itself or after a change by the operator.
package final class IdempotentRequests: Sendable {
    package static let replayedHeader = HTTPField.Name("Idempotent-Replayed")
    static let maximumKeyLength = 255

    private let ledger: Ledger
    private let clock: any WallClock
    private let inProgress = Mutex<Set<IdempotencyKey>>([])

    package init(ledger: Ledger, clock: any WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// A request with a key that has no answer yet.
    package struct Pending: Sendable {
        package let key: IdempotencyKey
        package let requestDigest: [UInt8]
        package let status: HTTPResponse.Status

        /// Returns the form of the answer that the ledger keeps.
        package func answer(_ body: [UInt8]) -> KeptAnswer {
            key.answer(
                KeptResponse(status: status.code, contentType: "application/json", body: body[...]).bytes,
                to: requestDigest)
        }
    }

    /// The result of a request's work.
    package enum Answered: Sendable {
        /// The answer to a request without a key.
        case new([UInt8])
        /// A problem, which is kept in a separate commit.
        case refused(KeptAnswer)
        /// An answer that was kept in the same commit as the work.
        case kept(KeptAnswer)
        /// The answer to an earlier request that another process has kept meanwhile.
        case replayed(KeptAnswer)
    }

    /// Answers a request, or replays the answer to an earlier request with the same key.
    ///
    /// - Parameters:
    ///   - user: The user whom the request concerns.
    ///   - body: The body of the request. Method, path and body identify the request.
    ///   - status: The status of a new answer that is not a problem.
    ///   - admits: Returns true if a refusal may be kept about a user, by the user's number. Any other answer is kept by `perform`.
    ///   - perform: The work. If there is a key, it keeps the answer in its own commit. It is called once for each key,
    ///     unless the service fails.
    package func answer(
        _ request: Request,
        from caller: Caller,
        about user: User,
        body: [UInt8],
        status: HTTPResponse.Status = .ok,
        admits: @escaping @Sendable (LedgerTransaction, KeptAnswer, Int64) throws -> Bool = { _, _, _ in true },
        perform: (Pending?) async throws -> Answered
    ) async throws -> Response {
        guard let key = try Self.key(of: request).map({ IdempotencyKey(caller: caller.name, key: $0) }) else {
            guard case .new(let body) = try await perform(nil) else { throw Problem.unexpected }
            return JSONAnswer.response(bytes: body, status: status)
        }
        let digest = Self.digest(of: request, body: body)
        guard inProgress.withLock({ $0.insert(key).inserted }) else {
            throw Problem(
                status: .conflict, code: "idempotencyKeyInUse",
                detail: "A request with this Idempotency-Key is in progress. Wait, then send it again.",
                couldSucceedLater: true)
        }
        defer { inProgress.withLock { _ = $0.remove(key) } }
        if let kept = try await keptAnswer(for: key) {
            return try response(kept, to: digest, isReplayed: true)
        }
        let pending = Pending(key: key, requestDigest: digest, status: status)
        switch try await newAnswer(pending, perform) {
        case .kept(let kept): return try response(kept, to: digest, isReplayed: false)
        case .replayed(let kept): return try response(kept, to: digest, isReplayed: true)
        case .refused(let refusal):
            // Another process on the same ledger may have kept an answer first. That answer is valid.
            let kept = try await keep(refusal, about: user, admits)
            return try response(kept, to: digest, isReplayed: kept != refusal)
        case .new: throw Problem.unexpected
        }
    }

    /// Answers a request that records a new value, with the value.
    ///
    /// - Parameter record: Records the value and, in the same commit, the answer to keep. Returns the answer to an earlier request
    ///   that another process has kept meanwhile; nothing is then recorded.
    package func answer<Value: AnswerValue>(
        _ request: Request,
        _ context: ServiceContext,
        about user: User,
        body: JSONBody,
        making make: () throws -> Value,
        recording record: (Value, KeptAnswer?) async throws -> KeptAnswer?
    ) async throws -> Response {
        let (caller, keys) = (try context.requiredCaller, try await ledger.apiKeyNames())
        return try await answer(request, from: caller, about: user, body: body.bytes, status: .created) { pending in
            let value = try make()
            let json = try value.json(naming: keys)
            let kept = pending?.answer(json)
            let earlier = try await record(value, kept)
            return earlier.map { .replayed($0) } ?? kept.map { .kept($0) } ?? .new(json)
        }
    }

    /// The answer kept for a key in the last 24 hours. Nil if there is none.
    private func keptAnswer(for key: IdempotencyKey) async throws -> KeptAnswer? {
        let oldest = clock.now().adding(days: -1)
        return try await ledger.read(.statement) { try $0.answers.answer(for: key, since: oldest) }
    }

    /// Keeps a refusal for 24 hours, unless the key already has an answer.
    ///
    /// - Returns: The kept answer; the refusal if none may be kept.
    private func keep(
        _ refusal: KeptAnswer,
        about user: User,
        _ admits: @escaping @Sendable (LedgerTransaction, KeptAnswer, Int64) throws -> Bool
    ) async throws -> KeptAnswer {
        let now = clock.now()
        return try await ledger.write {
            if let number = try $0.users.known(user), try !admits($0, refusal, number) { return refusal }
            return try $0.keep(
                refusal, about: user, at: now, deletingBefore: now.adding(days: -1))
        }
    }

    private func newAnswer(
        _ pending: Pending, _ perform: (Pending?) async throws -> Answered
    ) async throws -> Answered {
        do {
            return try await perform(pending)
        } catch {
            guard let problem = Problem(error), problem.isFinal else { throw error }
            let response = KeptResponse(
                status: problem.status, contentType: Problem.contentType,
                body: try problem.json()[...])
            return .refused(pending.key.answer(response.bytes, to: pending.requestDigest))
        }
    }

    private func response(_ answer: KeptAnswer, to digest: [UInt8], isReplayed: Bool) throws(Problem) -> Response {
        guard answer.requestDigest == digest else {
            throw Problem(
                status: .unprocessableContent, code: "idempotencyKeyReused",
                detail: "Another request was sent with this Idempotency-Key. Create a new key for each request.")
        }
        guard let kept = KeptResponse(answer.bytes) else { throw .unexpected }
        var headers: HTTPFields = [.contentType: kept.contentType]
        if isReplayed, let name = Self.replayedHeader { headers[name] = "true" }
        return Response(
            status: .init(code: kept.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: kept.body)))
    }

    /// The SHA-256 that identifies a request: method, path, query and body.
    package static func digest(of request: Request, body: [UInt8]) -> [UInt8] {
        DigestAlgorithm.sha256.digest(of: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8) + body)
    }

    /// The idempotency key of a request. Nil if there is none.
    package static func key(of request: Request) throws(Problem) -> String? {
        guard let name = HTTPField.Name.idempotencyKey, let text = request.headers[name] else { return nil }
        guard (1...maximumKeyLength).contains(text.utf8.count),
            text.isVisibleASCII
        else {
            throw Problem(
                status: .badRequest, code: "idempotencyKeyInvalid",
                detail: "An Idempotency-Key must have 1 to \(maximumKeyLength) visible ASCII characters.")
        }
        return text
    }

    private static let deletionInterval = Duration.seconds(10 * 60)
    private static let retries = Duration.seconds(60)...deletionInterval
    /// The largest number of answers that one commit deletes. Purchases wait for it.
    private static let deletedAtOnce = 1000

    /// The task that deletes the kept answers that are older than a day. They are no longer given.
    ///
    /// A commit that keeps an answer deletes no others: that would reach each node of a distributed ledger.
    package static func deletion(in ledger: Ledger, clock: any WallClock, logger: Logger) -> Companion {
        let work = RepeatedWork(
            "old answers not deleted", Rhythm(every: deletionInterval, retry: retries), logger: logger)
        return work.companion {
            let oldest = clock.now().adding(days: -1)
            while try await ledger.writeInBackground({
                try $0.answers.delete(before: oldest, limit: deletedAtOnce)
            }) == deletedAtOnce {}
            return true
        }
    }
}

/// A response in the ledger's form: a line with the status and the content type, then the body.
struct KeptResponse {
    let status: Int
    let contentType: String
    let body: ArraySlice<UInt8>

    var bytes: [UInt8] { Array("\(status) \(contentType)\n".utf8) + body }
}

extension KeptResponse {
    /// Nil if the bytes have another form.
    init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let words = bytes[..<end].split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard words.count == 2, let status = Int(String(decoding: words[0], as: UTF8.self)) else { return nil }
        self.init(status: status, contentType: String(decoding: words[1], as: UTF8.self), body: bytes[(end + 1)...])
    }
}
