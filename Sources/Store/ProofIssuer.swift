import Commerce
import Receipts
import Signatures
import StrictJSON

/// Signs what the store has sold, in the two forms in which Apple does.
struct ProofIssuer: Sendable {
    let keys: StoreKeys
    let bundleIdentifier: String
    let storefront: Storefront
    let clock: any WallClock
    let randomness: Randomness

    /// An app receipt over an account's purchases, in base64 as an app reads it from its bundle.
    func receipt(over purchases: [(payment: Payment, purchase: PaymentTransaction.Purchase)], account: String) throws
        -> String
    {
        let opaqueValue = randomness.bytes(16)
        let device = DigestAlgorithm.sha256.digest(of: Array("device of \(account)".utf8)).prefix(16)
        let receipt = AppReceipt(
            receiptType: "ProductionSandbox",
            bundleIdentifier: bundleIdentifier,
            applicationVersion: "1",
            opaqueValue: opaqueValue,
            deviceHash: try AppReceipt.deviceHash(
                identifier: Array(device), opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier),
            creationDate: clock.now(),
            // The date and version that every receipt of Apple's sandbox has.
            originalPurchaseDate: Timestamp(rfc3339: "2013-08-01T07:00:00Z"),
            originalApplicationVersion: "1.0",
            expirationDate: nil,
            inAppPurchases: try purchases.map(Self.inAppPurchase),
            otherAttributes: try undocumentedAttributes())
        let signed = try SignedData.sign(
            receipt.payload(), with: keys.receiptSigner.key, chain: keys.receiptSigner.chain)
        return Base64.encode(signed)
    }

    /// A signed transaction, in the compact form of JWS.
    func signedTransaction(_ payment: Payment, _ purchase: PaymentTransaction.Purchase, account: String) throws
        -> String
    {
        let payload: JSONObject = [
            "transactionId": .string(purchase.transactionIdentifier),
            "originalTransactionId": .string(purchase.originalTransactionIdentifier),
            "bundleId": .string(bundleIdentifier),
            "productId": .string(payment.productIdentifier),
            "purchaseDate": .integer(purchase.purchaseDate.millisecondsSince1970),
            "originalPurchaseDate": .integer(purchase.originalPurchaseDate.millisecondsSince1970),
            "quantity": .integer(payment.quantity),
            "type": .string(ProductType.nonConsumable.rawValue),
            "inAppOwnershipType": "PURCHASED",
            "signedDate": .integer(clock.now().millisecondsSince1970),
            "environment": .string(AppStoreEnvironment.sandbox.rawValue),
            "transactionReason": "PURCHASE",
            "storefront": .string(storefront.countryCode),
            "storefrontId": .string(storefront.identifier),
            "price": .integer(purchase.price.milliunits),
            "currency": .string(purchase.price.currency),
            "appTransactionId": .string(appTransactionIdentifier(account)),
        ]
        return try SignedJSON.sign(
            .object(payload), with: keys.transactionSigner.key, chain: keys.transactionSigner.chain)
    }

    /// One number for each account and app, 18 digits like Apple's.
    private func appTransactionIdentifier(_ account: String) -> String {
        let digest = DigestAlgorithm.sha256.digest(of: Array("\(bundleIdentifier) \(account)".utf8))
        return "7" + digest.prefix(17).map { String($0 % 10) }.joined()
    }

    private static func inAppPurchase(
        _ payment: Payment,
        _ purchase: PaymentTransaction.Purchase
    ) throws -> InAppPurchase {
        InAppPurchase(
            quantity: payment.quantity,
            productIdentifier: payment.productIdentifier,
            transactionIdentifier: purchase.transactionIdentifier,
            originalTransactionIdentifier: purchase.originalTransactionIdentifier,
            purchaseDate: purchase.purchaseDate,
            originalPurchaseDate: purchase.originalPurchaseDate,
            productType: .nonConsumable,
            expiresDate: nil,
            cancellationDate: nil,
            otherAttributes: try [1709, 1714, 1715, 1716, 1717, 1718, 1721].map { try .string($0, "") }
                + [1710, 1711, 1713, 1719, 1722].map { try .integer($0, 0) })
    }

    /// What Apple's sandbox puts into every receipt besides, with the values measured there: readers that expect the
    /// attributes find them.
    private func undocumentedAttributes() throws -> [ReceiptAttribute] {
        try [
            .integer(1, 0), ReceiptAttribute(type: 6, value: randomness.bytes(64)),
            ReceiptAttribute(type: 7, value: randomness.bytes(64)), .date(8, nil), .integer(9, 1_345_531_957),
            ReceiptAttribute.ia5String(10, "4+"), .integer(11, 0), .integer(13, 180_602), .integer(14, 1),
            .integer(15, 0), .integer(16, 0), .string(20, ""), .integer(25, 3),
        ]
    }
}
