/// A parser of SignedData (RFC 2315 section 9). It refuses structures that app receipts never have.
enum SignedDataReader {
    static func read(_ bytes: [UInt8]) throws(SignedDataError) -> SignedData {
        do {
            return try signedData(bytes)
        } catch let error as SignedDataError {
            throw error
        } catch {
            throw .malformed
        }
    }

    private static func signedData(_ bytes: [UInt8]) throws -> SignedData {
        var root = BERReader(bytes)
        var contentInfo = try root.enter(BERTag.sequence)
        try root.finish()
        try expect(.signedData, in: &contentInfo)
        var tagged = try contentInfo.enter(BERTag.context0)
        try contentInfo.finish()
        var fields = try tagged.enter(BERTag.sequence)
        try tagged.finish()

        guard try fields.integer() == 1 else { throw SignedDataError.malformed }
        var digests = try fields.enter(BERTag.set)
        let content = try content(&fields)
        var certificates = BERReader(bytes, in: 0..<0)
        if fields.nextTag == BERTag.context0 {
            certificates = BERReader(bytes, in: try fields.next().content)
        }
        // Revocation lists are allowed by the format but not used.
        if fields.nextTag == BERTag.context1 { _ = try fields.next() }
        var signers = try fields.enter(BERTag.set)
        try fields.finish()

        var enclosed: [ArraySlice<UInt8>] = []
        while !certificates.isAtEnd {
            enclosed.append(bytes[try certificates.next(BERTag.sequence).encoded])
            guard enclosed.count <= SignedData.maximumCertificates else { throw SignedDataError.certificateCount }
        }
        guard !signers.isAtEnd else { throw SignedDataError.signerCount(0) }
        let signer = try signer(try signers.enter(BERTag.sequence))
        guard signers.isAtEnd else { throw SignedDataError.signerCount(2) }
        // The hash function before the content must be the signer's.
        let announced = DigestIdentifier(rawValue: Array(bytes[try algorithm(&digests)]))
        try digests.finish()
        guard announced?.algorithm == signer.digest else { throw SignedDataError.algorithm }
        return SignedData(content: Array(content), certificates: enclosed, signer: signer)
    }

    private static func content(_ fields: inout BERReader) throws -> ArraySlice<UInt8> {
        var contentInfo = try fields.enter(BERTag.sequence)
        guard contentInfo.nextTag == BERTag.objectIdentifier else { throw SignedDataError.malformed }
        let identifier = contentInfo.bytes[try contentInfo.next().content]
        guard ContentIdentifier(rawValue: Array(identifier)) == .data, contentInfo.nextTag == BERTag.context0 else {
            throw SignedDataError.contentMissing
        }
        var tagged = try contentInfo.enter(BERTag.context0)
        try contentInfo.finish()
        let content = try tagged.octets()
        try tagged.finish()
        return content
    }

    private static func signer(_ reader: BERReader) throws -> SignedData.Signer {
        var fields = reader
        guard try fields.integer() == 1 else { throw SignedDataError.malformed }
        let identifier = try fields.next(BERTag.sequence)
        var parts = BERReader(fields.bytes, in: identifier.content)
        let issuer = try parts.next(BERTag.sequence)
        let serialNumber = try parts.next(BERTag.integer)
        try parts.finish()
        let digest = DigestIdentifier(rawValue: Array(fields.bytes[try algorithm(&fields)]))
        guard fields.nextTag != BERTag.context0 else { throw SignedDataError.signedAttributes }
        let signature = SignatureIdentifier(rawValue: Array(fields.bytes[try algorithm(&fields)]))
        let octets = try fields.octets()
        // Unsigned attributes are refused. Apple writes none.
        try fields.finish()
        // If the signature identifier names a hash function, it must be the digest's.
        guard let digest = digest?.algorithm, let signature, signature.digest == nil || signature.digest == digest
        else {
            throw SignedDataError.algorithm
        }
        return SignedData.Signer(
            identifier: fields.bytes[identifier.encoded], issuer: Array(fields.bytes[issuer.encoded]),
            serialNumber: Array(fields.bytes[serialNumber.content]), digest: digest, signature: Array(octets))
    }

    /// Reads an AlgorithmIdentifier without parameters other than NULL, and returns the range of its object identifier.
    private static func algorithm(_ fields: inout BERReader) throws -> Range<Int> {
        var parts = try fields.enter(BERTag.sequence)
        let identifier = try parts.next(BERTag.objectIdentifier).content
        if !parts.isAtEnd {
            guard try parts.next(BERTag.null).content.isEmpty else { throw SignedDataError.algorithm }
        }
        try parts.finish()
        return identifier
    }

    private static func expect(_ identifier: ContentIdentifier, in fields: inout BERReader) throws {
        let content = try fields.next(BERTag.objectIdentifier).content
        guard ContentIdentifier(rawValue: Array(fields.bytes[content])) == identifier else {
            throw SignedDataError.malformed
        }
    }
}

/// The type of a container or its content, identified by the bytes of its object identifier (RFC 2315 section 14).
enum ContentIdentifier {
    /// 1.2.840.113549.1.7.1
    case data
    /// 1.2.840.113549.1.7.2
    case signedData

    init?(rawValue: [UInt8]) {
        guard rawValue.count == 9, rawValue.starts(with: pkcs + [0x07]) else { return nil }
        switch rawValue[8] {
        case 1: self = .data
        case 2: self = .signedData
        default: return nil
        }
    }
}

/// The hash functions of app receipts, identified by the bytes of their object identifiers.
enum DigestIdentifier {
    /// 1.3.14.3.2.26
    case sha1
    /// 2.16.840.1.101.3.4.2.1
    case sha256

    init?(rawValue: [UInt8]) {
        switch rawValue {
        case [0x2B, 0x0E, 0x03, 0x02, 0x1A]: self = .sha1
        case [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]: self = .sha256
        default: return nil
        }
    }

    var algorithm: DigestAlgorithm { self == .sha1 ? .sha1 : .sha256 }
}

/// The signature algorithms of app receipts, all of them RSA PKCS#1 v1.5 (RFC 8017 appendix C).
enum SignatureIdentifier {
    /// 1.2.840.113549.1.1.1. The digest's identifier determines the hash function.
    case rsaEncryption
    /// 1.2.840.113549.1.1.5
    case sha1WithRSAEncryption
    /// 1.2.840.113549.1.1.11
    case sha256WithRSAEncryption

    init?(rawValue: [UInt8]) {
        guard rawValue.count == 9, rawValue.starts(with: pkcs + [0x01]) else { return nil }
        switch rawValue[8] {
        case 1: self = .rsaEncryption
        case 5: self = .sha1WithRSAEncryption
        case 11: self = .sha256WithRSAEncryption
        default: return nil
        }
    }

    /// The hash function that the identifier names. Nil if it names none.
    var digest: DigestAlgorithm? {
        switch self {
        case .rsaEncryption: nil
        case .sha1WithRSAEncryption: .sha1
        case .sha256WithRSAEncryption: .sha256
        }
    }
}

/// 1.2.840.113549.1, the arc of RSA Laboratories.
private let pkcs: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01]

/// A defect in the container of an app receipt.
public enum SignedDataError: Error, Equatable, Sendable {
    /// The bytes are not BER, do not have the structure of SignedData, or continue after it.
    case malformed
    /// The content is missing or is not plain data.
    case contentMissing
    /// The container has more certificates than `SignedData.maximumCertificates`.
    case certificateCount
    /// The container does not have exactly one signer. The value 2 represents all larger numbers.
    case signerCount(Int)
    /// The container has signed attributes. App receipts sign their content directly.
    case signedAttributes
    /// The hash function is not SHA-1 or SHA-256, or the signature is not RSA PKCS#1 v1.5 over that hash.
    case algorithm
}
