/// The decoder of inspections. It limits the number of values and of nested proofs, because anybody may send any bytes.
struct ProofInspector {
    private static let maximumValues = 10_000
    private static let maximumNestedProofs = 8
    private static let maximumDepth = 3

    let anchors: TrustAnchors
    let now: Timestamp
    private var values = 0
    private var nestedProofs = 0
    private var depth = 0

    init(anchors: TrustAnchors, now: Timestamp) {
        self.anchors = anchors
        self.now = now
    }

    mutating func inspect(_ proof: [UInt8]) -> ProofInspection {
        var draft = ProofInspection.Draft(size: proof.count, moment: now)
        if proof.count > ProofVerifier.maximumTextSize {
            draft.defects.append(.tooLarge)
        } else {
            inspect(bare: (try? UnityReceipt(proof))?.proof ?? proof, into: &draft)
        }
        if depth == 0, values > Self.maximumValues { draft.defects.append(.tooManyValues) }
        return ProofInspection(draft)
    }

    private mutating func inspect(bare proof: [UInt8], into draft: inout ProofInspection.Draft) {
        if proof.first == BERTag.sequence {
            inspect(container: proof, into: &draft)
        } else if proof.contains(UInt8(ascii: ".")) {
            inspect(compact: proof, into: &draft)
        } else {
            let container = LenientBase64.decode(proof[...])
            if container.first == BERTag.sequence {
                if Base64.decode(proof) == nil { draft.defects.append(.base64(.proof)) }
                inspect(container: container, into: &draft)
            } else {
                draft.defects.append(.encoding)
            }
        }
    }

    /// Counts a value.
    ///
    /// - Returns: False if there are too many.
    mutating func count() -> Bool {
        values += 1
        return values <= Self.maximumValues
    }

    /// The inspection of a JWS inside the proof; nil if the text is none, or if there are too many.
    mutating func nestedProof(_ text: String) -> ProofInspection? {
        // The base64url of `{"`.
        guard text.utf8.starts(with: "eyJ".utf8), text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2,
            depth < Self.maximumDepth, nestedProofs < Self.maximumNestedProofs
        else { return nil }
        nestedProofs += 1
        depth += 1
        defer { depth -= 1 }
        return inspect(Array(text.utf8))
    }

    /// Fills in the certificates and the anchor of the signer's chain.
    ///
    /// - Parameter isSigner: Returns true for the certificate of the signer.
    /// - Returns: The signer's certificate.
    func inspect(
        certificates encoded: [[UInt8]],
        into draft: inout ProofInspection.Draft,
        isSigner: (Int, Certificate) -> Bool
    ) -> Certificate? {
        draft.certificateCount = encoded.count
        let shown = encoded.prefix(ProofInspection.maximumCertificates).map { Certificate(der: $0) }
        let signer = shown.enumerated().first { index, certificate in
            certificate.map { isSigner(index, $0) } ?? false
        }?.offset
        let leaf = signer.flatMap { shown[$0] }
        let others = shown.compactMap(\.self).filter { $0 != leaf }
        let trusted = leaf.flatMap { anchors.trustedPath(from: $0, through: others, at: draft.moment) }
        draft.anchor = trusted?.anchor
        draft.certificates = zip(encoded, shown).enumerated().map { index, pair in
            InspectedCertificate(
                der: pair.0, certificate: pair.1, isSigner: index == signer,
                isOnTrustedPath: pair.1.map { trusted?.path.contains($0) ?? false } ?? false)
        }
        return leaf
    }
}
