import AsyncHTTPClient
import Foundation
import HTTPSupport
import Proofs

/// Checks over HTTP that the certificates of verified proofs were not revoked (OCSP, RFC 6960 appendix A).
///
/// Each request costs a round trip to the authority until its answer expires. Without an answer, the proof is refused with a code
/// of its own, because a retry may help.
package struct RevocationChecker: Sendable {
    /// The timeout of a request, up to the last byte of the answer.
    private static let timeout = Duration.seconds(10)

    private let client: HTTPClient
    private let statuses: RevocationStatuses

    /// Makes a checker for as long as `body` runs.
    package static func run<Value: Sendable>(
        clock: any WallClock,
        body: (RevocationChecker) async throws -> Value
    ) async throws -> Value {
        // Answers are not encrypted, so an attacker in the network could redirect the request.
        try await HTTPClient.withHTTPClient(configuration: .outgoing(.disallow)) { client in
            try await body(RevocationChecker(client: client, statuses: RevocationStatuses(clock: clock)))
        }
    }

    /// - Throws: `ProofRefusal`: `certificateRevoked`, or `revocationUnavailable`.
    package func check(_ proof: VerifiedProof) async throws(ProofRefusal) {
        for query in try statuses.queries(about: proof) {
            try statuses.record(try await ask(query), to: query)
        }
    }

    private func ask(_ query: RevocationQuery) async throws(ProofRefusal) -> [UInt8] {
        var request = HTTPClientRequest(url: query.responder.absoluteString)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/ocsp-request")
        request.body = .bytes(query.body)
        let responder = query.responder.host() ?? "?"
        let answer: HTTPClient.WholeAnswer
        do {
            answer = try await client.answer(
                to: request, within: Self.timeout, upTo: OCSPRequest.maximumAnswerSize)
        } catch {
            throw ProofRefusal(.revocationUnavailable, "\(responder) could not be asked.")
        }
        guard answer.status == 200 else {
            throw ProofRefusal(.revocationUnavailable, "\(responder) answered with HTTP status \(answer.status).")
        }
        return answer.body
    }
}
