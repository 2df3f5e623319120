import COpenSSL

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
        guard request.count <= Self.maximumRequestSize, let request = Self.request(request) else {
            return try Self.response(OCSP_RESPONSE_STATUS_MALFORMEDREQUEST)
        }
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

    private static func request(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var next = buffer.baseAddress
            guard let request = d2i_OCSP_REQUEST(nil, &next, buffer.count) else { return nil }
            guard next == buffer.baseAddress.map({ $0 + buffer.count }) else {
                OCSP_REQUEST_free(request)
                return nil
            }
            return request
        }
    }

    /// - Parameter basic: The signed answer; nil for an error.
    private static func response(_ status: Int32, _ basic: OpaquePointer? = nil) throws -> [UInt8] {
        guard let response = OCSP_response_create(status, basic) else { throw OpenSSLError("make an OCSP response") }
        defer { OCSP_RESPONSE_free(response) }
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_OCSP_RESPONSE(response, &start)
        guard length > 0, let start else { throw OpenSSLError("encode an OCSP response") }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }
}
