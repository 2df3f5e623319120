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
        guard purchaseToken.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
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
