extension ResponseBodyV2DecodedPayload {
    /// The notification as JSON, without the nested proofs. The ledger stores their facts separately.
    public var contentWithoutProofs: String {
        JSONValue.object(Self.withoutProofs(fields)).compactText
    }

    private static func withoutProofs(_ object: JSONObject) -> JSONObject {
        var result = JSONObject()
        for member in object.members where !member.key.hasPrefix("signed") || member.key == "signedDate" {
            if case .object(let inner) = member.value {
                _ = result.add(member.key, .object(withoutProofs(inner)))
            } else {
                _ = result.add(member.key, member.value)
            }
        }
        return result
    }
}
