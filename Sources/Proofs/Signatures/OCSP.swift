import COpenSSL

/// An OCSP request about a certificate (RFC 6960 section 4.1), with the reader of its response.
///
/// The request has no nonce. Responders send prepared responses (RFC 5019), which expire.
public struct OCSPRequest: Sendable {
    /// The maximum size of a response, in bytes. A response with the responder's own chain has a few thousand.
    public static let maximumAnswerSize = 1 << 16

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
        guard let der = OpenSSLMemory.bytes({ i2d_OCSP_REQUEST(request, $0) }) else {
            throw OpenSSLError("encode an OCSP request")
        }
        self.der = der
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
        guard answer.count <= Self.maximumAnswerSize,
            let response = wholeObject(in: answer, { d2i_OCSP_RESPONSE(nil, $0, $1) }, orFreedBy: OCSP_RESPONSE_free)
        else { throw .malformed }
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

/// The answers of authorities about certificates that they have issued (RFC 6960 section 4.2).
///
/// Like Apple's, each answer has the certificate of its signer, which the authority has issued for answers, and names the signer by its
/// key. Apple's library for Node accepts no other answer. A request is from anybody and proves nothing: its signature is not read.
public struct OCSPResponder: Sendable {
    /// The maximum size of a request, in bytes. One for two certificates with a nonce has a few hundred.
    public static let maximumRequestSize = 4096
    /// The hash functions with which a request may name a certificate.
    private static let digests: [DigestAlgorithm] = [.sha1, .sha256, .sha384, .sha512]

    /// A certificate that the responder knows, with its issuer.
    public struct Subject: Sendable {
        let certificate: Certificate
        let issuer: CertificateChain.Link
        let verdict: OCSPStatus.Verdict?

        /// - Parameters:
        ///   - issuer: The authority whose key signed `certificate`.
        ///   - verdict: The verdict in answers; nil for "unknown".
        public init(_ certificate: Certificate, issuer: CertificateChain.Link, verdict: OCSPStatus.Verdict?) {
            (self.certificate, self.issuer, self.verdict) = (certificate, issuer, verdict)
        }

        /// The extent to which an identifier names the certificate.
        fileprivate func match(_ identifier: OpaquePointer) -> (issuer: Bool, certificate: Bool) {
            for digest in OCSPResponder.digests {
                guard
                    let own = OCSP_cert_to_id(
                        digest.implementation, certificate.handle.pointer, issuer.certificate.handle.pointer)
                else { continue }
                defer { OCSP_CERTID_free(own) }
                guard OCSP_id_issuer_cmp(own, identifier) == 0 else { continue }
                return (true, OCSP_id_cmp(own, identifier) == 0)
            }
            return (false, false)
        }
    }

    private let subjects: [Subject]

    /// - Parameter subjects: All certificates that the responder knows.
    public init(_ subjects: [Subject]) {
        self.subjects = subjects
    }

    /// The answer to a request, valid from a moment on. It is an error of the protocol for bytes that are no request, and
    /// unless all certificates are of one authority that the responder knows. Another certificate of that authority is unknown.
    ///
    /// - Parameters:
    ///   - request: The DER of an OCSPRequest.
    ///   - moment: The beginning of the validity, in seconds since 1970.
    ///   - lifetime: The length of the validity, in seconds.
    /// - Returns: The DER of an OCSPResponse.
    /// - Throws: `OpenSSLError`.
    public func answer(to request: [UInt8], at moment: Int64, validFor lifetime: Int64) throws -> [UInt8] {
        defer { ERR_clear_error() }
        guard request.count <= Self.maximumRequestSize,
            let request = wholeObject(in: request, { d2i_OCSP_REQUEST(nil, $0, $1) }, orFreedBy: OCSP_REQUEST_free)
        else { return try Self.response(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST) }
        defer { OCSP_REQUEST_free(request) }
        // They belong to the request.
        let identifiers = (0..<OCSP_request_onereq_count(request)).compactMap {
            OCSP_onereq_get0_id(OCSP_request_onereq_get0(request, $0))
        }
        guard !identifiers.isEmpty else { return try Self.response(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST) }
        // One authority answers for the whole request, and clients believe it about its own certificates alone.
        guard let issuer = subjects.first(where: { $0.match(identifiers[0]).issuer })?.issuer,
            case let issued = subjects.filter({ $0.issuer.certificate == issuer.certificate }),
            identifiers.allSatisfy({ identifier in issued.contains { $0.match(identifier).issuer } })
        else { return try Self.response(OCSP_RESPONSE_STATUS_UNAUTHORIZED) }
        guard let basic = OCSP_BASICRESP_new() else { throw OpenSSLError("make an OCSP response") }
        defer { OCSP_BASICRESP_free(basic) }
        for identifier in identifiers {
            let subject = issued.first { $0.match(identifier).certificate }
            try Self.add(subject.flatMap(\.verdict), of: identifier, to: basic, from: moment, until: moment + lifetime)
        }
        let signer = try issuer.issueOCSPResponder()
        guard OCSP_copy_nonce(basic, request) > 0,
            OCSP_basic_sign(
                basic, signer.certificate.handle.pointer, signer.key.handle.pointer,
                DigestAlgorithm.sha256.implementation, nil, UInt(OCSP_RESPID_KEY)) == 1
        else { throw OpenSSLError("sign an OCSP response") }
        return try Self.response(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
    }

    /// - Parameter verdict: Nil for an unknown certificate.
    private static func add(
        _ verdict: OCSPStatus.Verdict?,
        of identifier: OpaquePointer,
        to basic: OpaquePointer,
        from start: Int64,
        until end: Int64
    ) throws {
        let thisUpdate = ASN1_TIME_set(nil, time_t(start))
        let nextUpdate = ASN1_TIME_set(nil, time_t(end))
        var revokedAt: UnsafeMutablePointer<ASN1_TIME>?
        defer { for time in [thisUpdate, nextUpdate, revokedAt] { ASN1_TIME_free(time) } }
        let code =
            switch verdict {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case nil: V_OCSP_CERTSTATUS_UNKNOWN
            }
        if case .revoked(let moment) = verdict { revokedAt = ASN1_TIME_set(nil, time_t(moment)) }
        guard thisUpdate != nil, nextUpdate != nil,
            OCSP_basic_add1_status(
                basic, identifier, code, OCSP_REVOKED_STATUS_KEYCOMPROMISE, revokedAt, thisUpdate, nextUpdate) != nil
        else { throw OpenSSLError("fill in an OCSP response") }
    }

    /// - Parameter basic: The signed answer; nil for an error.
    private static func response(_ status: Int32, _ basic: OpaquePointer? = nil) throws -> [UInt8] {
        guard let response = OCSP_response_create(status, basic) else { throw OpenSSLError("make an OCSP response") }
        defer { OCSP_RESPONSE_free(response) }
        guard let der = OpenSSLMemory.bytes({ i2d_OCSP_RESPONSE(response, $0) }) else {
            throw OpenSSLError("encode an OCSP response")
        }
        return der
    }
}

/// The object that OpenSSL reads from bytes in DER. The caller owns it.
///
/// - Parameter free: Frees an object that is followed by further bytes.
/// - Returns: Nil for other bytes than exactly one object.
private func wholeObject(
    in der: [UInt8],
    _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?,
    orFreedBy free: (OpaquePointer?) -> Void
) -> OpaquePointer? {
    guard let parsed = OpenSSLMemory.object(in: der, read) else { return nil }
    guard parsed.isWhole else {
        free(parsed.pointer)
        return nil
    }
    return parsed.pointer
}
