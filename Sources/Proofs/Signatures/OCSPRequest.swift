import COpenSSL

/// An OCSP request about a certificate (RFC 6960 section 4.1), with the reader of its response.
///
/// The request has no nonce. Responders send prepared responses (RFC 5019), which expire.
public struct OCSPRequest: Sendable {
    /// The maximum size of a response, in bytes. A response with the responder's own chain has a few thousand.
    public static let maximumAnswerSize = 1 << 16

    /// The request in DER.
    public let der: [UInt8]
    private let certificate: Certificate
    private let issuer: Certificate

    /// - Parameter issuer: The certificate whose key signed `certificate`.
    /// - Throws: `OpenSSLError`.
    public init(for certificate: Certificate, issuer: Certificate) throws {
        guard let request = OCSP_REQUEST_new() else { throw OpenSSLError("make an OCSP request") }
        defer { OCSP_REQUEST_free(request) }
        let identifier = try Self.identifier(of: certificate, issuer: issuer)
        guard OCSP_request_add0_id(request, identifier) != nil else {
            OCSP_CERTID_free(identifier)
            throw OpenSSLError("fill in an OCSP request")
        }
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_OCSP_REQUEST(request, &start)
        guard length > 0, let start else { throw OpenSSLError("encode an OCSP request") }
        defer { CRYPTO_free(start, nil, 0) }
        der = Array(UnsafeBufferPointer(start: start, count: Int(length)))
        self.certificate = certificate
        self.issuer = issuer
    }

    /// Reads a response. The issuer or its authorized responder must have signed it (RFC 6960 section 4.2.2.2).
    ///
    /// - Parameters:
    ///   - answer: The DER of an OCSPResponse.
    ///   - moment: The moment at which the response must be valid, in seconds since 1970.
    public func status(in answer: [UInt8], at moment: Int64) throws(OCSPError) -> OCSPStatus {
        defer { ERR_clear_error() }
        guard answer.count <= Self.maximumAnswerSize, let response = Self.response(answer) else { throw .malformed }
        defer { OCSP_RESPONSE_free(response) }
        let outcome = OCSP_response_status(response)
        guard outcome == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            throw OCSPError(explanation: "The responder declined to answer, with OCSP status \(outcome).")
        }
        guard let basic = OCSP_response_get1_basic(response) else { throw .malformed }
        defer { OCSP_BASICRESP_free(basic) }
        guard isSignedForIssuer(basic, at: moment) else {
            throw OCSPError(explanation: "The answer is not signed by the certificate's authority.")
        }
        let status = try status(in: basic)
        guard status.thisUpdate <= moment + OCSPStatus.clockTolerance, moment < status.end else {
            throw OCSPError(explanation: "The answer is expired or not yet valid.")
        }
        return status
    }

    private func isSignedForIssuer(_ basic: OpaquePointer, at moment: Int64) -> Bool {
        // Only the issuer is trusted. Another authority below the same root cannot respond for it.
        guard let store = X509_STORE_new(), let certificates = till_certificate_stack_new() else { return false }
        defer {
            X509_STORE_free(store)
            till_certificate_stack_free(certificates)
        }
        guard X509_STORE_add_cert(store, issuer.handle.pointer) == 1,
            till_certificate_stack_push(certificates, issuer.handle.pointer) > 0,
            let parameters = X509_STORE_get0_param(store)
        else { return false }
        X509_VERIFY_PARAM_set_time(parameters, time_t(moment))
        let flags = UInt(OCSP_PARTIAL_CHAIN | OCSP_NOEXPLICIT)
        return withExtendedLifetime(issuer) { OCSP_basic_verify(basic, certificates, store, flags) == 1 }
    }

    private func status(in basic: OpaquePointer) throws(OCSPError) -> OCSPStatus {
        guard let identifier = try? Self.identifier(of: certificate, issuer: issuer) else { throw .malformed }
        defer { OCSP_CERTID_free(identifier) }
        var code: Int32 = 0
        var reason: Int32 = -1
        var revokedAt, thisUpdate, nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        guard
            OCSP_resp_find_status(basic, identifier, &code, &reason, &revokedAt, &thisUpdate, &nextUpdate) == 1
        else { throw OCSPError(explanation: "The answer is about another certificate.") }
        guard let thisUpdate = Certificate.secondsSince1970(thisUpdate) else { throw .malformed }
        let end = Certificate.secondsSince1970(nextUpdate) ?? thisUpdate + OCSPStatus.lifetimeWithoutEnd
        switch code {
        case V_OCSP_CERTSTATUS_GOOD: return OCSPStatus(verdict: .good, thisUpdate: thisUpdate, end: end)
        case V_OCSP_CERTSTATUS_REVOKED:
            guard let revokedAt = Certificate.secondsSince1970(revokedAt) else { throw .malformed }
            return OCSPStatus(verdict: .revoked(at: revokedAt), thisUpdate: thisUpdate, end: end)
        default: throw OCSPError(explanation: "The responder does not know the certificate.")
        }
    }

    private static func response(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            guard let response = d2i_OCSP_RESPONSE(nil, &next, buffer.count) else { return nil }
            guard next == buffer.baseAddress.map({ $0 + buffer.count }) else {
                OCSP_RESPONSE_free(response)
                return nil
            }
            return response
        }
    }

    /// Creates a certificate's OCSP identifier with SHA-1, the hash function that all responders accept (RFC 5019
    /// section 2.1.1). It needs no collision resistance.
    ///
    /// - Returns: An `OCSP_CERTID` that the caller owns.
    private static func identifier(of certificate: Certificate, issuer: Certificate) throws -> OpaquePointer {
        guard let identifier = OCSP_cert_to_id(EVP_sha1(), certificate.handle.pointer, issuer.handle.pointer) else {
            throw OpenSSLError("name a certificate to its authority")
        }
        return identifier
    }
}

/// An authority's statement about a certificate, with its period of validity (RFC 6960 section 4.2.2). The moments are
/// in seconds since 1970.
public struct OCSPStatus: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case good
        case revoked(at: Int64)
    }

    /// The accepted clock difference in seconds. Responses arrive fresh, but clocks differ.
    static let clockTolerance: Int64 = 300
    /// The validity of a response without an end, in seconds.
    static let lifetimeWithoutEnd: Int64 = 300

    public let verdict: Verdict
    let thisUpdate: Int64
    /// The second at which the response expires: `nextUpdate`.
    public let end: Int64
}

/// A failure to learn a certificate's status from a response.
public struct OCSPError: Error, Sendable, Equatable {
    /// The finding, as a sentence.
    let explanation: String

    fileprivate static let malformed = OCSPError(explanation: "The answer must be an OCSP response.")
}
