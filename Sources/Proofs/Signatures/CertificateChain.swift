/// A root, an intermediate and a leaf like Apple's, each with its key. No public trust store contains the root.
public struct CertificateChain: Sendable {
    /// A certificate and its key.
    public struct Link: Sendable {
        public let certificate: Certificate
        public let key: PrivateKey
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

    /// The leaf, the intermediate and the root, in the order of proofs.
    public var certificates: [Certificate] { [leaf, intermediate, root].map(\.certificate) }

    /// A reserved name without a server (RFC 2606). Apple's verifiers require an address.
    private static let ocspResponder = "http://ocsp.till.invalid/"

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
        func link(
            _ role: CertificateTemplate.Role,
            _ suffix: String,
            _ appleExtensions: [AppleExtension],
            below issuer: Link?
        ) throws -> Link {
            var template = CertificateTemplate(
                role: role, commonName: "\(name) \(suffix)", organization: "Till",
                // The leading 1 keeps the number positive and its length constant.
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
