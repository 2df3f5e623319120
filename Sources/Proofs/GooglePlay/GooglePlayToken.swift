/// A purchase token of Google Play as an app presents it: `{"purchaseToken": "…", "packageName": "…", "productId": "…"}`.
///
/// A token is not signed. Only the Play Developer API says if it is of a purchase, and of which.
public struct GooglePlayToken: Hashable, Sendable {
    /// The maximum size of the JSON object in bytes. An escape of a byte has six.
    public static let maximumTextSize =
        6 * (GooglePlayPurchase.maximumTokenSize + 2 * GooglePlayPurchase.maximumNameSize) + 256

    /// The app, as the sender names it; nil for the only one.
    public let packageName: String?
    public let purchaseToken: String
    /// The product, as the sender names it. It is only a hint: the API states the products.
    public let productId: String?

    /// - Throws: `ProofRefusal`, `encodingInvalid`, for texts that no token, app or product has.
    public init(purchaseToken: String, packageName: String? = nil, productId: String? = nil) throws(ProofRefusal) {
        guard Self.isToken(purchaseToken) else {
            throw ProofRefusal(
                .encodingInvalid,
                "A purchase token must have 1 to \(GooglePlayPurchase.maximumTokenSize) visible ASCII characters.")
        }
        guard packageName.map(AppKey.isPackageName) ?? true else {
            throw ProofRefusal(.encodingInvalid, "The package name must be that of an Android app.")
        }
        guard (1...GooglePlayPurchase.maximumNameSize).contains(productId?.utf8.count ?? 1) else {
            throw ProofRefusal(
                .encodingInvalid,
                "The product identifier must have 1 to \(GooglePlayPurchase.maximumNameSize) bytes.")
        }
        self.purchaseToken = purchaseToken
        self.packageName = packageName
        self.productId = productId
    }

    /// True for a text that may be a purchase token of Google Play.
    static func isToken(_ text: String) -> Bool {
        (1...GooglePlayPurchase.maximumTokenSize).contains(text.utf8.count) && text.isVisibleASCII
    }

    /// The members of the object. Only the first is required.
    private static let members: Set = ["purchaseToken", "packageName", "productId"]

    /// Reads the JSON object of a token.
    ///
    /// - Returns: Nil if the bytes are no JSON object with the member `purchaseToken`.
    /// - Throws: `ProofRefusal`, `encodingInvalid`, if the object has another member or value than a token's.
    public init?(json bytes: [UInt8]) throws(ProofRefusal) {
        guard bytes.first == UInt8(ascii: "{"), bytes.count <= Self.maximumTextSize,
            case .object(let object)? = try? JSONParser.parse(bytes), object["purchaseToken"] != nil
        else { return nil }
        var texts: [String: String] = [:]
        for member in object.members {
            guard Self.members.contains(member.key), case .string(let text) = member.value else {
                throw ProofRefusal(
                    .encodingInvalid,
                    "A purchase token must have the string purchaseToken. It may have packageName and productId, and nothing else."
                )
            }
            texts[member.key] = text
        }
        try self.init(
            purchaseToken: texts["purchaseToken"] ?? "", packageName: texts["packageName"],
            productId: texts["productId"])
    }

    /// The JSON object of the token.
    public var json: JSONValue {
        .object([
            "purchaseToken": .string(purchaseToken), "packageName": packageName.map { .string($0) },
            "productId": productId.map { .string($0) },
        ])
    }
}

/// The names that a ledger has for the purchase tokens of Google Play.
///
/// Whoever presents a token gets its purchase, so a token is a secret like a key. The name is a keyed digest: it proves nothing, and
/// nobody without the ledger's key finds out which token it is of. It is the same before and after the order is known.
package struct PurchaseTokenNames: Hashable, Sendable {
    /// The beginning of each name. Neither an order nor a transaction of the App Store begins so.
    package static let prefix = "token-"
    /// The number of bytes of the digest in a name.
    private static let digestLength = 16

    private let key: [UInt8]

    /// - Parameter key: The ledger's random key.
    package init(key: [UInt8]) { self.key = key }

    /// The name of a token: `token-` and 32 hexadecimal digits.
    package func name(of token: String) -> String {
        let digest = MessageAuthentication.hmac(.sha256, of: Array(token.utf8), secret: key)
        return Self.prefix + digest.prefix(Self.digestLength).hexadecimal
    }
}
