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
        guard case .object(let object) = value, case .string(let store)? = object["Store"] else {
            throw ProofRefusal(.encodingInvalid, "A receipt of Unity must have the strings Store and Payload.")
        }
        guard Self.stores.contains(where: { $0.hasSameBytes(as: store) }) else {
            throw ProofRefusal(
                .encodingInvalid,
                store.hasSameBytes(as: "GooglePlay")
                    ? "The receipt of Unity is from Google Play. Only receipts of Apple's stores can be verified."
                    : "The Store of a receipt of Unity must be AppleAppStore or MacAppStore.")
        }
        guard case .string(let payload)? = object["Payload"] else {
            throw ProofRefusal(.encodingInvalid, "A receipt of Unity must have the strings Store and Payload.")
        }
        proof = Array(payload.utf8)
    }
}
