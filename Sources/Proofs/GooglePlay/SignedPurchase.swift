/// A purchase that Google Play has signed for the device: `INAPP_PURCHASE_DATA` with `INAPP_DATA_SIGNATURE`. The Play Billing Library has them
/// as `Purchase.getOriginalJson()` and `getSignature()`.
///
/// Only `SignedPurchaseVerifier` says if Google Play has signed it.
public struct SignedPurchase: Hashable, Sendable {
    /// The maximum size of the signed text in bytes. Real ones have at most 500.
    public static let maximumSize = 16 << 10
    /// The maximum length of the signature in base64, that of a key of 8192 bits.
    public static let maximumSignatureSize = 1368
    /// The maximum size of the JSON object of both. An escape of a byte has six.
    public static let maximumTextSize = 6 * (maximumSize + maximumSignatureSize) + 256

    /// The signed JSON text, exactly as the device has received it. Another spelling of the same JSON has another signature.
    public let data: [UInt8]
    /// The signature in base64.
    public let signature: [UInt8]

    public init(data: [UInt8], signature: [UInt8]) {
        self.data = data
        self.signature = signature
    }

    /// Reads a JSON object with the signed text and its signature: `{"purchase": "…", "signature": "…"}`.
    ///
    /// - Returns: Nil if the bytes are no JSON object with the member `purchase`.
    /// - Throws: `ProofRefusal` if the object is too large, or has another member than the two texts.
    public init?(json bytes: [UInt8]) throws(ProofRefusal) {
        guard bytes.first == UInt8(ascii: "{") else { return nil }
        guard case .object(let object)? = try? JSONParser.parse(bytes, limits: .init(bytes: Self.maximumTextSize)),
            let purchase = object["purchase"]
        else { return nil }
        guard case .string(let data) = purchase, let signature = object.text("signature"),
            object.members.count == 2
        else {
            throw ProofRefusal(.encodingInvalid, "A signed purchase must have the strings purchase and signature.")
        }
        self.init(data: Array(data.utf8), signature: Array(signature.utf8))
    }

    /// The JSON object with the signed text and its signature.
    public var json: JSONValue {
        .object([
            "purchase": .string(String(decoding: data, as: UTF8.self)),
            "signature": .string(String(decoding: signature, as: UTF8.self)),
        ])
    }

    /// Signs a purchase as Google Play does.
    public static func sign(_ data: [UInt8], with key: PrivateKey) throws -> SignedPurchase {
        let signature = try key.signRSA(data, digest: .sha1)
        return SignedPurchase(data: data, signature: Array(Base64.encode(signature).utf8))
    }
}

extension SignedPurchase: Codable {
    private enum CodingKeys: String, CodingKey {
        case data = "purchase"
        case signature
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            data: Array(try container.decode(String.self, forKey: .data).utf8),
            signature: Array(try container.decode(String.self, forKey: .signature).utf8))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(String(decoding: data, as: UTF8.self), forKey: .data)
        try container.encode(String(decoding: signature, as: UTF8.self), forKey: .signature)
    }
}

/// Verifies signed purchases of Google Play, without asking Google.
///
/// A signature of Google Play never ends, and states no date. It proves what was bought. It does not prove that the purchase still stands,
/// that a subscription is paid now, or that money was paid: purchases of license testers are signed alike.
public struct SignedPurchaseVerifier: Sendable {
    private let known: KnownAppKeys
    private let clock: any WallClock

    var keys: [AppKey] { known.keys }

    /// - Parameter keys: The keys of the apps whose purchases are accepted.
    public init(keys: [AppKey], clock: any WallClock) {
        self.init(keys: KnownAppKeys(keys), clock: clock)
    }

    init(keys: KnownAppKeys, clock: any WallClock) {
        known = keys
        self.clock = clock
    }

    /// Verifies a signed purchase. `ProofRefusal.Step` defines the order of the checks. Nothing of the text is read before its signature is
    /// verified.
    public func verify(_ purchase: SignedPurchase) throws(ProofRefusal) -> GooglePlayPurchase {
        guard purchase.data.count <= SignedPurchase.maximumSize,
            purchase.signature.count <= SignedPurchase.maximumSignatureSize
        else { throw ProofRefusal(.tooLarge) }
        guard !purchase.signature.isEmpty else { throw ProofRefusal(.staticTestPurchase) }
        guard let signature = Base64.decode(purchase.signature) else {
            throw ProofRefusal(.encodingInvalid, "The signature of the purchase must be base64 with padding.")
        }
        let key = try signer(of: purchase.data, signature)
        // SHA-1 is too weak to identify a proof.
        let statement = try GooglePlayPurchase(
            PayloadFields(json: purchase.data), key: key, digest: DigestAlgorithm.sha256.digest(of: purchase.data))
        guard
            statement.purchaseTime.millisecondsSince1970 <= clock.now().millisecondsSince1970
                + ProofVerifier.clockTolerance
        else { throw ProofRefusal(.signedInFuture, "Its date is \(statement.purchaseTime.rfc3339).") }
        guard statement.packageName.hasSameBytes(as: key.packageName) else {
            throw ProofRefusal(
                .bundleIdentifierMismatch,
                "The proof names \"\(statement.packageName.prefix(155))\", but its key is that of \(key.packageName).")
        }
        return statement
    }

    /// The key under which a signature is valid. A key that was added since the last look is found, too.
    private func signer(of data: [UInt8], _ signature: [UInt8]) throws(ProofRefusal) -> AppKey {
        let digest = DigestAlgorithm.sha1.digest(of: data)
        func matching(_ keys: [AppKey]) -> AppKey? {
            keys.first { $0.publicKey.verifiesRSA(signature, overDigest: digest, algorithm: .sha1) }
        }
        if let key = matching(keys) ?? known.reread().flatMap(matching) { return key }
        throw ProofRefusal(keys.isEmpty ? .appKeyMissing : .signatureInvalid)
    }
}

/// The verified content of a signed purchase of Google Play (`INAPP_PURCHASE_DATA`).
///
/// It is a class, so that it is passed as a pointer (swiftlang/swift#90477).
public final class GooglePlayPurchase: Sendable {
    /// The maximum length of a purchase token in bytes. Real ones have 24 to 208.
    public static let maximumTokenSize = 512
    /// The maximum length of the names of products and apps in bytes.
    public static let maximumNameSize = 256
    /// The maximum length of the identifiers that the app gives to a purchase, in UTF-16 units
    /// (`BillingFlowParams.setObfuscatedAccountId`).
    public static let maximumObfuscatedLength = 64
    /// The maximum number of products in one purchase.
    public static let maximumProducts = 100

    public let packageName: String
    /// The bought products, at least one. Only a subscription with add-ons has several.
    public let productIdentifiers: [String]
    /// The identifier of the purchase, unique in all of Google Play.
    public let purchaseToken: String
    /// The date of the purchase. Google Play states no date of the signature.
    public let purchaseTime: Timestamp
    public let quantity: Int
    /// The identifier of the order, `GPA.…`. Purchases with promotional codes have none.
    public let orderId: String?
    /// The identifiers that the app gave to the purchase, of the user's account and of one of its profiles.
    public let obfuscatedAccountId: String?
    public let obfuscatedProfileId: String?
    /// True if the purchase was acknowledged when it was signed.
    public let acknowledged: Bool?
    /// True if the subscription would renew when it was signed. Nil for a one-time product, and for some old subscriptions.
    public let autoRenewing: Bool?
    /// A text of the app, in purchases before Play Billing Library 2.
    public let developerPayload: String?
    /// All signed fields, known and unknown.
    public let fields: JSONObject
    /// The fields that were read as absent because of their form.
    public let unreadableFields: [String]
    /// The key that verifies the signature.
    public let key: AppKey
    /// The SHA-256 of the signed bytes.
    public let digest: [UInt8]

    /// The optional fields that a decision needs.
    private static let deciding: Set = ["productIds", "productId", "token", "obfuscatedAccountId"]
    /// The numbers of `purchaseState` in signed purchases. The Play Billing Library and the API have other ones.
    private static let (purchased, pending): (Int64, Int64) = (0, 4)

    init(_ fields: PayloadFields, key: AppKey, digest: [UInt8]) throws(ProofRefusal) {
        guard fields.object["orders"] == nil else { throw ProofRefusal(.purchaseFormRetired) }
        let fields = fields.deciding(Self.deciding)
        packageName = try fields.bounded("packageName", upTo: Self.maximumNameSize)
        productIdentifiers = try Self.products(fields)
        guard !productIdentifiers.contains(where: { $0.hasPrefix("android.test.") }) else {
            throw ProofRefusal(.staticTestPurchase)
        }
        purchaseTime = try fields.requiredDate("purchaseTime")
        switch try fields.requiredInteger("purchaseState") {
        case Self.purchased: break
        case Self.pending: throw ProofRefusal(.purchasePending)
        case let state: throw ProofRefusal(.payloadInvalid, "The field purchaseState must be 0; it is \(state).")
        }
        // The Play Billing Library reads the token in this order, too.
        let tokenField = try fields.string("token") == nil ? "purchaseToken" : "token"
        purchaseToken = try fields.bounded(tokenField, upTo: Self.maximumTokenSize)
        guard purchaseToken.isVisibleASCII else {
            throw ProofRefusal(.payloadInvalid, "The field \(tokenField) must be visible ASCII characters.")
        }
        quantity = try fields.quantity("quantity")
        obfuscatedAccountId = try fields.string("obfuscatedAccountId")
        guard obfuscatedAccountId?.utf16.count ?? 0 <= Self.maximumObfuscatedLength else {
            throw ProofRefusal(
                .payloadInvalid,
                "The field obfuscatedAccountId must have at most \(Self.maximumObfuscatedLength) characters.")
        }
        obfuscatedProfileId = try fields.string("obfuscatedProfileId")
        orderId = try fields.string("orderId")
        acknowledged = try fields.bool("acknowledged")
        autoRenewing = try fields.bool("autoRenewing")
        developerPayload = try fields.string("developerPayload")
        self.fields = fields.object
        unreadableFields = fields.unreadableNames
        self.key = key
        self.digest = digest
    }

    /// The products of `productIds`, or that of `productId`, as the Play Billing Library reads them.
    private static func products(_ fields: PayloadFields) throws(ProofRefusal) -> [String] {
        guard let products = try fields.strings("productIds"), !products.isEmpty else {
            return [try fields.bounded("productId", upTo: maximumNameSize)]
        }
        guard products.count <= maximumProducts, Set(products.map { ByteKey($0) }).count == products.count,
            products.allSatisfy({ (1...maximumNameSize).contains($0.utf8.count) && !$0.hasNUL })
        else {
            throw ProofRefusal(
                .payloadInvalid,
                "The field productIds must have at most \(maximumProducts) different products of 1 to \(maximumNameSize) bytes."
            )
        }
        return products
    }
}

extension PayloadFields {
    /// A required text of at most so many bytes.
    fileprivate func bounded(_ name: String, upTo maximumSize: Int) throws(ProofRefusal) -> String {
        let text = try requiredString(name)
        guard text.utf8.count <= maximumSize else {
            throw ProofRefusal(.payloadInvalid, "The field \(name) must have at most \(maximumSize) bytes.")
        }
        return text
    }
}
