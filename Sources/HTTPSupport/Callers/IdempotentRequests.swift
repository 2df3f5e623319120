import Commerce
import HTTPTypes
import Hummingbird
import Ledger
import Signatures
import Synchronization
import Wire

/// Requests that callers may send again under the same `Idempotency-Key`, and get the same answer, also after a restart.
///
/// An answer is kept before it is sent, so whoever has seen one will see no other. What may succeed later, and what the
/// operator can mend, is not kept.
package final class IdempotentRequests: Sendable {
    package static let replayedHeader = HTTPField.Name("Idempotent-Replayed")
    package static let maximumKeyLength = 255

    private let ledger: Ledger
    private let clock: any WallClock
    /// The requests that are being answered.
    private let underWay = Mutex<Set<IdempotencyKey>>([])

    package init(ledger: Ledger, clock: any WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// A request under a key, which is answered for the first time.
    package struct Pending: Sendable {
        package let key: IdempotencyKey
        package let requestDigest: [UInt8]
        package let status: HTTPResponse.Status

        /// What is kept of an answer.
        package func answer(_ body: [UInt8]) -> KeptAnswer {
            KeptAnswer(
                requestDigest: requestDigest,
                bytes: KeptResponse(status: status.code, contentType: "application/json", body: body[...]).bytes)
        }
    }

    /// The answer of a request's work.
    package enum Answered: Sendable {
        /// The answer to a request without a key.
        case new([UInt8])
        /// A problem, which is kept in a commit of its own.
        case refused(KeptAnswer)
        /// An answer that was kept in the commit of the work.
        case kept(KeptAnswer)
        /// The answer to an earlier request, which another process has kept meanwhile.
        case replayed(KeptAnswer)
    }

    /// Answers a request, or says again what it was answered with before.
    ///
    /// - Parameters:
    ///   - user: Whom it is about.
    ///   - body: The request's, which with its method and path makes it the same or another.
    ///   - status: Of a new answer that is no problem.
    ///   - perform: Keeps the answer in the commit of its work, if there is a key. Called once for each key, unless the
    ///     service fails.
    package func answer(
        _ request: Request,
        from caller: Caller,
        about user: User,
        body: [UInt8],
        status: HTTPResponse.Status = .ok,
        perform: (Pending?) async throws -> Answered
    ) async throws -> Response {
        guard let key = try Self.key(of: request).map({ IdempotencyKey(caller: caller.name, key: $0) }) else {
            guard case .new(let body) = try await perform(nil) else { throw Problem.unexpected }
            return JSONAnswer.response(bytes: body, status: status)
        }
        let digest = Self.digest(of: request, body: body)
        guard underWay.withLock({ $0.insert(key).inserted }) else {
            throw Problem(
                status: .conflict, code: "idempotencyKeyInUse",
                detail: "A request with this Idempotency-Key is being answered: wait, then send it again.",
                couldSucceedLater: true)
        }
        defer { underWay.withLock { _ = $0.remove(key) } }
        if let kept = try await keptAnswer(for: key) {
            return try response(kept, to: digest, isReplayed: true)
        }
        let pending = Pending(key: key, requestDigest: digest, status: status)
        switch try await newAnswer(pending, perform) {
        case .kept(let kept): return try response(kept, to: digest, isReplayed: false)
        case .replayed(let kept): return try response(kept, to: digest, isReplayed: true)
        case .refused(let refusal):
            // Another process on the same ledger may have been quicker; then its answer is the answer.
            let kept = try await keep(refusal, for: key, about: user)
            return try response(kept, to: digest, isReplayed: kept != refusal)
        case .new: throw Problem.unexpected
        }
    }

    /// The answer that a request was given in the last 24 hours; nil for a new one.
    private func keptAnswer(for key: IdempotencyKey) async throws -> KeptAnswer? {
        let oldest = clock.now().adding(days: -1)
        return try await ledger.read(.statement) { try $0.keptAnswer(for: key, since: oldest) }
    }

    /// Keeps a refusal for so long, unless an answer is kept.
    ///
    /// - Returns: The answer that is kept.
    private func keep(_ refusal: KeptAnswer, for key: IdempotencyKey, about user: User) async throws -> KeptAnswer {
        let now = clock.now()
        return try await ledger.write {
            try $0.keep(
                refusal, for: key, about: user, isRefusal: true, at: now, forgettingBefore: now.adding(days: -1))
        }
    }

    private func newAnswer(
        _ pending: Pending,
        _ perform: (Pending?) async throws -> Answered
    ) async throws -> Answered {
        do {
            return try await perform(pending)
        } catch {
            guard let problem = Problem(error), !problem.couldSucceedLater, !problem.isForTheOperatorToMend else {
                throw error
            }
            let response = KeptResponse(
                status: problem.status, contentType: Problem.contentType,
                body: try JSONAnswer.encode(problem.resource)[...])
            return .refused(KeptAnswer(requestDigest: pending.requestDigest, bytes: response.bytes))
        }
    }

    private func response(_ answer: KeptAnswer, to digest: [UInt8], isReplayed: Bool) throws(Problem) -> Response {
        guard answer.requestDigest == digest else {
            throw Problem(
                status: .unprocessableContent, code: "idempotencyKeyReused",
                detail: "Another request was sent with this Idempotency-Key: make a new key for each.")
        }
        guard let kept = KeptResponse(answer.bytes) else { throw .unexpected }
        var headers: HTTPFields = [.contentType: kept.contentType]
        if isReplayed, let name = Self.replayedHeader { headers[name] = "true" }
        return Response(
            status: .init(code: kept.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: kept.body)))
    }

    /// The SHA-256 of a request, which tells it from another: method, path, query and body.
    package static func digest(of request: Request, body: [UInt8]) -> [UInt8] {
        DigestAlgorithm.sha256.digest(
            of: Array("\(request.method.rawValue) \(request.uri.string)\n".utf8) + body)
    }

    /// The idempotency key of a request; nil if it has none.
    package static func key(of request: Request) throws(Problem) -> String? {
        guard let name = HTTPField.Name.idempotencyKey, let text = request.headers[name] else { return nil }
        guard (1...maximumKeyLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw Problem(
                status: .badRequest, code: "idempotencyKeyInvalid",
                detail: "An Idempotency-Key has 1 to \(maximumKeyLength) visible ASCII characters.")
        }
        return text
    }
}
