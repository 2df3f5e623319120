import COpenSSL

/// The trusted certificates, with the paths from other certificates to them. It owns an OpenSSL store.
///
/// The class is unchecked because the pointer refers to C memory. The pointer never changes, and nothing is added after
/// `init`. OpenSSL guards lookups in a store with its own lock.
public final class CertificateStore: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let trusted: [Certificate]

    /// - Throws: `OpenSSLError` if OpenSSL cannot store the certificates.
    public init(trusting certificates: [Certificate]) throws {
        guard let pointer = X509_STORE_new() else { throw OpenSSLError("make a certificate store") }
        self.pointer = pointer
        trusted = certificates
        for certificate in certificates {
            guard X509_STORE_add_cert(pointer, certificate.handle.pointer) == 1 else {
                throw OpenSSLError("add a certificate to the store")
            }
        }
    }

    deinit {
        X509_STORE_free(pointer)
    }

    /// Builds and verifies the path from a leaf to a trusted root (RFC 5280 section 6), with at most two certificates
    /// between them.
    ///
    /// - Parameters:
    ///   - intermediates: The possible certificates between them, in any order. Roots among them are not trusted.
    ///   - moment: The moment at which every certificate must be valid, in seconds since 1970.
    /// - Returns: The certificates of the path, leaf first.
    public func path(
        from leaf: Certificate,
        through intermediates: [Certificate],
        at moment: Int64
    ) throws(CertificatePathError) -> [Certificate] {
        guard let context = X509_STORE_CTX_new(), let untrusted = till_certificate_stack_new() else { throw .untrusted }
        defer {
            X509_STORE_CTX_free(context)
            till_certificate_stack_free(untrusted)
            ERR_clear_error()
        }
        for intermediate in intermediates {
            guard till_certificate_stack_push(untrusted, intermediate.handle.pointer) > 0 else { throw .untrusted }
        }
        guard X509_STORE_CTX_init(context, pointer, leaf.handle.pointer, untrusted) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { throw .untrusted }
        X509_VERIFY_PARAM_set_time(parameters, time_t(moment))
        X509_VERIFY_PARAM_set_depth(parameters, 2)
        guard X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_X509_STRICT)) == 1 else { throw .untrusted }

        // The stack does not own its certificates.
        let isValid = withExtendedLifetime((leaf, intermediates)) { X509_verify_cert(context) == 1 }
        guard isValid else {
            switch X509_STORE_CTX_get_error(context) {
            case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: throw .outsideValidity
            case X509_V_ERR_CERT_CHAIN_TOO_LONG: throw .tooLong
            default: throw .untrusted
            }
        }
        return certificates(of: X509_STORE_CTX_get0_chain(context), among: [leaf] + intermediates + trusted)
    }

    /// Returns the given certificates for OpenSSL's objects. Parsing them again would cost as much as a signature.
    private func certificates(of stack: OpaquePointer?, among given: [Certificate]) -> [Certificate] {
        (0..<till_certificate_stack_count(stack)).compactMap { index in
            let pointer = till_certificate_stack_value(stack, index)
            return given.first { $0.handle.pointer == pointer }
        }
    }
}
