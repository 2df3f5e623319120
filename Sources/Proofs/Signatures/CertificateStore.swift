import COpenSSL

/// The trusted certificates, with the paths from other certificates to them. It owns an OpenSSL store for each.
///
/// OpenSSL tries one of several roots with the same name. Each Mac has such a root of Xcode's, renewed each year. So each
/// root has a store of its own, and a path is tried to each of them.
///
/// The class is unchecked because the pointers refer to C memory. They never change, and nothing is added after `init`.
/// OpenSSL guards lookups in a store with its own lock.
public final class CertificateStore: @unchecked Sendable {
    private let roots: [(certificate: Certificate, pointer: OpaquePointer)]
    private let flags: UInt

    /// - Throws: `OpenSSLError` if OpenSSL cannot store the certificates.
    public convenience init(trusting certificates: [Certificate]) throws {
        try self.init(certificates, flags: UInt(X509_V_FLAG_X509_STRICT))
    }

    /// A store whose paths end at an intermediate, whose own path to a root was validated before.
    convenience init(endingAt intermediate: Certificate) throws {
        try self.init([intermediate], flags: UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_PARTIAL_CHAIN))
    }

    private init(_ certificates: [Certificate], flags: UInt) throws {
        self.flags = flags
        var roots: [(certificate: Certificate, pointer: OpaquePointer)] = []
        do {
            for certificate in certificates {
                guard let pointer = X509_STORE_new() else { throw OpenSSLError("make a certificate store") }
                roots.append((certificate, pointer))
                guard X509_STORE_add_cert(pointer, certificate.handle.pointer) == 1 else {
                    throw OpenSSLError("add a certificate to the store")
                }
            }
        } catch {
            for root in roots { X509_STORE_free(root.pointer) }
            throw error
        }
        self.roots = roots
    }

    deinit {
        for root in roots { X509_STORE_free(root.pointer) }
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
        var failure = CertificatePathError.untrusted
        for root in roots {
            do throws(CertificatePathError) {
                return try path(from: leaf, through: intermediates, to: root, at: moment)
            } catch {
                // The failure of a path that leads to a root says more than the lack of one.
                if error != .untrusted { failure = error }
            }
        }
        throw failure
    }

    private func path(
        from leaf: Certificate,
        through intermediates: [Certificate],
        to root: (certificate: Certificate, pointer: OpaquePointer),
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
        guard X509_STORE_CTX_init(context, root.pointer, leaf.handle.pointer, untrusted) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { throw .untrusted }
        X509_VERIFY_PARAM_set_time(parameters, time_t(moment))
        X509_VERIFY_PARAM_set_depth(parameters, 2)
        guard X509_VERIFY_PARAM_set_flags(parameters, flags) == 1 else { throw .untrusted }

        // The stack does not own its certificates.
        let isValid = withExtendedLifetime((leaf, intermediates)) { X509_verify_cert(context) == 1 }
        guard isValid else {
            switch X509_STORE_CTX_get_error(context) {
            case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: throw .outsideValidity
            case X509_V_ERR_CERT_CHAIN_TOO_LONG: throw .tooLong
            default: throw .untrusted
            }
        }
        return certificates(of: X509_STORE_CTX_get0_chain(context), among: [leaf] + intermediates + [root.certificate])
    }

    /// Returns the given certificates for OpenSSL's objects. Parsing them again would cost as much as a signature.
    private func certificates(of stack: OpaquePointer?, among given: [Certificate]) -> [Certificate] {
        (0..<till_certificate_stack_count(stack)).compactMap { index in
            let pointer = till_certificate_stack_value(stack, index)
            return given.first { $0.handle.pointer == pointer }
        }
    }
}

/// A failure to find a path from a certificate to a trusted root.
public enum CertificatePathError: Error, Equatable, Sendable {
    /// The path ends at no trusted root, or a signature or constraint is violated.
    case untrusted
    /// A certificate on the path was not valid at the given moment.
    case outsideValidity
    /// The path has more certificates than Apple's chains.
    case tooLong
}
