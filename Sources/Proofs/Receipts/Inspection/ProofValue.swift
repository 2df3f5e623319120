/// A decoded value of a proof.
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

    /// A named value.
    public struct Field: Sendable {
        /// The name of the field. An attribute of a receipt has the name that the same fact has in a JWS, or none.
        public let name: String
        /// The type of a receipt's attribute; nil for another field.
        public let attribute: Int?
        public let value: ProofValue

        init(_ name: String, attribute: Int? = nil, _ value: ProofValue) {
            self.name = name
            self.attribute = attribute
            self.value = value
        }
    }

    /// The value of a field; nil if this is no field list, or lacks it.
    public subscript(name: String) -> ProofValue? {
        guard case .fields(let fields) = self else { return nil }
        return fields.first { $0.name.hasSameBytes(as: name) }?.value
    }
}
