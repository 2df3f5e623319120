import Proofs

extension ProofIssuer {
    /// An app receipt with an account's purchases, in base64 as an app reads it from its bundle.
    func receipt(over purchases: [Transaction], account: String, at moment: Timestamp) throws -> String {
        let opaqueValue = randomness.bytes(16)
        let device = DigestAlgorithm.sha256.digest(of: Array("device of \(account)".utf8)).prefix(16)
        let receipt = AppReceipt(
            receiptType: environment == .production ? "Production" : "ProductionSandbox",
            appItemID: appAppleIdentifier ?? 0,
            bundleIdentifier: bundleIdentifier,
            applicationVersion: "1",
            opaqueValue: opaqueValue,
            deviceHash: try AppReceipt.deviceHash(
                identifier: Array(device), opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier),
            ageRating: "4+",
            creationDate: moment,
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

    private static func inAppPurchase(_ transaction: Transaction) throws -> InAppPurchase {
        InAppPurchase(
            quantity: transaction.quantity,
            productIdentifier: transaction.productIdentifier,
            transactionIdentifier: transaction.transactionIdentifier,
            originalTransactionIdentifier: transaction.originalTransactionIdentifier,
            purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: transaction.originalPurchaseDate,
            productType: transaction.type,
            expiresDate: transaction.expiresDate,
            itemID: 0,
            webOrderLineItemID: transaction.webOrderLineItemIdentifier.flatMap { Int64($0) } ?? 0,
            cancellationDate: transaction.revocation?.date,
            isTrialPeriod: transaction.offer?.paymentMode == .freeTrial,
            isInIntroductoryOfferPeriod: transaction.offer?.kind == .introductory
                && transaction.offer?.paymentMode != .freeTrial,
            promotionalOfferIdentifier: transaction.offer?.kind == .promotional
                ? transaction.offer?.identifier ?? "" : "",
            otherAttributes: try [1709, 1714, 1715, 1716, 1717, 1718].map { try .string($0, "") } + [.integer(1722, 0)])
    }

    /// The undocumented attributes of every receipt of Apple's sandbox, with measured values. Some readers expect them.
    private func undocumentedAttributes() throws -> [ReceiptAttribute] {
        try [
            ReceiptAttribute(type: 6, value: randomness.bytes(64)),
            ReceiptAttribute(type: 7, value: randomness.bytes(64)), .date(8, nil), .integer(9, 1_345_531_957),
            .integer(11, 0), .integer(13, 180_602), .integer(14, 1), .string(20, ""), .integer(25, 3),
        ]
    }
}
