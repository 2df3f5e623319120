import Foundation
import Synchronization

/// A cache of the authorities' answers about the certificates of proofs. It keeps each answer until the answer expires.
///
/// The caller sends each of a proof's `queries` and passes the answers to `record`. The proof is valid if neither
/// method throws. The queries cover every certificate of its chains except the root, which the operator trusts. The
/// cache is bounded and evicts the answer that expires first.
public final class RevocationStatuses: Sendable {
    static let capacity = 64

    private let clock: any WallClock
    /// The lock is held for one lookup or replacement, never during a request.
    private let statuses = Mutex<[Certificate: OCSPStatus]>([:])

    public init(clock: any WallClock) {
        self.clock = clock
    }

    /// The queries that are open for a proof.
    ///
    /// - Throws: `ProofRefusal` if a certificate is revoked or names no responder.
    public func queries(about proof: VerifiedProof) throws(ProofRefusal) -> [RevocationQuery] {
        var queries: [RevocationQuery] = []
        for chain in proof.chains {
            for (certificate, issuer) in zip(chain, chain.dropFirst()) {
                if let status = known(certificate) {
                    try Self.accept(status)
                } else if !queries.contains(where: { $0.certificate == certificate }) {
                    queries.append(try RevocationQuery(about: certificate, issuer: issuer))
                }
            }
        }
        return queries
    }

    /// Reads a responder's answer and caches it.
    ///
    /// - Throws: `ProofRefusal` if the certificate is revoked or the answer is not usable.
    public func record(_ answer: [UInt8], to query: RevocationQuery) throws(ProofRefusal) {
        let status: OCSPStatus
        do throws(OCSPError) {
            status = try query.request.status(in: answer, at: clock.now().secondsSince1970)
        } catch {
            throw ProofRefusal(.revocationUnavailable, error.explanation)
        }
        remember(status, of: query.certificate)
        try Self.accept(status)
    }

    private func known(_ certificate: Certificate) -> OCSPStatus? {
        let now = clock.now().secondsSince1970
        return statuses.withLock { $0[certificate] }.flatMap { now < $0.end ? $0 : nil }
    }

    private func remember(_ status: OCSPStatus, of certificate: Certificate) {
        statuses.withLock { statuses in
            if statuses.count >= Self.capacity, statuses[certificate] == nil,
                let first = statuses.min(by: { $0.value.end < $1.value.end })
            {
                statuses[first.key] = nil
            }
            statuses[certificate] = status
        }
    }

    private static func accept(_ status: OCSPStatus) throws(ProofRefusal) {
        guard case .revoked(let moment) = status.verdict else { return }
        throw ProofRefusal(
            .certificateRevoked, "The date of the revocation is \(Timestamp(secondsSince1970: moment).rfc3339).")
    }
}

/// A certificate of a verified proof whose revocation status must be requested.
public struct RevocationQuery: Sendable {
    /// The responder's address, from the certificate.
    public let responder: URL
    /// The body of the request, of type `application/ocsp-request` (RFC 6960 appendix A.1).
    public var body: [UInt8] { request.der }

    let certificate: Certificate
    let request: OCSPRequest

    /// - Parameter issuer: The certificate that issued `certificate`.
    init(about certificate: Certificate, issuer: Certificate) throws(ProofRefusal) {
        let name = certificate.commonName ?? "?"
        let responders = certificate.ocspResponders.compactMap(URL.init(string:))
        guard let responder = responders.first(where: { $0.scheme == "http" || $0.scheme == "https" }) else {
            throw ProofRefusal(.revocationUnavailable, "The certificate \"\(name.prefix(64))\" names no responder.")
        }
        do { request = try OCSPRequest(for: certificate, issuer: issuer) } catch {
            throw ProofRefusal(.revocationUnavailable, "\(error)")
        }
        self.responder = responder
        self.certificate = certificate
    }
}
