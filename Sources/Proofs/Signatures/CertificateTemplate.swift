import COpenSSL

/// The content of a certificate that Till issues with `issue`.
public struct CertificateTemplate: Sendable {
    /// The role of a certificate in a chain. It determines the constraints and the key usage.
    public enum Role: Sendable {
        case root
        /// A certificate that may issue only leaves (path length 0).
        case intermediate
        case leaf
        /// A leaf that answers about the certificates of its issuer (RFC 6960 section 4.2.2.2).
        case ocspResponder
    }

    public var role: Role
    public var commonName: String
    public var organization: String
    /// The serial number, a positive number of up to 20 bytes.
    public var serialNumber: [UInt8]
    /// The first second of validity, since 1970.
    public var notBefore: Int64
    /// The last second of validity, since 1970.
    public var notAfter: Int64
    public var appleExtensions: [AppleExtension]
    /// The address of the OCSP responder (authority information access). Nil for none.
    public var ocspResponder: String?
    /// The host names and addresses of a server, for a TLS leaf. Otherwise empty.
    public var serverNames: [String]

    public init(
        role: Role,
        commonName: String,
        organization: String,
        serialNumber: [UInt8],
        notBefore: Int64,
        notAfter: Int64,
        appleExtensions: [AppleExtension] = [],
        ocspResponder: String? = nil,
        serverNames: [String] = []
    ) {
        self.role = role
        self.commonName = commonName
        self.organization = organization
        self.serialNumber = serialNumber
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.appleExtensions = appleExtensions
        self.ocspResponder = ocspResponder
        self.serverNames = serverNames
    }

    /// Issues the certificate for a key.
    ///
    /// - Parameters:
    ///   - issuer: The issuing certificate, or nil for a root, which names itself.
    ///   - signer: The issuer's key. For a root, its own key.
    ///   - digest: The hash function of the signature.
    /// - Throws: `OpenSSLError`.
    public func issue(
        for key: PublicKey,
        issuer: Certificate?,
        signer: PrivateKey,
        digest: DigestAlgorithm
    ) throws -> Certificate {
        guard let pointer = X509_new() else { throw OpenSSLError("make a certificate") }
        defer { X509_free(pointer) }
        let versionThree = 2
        let subject = X509_get_subject_name(pointer)
        let issuerName = issuer.map { X509_get_subject_name($0.handle.pointer) } ?? subject
        guard X509_set_version(pointer, versionThree) == 1,
            setSerialNumber(of: pointer),
            ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(notAfter)) != nil,
            Self.add("CN", commonName, to: subject), Self.add("O", organization, to: subject),
            X509_set_issuer_name(pointer, issuerName) == 1,
            X509_set_pubkey(pointer, key.handle.pointer) == 1
        else { throw OpenSSLError("fill in a certificate") }
        for (name, value) in extensions {
            try Self.add(name, value, to: pointer, issuer: issuer?.handle.pointer ?? pointer)
        }
        guard X509_sign(pointer, signer.handle.pointer, digest.implementation) > 0 else {
            throw OpenSSLError("sign a certificate")
        }
        // The finished certificate is read back from its bytes, as other programs will.
        guard let certificate = Certificate(copying: pointer) else { throw OpenSSLError("read back a certificate") }
        return certificate
    }

    /// The extensions in the order of their addition, in OpenSSL's notation (x509v3_config). The subject key identifier must
    /// precede the extensions that refer to it.
    private var extensions: [(name: String, value: String)] {
        let (constraints, usage) =
            switch role {
            case .root: ("CA:TRUE", "keyCertSign,cRLSign")
            case .intermediate: ("CA:TRUE,pathlen:0", "keyCertSign,cRLSign")
            case .leaf, .ocspResponder: ("CA:FALSE", "digitalSignature")
            }
        var extensions = [
            ("subjectKeyIdentifier", "hash"), ("basicConstraints", "critical,\(constraints)"),
            ("keyUsage", "critical,\(usage)"),
        ]
        if role != .root { extensions.append(("authorityKeyIdentifier", "keyid:always")) }
        if !serverNames.isEmpty {
            let names = serverNames.map { name in
                name.allSatisfy { $0.isNumber || $0 == "." } ? "IP:\(name)" : "DNS:\(name)"
            }
            extensions += [("extendedKeyUsage", "serverAuth"), ("subjectAltName", names.joined(separator: ","))]
        }
        // Nobody answers about the responder's own certificate (RFC 6960 section 4.2.2.2.1).
        if role == .ocspResponder { extensions += [("extendedKeyUsage", "OCSPSigning"), ("noCheck", "ignored")] }
        if let ocspResponder { extensions.append(("authorityInfoAccess", "OCSP;URI:\(ocspResponder)")) }
        // The DER of NULL.
        return extensions + appleExtensions.map { ($0.rawValue, "DER:0500") }
    }

    private func setSerialNumber(of pointer: OpaquePointer) -> Bool {
        guard let number = BN_bin2bn(serialNumber, Int32(serialNumber.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }

    private static func add(_ field: String, _ text: String, to name: OpaquePointer?) -> Bool {
        let bytes = Array(text.utf8)
        return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
    }

    private static func add(_ name: String, _ value: String, to pointer: OpaquePointer, issuer: OpaquePointer) throws {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, pointer, nil, nil, 0)
        guard let made = X509V3_EXT_nconf(nil, &context, name, value) else {
            throw OpenSSLError("make the certificate extension \(value)")
        }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(pointer, made, -1) == 1 else { throw OpenSSLError("add the certificate extension \(value)") }
    }
}

/// The certificate extensions with which Apple marks signers of receipts (Apple, "Worldwide Developer Relations
/// Certificate Practice Statement"). Their value is NULL, so only their presence matters.
public enum AppleExtension: String, Sendable, CaseIterable {
    /// The leaf's extension: Mac App Store receipt signing.
    case receiptSigning = "1.2.840.113635.100.6.11.1"
    /// The intermediate's extension: Apple Worldwide Developer Relations.
    case worldwideDeveloperRelations = "1.2.840.113635.100.6.2.1"
}

/// A root, an intermediate and a leaf like Apple's, each with its key. No public trust store contains the root.
public struct CertificateChain: Sendable {
    /// A certificate and its key.
    public struct Link: Sendable {
        public let certificate: Certificate
        public let key: PrivateKey

        public init(certificate: Certificate, key: PrivateKey) {
            (self.certificate, self.key) = (certificate, key)
        }
    }

    /// The kind of the keys in a chain.
    public enum Algorithm: Sendable {
        /// P-256 for the leaf and P-384 above it, as in Apple's chains for JWS.
        case ellipticCurve
        /// RSA with 2048 bits, as in Apple's chains for app receipts.
        case rsa

        fileprivate var digest: DigestAlgorithm { self == .ellipticCurve ? .sha384 : .sha256 }

        fileprivate func key(for role: CertificateTemplate.Role) throws -> PrivateKey {
            switch self {
            case .ellipticCurve: try PrivateKey.generate(role == .leaf ? .p256 : .p384)
            case .rsa: try PrivateKey.generateRSA()
            }
        }
    }

    public let root: Link
    public let intermediate: Link
    public let leaf: Link

    public init(root: Link, intermediate: Link, leaf: Link) {
        (self.root, self.intermediate, self.leaf) = (root, intermediate, leaf)
    }

    /// The leaf, the intermediate and the root, in the order of proofs.
    public var certificates: [Certificate] { [leaf, intermediate, root].map(\.certificate) }

    /// A reserved name without a server (RFC 2606). Apple's verifiers require an address.
    private static let ocspResponder = "http://ocsp.till.invalid/"
    private static let organization = "Till"

    /// Creates the chain with new keys.
    ///
    /// - Parameters:
    ///   - name: The prefix of the common names `Root`, `Intermediate` and `Signing`.
    ///   - validity: The first and the last second of validity of all three, since 1970.
    ///   - randomBytes: The source of random bytes for the serial numbers.
    ///   - adjust: A closure that may change each certificate before it is issued.
    public static func make(
        _ algorithm: Algorithm,
        name: String,
        validity: ClosedRange<Int64>,
        randomBytes: (Int) -> [UInt8],
        adjust: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> CertificateChain {
        func link(_ role: CertificateTemplate.Role, _ suffix: String, below issuer: Link?) throws -> Link {
            var template = CertificateTemplate(
                role: role, commonName: "\(name) \(suffix)", organization: organization,
                // The leading 1 keeps the number positive and its length constant.
                serialNumber: [1] + randomBytes(15),
                notBefore: validity.lowerBound, notAfter: validity.upperBound,
                appleExtensions: role.appleExtensions, ocspResponder: role == .root ? nil : ocspResponder)
            adjust(&template)
            let key = try algorithm.key(for: role)
            let certificate = try template.issue(
                for: key.publicKey, issuer: issuer?.certificate, signer: issuer?.key ?? key, digest: algorithm.digest)
            return Link(certificate: certificate, key: key)
        }
        let root = try link(.root, "Root", below: nil)
        let intermediate = try link(.intermediate, "Intermediate", below: root)
        let leaf = try link(.leaf, "Signing", below: intermediate)
        return CertificateChain(root: root, intermediate: intermediate, leaf: leaf)
    }

    /// Issues the certificates below the root again, so that they name another OCSP responder. The keys, the names, the validity and
    /// the root stay, so a verifier that trusts one chain trusts the other.
    ///
    /// The serial numbers follow from the address: whoever issues the chain for an address later issues the same one.
    ///
    /// - Parameter responder: The responder's address.
    public func naming(ocspResponder responder: String) throws -> CertificateChain {
        let digest = (intermediate.key.publicKey.kind == .ellipticCurve(.p384) ? Algorithm.ellipticCurve : .rsa).digest
        func link(_ role: CertificateTemplate.Role, _ link: Link, below issuer: Link) throws -> Link {
            let old = link.certificate
            let number = DigestAlgorithm.sha256.digest(of: old.subject + Array(responder.utf8))
            let template = CertificateTemplate(
                role: role, commonName: old.commonName ?? "", organization: Self.organization,
                serialNumber: [1] + number.prefix(15), notBefore: old.notBefore, notAfter: old.notAfter,
                appleExtensions: role.appleExtensions, ocspResponder: responder)
            let certificate = try template.issue(
                for: link.key.publicKey, issuer: issuer.certificate, signer: issuer.key, digest: digest)
            return Link(certificate: certificate, key: link.key)
        }
        let intermediate = try link(.intermediate, intermediate, below: root)
        return CertificateChain(
            root: root, intermediate: intermediate, leaf: try link(.leaf, leaf, below: intermediate))
    }
}

extension CertificateTemplate.Role {
    /// The extensions with which Apple marks certificates of the role.
    fileprivate var appleExtensions: [AppleExtension] {
        switch self {
        case .root, .ocspResponder: []
        case .intermediate: [.worldwideDeveloperRelations]
        case .leaf: [.receiptSigning]
        }
    }
}

extension CertificateChain.Link {
    /// A certificate with which the authority lets another key answer about what it has issued (OCSP). It is valid as long as the
    /// authority's.
    func issueOCSPResponder() throws -> CertificateChain.Link {
        let key = try PrivateKey.generate(.p256)
        let number = DigestAlgorithm.sha256.digest(of: Array(try key.publicKey.pem().utf8))
        let template = CertificateTemplate(
            role: .ocspResponder, commonName: "\(certificate.commonName ?? "") OCSP Responder",
            organization: CertificateChain.organization, serialNumber: [1] + number.prefix(15),
            notBefore: certificate.notBefore, notAfter: certificate.notAfter)
        let issued = try template.issue(for: key.publicKey, issuer: certificate, signer: self.key, digest: .sha256)
        return CertificateChain.Link(certificate: issued, key: key)
    }
}
