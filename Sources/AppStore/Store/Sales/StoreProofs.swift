import Catalog
import GRDB
import HTTPSupport
import Proofs

/// Signs transactions, renewal information and receipts in Apple's formats.
struct ProofIssuer: Sendable {
    var keys: StoreKeys
    let bundleIdentifier: String
    let environment: AppStoreEnvironment
    /// The app's number in the App Store; nil if nobody has named it.
    let knownAppAppleIdentifier: Int64?
    /// The number in proofs; nil in the sandbox.
    var appAppleIdentifier: Int64? { environment == .production ? knownAppAppleIdentifier : nil }
    let randomness: Randomness

    /// The signed app transaction of an identifier (StoreKit, `AppTransaction`; JWS). Every app in Apple's sandbox has this version,
    /// platform and original purchase date.
    func signedAppTransaction(_ appTransactionIdentifier: String, at moment: Timestamp) throws -> String {
        try sign([
            "receiptType": environment.rawValue, "appAppleId": appAppleIdentifier, "bundleId": bundleIdentifier,
            "applicationVersion": "1", "versionExternalIdentifier": 0, "receiptCreationDate": moment,
            "originalPurchaseDate": Timestamp(rfc3339: "2013-08-01T07:00:00Z"), "originalApplicationVersion": "1.0",
            "appTransactionId": appTransactionIdentifier, "originalPlatform": PurchasePlatform.iOS.rawValue,
        ])
    }

    /// One number for each account and app, 18 digits like Apple's. The last four follow from the others.
    func appTransactionIdentifier(of account: String) -> String {
        let number = "7" + digits(13, of: account)
        return number + digits(4, of: number)
    }

    /// True for the app transactions of this app, also of accounts that have bought nothing.
    func isAppTransactionIdentifier(_ text: String) -> Bool {
        text.utf8.count == 18 && text.hasPrefix("7") && text.hasSuffix(digits(4, of: String(text.prefix(14))))
    }

    private func digits(_ count: Int, of text: String) -> String {
        let digest = DigestAlgorithm.sha256.digest(of: Array("\(bundleIdentifier) \(text)".utf8))
        return digest.prefix(count).map { String($0 % 10) }.joined()
    }

    func sign(_ fields: StatementFields) throws -> String {
        let chain = try keys.chain(.transactions)
        return try SignedJSON.sign(fields.json, with: chain.leaf.key, chain: chain.certificates)
    }

    /// An app receipt with an account's purchases, in base64 as an app reads it from its bundle.
    func receipt(over purchases: [Transaction], account: String, at moment: Timestamp) throws -> String {
        let opaqueValue = randomness.bytes(16)
        let device = DigestAlgorithm.sha256.digest(of: Array("device of \(account)".utf8)).prefix(16)
        var receipt = AppReceipt()
        receipt.receiptType = environment == .production ? "Production" : "ProductionSandbox"
        receipt.appItemID = appAppleIdentifier ?? 0
        receipt.bundleIdentifier = bundleIdentifier
        receipt.applicationVersion = "1"
        receipt.opaqueValue = opaqueValue
        receipt.deviceHash = try AppReceipt.deviceHash(
            identifier: Array(device), opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier)
        receipt.ageRating = "4+"
        receipt.creationDate = moment
        receipt.downloadID = 0
        receipt.versionExternalIdentifier = 0
        receipt.inAppPurchases = try purchases.map(Self.inAppPurchase)
        // The date and version that every receipt of Apple's sandbox has.
        receipt.originalPurchaseDate = Timestamp(rfc3339: "2013-08-01T07:00:00Z")
        receipt.originalApplicationVersion = "1.0"
        receipt.otherAttributes = try undocumentedAttributes()
        let chain = try keys.chain(.receipts)
        let signed = try SignedData.sign(receipt.payload(), with: chain.leaf.key, chain: chain.certificates)
        return Base64.encode(signed)
    }

    private static func inAppPurchase(_ transaction: Transaction) throws -> InAppPurchase {
        var purchase = InAppPurchase()
        purchase.quantity = transaction.quantity
        purchase.productIdentifier = transaction.productIdentifier
        purchase.transactionIdentifier = transaction.transactionIdentifier
        purchase.originalTransactionIdentifier = transaction.originalTransactionIdentifier
        purchase.purchaseDate = transaction.purchaseDate
        purchase.originalPurchaseDate = transaction.originalPurchaseDate
        purchase.productType = transaction.type
        purchase.expiresDate = transaction.expiresDate
        purchase.itemID = 0
        purchase.webOrderLineItemID = transaction.webOrderLineItemIdentifier.flatMap { Int64($0) } ?? 0
        purchase.cancellationDate = transaction.revocation?.date
        purchase.isTrialPeriod = transaction.offer?.isTrial ?? false
        purchase.isInIntroductoryOfferPeriod = transaction.offer?.isIntroductoryPrice ?? false
        purchase.promotionalOfferIdentifier = transaction.offer?.promotionalOfferIdentifier ?? ""
        purchase.otherAttributes =
            try [1709, 1714, 1715, 1716, 1717, 1718].map { try .string($0, "") } + [.integer(1722, 0)]
        return purchase
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

/// The proofs of purchases, for a service to verify.
extension Books {
    /// The app receipt of an account, in base64. `ReceiptContents` decides which transactions it has.
    package func receipt(account: String) throws -> String {
        let purchases = ReceiptContents.transactions(
            of: try transactions.transactions(of: account),
            unfinished: try unfinishedTransactionIdentifiers(of: account))
        return try issuer.receipt(over: purchases, account: account, at: try now(of: account))
    }

    /// The signed form (JWS) of one transaction of the queue, as the app gets it.
    package func signedTransaction(_ identifier: Int64) throws -> String {
        guard let purchase = try queued(identifier).transaction.purchase,
            let sold = try transactions.transaction(purchase.transactionIdentifier)
        else { throw StoreError.notPurchased(identifier) }
        return try signedForApp(sold)
    }

    /// The signed form (JWS) of a transaction, as the app gets it.
    package func signedTransaction(of transactionIdentifier: String) throws -> String {
        try signedForApp(try sale(transactionIdentifier))
    }

    /// The signed form of a transaction. Its signature is invalid if verification is simulated to fail.
    private func signedForApp(_ transaction: Transaction) throws -> String {
        let signed = try signed(transaction)
        return settings.simulatedErrors[.verification] == nil ? signed : Self.damaged(signed)
    }

    /// The same JWS with another signature.
    private static func damaged(_ compact: String) -> String {
        let parts = compact.split(separator: ".")
        guard parts.count == 3, let first = parts[2].first else { return compact }
        return "\(parts[0]).\(parts[1]).\(first == "A" ? "B" : "A")\(parts[2].dropFirst())"
    }
}

/// The requests of an app to StoreKit besides purchases. Each fails if the settings simulate an error.
extension Books {
    /// The products for sale (StoreKit, `Product.products(for:)`).
    package func products() throws -> [Product] {
        try throwSimulatedError(.loadProducts)
        return configuration.products
    }

    /// The states of an account's subscriptions (StoreKit, `Product.SubscriptionInfo.status`).
    package func subscriptionStatuses(of account: String) throws -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        try throwSimulatedError(.subscriptionStatus)
        return try statusItems(subscriptions.subscriptions(of: account))
    }

    /// The signed app transaction (JWS) of an account (StoreKit, `AppTransaction.shared`).
    package func signedAppTransaction(of account: String) throws -> String {
        try throwSimulatedError(.appTransaction)
        return try issuer.signedAppTransaction(
            issuer.appTransactionIdentifier(of: account), at: try now(of: account))
    }

    /// - Throws: `StoreError`, `simulated`.
    func throwSimulatedError(_ call: StoreKitCall) throws {
        if let failure = settings.simulatedErrors[call] { throw StoreError.simulated(call, failure) }
    }

    /// Deletes all sales and notifications. Keys, settings and the times stay (StoreKitTest, `clearTransactions`).
    package func clearSales() throws {
        try transactions.storeLastChange()
        for table in [
            "payment_transaction", "consumption", "subscription", "app_store_transaction", "send_attempt",
            "notification", "mass_extension", "seat_claim", "used_nonce", "external_purchase_token",
            "external_purchase_report", "external_purchase_line_item",
        ] {
            try database.execute(sql: "DELETE FROM \(table)")
        }
    }

    func count(_ table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}

/// The transactions of an app receipt.
package enum ReceiptContents {
    /// The identifiers of the transactions that the app has yet to finish.
    package static func unfinished(in queue: [PaymentTransaction]) -> Set<String> {
        Set(queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.transactionIdentifier))
    }

    /// The transactions of a history that the receipt has: the unfinished ones, every period of a subscription, and the
    /// latest transaction of each non-consumable.
    ///
    /// - Parameter history: All transactions of the account, the oldest first.
    package static func transactions(of history: [Transaction], unfinished: Set<String>) -> [Transaction] {
        let latest = Dictionary(
            history.map { ($0.productIdentifier, $0.transactionIdentifier) }, uniquingKeysWith: { $1 })
        return history.filter { transaction in
            if unfinished.contains(transaction.transactionIdentifier) { return true }
            return switch transaction.type {
            case .consumable: false
            case .autoRenewableSubscription, .nonRenewingSubscription: true
            case .nonConsumable: latest[transaction.productIdentifier] == transaction.transactionIdentifier
            }
        }
    }
}
