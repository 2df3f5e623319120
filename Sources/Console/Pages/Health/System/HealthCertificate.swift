import Proofs

/// A certificate of the installation.
package struct HealthCertificate: Sendable {
    package enum Use: Sendable {
        /// A root that ends the chains of proofs, of Apple or of another store.
        case trustedRoot(Realm)
        /// The certificate that the service presents to clients.
        case tls
    }

    package enum State: Sendable {
        case notYetValid
        case valid
        /// Valid for less than 30 days more.
        case endsSoon
        case expired
    }

    /// The time before the end of a certificate in which it is reported, in days.
    private static let warningDays: Int64 = 30

    let use: Use
    /// The common name; nil if the certificate has none.
    let name: String?
    package let file: String
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// The SHA-256 in hexadecimal.
    let fingerprint: String

    package init(
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

    package func state(at moment: Timestamp) -> State {
        if moment < notBefore { return .notYetValid }
        if moment > notAfter { return .expired }
        return moment > notAfter.adding(days: -Self.warningDays) ? .endsSoon : .valid
    }
}
