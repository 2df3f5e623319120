import Commerce
import Signatures

/// A root, an intermediate and a leaf shaped like Apple's, each with its key, which no trust store in the world holds.
struct CertificateChain {
    struct Link {
        let certificate: Certificate
        let key: PrivateKey
    }

    enum Algorithm {
        /// P-384 above a P-256 leaf, as Apple signs JWS.
        case ellipticCurve
        /// RSA of 2048 bits throughout, as Apple signs app receipts.
        case rsa
    }

    let root: Link
    let intermediate: Link
    let leaf: Link

    /// Long enough that no data directory outlives it.
    private static let validity: Int64 = 20 * 365
    /// Nobody answers there, on purpose: the name is reserved never to exist (RFC 2606). Verifiers of Apple's want an address.
    private static let ocspResponder = "http://ocsp.till.invalid/"

    static func make(_ algorithm: Algorithm, now: Timestamp, randomness: Randomness) throws -> CertificateChain {
        let (rootKey, intermediateKey, leafKey, digest) =
            switch algorithm {
            case .ellipticCurve:
                (
                    try PrivateKey.generate(.p384), try PrivateKey.generate(.p384), try PrivateKey.generate(.p256),
                    DigestAlgorithm.sha384
                )
            case .rsa:
                (
                    try PrivateKey.generateRSA(), try PrivateKey.generateRSA(), try PrivateKey.generateRSA(),
                    DigestAlgorithm.sha256
                )
            }
        func template(
            _ role: CertificateTemplate.Role, _ name: String, _ appleExtensions: [AppleExtension]
        ) -> CertificateTemplate {
            CertificateTemplate(
                role: role, commonName: name, organization: "Till",
                // A leading 1 keeps the number positive and of one length.
                serialNumber: [1] + randomness.bytes(15),
                // A day back, for a verifier whose clock is behind.
                notBefore: now.adding(days: -1).secondsSince1970,
                notAfter: now.adding(days: validity).secondsSince1970,
                appleExtensions: appleExtensions, ocspResponder: role == .root ? nil : ocspResponder)
        }
        let kind = algorithm == .rsa ? "Receipt" : "Transaction"
        let root = try template(.root, "Till Local \(kind) Root", [])
            .issue(for: rootKey.publicKey, issuer: nil, signer: rootKey, digest: digest)
        let intermediate = try template(
            .intermediate, "Till Local \(kind) Intermediate", [.worldwideDeveloperRelations]
        ).issue(for: intermediateKey.publicKey, issuer: root, signer: rootKey, digest: digest)
        let leaf = try template(.leaf, "Till Local \(kind) Signing", [.receiptSigning])
            .issue(for: leafKey.publicKey, issuer: intermediate, signer: intermediateKey, digest: digest)
        return CertificateChain(
            root: Link(certificate: root, key: rootKey),
            intermediate: Link(certificate: intermediate, key: intermediateKey),
            leaf: Link(certificate: leaf, key: leafKey))
    }
}
