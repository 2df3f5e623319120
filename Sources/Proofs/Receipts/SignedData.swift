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

/// The parsing of SignedData (RFC 2315 section 9). It refuses structures that app receipts never have.
extension SignedData {
    /// Reads the container in DER or in Xcode's BER (indefinite lengths, constructed octet strings).
    public init(ber bytes: [UInt8]) throws(ProofRefusal) {
        do {
            self = try Self.signedData(bytes)
        } catch {
            throw error as? ProofRefusal ?? Self.malformed
        }
    }

    /// The refusal of bytes that are not BER, do not have the structure of SignedData, or continue after it.
    private static let malformed = ProofRefusal(.containerInvalid, "The container must be a PKCS#7 SignedData.")

    private static func signedData(_ bytes: [UInt8]) throws -> SignedData {
        var root = BERCursor(bytes.indices)
        var contentInfo = try root.enter(BERTag.sequence, in: bytes)
        try root.finish()
        let identifier = try contentInfo.next(BERTag.objectIdentifier, in: bytes).content
        guard bytes[identifier] == ObjectIdentifier.signedData[...] else { throw malformed }
        var tagged = try contentInfo.enter(BERTag.context0, in: bytes)
        try contentInfo.finish()
        var fields = try tagged.enter(BERTag.sequence, in: bytes)
        try tagged.finish()

        guard try fields.integer(in: bytes) == 1 else { throw malformed }
        var digests = try fields.enter(BERTag.set, in: bytes)
        let content = try content(&fields, in: bytes)
        var certificates = BERCursor(0..<0)
        if fields.nextTag(in: bytes) == BERTag.context0 {
            certificates = try fields.enter(BERTag.context0, in: bytes)
        }
        // Revocation lists are allowed by the format but not used.
        if fields.nextTag(in: bytes) == BERTag.context1 { _ = try fields.next(in: bytes) }
        var signers = try fields.enter(BERTag.set, in: bytes)
        try fields.finish()

        var enclosed: [ArraySlice<UInt8>] = []
        while !certificates.isAtEnd {
            enclosed.append(bytes[try certificates.next(BERTag.sequence, in: bytes).encoded])
            guard enclosed.count <= SignedData.maximumCertificates else { throw ProofRefusal(.tooManyCertificates) }
        }
        guard !signers.isAtEnd else { throw ProofRefusal(.containerInvalid, "The container has no signer.") }
        let signer = try signer(try signers.enter(BERTag.sequence, in: bytes), in: bytes)
        guard signers.isAtEnd else { throw ProofRefusal(.containerInvalid, "The container has more than one signer.") }
        // The hash function before the content must be the signer's.
        let announced = ObjectIdentifier.digest(bytes[try algorithm(&digests, in: bytes)])
        try digests.finish()
        guard announced == signer.digest else { throw ProofRefusal(.algorithmNotAllowed) }
        return SignedData(content: Array(content), certificates: enclosed, signer: signer)
    }

    private static func content(_ fields: inout BERCursor, in bytes: [UInt8]) throws -> ArraySlice<UInt8> {
        var contentInfo = try fields.enter(BERTag.sequence, in: bytes)
        guard contentInfo.nextTag(in: bytes) == BERTag.objectIdentifier else { throw malformed }
        let identifier = bytes[try contentInfo.next(in: bytes).content]
        guard identifier == ObjectIdentifier.data[...], contentInfo.nextTag(in: bytes) == BERTag.context0 else {
            throw ProofRefusal(.containerInvalid, "The container has no content.")
        }
        var tagged = try contentInfo.enter(BERTag.context0, in: bytes)
        try contentInfo.finish()
        let content = try tagged.octets(in: bytes)
        try tagged.finish()
        return content
    }

    private static func signer(_ cursor: BERCursor, in bytes: [UInt8]) throws -> SignedData.Signer {
        var fields = cursor
        guard try fields.integer(in: bytes) == 1 else { throw malformed }
        let identifier = try fields.next(BERTag.sequence, in: bytes)
        var parts = BERCursor(identifier.content)
        let issuer = try parts.next(BERTag.sequence, in: bytes)
        let serialNumber = try parts.next(BERTag.integer, in: bytes)
        try parts.finish()
        let digest = ObjectIdentifier.digest(bytes[try algorithm(&fields, in: bytes)])
        guard fields.nextTag(in: bytes) != BERTag.context0 else {
            throw ProofRefusal(.containerInvalid, "The container has signed attributes.")
        }
        let signature = bytes[try algorithm(&fields, in: bytes)]
        let octets = try fields.octets(in: bytes)
        // Unsigned attributes are refused. Apple writes none.
        try fields.finish()
        guard let digest, ObjectIdentifier.isSignature(signature, over: digest) else {
            throw ProofRefusal(.algorithmNotAllowed)
        }
        return SignedData.Signer(
            identifier: bytes[identifier.encoded], issuer: Array(bytes[issuer.encoded]),
            serialNumber: Array(bytes[serialNumber.content]), digest: digest, signature: Array(octets))
    }

    /// Reads an AlgorithmIdentifier without parameters other than NULL, and returns the range of its object identifier.
    private static func algorithm(_ fields: inout BERCursor, in bytes: [UInt8]) throws -> Range<Int> {
        var parts = try fields.enter(BERTag.sequence, in: bytes)
        let identifier = try parts.next(BERTag.objectIdentifier, in: bytes).content
        if !parts.isAtEnd {
            guard try parts.next(BERTag.null, in: bytes).content.isEmpty else {
                throw ProofRefusal(.algorithmNotAllowed)
            }
        }
        try parts.finish()
        return identifier
    }
}

/// The object identifiers of app receipts, by their bytes.
private enum ObjectIdentifier {
    /// 1.2.840.113549.1, the arc of RSA Laboratories.
    private static let pkcs: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01]
    // The types of a container and its content (RFC 2315 section 14).
    static let data = pkcs + [0x07, 0x01]
    static let signedData = pkcs + [0x07, 0x02]
    // The signature algorithms, all of them RSA PKCS#1 v1.5 (RFC 8017 appendix C). The first one names no hash function.
    static let rsaEncryption = pkcs + [0x01, 0x01]
    static let sha1WithRSAEncryption = pkcs + [0x01, 0x05]
    static let sha256WithRSAEncryption = pkcs + [0x01, 0x0B]
    /// 1.3.14.3.2.26
    static let sha1: [UInt8] = [0x2B, 0x0E, 0x03, 0x02, 0x1A]
    /// 2.16.840.1.101.3.4.2.1
    static let sha256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]

    /// The hash function of an identifier; nil for another one.
    static func digest(_ bytes: ArraySlice<UInt8>) -> DigestAlgorithm? {
        bytes == sha1[...] ? .sha1 : bytes == sha256[...] ? .sha256 : nil
    }

    /// True if a signature algorithm is allowed, and names no other hash function.
    static func isSignature(_ bytes: ArraySlice<UInt8>, over digest: DigestAlgorithm) -> Bool {
        bytes == rsaEncryption[...]
            || bytes == (digest == .sha1 ? sha1WithRSAEncryption : sha256WithRSAEncryption)[...]
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
            try signer.appendAlgorithm(ASN1ObjectIdentifier.AlgorithmIdentifier.rsaEncryption)
            try signer.serialize(ASN1OctetString(contentBytes: signature[...]))
        }
    }
}
