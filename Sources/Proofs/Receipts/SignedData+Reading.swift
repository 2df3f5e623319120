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
