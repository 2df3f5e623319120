import Proofs
import TestSupport
import Testing

/// Signed purchases of Google Play, by keys of two apps.
@Suite struct SignedPurchaseTests {
    private static let packageName = "com.example.garden"
    private static let keys = Result { (own: try PrivateKey.generateRSA(), other: try PrivateKey.generateRSA()) }

    private let own: PrivateKey
    private let other: PrivateKey

    init() throws {
        (own, other) = try Self.keys.get()
    }

    private func verifier(_ keys: [AppKey]? = nil) -> SignedPurchaseVerifier {
        let keys = keys ?? [AppKey(packageName: Self.packageName, publicKey: own.publicKey)]
        return SignedPurchaseVerifier(keys: keys, clock: ManualClock())
    }

    /// The text of a purchase of 2026 with other members. A value is JSON; nil leaves the member out.
    private static func text(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        let members: [(key: String, value: String)] = [
            ("orderId", #""GPA.3345-1111-2222-33333""#), ("packageName", "\"\(packageName)\""),
            ("productId", #""sprout1""#), ("purchaseTime", "1789999000123"), ("purchaseState", "0"),
            ("purchaseToken", #""aaaabbbbccccddddeeeeffff.AO-J1Oz_-""#), ("obfuscatedAccountId", #""user-1""#),
            ("obfuscatedProfileId", #""profile-1""#), ("quantity", "2"), ("acknowledged", "false"),
        ]
        let changed = members.compactMap { member -> String? in
            guard let change = changes.first(where: { $0.key == member.key }) else {
                return "\"\(member.key)\":\(member.value)"
            }
            return change.value.map { "\"\(member.key)\":\($0)" }
        }
        let added = changes.compactMap { change -> String? in
            guard !members.contains(where: { $0.key == change.key }) else { return nil }
            return change.value.map { "\"\(change.key)\":\($0)" }
        }
        return "{" + (changed + added).joined(separator: ",") + "}"
    }

    private static func long(_ length: Int) -> String { "\"\(String(repeating: "x", count: length))\"" }

    private func verify(_ text: String) throws -> GooglePlayPurchase {
        try verifier().verify(SignedPurchase.sign(Array(text.utf8), with: own))
    }

    private func refusal(of purchase: SignedPurchase, keys: [AppKey]? = nil) -> ProofRefusal? {
        do throws(ProofRefusal) {
            _ = try verifier(keys).verify(purchase)
            return nil
        } catch {
            return error
        }
    }

    @Test func `every field of a signed purchase is read`() throws {
        let text = Self.text(["autoRenewing": "true", "developerPayload": #""d""#, "unknown": "[1]"])
        let purchase = try verify(text)
        #expect(purchase.packageName == Self.packageName)
        #expect(purchase.productIdentifiers == ["sprout1"])
        #expect(purchase.purchaseToken == "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(purchase.purchaseTime.millisecondsSince1970 == 1_789_999_000_123)
        #expect(purchase.quantity == 2)
        #expect(purchase.orderId == "GPA.3345-1111-2222-33333")
        #expect(purchase.obfuscatedAccountId == "user-1")
        #expect(purchase.obfuscatedProfileId == "profile-1")
        #expect(purchase.acknowledged == false)
        #expect(purchase.autoRenewing == true)
        #expect(purchase.developerPayload == "d")
        #expect(purchase.fields["unknown"] == .array([.integer(1)]))
        #expect(purchase.unreadableFields.isEmpty)
        #expect(purchase.key.packageName == Self.packageName)
        #expect(purchase.digest == DigestAlgorithm.sha256.digest(of: Array(text.utf8)))
    }

    @Test func `absent fields have the meaning of the Play Billing Library`() throws {
        let absent = try verify(
            Self.text([
                "orderId": nil, "obfuscatedAccountId": nil, "obfuscatedProfileId": nil, "quantity": nil,
                "acknowledged": nil,
            ]))
        #expect(absent.quantity == 1)
        #expect(absent.orderId == nil && absent.obfuscatedAccountId == nil && absent.acknowledged == nil)
        #expect(absent.autoRenewing == nil)

        let several = try verify(Self.text(["productIds": #"["base","extra"]"#]))
        #expect(several.productIdentifiers == ["base", "extra"])
        #expect(try verify(Self.text(["productIds": "[]"])).productIdentifiers == ["sprout1"])
        #expect(try verify(Self.text(["productIds": #"["base"]"#, "productId": nil])).productIdentifiers == ["base"])
        #expect(try verify(Self.text(["token": #""first""#])).purchaseToken == "first")
    }

    @Test func `a field that no decision needs never costs the purchase`() throws {
        let purchase = try verify(
            Self.text([
                "orderId": "[]", "obfuscatedProfileId": "{}", "acknowledged": #""maybe""#, "autoRenewing": "[]",
                "developerPayload": "false",
            ]))
        #expect(purchase.orderId == nil)
        #expect(
            purchase.unreadableFields
                == ["acknowledged", "autoRenewing", "developerPayload", "obfuscatedProfileId", "orderId"])
    }

    @Test func `values at their limits are accepted`() throws {
        let text = Self.text([
            "productId": Self.long(256), "purchaseToken": Self.long(512), "obfuscatedAccountId": Self.long(64),
            "quantity": "2147483647",
        ])
        #expect(try verify(text).quantity == 2_147_483_647)
        #expect(try verify(text + String(repeating: " ", count: 16 << 10 - text.utf8.count)).purchaseToken.count == 512)
        let products = (0..<100).map { "\"p\($0)\"" }.joined(separator: ",")
        #expect(try verify(Self.text(["productIds": "[\(products)]"])).productIdentifiers.count == 100)
        // A clock may be a minute slow.
        #expect(try verify(Self.text(["purchaseTime": "1790000060000"])).quantity == 2)
    }

    /// A signed text that is refused, with the code and a part of the finding.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let reason: ProofRefusal.Reason
        var finding: String?

        init(_ name: String, _ text: String, _ reason: ProofRefusal.Reason, _ finding: String? = nil) {
            (self.name, self.text, self.reason, self.finding) = (name, text, reason, finding)
        }

        var testDescription: String { name }
    }

    /// One row for each check of the signed text. Without the check, its row is accepted or has another code.
    static let signedForgeries: [Forgery] = [
        Forgery("too long", text() + String(repeating: " ", count: 16 << 10), .tooLarge),
        Forgery("no JSON", "purchase", .payloadInvalid, "In its JSON"),
        Forgery("no object", "[]", .payloadInvalid, "JSON object"),
        Forgery("text after the object", text() + "{}", .payloadInvalid, "continues"),
        Forgery(
            "a second product", text().dropLast() + #","productId":"sprout2"}"#, .payloadInvalid,
            "\"productId\" appears twice"),
        Forgery(
            "the retired form", #"{"nonce":-5465853498583976126,"orders":[\#(text())]}"#, .purchaseFormRetired),
        Forgery("a static test product", text(["productId": #""android.test.purchased""#]), .staticTestPurchase),
        Forgery("no app", text(["packageName": nil]), .payloadInvalid, "packageName is missing"),
        Forgery("an app as a number", text(["packageName": "1"]), .payloadInvalid, "packageName must be"),
        Forgery("a long app", text(["packageName": long(257)]), .payloadInvalid, "packageName must have at most"),
        Forgery(
            "another app", text(["packageName": #""com.example.other""#]), .bundleIdentifierMismatch,
            "com.example.other"),
        Forgery("no product", text(["productId": nil]), .payloadInvalid, "productId is missing"),
        Forgery("an empty product", text(["productId": #""""#]), .payloadInvalid, "productId is missing"),
        Forgery("a product as a number", text(["productId": "1"]), .payloadInvalid, "productId must be"),
        Forgery("a long product", text(["productId": long(257)]), .payloadInvalid, "productId must have at most"),
        Forgery("products as a text", text(["productIds": #""base""#]), .payloadInvalid, "productIds must be"),
        Forgery("products with a number", text(["productIds": #"["base",1]"#]), .payloadInvalid, "productIds must be"),
        Forgery("a product twice", text(["productIds": #"["base","base"]"#]), .payloadInvalid, "different"),
        Forgery("an empty one of products", text(["productIds": #"["base",""]"#]), .payloadInvalid, "1 to 256 bytes"),
        Forgery("a long one of products", text(["productIds": "[\(long(257))]"]), .payloadInvalid, "1 to 256 bytes"),
        Forgery("a product with NUL", text(["productIds": #"["a\u0000"]"#]), .payloadInvalid, "1 to 256 bytes"),
        Forgery(
            "too many products",
            text(["productIds": "[" + (0...100).map { "\"p\($0)\"" }.joined(separator: ",") + "]"]), .payloadInvalid,
            "at most 100"),
        Forgery("no date", text(["purchaseTime": nil]), .payloadInvalid, "purchaseTime is missing"),
        Forgery("a date as a text", text(["purchaseTime": #""1""#]), .payloadInvalid, "purchaseTime must be"),
        Forgery("a date in the future", text(["purchaseTime": "1790000060001"]), .signedInFuture),
        Forgery("no state", text(["purchaseState": nil]), .payloadInvalid, "purchaseState is missing"),
        Forgery("a state as a text", text(["purchaseState": #""0""#]), .payloadInvalid, "purchaseState must be"),
        Forgery("a cancelled purchase", text(["purchaseState": "1"]), .payloadInvalid, "it is 1"),
        Forgery("a pending purchase", text(["purchaseState": "4"]), .purchasePending),
        Forgery("no token", text(["purchaseToken": nil]), .payloadInvalid, "purchaseToken is missing"),
        Forgery("a token as a number", text(["purchaseToken": "1"]), .payloadInvalid, "purchaseToken must be"),
        Forgery("another token as a number", text(["token": "1"]), .payloadInvalid, "token must be"),
        Forgery("a long token", text(["purchaseToken": long(513)]), .payloadInvalid, "at most 512 bytes"),
        Forgery("a token with a space", text(["purchaseToken": #""a b""#]), .payloadInvalid, "visible ASCII"),
        Forgery("a token in Korean", text(["purchaseToken": #""토큰""#]), .payloadInvalid, "visible ASCII"),
        Forgery("no quantity", text(["quantity": "0"]), .payloadInvalid, "quantity must be from 1"),
        Forgery(
            "a quantity beyond 31 bits", text(["quantity": "2147483648"]), .payloadInvalid, "quantity must be from 1"),
        Forgery("a quantity as a text", text(["quantity": #""2""#]), .payloadInvalid, "quantity must be"),
        Forgery(
            "an account as a number", text(["obfuscatedAccountId": "1"]), .payloadInvalid, "obfuscatedAccountId must be"
        ),
        Forgery("a long account", text(["obfuscatedAccountId": long(65)]), .payloadInvalid, "at most 64 characters"),
    ]

    @Test(arguments: signedForgeries)
    func `a signed text that fails a check is refused for it`(_ forgery: Forgery) throws {
        let refusal = refusal(of: try SignedPurchase.sign(Array(forgery.text.utf8), with: own))
        #expect(refusal?.reason == forgery.reason)
        if let finding = forgery.finding {
            #expect(refusal?.detail?.contains(finding) == true, "\(refusal?.message ?? "")")
        }
    }

    @Test func `a signature that fails a check is refused for it`() throws {
        let text = Array(Self.text().utf8)
        let good = try SignedPurchase.sign(text, with: own)
        func signed(_ signature: some Sequence<UInt8>) -> SignedPurchase {
            SignedPurchase(data: text, signature: Array(signature))
        }
        #expect(refusal(of: good) == nil)
        #expect(refusal(of: signed(Base64.encode([UInt8](repeating: 1, count: 1027)).utf8))?.reason == .tooLarge)
        #expect(refusal(of: signed([]))?.reason == .staticTestPurchase)
        #expect(refusal(of: signed(good.signature.dropLast()))?.reason == .encodingInvalid)
        #expect(refusal(of: signed(good.signature + [0x0A]))?.reason == .encodingInvalid)
        #expect(refusal(of: good, keys: [])?.reason == .appKeyMissing)
        #expect(refusal(of: try SignedPurchase.sign(text, with: other))?.reason == .signatureInvalid)
        let otherDigest = Base64.encode(try own.signRSA(text, digest: .sha256))
        #expect(refusal(of: signed(otherDigest.utf8))?.reason == .signatureInvalid)
        #expect(refusal(of: signed(Base64.encode([UInt8](repeating: 0, count: 256)).utf8))?.reason == .signatureInvalid)
    }

    @Test func `one flipped bit anywhere is refused`() throws {
        let good = try SignedPurchase.sign(Array(Self.text().utf8), with: own)
        for index in good.data.indices {
            var data = good.data
            data[index] ^= 1
            #expect(refusal(of: SignedPurchase(data: data, signature: good.signature))?.reason == .signatureInvalid)
        }
        for index in good.signature.indices {
            var signature = good.signature
            signature[index] ^= 1
            #expect(refusal(of: SignedPurchase(data: good.data, signature: signature)) != nil, "byte \(index)")
        }
    }

    @Test func `a purchase is only that of the app whose key has signed it`() throws {
        let keys = [
            AppKey(packageName: "com.example.other", publicKey: other.publicKey),
            AppKey(packageName: Self.packageName, publicKey: own.publicKey),
        ]
        let purchase = Array(Self.text().utf8)
        #expect(refusal(of: try SignedPurchase.sign(purchase, with: own), keys: keys) == nil)
        #expect(
            refusal(of: try SignedPurchase.sign(purchase, with: other), keys: keys)?.reason == .bundleIdentifierMismatch
        )
    }

    @Test func `the object of text and signature keeps the exact bytes`() throws {
        let purchase = try SignedPurchase.sign(Array(#"{ "packageName" : "com.example\/garden" }"#.utf8), with: own)
        #expect(try SignedPurchase(json: Array(purchase.json.compactText.utf8)) == purchase)
        #expect(try SignedPurchase(json: purchase.data) == nil)
        #expect(try SignedPurchase(json: Array("receipt".utf8)) == nil)
        for wrong in [
            #"{"purchase":{}, "signature":""}"#, #"{"purchase":""}"#, #"{"purchase":"","signature":1}"#,
            #"{"purchase":"","signature":"","more":1}"#,
        ] {
            #expect(throws: ProofRefusal.self) { try SignedPurchase(json: Array(wrong.utf8)) }
        }
        let tooLong = String(repeating: " ", count: SignedPurchase.maximumTextSize)
        #expect(try SignedPurchase(json: Array((purchase.json.compactText + tooLong).utf8)) == nil)
    }
}
