/// The form of a proof, detected from its bytes.
enum ProofForm {
    /// An app receipt, as the bytes of its container.
    case appReceipt([UInt8])
    /// A JWS in compact form.
    case signedJSON([UInt8])
    /// A signed purchase of Google Play.
    case signedPurchase(SignedPurchase)

    /// Detects the form of a proof, or of the proof inside a receipt of Unity.
    ///
    /// - Throws: `ProofRefusal.Reason.encodingInvalid` if the proof is neither DER, nor DER in base64, nor a JWS;
    ///   `serviceAccountMissing` for a purchase token, which has no signature.
    init(of proof: [UInt8]) throws(ProofRefusal) {
        if let purchase = try SignedPurchase(json: proof) {
            self = .signedPurchase(purchase)
        } else if try GooglePlayToken(json: proof) != nil {
            throw ProofRefusal(.serviceAccountMissing)
        } else if let receipt = try UnityReceipt(proof) {
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

/// The receipt of Unity IAP: a JSON object around a proof of the App Store.
///
/// The object is not signed. So its transaction identifier is not read, and only the proof inside is believed.
struct UnityReceipt {
    /// The app receipt in base64 (Unity IAP 4), or the signed transaction (Unity IAP 5).
    let proof: [UInt8]

    /// The names of Apple's stores in the member `Store`.
    private static let stores = ["AppleAppStore", "MacAppStore"]

    /// - Parameter bytes: At most `ProofVerifier.maximumTextSize` bytes.
    /// - Returns: Nil if the bytes are no JSON object.
    /// - Throws: `ProofRefusal.Reason.encodingInvalid` for another JSON object than a receipt of an Apple store.
    init?(_ bytes: [UInt8]) throws(ProofRefusal) {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, limits: .init(bytes: ProofVerifier.maximumTextSize))
        } catch {
            throw ProofRefusal(.encodingInvalid, "In the receipt of Unity, \(error.message).")
        }
        guard case .object(let object) = value, let store = object.text("Store") else {
            throw ProofRefusal(.encodingInvalid, "A receipt of Unity must have the strings Store and Payload.")
        }
        guard Self.stores.contains(where: { $0.hasSameBytes(as: store) }) else {
            throw ProofRefusal(
                .encodingInvalid,
                store.hasSameBytes(as: "GooglePlay")
                    ? "The receipt of Unity is from Google Play. Only receipts of Apple's stores can be verified."
                    : "The Store of a receipt of Unity must be AppleAppStore or MacAppStore.")
        }
        guard let payload = object.text("Payload") else {
            throw ProofRefusal(.encodingInvalid, "A receipt of Unity must have the strings Store and Payload.")
        }
        proof = Array(payload.utf8)
    }
}

/// A proof in text that a person has pasted: with line breaks, in quotes, or inside a JSON object such as the body of a
/// notification.
public enum PastedProof {
    /// The bytes of the proof in a paste or a file; of a signed purchase of Google Play the JSON object of its text and signature. Bytes without a readable proof stay as they are.
    public static func proof(in bytes: [UInt8]) -> [UInt8] {
        // A proof in DER is no text.
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return bytes }
        // The text of a purchase of Google Play is signed with its spaces.
        if let purchase = try? SignedPurchase(json: Array(bytes.drop { $0 <= 0x20 })) {
            return purchase.json.compactBytes
        }
        if let token = try? GooglePlayToken(json: Array(bytes.drop { $0 <= 0x20 })) { return token.json.compactBytes }
        if case .object(let object)? = try? JSONParser.parse(bytes, limits: .init(bytes: 4 << 20)) {
            let texts = object.members.compactMap { member -> String? in
                guard case .string(let text) = member.value else { return nil }
                return text
            }
            // Of the members of a request, the proof is the longest by far.
            if let longest = texts.max(by: { $0.utf8.count < $1.utf8.count }) { return withoutSpace(longest.utf8) }
        }
        return withoutSpace(bytes)
    }

    private static func withoutSpace(_ text: some Sequence<UInt8>) -> [UInt8] {
        text.filter { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") }
    }
}
