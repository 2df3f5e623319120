import SwiftASN1

/// Takes SignedData apart by RFC 2315 section 9, refusing what app receipts never hold.
enum SignedDataReader {
    static func read(_ bytes: [UInt8]) throws -> SignedData {
        let root = try BER.parse(bytes)
        return try BER.sequence(root, identifier: .sequence) { contentInfo in
            guard try ASN1ObjectIdentifier(berEncoded: &contentInfo) == .signedData else {
                throw SignedDataError.malformed
            }
            return try BER.explicitlyTagged(&contentInfo, tagNumber: 0, tagClass: .contextSpecific, signedData)
        }
    }

    private static func signedData(_ node: ASN1Node) throws -> SignedData {
        try BER.sequence(node, identifier: .sequence) { fields in
            guard try Int(berEncoded: &fields) == 1 else { throw SignedDataError.malformed }
            guard let digestsNode = fields.next(), let contentNode = fields.next() else {
                throw SignedDataError.malformed
            }
            let content = try content(contentNode)
            var certificates: [[UInt8]] = []
            var next = fields.next()
            if let node = next, node.identifier == .certificates, case .constructed(let children) = node.content {
                certificates = children.map { Array($0.encodedBytes) }
                next = fields.next()
            }
            if next?.identifier == .revocationLists { next = fields.next() }
            guard let signersNode = next, signersNode.identifier == .set,
                case .constructed(let signers) = signersNode.content
            else { throw SignedDataError.malformed }
            let nodes = Array(signers)
            guard nodes.count == 1, let signerNode = nodes.first else { throw SignedDataError.signerCount(nodes.count) }
            let signer = try signer(signerNode)
            guard try digests(digestsNode) == [signer.digest] else { throw SignedDataError.algorithm }
            return SignedData(content: content, certificates: certificates, signer: signer)
        }
    }

    /// The hashes announced ahead of the content: the one signer's.
    private static func digests(_ node: ASN1Node) throws -> [DigestAlgorithm?] {
        guard node.identifier == .set, case .constructed(let algorithms) = node.content else {
            throw SignedDataError.malformed
        }
        return try algorithms.map { digestAlgorithm(try algorithm($0), signedWith: .rsaEncryption) }
    }

    private static func content(_ node: ASN1Node) throws -> [UInt8] {
        try BER.sequence(node, identifier: .sequence) { fields in
            guard try ASN1ObjectIdentifier(berEncoded: &fields) == .data,
                let content = try BER.optionalExplicitlyTagged(
                    &fields, tagNumber: 0, tagClass: .contextSpecific, { try ASN1OctetString(berEncoded: $0) })
            else { throw SignedDataError.contentMissing }
            return Array(content.bytes)
        }
    }

    private static func signer(_ node: ASN1Node) throws -> SignedData.Signer {
        try BER.sequence(node, identifier: .sequence) { fields in
            guard try Int(berEncoded: &fields) == 1, let identifier = fields.next() else {
                throw SignedDataError.malformed
            }
            let (issuer, serialNumber) = try BER.sequence(identifier, identifier: .sequence) { parts in
                guard let name = parts.next(), let serial = parts.next(), serial.identifier == .integer,
                    case .primitive(let digits) = serial.content
                else { throw SignedDataError.malformed }
                return (Array(name.encodedBytes), Array(digits))
            }
            let digestIdentifier = try algorithm(&fields)
            guard let next = fields.next() else { throw SignedDataError.malformed }
            guard next.identifier != .signedAttributes else { throw SignedDataError.signedAttributes }
            let signatureIdentifier = try algorithm(next)
            guard let signatureNode = fields.next() else { throw SignedDataError.malformed }
            let signature = try ASN1OctetString(berEncoded: signatureNode)
            guard let digest = digestAlgorithm(digestIdentifier, signedWith: signatureIdentifier) else {
                throw SignedDataError.algorithm
            }
            return SignedData.Signer(
                issuer: issuer, serialNumber: serialNumber, digest: digest, signature: Array(signature.bytes))
        }
    }

    private static func algorithm(_ fields: inout ASN1NodeCollection.Iterator) throws -> ASN1ObjectIdentifier {
        guard let node = fields.next() else { throw SignedDataError.malformed }
        return try algorithm(node)
    }

    private static func algorithm(_ node: ASN1Node) throws -> ASN1ObjectIdentifier {
        try BER.sequence(node, identifier: .sequence) { parts in
            let identifier = try ASN1ObjectIdentifier(berEncoded: &parts)
            if let parameters = parts.next(), parameters.identifier != .null { throw SignedDataError.algorithm }
            return identifier
        }
    }

    /// The hash, when it is one of Apple's and the signature's identifier, where it names a hash too, agrees.
    private static func digestAlgorithm(
        _ digest: ASN1ObjectIdentifier,
        signedWith signature: ASN1ObjectIdentifier
    ) -> DigestAlgorithm? {
        switch (digest, signature) {
        case (.sha1, .rsaEncryption), (.sha1, .sha1WithRSAEncryption): .sha1
        case (.sha256, .rsaEncryption), (.sha256, .sha256WithRSAEncryption): .sha256
        default: nil
        }
    }
}

extension ASN1Identifier {
    fileprivate static let certificates = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
    fileprivate static let revocationLists = ASN1Identifier(tagWithNumber: 1, tagClass: .contextSpecific)
    fileprivate static let signedAttributes = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}
