import Signatures

/// The form of a proof, detected from its bytes.
enum ProofForm {
    /// An app receipt, as the bytes of its container.
    case appReceipt([UInt8])
    case signedJSON

    /// - Throws: `ProofRefusal.Reason.encodingInvalid` if the bytes are neither DER, nor DER in base64, nor a JWS.
    init(of proof: [UInt8]) throws(ProofRefusal) {
        guard !proof.isEmpty else { throw ProofRefusal(.encodingInvalid, "The proof is empty.") }
        let sequenceTag: UInt8 = 0x30
        if proof.first == sequenceTag {
            self = .appReceipt(proof)
        } else if proof.lastIndex(of: UInt8(ascii: ".")) != nil {
            self = .signedJSON
        } else if let container = Base64.decode(proof), container.first == sequenceTag {
            self = .appReceipt(container)
        } else {
            throw ProofRefusal(.encodingInvalid)
        }
    }
}
