import Foundation
import Signatures

/// A certificate of a verified proof that its authority has to be asked about.
public struct RevocationQuestion: Sendable {
    /// Where to ask: the address in the certificate itself.
    public let responder: URL
    /// What to send there, as `application/ocsp-request` (RFC 6960 appendix A.1).
    public var body: [UInt8] { request.der }

    let certificate: Certificate
    let request: OCSPRequest

    /// - Parameter issuer: The certificate above it, whose judgement stands.
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
