import Catalog
import Foundation
import GRDB
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
}

extension ProofIssuer {
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

/// The store's database inside one transaction, at one moment of the clocks. Use cases read and write it.
package struct Books {
    let database: Database
    let configuration: StoreKitConfiguration
    let issuer: ProofIssuer
    let settings: StoreSettings
    /// The database with the team's keys: that of the main store for a named one; nil for this database.
    let teamKeyQueue: DatabaseQueue?
    /// The time of the machine's clock.
    let machineTime: Timestamp
    /// The time of the store's clock, or the moment of `at`. What belongs to an account has the time of `now(of:)`.
    var now: Timestamp
    /// True at the moment of `at`, which is then the time of every account.
    var isAtMoment = false

    var randomness: Randomness { issuer.randomness }
    package var state: StateRecords { StateRecords(database: database) }
    package var payments: PaymentRecords { PaymentRecords(database: database) }
    package var transactions: TransactionRecords { TransactionRecords(database: database) }
    var subscriptions: SubscriptionRecords { SubscriptionRecords(database: database) }
    package var notifications: NotificationRecords { NotificationRecords(database: database) }

    var terms: SubscriptionTerms { settings.terms(of: configuration, at: now) }
    var storefront: Storefront { terms.storefront }

    /// The same books at another moment, such as when an event became due.
    func at(_ moment: Timestamp) -> Books {
        var books = self
        (books.now, books.isAtMoment) = (moment, true)
        return books
    }
}
