import Foundation
import Proofs

/// A status of the store's certificates that makes verifiers with online checks refuse its proofs (OCSP).
package enum CertificateStatus: String, Sendable, Codable, CaseIterable {
    /// The certificates of the signers are revoked.
    case revokedLeaf
    /// The certificates of the authorities that issued the signers' are revoked.
    case revokedIntermediate
    /// The responder knows no certificate.
    case unknown
    /// The responder does not answer.
    case unavailable

    /// The verdict on a certificate; nil for an unknown one. A revocation takes every proof, so its date is the first day.
    fileprivate func verdict(on place: StoreKeys.Place, _ certificate: Certificate) -> OCSPStatus.Verdict? {
        switch (self, place) {
        case (.unknown, _): nil
        case (.revokedLeaf, .leaf), (.revokedIntermediate, .intermediate): .revoked(at: certificate.notBefore)
        case (.revokedLeaf, _), (.revokedIntermediate, _), (.unavailable, _): .good
        }
    }
}

/// The store's OCSP responder (RFC 6960).
extension Store {
    /// The validity of an answer, in seconds. It is short, because a tester changes the status.
    private static let ocspLifetime: Int64 = 300

    /// Names the store's OCSP responder in its certificates from now on.
    ///
    /// - Parameter address: The address at which verifiers reach the store.
    package func nameResponder(at address: URL) throws(StoreError) {
        do { try issuer.keys.name(responderAt: address) } catch { throw fault(error) }
    }

    /// The answer to a request about the store's certificates; nil while the responder is unavailable. Verifiers go by the machine's
    /// clock.
    func ocspAnswer(to request: [UInt8]) throws(StoreError) -> [UInt8]? {
        let status = try settings().certificateStatus
        guard status != .unavailable else { return nil }
        do {
            return try issuer.keys.ocspResponder { place, certificate in
                guard let status else { return .good }
                return status.verdict(on: place, certificate)
            }.answer(to: request, at: machineClock.now().secondsSince1970, validFor: Self.ocspLifetime)
        } catch { throw fault(error) }
    }
}
