/// A chain that leads to a trust anchor, with the period in which it is valid.
final class ValidatedChain: Sendable {
    /// The leaf first, the anchor's certificate last. Xcode's chain has one certificate.
    let path: [Certificate]
    let anchor: TrustAnchor
    let key: PublicKey
    let fingerprints: VerifiedProof.Fingerprints
    /// The period in which every certificate of the path is valid, in seconds since 1970.
    private let notBefore: Int64
    private let notAfter: Int64

    /// - Parameter path: At least one certificate.
    init(path: [Certificate], anchor: TrustAnchor) {
        self.path = path
        self.anchor = anchor
        key = (path.first ?? anchor.certificate).publicKey
        fingerprints = VerifiedProof.Fingerprints(
            anchor: anchor.certificate.fingerprint, leaf: (path.first ?? anchor.certificate).fingerprint)
        notBefore = path.map(\.notBefore).max() ?? 0
        notAfter = path.map(\.notAfter).min() ?? 0
    }

    func holds(at moment: Timestamp) -> Bool {
        // OpenSSL treats the last second as expired. The cache must agree with it.
        notBefore <= moment.secondsSince1970 && moment.secondsSince1970 < notAfter
    }
}
