/// A root, an intermediate and a leaf shaped like Apple's, each with its key, which no trust store in the world holds.
public struct CertificateChain: Sendable {
    /// A certificate and its key.
    public struct Link: Sendable {
        public let certificate: Certificate
        public let key: PrivateKey
    }

    /// The kind of keys in a chain.
    public enum Algorithm: Sendable {
        /// P-384 above a P-256 leaf, as Apple signs JWS.
        case ellipticCurve
        /// RSA of 2048 bits throughout, as Apple signs app receipts.
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

    /// Leaf, intermediate, root: the order in which proofs carry them.
    public var certificates: [Certificate] { [leaf, intermediate, root].map(\.certificate) }

    /// Nobody answers there, on purpose: the name is reserved never to exist (RFC 2606). Apple's verifiers want an address.
    private static let ocspResponder = "http://ocsp.till.invalid/"

    /// Makes the chain, with new keys.
    ///
    /// - Parameters:
    ///   - name: What the certificates are called, before `Root`, `Intermediate` and `Signing`.
    ///   - validity: The first and the last second, since 1970, of all three.
    ///   - randomBytes: Chance for the serial numbers.
    ///   - adjust: A last say on each certificate before it is issued.
    public static func make(
        _ algorithm: Algorithm,
        name: String,
        validity: ClosedRange<Int64>,
        randomBytes: (Int) -> [UInt8],
        adjust: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> CertificateChain {
        func link(
            _ role: CertificateTemplate.Role,
            _ suffix: String,
            _ appleExtensions: [AppleExtension],
            below issuer: Link?
        ) throws -> Link {
            var template = CertificateTemplate(
                role: role, commonName: "\(name) \(suffix)", organization: "Till",
                // A leading 1 keeps the number positive and of one length.
                serialNumber: [1] + randomBytes(15),
                notBefore: validity.lowerBound, notAfter: validity.upperBound, appleExtensions: appleExtensions,
                ocspResponder: role == .root ? nil : ocspResponder)
            adjust(&template)
            let key = try algorithm.key(for: role)
            let certificate = try template.issue(
                for: key.publicKey, issuer: issuer?.certificate, signer: issuer?.key ?? key, digest: algorithm.digest)
            return Link(certificate: certificate, key: key)
        }
        let root = try link(.root, "Root", [], below: nil)
        let intermediate = try link(.intermediate, "Intermediate", [.worldwideDeveloperRelations], below: root)
        let leaf = try link(.leaf, "Signing", [.receiptSigning], below: intermediate)
        return CertificateChain(root: root, intermediate: intermediate, leaf: leaf)
    }
}
