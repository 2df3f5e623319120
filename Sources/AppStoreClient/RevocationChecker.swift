import AsyncHTTPClient
import Commerce
import Foundation
import Receipts
import Signatures

/// Asks over HTTP whether the certificates behind verified proofs were revoked since (RFC 6960 appendix A).
///
/// Each question costs a round trip to the authority, until its answer ends; no answer is a refusal of its own, which says
/// that trying again may help.
public struct RevocationChecker: Sendable {
    /// For how long a responder is waited for, its answer's last byte included.
    private static let patience = Duration.seconds(10)

    private let client: HTTPClient
    private let statuses: RevocationStatuses

    /// Makes a checker for as long as `body` runs.
    public static func run<Value: Sendable>(
        clock: any WallClock,
        body: (RevocationChecker) async throws -> Value
    ) async throws -> Value {
        // Answers travel unencrypted, and whoever is on the way could redirect us anywhere.
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Whoever waits for the verdict tries again, not we.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await body(RevocationChecker(client: client, statuses: RevocationStatuses(clock: clock)))
        }
    }

    /// - Throws: `ProofRefusal`: `certificateRevoked`, or `revocationUnavailable`.
    public func check(_ proof: VerifiedProof) async throws(ProofRefusal) {
        for question in try statuses.questions(about: proof) {
            try statuses.take(try await ask(question), to: question)
        }
    }

    private func ask(_ question: RevocationQuestion) async throws(ProofRefusal) -> [UInt8] {
        var request = HTTPClientRequest(url: question.responder.absoluteString)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/ocsp-request")
        request.body = .bytes(question.body)
        let responder = question.responder.host() ?? "?"
        let status: UInt
        let body: [UInt8]
        do {
            // The client's own time limit ends with the head of the answer.
            (status, body) = try await Deadline.run(within: Self.patience) { [client, request] in
                let response = try await client.execute(request, deadline: .distantFuture)
                let body = try await response.body.collect(upTo: OCSPRequest.maximumAnswerSize)
                return (response.status.code, Array(body.readableBytesView))
            }
        } catch {
            throw ProofRefusal(.revocationUnavailable, "\(responder) could not be asked.")
        }
        guard status == 200 else {
            throw ProofRefusal(.revocationUnavailable, "\(responder) answered with HTTP status \(status).")
        }
        return body
    }
}
