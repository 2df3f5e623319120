/// A proof, decoded as far as its bytes can be read.
///
/// An inspection judges nothing. `ProofVerifier.verify` does. Nothing in an inspection is to be believed.
@dynamicMemberLookup
public final class ProofInspection: Sendable {
    /// The kind of a proof, by its form and the fields of its payload.
    public enum Kind: String, Sendable, CaseIterable {
        case transaction
        case renewalInfo
        case notification
        case appTransaction
        /// A question for a retention message.
        case realtimeRequest
        /// A JWS with another payload.
        case otherSignedJSON
        case appReceipt
        /// A purchase that Google Play has signed.
        case signedPurchase
        /// A container with other content.
        case otherContainer
        /// Neither a JWS nor a container.
        case unreadable
    }

    static let maximumCertificates = SignedData.maximumCertificates

    private let content: Content

    init(_ content: Content) {
        self.content = content
    }

    public subscript<Value>(dynamicMember path: KeyPath<Content, Value>) -> Value { content[keyPath: path] }

    /// The inspection for people who have not brought the proof. Whoever has a proof can present it, so the bytes of signatures and the
    /// purchase token are withheld.
    public var withoutSecrets: ProofInspection {
        var content = content
        content.signature = content.signature.map {
            InspectedSignature(algorithm: $0.algorithm, bytes: nil, matchesSigner: $0.matchesSigner)
        }
        content.payload = content.payload.map { content.kind == .signedPurchase ? $0.withoutTokens : $0.withoutSecrets }
        return ProofInspection(content)
    }

    /// The decoded parts of a proof.
    public struct Content: Sendable {
        public internal(set) var kind = Kind.unreadable
        /// The size of the proof as it was given, in bytes.
        public let size: Int
        /// The SHA-256 of the signed bytes, by which the ledger identifies the proof. Nil if the proof is broken.
        public internal(set) var digest: [UInt8]?
        /// The moment at which the chain is judged: the proof's own date, or the present if it states none.
        public internal(set) var moment: Timestamp
        /// The fields of the header: of a JWS without its certificates, or of a container. Nil if it is unreadable.
        public internal(set) var header: ProofValue?
        /// The certificates, in the order of the proof, up to `maximumCertificates`.
        public internal(set) var certificates: [InspectedCertificate] = []
        /// The number of certificates in the proof.
        public internal(set) var certificateCount = 0
        /// The trusted root at which the signer's chain ends, even if a certificate has expired. Nil for an unknown root.
        public internal(set) var anchor: TrustAnchor?
        /// The key that verifies a signed purchase of Google Play. Nil for an unknown key, and for other proofs.
        public internal(set) var appKey: AppKey?
        public internal(set) var signature: InspectedSignature?
        /// The payload. Text that is not JSON is a text.
        public internal(set) var payload: ProofValue?
        /// The parts that could not be read as they should be.
        public internal(set) var defects: [ProofDefect] = []
    }
}

public struct InspectedCertificate: Sendable {
    public let der: [UInt8]
    /// Nil if the bytes are no certificate.
    public let certificate: Certificate?
    /// True for the certificate whose key should have signed the proof.
    public let isSigner: Bool
    /// True if the certificate belongs to the chain from the signer to a trusted root.
    public let isOnTrustedPath: Bool
}

public struct InspectedSignature: Sendable {
    /// The algorithm in the standard's words, such as `ES256`, or the digits of its object identifier.
    public let algorithm: String
    /// Nil if they are withheld.
    public let bytes: [UInt8]?
    /// True if the key of the signer's certificate has made it. Nil if that cannot be checked. A signature under an untrusted
    /// certificate proves nothing.
    public let matchesSigner: Bool?
}

/// A part of a proof that could not be read as it should be.
public enum ProofDefect: Equatable, Sendable {
    public enum Part: String, Sendable, CaseIterable {
        case proof
        case header
        case payload
        case signature
    }

    /// The proof is larger than any, and was not decoded.
    case tooLarge
    /// The bytes are neither DER, nor DER in base64, nor a JWS.
    case encoding
    /// A JWS has another number of segments than three.
    case segmentCount(Int)
    /// A part is not strict base64.
    case base64(Part)
    /// A part is not strict JSON.
    case json(Part, JSONSyntaxError)
    /// A container or its content ends too early, or has another structure.
    case structure(Part)
    /// Only a part of the values is shown, because there are too many.
    case tooManyValues
}

public indirect enum ProofValue: Sendable {
    case fields([Field])
    case list([ProofValue])
    case text(String)
    /// A number with its digits.
    case number(String)
    case bool(Bool)
    case null
    /// A date, with the text or the number that states it.
    case date(Timestamp, stated: String)
    case bytes([UInt8])
    /// A JWS inside the proof.
    case proof(ProofInspection)
    /// The certificates, which `ProofInspection.certificates` has.
    case certificates(Int)
    /// A value that was left out because the proof has too many.
    case omitted
    /// A secret, with which anybody could present the purchase.
    case withheld

    /// A named value.
    public struct Field: Sendable {
        /// The name of the field. An attribute of a receipt has the name that the same fact has in a JWS, or none.
        public let name: String
        /// The type of a receipt's attribute; nil for another field.
        public internal(set) var attribute: Int?
        public let value: ProofValue

        fileprivate func with(_ value: ProofValue) -> Field { Field(name: name, attribute: attribute, value: value) }
    }

    /// The value with the nested proofs without their secrets.
    fileprivate var withoutSecrets: ProofValue {
        switch self {
        case .fields(let fields): .fields(fields.map { $0.with($0.value.withoutSecrets) })
        case .list(let values): .list(values.map(\.withoutSecrets))
        case .proof(let inspection): .proof(inspection.withoutSecrets)
        case .text, .number, .bool, .null, .date, .bytes, .certificates, .omitted, .withheld: self
        }
    }

    /// The payload of a signed purchase of Google Play without its token.
    fileprivate var withoutTokens: ProofValue {
        guard case .fields(let fields) = self else { return .withheld }
        return .fields(
            fields.map {
                $0.name.lowercased().hasSuffix("token") ? $0.with(.withheld) : $0.with($0.value.withoutSecrets)
            })
    }

    /// The value of a field; nil if this is no field list, or lacks it.
    public subscript(name: String) -> ProofValue? {
        guard case .fields(let fields) = self else { return nil }
        return fields.first { $0.name.hasSameBytes(as: name) }?.value
    }
}
