import Foundation

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
