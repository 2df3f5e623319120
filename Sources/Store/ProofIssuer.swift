import Commerce
import Receipts
import Signatures

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
            appItemID: 0,
            bundleIdentifier: bundleIdentifier,
            applicationVersion: "1",
            opaqueValue: opaqueValue,
            deviceHash: try AppReceipt.deviceHash(
                identifier: Array(device), opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier),
            ageRating: "4+",
            creationDate: clock.now(),
            downloadID: 0,
            versionExternalIdentifier: 0,
            inAppPurchases: try purchases.map(Self.inAppPurchase),
            // The date and version that every receipt of Apple's sandbox has.
            originalPurchaseDate: Timestamp(rfc3339: "2013-08-01T07:00:00Z"),
            originalApplicationVersion: "1.0",
            otherAttributes: try undocumentedAttributes())
        let signed = try SignedData.sign(
            receipt.payload(), with: keys.receiptSigner.key, chain: keys.receiptSigner.chain)
        return Base64.encode(signed)
    }

    /// A signed transaction, in the compact form of JWS.
    func signedTransaction(_ payment: Payment, _ purchase: PaymentTransaction.Purchase, account: String) throws
        -> String
    {
        try TransactionStatement(
            bundleIdentifier: bundleIdentifier, payment: payment, purchase: purchase, type: .nonConsumable,
            environment: .sandbox, storefront: storefront,
            appTransactionIdentifier: appTransactionIdentifier(account), signedDate: clock.now()
        ).signed(with: keys.transactionSigner.key, chain: keys.transactionSigner.chain)
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
            itemID: 0,
            webOrderLineItemID: 0,
            isTrialPeriod: false,
            isInIntroductoryOfferPeriod: false,
            promotionalOfferIdentifier: "",
            otherAttributes: try [1709, 1714, 1715, 1716, 1717, 1718].map { try .string($0, "") } + [.integer(1722, 0)])
    }

    /// What Apple's sandbox puts into every receipt besides, with the values measured there: readers that expect the
    /// attributes find them.
    private func undocumentedAttributes() throws -> [ReceiptAttribute] {
        try [
            ReceiptAttribute(type: 6, value: randomness.bytes(64)),
            ReceiptAttribute(type: 7, value: randomness.bytes(64)), .date(8, nil), .integer(9, 1_345_531_957),
            .integer(11, 0), .integer(13, 180_602), .integer(14, 1), .string(20, ""), .integer(25, 3),
        ]
    }
}
