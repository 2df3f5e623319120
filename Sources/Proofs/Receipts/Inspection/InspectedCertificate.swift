/// A certificate of a proof.
public struct InspectedCertificate: Sendable {
    public let der: [UInt8]
    /// Nil if the bytes are no certificate.
    public let certificate: Certificate?
    /// True for the certificate whose key should have signed the proof.
    public let isSigner: Bool
    /// True if the certificate belongs to the chain from the signer to a trusted root.
    public let isOnTrustedPath: Bool
}

/// The signature of a proof.
public struct InspectedSignature: Sendable {
    /// The algorithm in the standard's words, such as `ES256`, or the digits of its object identifier.
    public let algorithm: String
    public let bytes: [UInt8]
    /// True if the key of the signer's certificate has made it. Nil if that cannot be checked. A signature under an untrusted
    /// certificate proves nothing.
    public let matchesSigner: Bool?
}
