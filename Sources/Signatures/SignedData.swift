import SwiftASN1

/// A PKCS#7 SignedData with one signer and no signed attributes, the container of app receipts (RFC 2315 section 9;
/// Apple, "Validating receipts on the device").
public struct SignedData: Sendable {
    /// The signed bytes themselves.
    public let content: [UInt8]
    /// The DER of each certificate that came along, in the container's order.
    public let certificates: [[UInt8]]
    public let signer: Signer

    /// Who signed, by the certificate's issuer and serial number, and how.
    public struct Signer: Sendable {
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
    ///
    /// - Throws: `SignedDataError`.
    public init(ber bytes: [UInt8]) throws(SignedDataError) {
        do {
            self = try SignedDataReader.read(bytes)
        } catch let error as SignedDataError {
            throw error
        } catch {
            throw .malformed
        }
    }

    /// The certificate the signer names; nil when it did not come along.
    public func signerCertificate(among certificates: [Certificate]) -> Certificate? {
        certificates.first { $0.serialNumber == signer.serialNumber && $0.issuer == signer.issuer }
    }

    /// Whether the signature over the content holds under a certificate's key.
    public func isSigned(by certificate: Certificate) -> Bool {
        certificate.publicKey.verifiesRSA(signer.signature, over: content, digest: signer.digest)
    }
}
