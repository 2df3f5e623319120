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
