import SwiftASN1

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

extension SignedData {
    /// Signs content like Apple's app receipts: definite-length DER, one signer and no signed attributes. The signature
    /// is RSA PKCS#1 v1.5 with SHA-256 directly over the content. The container includes the whole chain.
    ///
    /// - Parameter chain: The certificates, from the signer's to the root.
    public static func sign(_ content: [UInt8], with key: PrivateKey, chain: [Certificate]) throws -> [UInt8] {
        guard let leaf = chain.first else { throw OpenSSLError("sign without a certificate") }
        let signature = try key.signRSA(content, digest: .sha256)
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { contentInfo in
            try contentInfo.serialize(ASN1ObjectIdentifier.signedData)
            try contentInfo.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific) { tagged in
                try tagged.appendConstructedNode(identifier: .sequence) { signedData in
                    try signedData.serialize(1)
                    try signedData.appendConstructedNode(identifier: .set) { try $0.appendAlgorithm(.sha256) }
                    try signedData.appendContent(content)
                    signedData.appendConstructedNode(identifier: .taggedCertificates) { certificates in
                        for certificate in chain { certificates.serializeRawBytes(certificate.der) }
                    }
                    try signedData.appendConstructedNode(identifier: .set) { signers in
                        try signers.appendSigner(leaf, signature: signature)
                    }
                }
            }
        }
        return serializer.serializedBytes
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    fileprivate static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
    fileprivate static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
    fileprivate static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
}

extension ASN1Identifier {
    fileprivate static let taggedCertificates = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}

extension DER.Serializer {
    fileprivate mutating func appendAlgorithm(_ identifier: ASN1ObjectIdentifier) throws {
        try appendConstructedNode(identifier: .sequence) { algorithm in
            try algorithm.serialize(identifier)
            try algorithm.serialize(ASN1Null())
        }
    }

    fileprivate mutating func appendContent(_ content: [UInt8]) throws {
        try appendConstructedNode(identifier: .sequence) { contentInfo in
            try contentInfo.serialize(ASN1ObjectIdentifier.data)
            try contentInfo.serialize(
                ASN1OctetString(contentBytes: content[...]), explicitlyTaggedWithTagNumber: 0,
                tagClass: .contextSpecific)
        }
    }

    fileprivate mutating func appendSigner(_ certificate: Certificate, signature: [UInt8]) throws {
        try appendConstructedNode(identifier: .sequence) { signer in
            try signer.serialize(1)
            signer.appendConstructedNode(identifier: .sequence) { identifier in
                identifier.serializeRawBytes(certificate.issuer)
                identifier.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: certificate.serialNumber) }
            }
            try signer.appendAlgorithm(.sha256)
            try signer.appendAlgorithm(.rsaEncryption)
            try signer.serialize(ASN1OctetString(contentBytes: signature[...]))
        }
    }
}
