/// A PKCS#7 SignedData with one signer and no signed attributes. It is the container of app receipts (RFC 2315 section
/// 9; Apple, "Validating receipts on the device").
public struct SignedData: Sendable {
    /// The maximum number of certificates in a container. Apple's containers have three.
    public static let maximumCertificates = 8

    /// The signed bytes.
    public let content: [UInt8]
    /// The DER of each included certificate, in the container's order.
    public let certificates: [ArraySlice<UInt8>]
    public let signer: Signer

    /// The signer: its certificate's issuer and serial number, the digest and the signature.
    public struct Signer: Sendable {
        /// The DER of the issuer and serial number.
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
    /// Reads the container in DER or in Xcode's BER (indefinite lengths, constructed octet strings).
    public init(ber bytes: [UInt8]) throws(SignedDataError) {
        self = try SignedDataReader.read(bytes)
    }

    /// The certificates with the signer's issuer and serial number. An honest container has one.
    public func signerCertificates(among certificates: [Certificate]) -> [Certificate] {
        certificates.filter { $0.serialNumber == signer.serialNumber && $0.issuer == signer.issuer }
    }

    /// The hash of the content that is signed.
    public var contentDigest: [UInt8] { signer.digest.digest(of: content) }

    /// True if the signature of the content is valid under the key.
    ///
    /// - Parameter digest: The value of `contentDigest`.
    public func isSigned(by key: PublicKey, digest: [UInt8]) -> Bool {
        key.verifiesRSA(signer.signature, overDigest: digest, algorithm: signer.digest)
    }
}
