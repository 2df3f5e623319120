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
        guard case .string(let data) = purchase, case .string(let signature)? = object["signature"],
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
        let value: JSONValue
        do { value = try JSONParser.parse(purchase.data) } catch {
            throw ProofRefusal(.payloadInvalid, "In its JSON, \(error.message).")
        }
        // SHA-1 is too weak to identify a proof.
        let statement = try GooglePlayPurchase(
            PayloadFields(value), key: key, digest: DigestAlgorithm.sha256.digest(of: purchase.data))
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
