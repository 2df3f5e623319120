/// A PKCS#7 SignedData with one signer and no signed attributes, the container of app receipts (RFC 2315 section 9;
/// Apple, "Validating receipts on the device").
public struct SignedData: Sendable {
    /// The most certificates a container may bring; Apple's bring three.
    public static let maximumCertificates = 8

    /// The signed bytes themselves.
    public let content: [UInt8]
    /// The DER of each certificate that came along, in the container's order.
    public let certificates: [ArraySlice<UInt8>]
    public let signer: Signer

    /// Who signed, by the certificate's issuer and serial number, and how.
    public struct Signer: Sendable {
        /// The DER of the pair that names the certificate.
        public let identifier: ArraySlice<UInt8>
        /// The DER of the issuer's name.
        public let issuer: [UInt8]
        /// The content bytes of the serial number.
        public let serialNumber: [UInt8]
        public let digest: DigestAlgorithm
        public let signature: [UInt8]
    }
}

extension SignedData {
    /// Reads the container in DER, or in the BER that Xcode writes (indefinite lengths, constructed octet strings).
    public init(ber bytes: [UInt8]) throws(SignedDataError) {
        self = try SignedDataReader.read(bytes)
    }

    /// The certificates with the name that the signer states: an honest container has one.
    public func signerCertificates(among certificates: [Certificate]) -> [Certificate] {
        certificates.filter { $0.serialNumber == signer.serialNumber && $0.issuer == signer.issuer }
    }

    /// The hash of the content under the signature.
    public var contentDigest: [UInt8] { signer.digest.digest(of: content) }

    /// Whether the signature over the content holds under a key.
    ///
    /// - Parameter digest: `contentDigest`.
    public func isSigned(by key: PublicKey, digest: [UInt8]) -> Bool {
        key.verifiesRSA(signer.signature, overDigest: digest, algorithm: signer.digest)
    }
}
