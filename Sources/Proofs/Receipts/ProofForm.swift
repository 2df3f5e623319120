/// The form of a proof, detected from its bytes.
enum ProofForm {
    /// An app receipt, as the bytes of its container.
    case appReceipt([UInt8])
    /// A JWS in compact form.
    case signedJSON([UInt8])

    /// Detects the form of a proof, or of the proof inside a receipt of Unity.
    ///
    /// - Throws: `ProofRefusal.Reason.encodingInvalid` if the proof is neither DER, nor DER in base64, nor a JWS.
    init(of proof: [UInt8]) throws(ProofRefusal) {
        if let receipt = try UnityReceipt(proof) {
            try self.init(ofBare: receipt.proof)
        } else {
            try self.init(ofBare: proof)
        }
    }

    private init(ofBare proof: [UInt8]) throws(ProofRefusal) {
        guard !proof.isEmpty else { throw ProofRefusal(.encodingInvalid, "The proof is empty.") }
        let sequenceTag: UInt8 = 0x30
        if proof.first == sequenceTag {
            self = .appReceipt(proof)
        } else if proof.lastIndex(of: UInt8(ascii: ".")) != nil {
            self = .signedJSON(proof)
        } else if let container = Base64.decode(proof), container.first == sequenceTag {
            self = .appReceipt(container)
        } else {
            throw ProofRefusal(.encodingInvalid)
        }
    }
}
