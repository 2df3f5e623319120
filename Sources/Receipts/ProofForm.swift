import Signatures

/// The form in which a proof arrives, told by its first look.
enum ProofForm {
    /// An app receipt, by the bytes of its container.
    case appReceipt([UInt8])
    case signedJSON

    /// - Throws: `ProofRefusal.Reason.encodingInvalid` for what is neither DER, nor base64 of it, nor a JWS.
    init(of proof: [UInt8]) throws(ProofRefusal) {
        guard !proof.isEmpty else { throw ProofRefusal(.encodingInvalid, "It is empty.") }
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
