import Commerce
import Signatures

/// A chain that leads to an anchor, and the window of time in which it does.
final class JudgedChain: Sendable {
    /// Leaf first, the anchor's own certificate last; one certificate alone for Xcode's.
    let path: [Certificate]
    let anchor: TrustAnchor
    let key: PublicKey
    let fingerprints: VerifiedProof.Fingerprints
    /// The seconds since 1970 in which every certificate of the path is valid.
    private let notBefore: Int64
    private let notAfter: Int64

    /// - Parameter path: Never empty.
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
        // OpenSSL counts the very last second as past, and a chain has to hold here as it was judged there.
        notBefore <= moment.secondsSince1970 && moment.secondsSince1970 < notAfter
    }
}
