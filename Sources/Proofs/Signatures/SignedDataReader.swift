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
