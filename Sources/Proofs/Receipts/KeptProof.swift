/// The signed bytes of a proof without its certificates. Many proofs share one chain.
public struct KeptProof: Hashable, Sendable, Codable {
    /// The SHA-256 of the signed bytes (`VerifiedProof.digest`).
    public let digest: [UInt8]
    /// The parts of the proof between its certificates, encoded as:
    /// - The form (one byte).
    /// - The number of parts (one byte).
    /// - Each part, preceded by its length (four bytes, big-endian).
    /// - The rest of the proof.
    public let bytes: [UInt8]
    /// The DER of the certificates between the parts, in their order.
    public let certificates: [[UInt8]]

    /// The encoding of the certificates in the proof.
    private enum Form: UInt8 {
        /// DER in a container.
        case container = 0
        /// Base64 in the header of a JWS. The parts are the decoded header's.
        case header = 1
    }

    /// - Parameter proof: The bytes of a verified proof.
    public init(_ proof: [UInt8], digest: [UInt8]) {
        self.digest = digest
        let proof = Self.bare(proof)
        let cut = Self.cut(proof)
        // A proof is kept whole if its parts do not reproduce the same bytes.
        if let cut, Self.assemble(cut.bytes, cut.certificates) == proof {
            (bytes, certificates) = cut
        } else {
            (bytes, certificates) = (Self.encode(.container, [], rest: proof[...]), [])
        }
    }

    /// Restores the proof from its parts and certificates.
    ///
    /// - Returns: Nil if the bytes are malformed or the number of certificates does not match.
    public static func assemble(_ bytes: [UInt8], _ certificates: [[UInt8]]) -> [UInt8]? {
        var reader = bytes[...]
        guard let form = reader.popFirst().flatMap(Form.init), let count = reader.popFirst(),
            certificates.count == max(0, Int(count) - 1)
        else { return nil }
        var front: [UInt8] = []
        for index in 0..<Int(count) {
            guard reader.count >= 4 else { return nil }
            let length = reader.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            reader = reader.dropFirst(4)
            guard reader.count >= length else { return nil }
            front += reader.prefix(length)
            reader = reader.dropFirst(length)
            guard index < certificates.count else { continue }
            front += form == .header ? Array(Base64.encode(certificates[index]).utf8) : certificates[index]
        }
        return (form == .header ? Array(Base64.encode(front, .urlSafe).utf8) : front) + reader
    }

    /// The signed bytes, without base64 and without a receipt of Unity around them.
    private static func bare(_ proof: [UInt8]) -> [UInt8] {
        switch try? ProofForm(of: proof) {
        case .appReceipt(let bytes)?, .signedJSON(let bytes)?: bytes
        case .signedPurchase(let purchase)?: purchase.json.compactBytes
        case nil: proof
        }
    }

    private static func cut(_ proof: [UInt8]) -> (bytes: [UInt8], certificates: [[UInt8]])? {
        if let signed = try? SignedJSON(compact: proof) {
            guard let certificates = try? signed.certificates(), let header = Base64.decode(signed.header, .urlSafe),
                let parts = parts(of: header, between: certificates.map { Array(Base64.encode($0).utf8) })
            else { return nil }
            return (encode(.header, parts, rest: proof[signed.header.endIndex...]), certificates)
        }
        guard let signed = try? SignedData(ber: proof) else { return nil }
        let certificates = signed.certificates.map { Array($0) }
        guard let parts = parts(of: proof, between: certificates) else { return nil }
        return (encode(.container, parts, rest: []), certificates)
    }

    /// The parts of a text before, between and after other texts.
    ///
    /// - Returns: Nil if the text does not contain the others in their order.
    private static func parts(of text: [UInt8], between others: [[UInt8]]) -> [ArraySlice<UInt8>]? {
        guard others.count < Int(UInt8.max) else { return nil }
        var (rest, parts): (ArraySlice<UInt8>, [ArraySlice<UInt8>]) = (text[...], [])
        for other in others {
            guard let range = rest.firstRange(of: other) else { return nil }
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }

    private static func encode(_ form: Form, _ parts: [ArraySlice<UInt8>], rest: ArraySlice<UInt8>) -> [UInt8] {
        var bytes = [form.rawValue, UInt8(parts.count)]
        for part in parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes += part
        }
        return bytes + rest
    }
}
