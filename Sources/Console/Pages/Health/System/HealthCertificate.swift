import Commerce

/// A certificate of the installation.
public struct HealthCertificate: Sendable {
    public enum Use: Sendable {
        /// A root that ends the chains of proofs, of Apple or of another store.
        case trustedRoot(Realm)
        /// The certificate that the service presents to clients.
        case tls
    }

    let use: Use
    /// The common name; nil if the certificate has none.
    let name: String?
    let file: String
    let notBefore: Timestamp
    let notAfter: Timestamp
    /// The SHA-256 in hexadecimal.
    let fingerprint: String

    public init(
        use: Use,
        name: String?,
        file: String,
        notBefore: Timestamp,
        notAfter: Timestamp,
        fingerprint: String
    ) {
        self.use = use
        self.name = name
        self.file = file
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.fingerprint = fingerprint
    }
}
