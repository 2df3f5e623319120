/// A part of a proof that could not be read as it should be.
public enum ProofDefect: Equatable, Sendable {
    /// A part of a proof.
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
