import Commerce
import Signatures
import Synchronization

/// What authorities have answered about the certificates of proofs, each answer kept until it ends.
///
/// Whoever wants a verified proof checked asks each of its `questions` and hands the answers to `take`; the proof stands
/// when neither throws. Every certificate of its chains is asked about, but for the root, which is trusted here and by
/// nobody's leave. Bounded: the answer that ends first goes first.
public final class RevocationStatuses: Sendable {
    static let capacity = 64

    private let clock: any WallClock
    /// Held for one look-up or one replacement, never while anything is asked.
    private let statuses = Mutex<[Certificate: OCSPStatus]>([:])

    public init(clock: any WallClock) {
        self.clock = clock
    }

    /// What has to be asked about a proof now.
    ///
    /// - Throws: `ProofRefusal` when a certificate is known to be revoked, or names nobody who could be asked.
    public func questions(about proof: VerifiedProof) throws(ProofRefusal) -> [RevocationQuestion] {
        var questions: [RevocationQuestion] = []
        for chain in proof.chains {
            for (certificate, issuer) in zip(chain, chain.dropFirst()) {
                if let status = known(certificate) {
                    try Self.accept(status)
                } else if !questions.contains(where: { $0.certificate == certificate }) {
                    questions.append(try RevocationQuestion(about: certificate, issuer: issuer))
                }
            }
        }
        return questions
    }

    /// Reads what a responder has answered, and remembers it.
    ///
    /// - Throws: `ProofRefusal` when the certificate is revoked, or when the answer tells nothing.
    public func take(_ answer: [UInt8], to question: RevocationQuestion) throws(ProofRefusal) {
        let status: OCSPStatus
        do throws(OCSPError) {
            status = try question.request.status(in: answer, at: clock.now().secondsSince1970)
        } catch {
            throw ProofRefusal(.revocationUnavailable, Self.explanation(of: error))
        }
        remember(status, of: question.certificate)
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
        throw ProofRefusal(.certificateRevoked, "It was on \(Timestamp(secondsSince1970: moment).rfc3339).")
    }

    private static func explanation(of error: OCSPError) -> String {
        switch error {
        case .malformed: "The answer is no OCSP response."
        case .declined(let status): "The responder declined to answer, with OCSP status \(status)."
        case .signerNotAppointed: "The answer is not signed by the certificate's authority."
        case .otherCertificate: "The answer is about another certificate."
        case .unknownCertificate: "The responder does not know the certificate."
        case .outdated: "The answer holds no longer, or not yet."
        }
    }
}
