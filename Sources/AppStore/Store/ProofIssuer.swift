import Foundation
import Proofs

/// Signs transactions, renewal information and receipts in Apple's formats.
struct ProofIssuer: Sendable {
    let keys: StoreKeys
    let bundleIdentifier: String
    let environment: AppStoreEnvironment
    /// The app's number in the App Store; nil in the sandbox.
    let appAppleIdentifier: Int64?
    let randomness: Randomness

    /// A signed transaction, in the compact form of JWS.
    func signedTransaction(_ transaction: Transaction, at moment: Timestamp) throws -> String {
        try sign(try statement(transaction).statement(at: moment))
    }

    func statement(_ transaction: Transaction) throws -> TransactionStatement {
        guard let storefront = Storefront(countryCode: transaction.storefrontCountryCode) else {
            throw StoreError.storefrontNotFound(transaction.storefrontCountryCode)
        }
        return TransactionStatement(
            transactionIdentifier: transaction.transactionIdentifier,
            originalTransactionIdentifier: transaction.originalTransactionIdentifier,
            webOrderLineItemIdentifier: transaction.webOrderLineItemIdentifier,
            bundleIdentifier: bundleIdentifier,
            productIdentifier: transaction.productIdentifier,
            subscriptionGroupIdentifier: transaction.subscriptionGroupIdentifier,
            purchaseDate: transaction.purchaseDate, originalPurchaseDate: transaction.originalPurchaseDate,
            expiresDate: transaction.expiresDate, quantity: transaction.quantity, type: transaction.type,
            appAccountToken: transaction.appAccountToken, ownership: transaction.ownership,
            reason: transaction.reason, price: transaction.price, offer: transaction.offer.map(Self.statement),
            isUpgraded: transaction.isUpgraded, revocation: transaction.revocation, environment: environment,
            storefront: storefront, appTransactionIdentifier: appTransactionIdentifier(of: transaction.account))
    }

    /// Signed renewal information (JWS).
    func signedRenewalInfo(
        _ subscription: CustomerSubscription,
        _ terms: SubscriptionTerms,
        at moment: Timestamp
    ) throws -> String {
        try sign(statement(subscription, terms).statement(at: moment))
    }

    func statement(_ subscription: CustomerSubscription, _ terms: SubscriptionTerms) -> RenewalInfoStatement {
        let renewal = subscription.renewalTerms(terms)
        var graceEnd: Timestamp?
        var isInBillingRetry: Bool?
        switch subscription.state {
        case .inGracePeriod(let until, _):
            graceEnd = until
            isInBillingRetry = true
        case .inBillingRetryPeriod: isInBillingRetry = true
        case .expired(.billingError): isInBillingRetry = false
        case .subscribed, .expired, .revoked: break
        }
        let hasEnded = !subscription.isEntitled && isInBillingRetry != true
        let winBackOffers = hasEnded ? terms.product(subscription.productIdentifier)?.subscription?.offers ?? [] : []
        return RenewalInfoStatement(
            originalTransactionIdentifier: subscription.originalTransactionIdentifier,
            productIdentifier: subscription.productIdentifier,
            autoRenewProductIdentifier: subscription.autoRenewProductIdentifier,
            autoRenewStatus: subscription.isAutoRenewing ? .on : .off,
            expirationIntent: subscription.expirationIntent, isInBillingRetryPeriod: isInBillingRetry,
            gracePeriodExpiresDate: graceEnd,
            priceIncreaseStatus: subscription.priceIncrease.map {
                $0.isAccepted ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
            },
            offer: renewal?.offer.map(Self.statement),
            eligibleWinBackOfferIdentifiers: winBackOffers.filter { $0.kind == .winBack }
                .compactMap(\.identifier),
            recentSubscriptionStartDate: subscription.startDate,
            renewalDate: hasEnded ? nil : subscription.expiresDate,
            renewalPrice: subscription.isAutoRenewing ? renewal?.price : nil,
            appAccountToken: subscription.appAccountToken,
            appTransactionIdentifier: appTransactionIdentifier(of: subscription.account), environment: environment)
    }

    func signedNotification(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        _ notificationUUID: UUID,
        _ body: NotificationStatement.Body,
        at moment: Timestamp
    ) throws -> String {
        try sign(
            NotificationStatement(
                type: type, subtype: subtype, notificationUUID: notificationUUID, bundleIdentifier: bundleIdentifier,
                appAppleIdentifier: appAppleIdentifier, environment: environment, body: body
            ).statement(at: moment))
    }

    /// The signed app transaction of an account (JWS).
    func signedAppTransaction(of account: String, at moment: Timestamp) throws -> String {
        try sign(
            AppTransactionStatement(
                bundleIdentifier: bundleIdentifier, appAppleIdentifier: appAppleIdentifier, environment: environment,
                appTransactionIdentifier: appTransactionIdentifier(of: account)
            ).statement(at: moment))
    }

    /// One number for each account and app, 18 digits like Apple's.
    func appTransactionIdentifier(of account: String) -> String {
        let digest = DigestAlgorithm.sha256.digest(of: Array("\(bundleIdentifier) \(account)".utf8))
        return "7" + digest.prefix(17).map { String($0 % 10) }.joined()
    }

    private func sign(_ statement: SignedStatement) throws -> String {
        try statement.signed(with: keys.transactionSigner.key, chain: keys.transactionSigner.chain)
    }

    private static func statement(_ offer: SubscriptionOffer) -> OfferStatement {
        OfferStatement(
            kind: offer.kind, identifier: offer.identifier, paymentMode: offer.paymentMode, period: offer.period)
    }
}

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
