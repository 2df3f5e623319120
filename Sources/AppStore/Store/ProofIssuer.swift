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
