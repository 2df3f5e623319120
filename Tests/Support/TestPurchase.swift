import Proofs

/// A purchase of `com.example.garden` that a key signs as Google Play does.
package struct TestPurchase {
    package let signed: SignedPurchase

    /// The JSON object of text and signature.
    package var text: String { signed.json.compactText }

    /// - Parameters:
    ///   - app: The name of the package.
    ///   - changes: Other members of the signed text; nil leaves one out.
    package init(
        of product: String,
        by key: PrivateKey,
        app: String = "com.example.garden",
        token: String = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-",
        changing changes: [(String, JSONValue?)] = []
    ) throws {
        let members: [(String, JSONValue?)] = [
            ("orderId", "GPA.3345-1111-2222-33333"), ("packageName", .string(app)), ("productId", .string(product)),
            // In 2023, before every clock of the tests.
            ("purchaseTime", .integer(1_700_000_000_000)), ("purchaseState", .integer(0)),
            ("purchaseToken", .string(token)), ("acknowledged", .bool(false)),
        ]
        var object = JSONObject()
        for (name, value) in members where !changes.contains(where: { $0.0 == name }) {
            if let value { _ = object.add(name, value) }
        }
        for case (let name, let value?) in changes { _ = object.add(name, value) }
        signed = try SignedPurchase.sign(JSONValue.object(object).compactBytes, with: key)
    }
}
