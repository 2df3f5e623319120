import Foundation
import HTTPSupport
import Proofs

/// Checks over HTTP that the certificates of verified proofs were not revoked (OCSP, RFC 6960 appendix A).
///
/// Each request costs a round trip to the authority until its answer expires. Without an answer, the proof is refused with a code
/// of its own, because a retry may help.
package struct RevocationChecker: Sendable {
    /// Answers are not encrypted, so an attacker in the network could redirect the request: no redirect is followed.
    private static let limits = OutgoingLimits(
        answer: .seconds(10), body: .whole(upTo: OCSPRequest.maximumAnswerSize))

    private let statuses: RevocationStatuses

    package init(clock: any WallClock) {
        statuses = RevocationStatuses(clock: clock)
    }

    /// - Throws: `ProofRefusal`: `certificateRevoked`, or `revocationUnavailable`.
    package func check(_ proof: VerifiedProof) async throws(ProofRefusal) {
        for query in try statuses.queries(about: proof) {
            try statuses.record(try await ask(query), to: query)
        }
    }

    private func ask(_ query: RevocationQuery) async throws(ProofRefusal) -> [UInt8] {
        let request = OutgoingRequest(
            .post, query.responder.absoluteString, type: "application/ocsp-request", body: query.body)
        let answer: OutgoingAnswer
        do {
            answer = try await OutgoingClient.toStores.send(request, Self.limits)
        } catch {
            throw ProofRefusal(.revocationUnavailable, "\(request.host) could not be asked.")
        }
        guard answer.status == 200 else {
            throw ProofRefusal(.revocationUnavailable, "\(request.host) answered with HTTP status \(answer.status).")
        }
        return answer.body
    }
}
