/// A proof, decoded as far as its bytes can be read.
///
/// An inspection judges nothing. `ProofVerifier.verify` does. Nothing in an inspection is to be believed.
public final class ProofInspection: Sendable {
    /// The kind of a proof, by its form and the fields of its payload.
    public enum Kind: String, Sendable, CaseIterable {
        case transaction
        case renewalInfo
        case notification
        case appTransaction
        /// A JWS with another payload.
        case otherSignedJSON
        case appReceipt
        /// A container with other content.
        case otherContainer
        /// Neither a JWS nor a container.
        case unreadable
    }

    public let kind: Kind
    /// The size of the proof as it was given, in bytes.
    public let size: Int
    /// The SHA-256 of the signed bytes, by which the ledger identifies the proof. Nil if the proof is broken.
    public let digest: [UInt8]?
    /// The moment at which the chain is judged: the proof's own date, or the present if it states none.
    public let moment: Timestamp
    /// The fields of the header: of a JWS without its certificates, or of a container. Nil if it is unreadable.
    public let header: ProofValue?
    /// The certificates, in the order of the proof, up to `maximumCertificates`.
    public let certificates: [InspectedCertificate]
    /// The number of certificates in the proof.
    public let certificateCount: Int
    /// The trusted root at which the signer's chain ends, even if a certificate has expired. Nil for an unknown root.
    public let anchor: TrustAnchor?
    public let signature: InspectedSignature?
    /// The payload. Text that is not JSON is a text.
    public let payload: ProofValue?
    /// The parts that could not be read as they should be.
    public let defects: [ProofDefect]

    static let maximumCertificates = SignedData.maximumCertificates

    init(_ draft: Draft) {
        kind = draft.kind
        size = draft.size
        digest = draft.digest
        moment = draft.moment
        header = draft.header
        certificates = draft.certificates
        certificateCount = draft.certificateCount
        anchor = draft.anchor
        signature = draft.signature
        payload = draft.payload
        defects = draft.defects
    }

    /// An inspection in the making.
    struct Draft {
        var kind = Kind.unreadable
        let size: Int
        var digest: [UInt8]?
        var moment: Timestamp
        var header: ProofValue?
        var certificates: [InspectedCertificate] = []
        var certificateCount = 0
        var anchor: TrustAnchor?
        var signature: InspectedSignature?
        var payload: ProofValue?
        var defects: [ProofDefect] = []
    }
}
