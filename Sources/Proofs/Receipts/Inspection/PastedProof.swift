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
