import Foundation

/// The trusted roots of a verifier. They validate the chains of proofs.
///
/// A root in a proof is never an anchor.
public struct TrustAnchors: Sendable {
    public let anchors: [TrustAnchor]
    private let store: CertificateStore

    /// - Throws: `OpenSSLError` if OpenSSL cannot store the certificates.
    public init(_ anchors: [TrustAnchor]) throws {
        self.anchors = anchors
        store = try CertificateStore(trusting: anchors.map(\.certificate))
    }

    /// Validates the chain from a signer's certificate to an anchor.
    ///
    /// In the realms `apple` and `local`, the chain must be leaf, intermediate and root. The lower two must have
    /// Apple's extensions, and the leaf must not be an authority. In the realm `xcode`, the anchor itself must be the
    /// signer.
    ///
    /// - Parameters:
    ///   - leaf: The signer's certificate.
    ///   - others: The other certificates of the proof.
    ///   - roots: The DER of certificates of the proof that are no part of the path. They only explain a refusal.
    ///   - known: The intermediates of earlier paths to these anchors.
    ///   - moment: The moment at which the chain must be valid. It is the proof's own date, because Apple's signers
    ///     expire.
    func validate(
        leaf: Certificate,
        others: [Certificate],
        roots: [[UInt8]] = [],
        known: KnownIntermediates,
        at moment: Timestamp
    ) throws(ProofRefusal) -> ValidatedChain {
        let path: [Certificate]
        do throws(CertificatePathError) {
            if let short = try known.path(from: leaf, through: others, at: moment.secondsSince1970) {
                path = short
            } else {
                path = try store.path(from: leaf, through: others, at: moment.secondsSince1970)
            }
        } catch {
            switch error {
            case .untrusted:
                let roots = roots.compactMap { Certificate(der: $0) }
                throw ProofRefusal(.chainUntrusted, finding(about: [leaf] + others + roots))
            case .outsideValidity: throw ProofRefusal(.chainOutsideValidity)
            case .tooLong: throw ProofRefusal(.chainShape)
            }
        }
        guard let anchor = anchors.first(where: { $0.certificate == path.last }) else {
            throw ProofRefusal(.chainUntrusted)
        }
        if anchor.realm == .xcode {
            guard path.count == 1 else { throw ProofRefusal(.chainShape) }
            return ValidatedChain(path: path, anchor: anchor)
        }
        guard path.count == 3, !leaf.isAuthority else { throw ProofRefusal(.chainShape) }
        guard path[1].has(.worldwideDeveloperRelations), leaf.has(.receiptSigning) else {
            throw ProofRefusal(.appleExtensionMissing)
        }
        return ValidatedChain(path: path, anchor: anchor)
    }

    /// The finding about certificates that lead to no anchor. It never advises to add a root that is there.
    private func finding(about certificates: [Certificate]) -> String {
        if certificates.contains(where: { certificate in anchors.contains { $0.certificate == certificate } }) {
            return "Their root is trusted, but has not signed them. Send the proof unchanged."
        }
        let issuers = certificates.map(\.issuer)
        guard let namesake = anchors.first(where: { issuers.contains($0.certificate.subject) }) else {
            return "If `till trust list` does not show their root, add it."
        }
        return namesake.realm == .xcode && certificates.count == 1
            ? "The trusted roots of its name are of other Macs or years. Add this one, too."
            : "A trusted root has the name of their issuer, but has not signed them."
    }

    /// The path from a certificate to an anchor, for people to see. An expired certificate does not hide the anchor.
    ///
    /// - Returns: Nil if there is no path.
    func trustedPath(
        from leaf: Certificate,
        through others: [Certificate],
        at moment: Timestamp
    ) -> (path: [Certificate], anchor: TrustAnchor)? {
        let allBegun = ([leaf] + others).map(\.notBefore).max() ?? 0
        for second in [moment.secondsSince1970, allBegun] {
            guard let path = try? store.path(from: leaf, through: others, at: second),
                let anchor = anchors.first(where: { $0.certificate == path.last })
            else { continue }
            return (path, anchor)
        }
        return nil
    }

    /// Loads the roots from folders of certificates.
    ///
    /// - Throws: `TrustError`, `OpenSSLError`.
    public init(folders: [URL]) throws {
        var anchors: [TrustAnchor] = []
        for folder in folders {
            for entry in try TrustFolder(folder).entries() where !anchors.contains(entry.anchor) {
                anchors.append(entry.anchor)
            }
        }
        try self.init(anchors)
    }
}

/// A root certificate that the operator trusts, with its realm.
public struct TrustAnchor: Hashable, Sendable {
    public let certificate: Certificate
    public let realm: Realm

    /// Apple's roots, by the SHA-256 that Apple publishes (https://www.apple.com/certificateauthority/).
    static let appleFingerprints: Set<String> = [
        // Apple Inc. Root: app receipts.
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
        // Apple Root CA - G2.
        "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
        // Apple Root CA - G3: signed transactions.
        "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
    ]

    /// The common names of the certificates with which Xcode signs receipts and JWS.
    private static let xcodeNames: Set<String> = ["StoreKit", "StoreKit Testing in Xcode"]

    /// - Returns: Nil if the certificate is not a root. This is not an error: a folder may also contain intermediates.
    /// - Throws: `TrustError.impostor` if the certificate has the name of an Apple root but is not one.
    public init?(_ certificate: Certificate) throws(TrustError) {
        guard certificate.isSelfIssued else { return nil }
        let name = certificate.commonName ?? ""
        if Self.appleFingerprints.contains(certificate.fingerprint.hexadecimal) {
            realm = .apple
        } else if name.lowercased().hasPrefix("apple") {
            throw .impostor(name: name)
        } else if Self.xcodeNames.contains(name) {
            realm = .xcode
        } else {
            realm = .local
        }
        self.certificate = certificate
    }
}
