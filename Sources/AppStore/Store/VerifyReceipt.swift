import Foundation
import Proofs

/// A request to verifyReceipt (Apple, "requestBody").
package struct VerifyReceiptRequest: Decodable, Sendable {
    let receiptData: String?
    let password: String?
    let excludeOldTransactions: Bool?

    private enum CodingKeys: String, CodingKey {
        case receiptData = "receipt-data"
        case password
        case excludeOldTransactions = "exclude-old-transactions"
    }

    /// A value of another type counts as missing: Apple has a status of its own for each.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        receiptData = try? container.decode(String.self, forKey: .receiptData)
        password = try? container.decode(String.self, forKey: .password)
        excludeOldTransactions = try? container.decode(Bool.self, forKey: .excludeOldTransactions)
    }
}

extension Store {
    /// `POST /verifyReceipt`: the contents of the receipt, and the present state of its subscriptions.
    ///
    /// - Parameters:
    /// - request: Nil if the request could not be read.
    /// - environment: The environment of the request. Production rejects sandbox receipts, and the sandbox production receipts.
    package func verifyReceipt(
        _ request: VerifyReceiptRequest?,
        environment: AppStoreEnvironment
    ) throws(StoreError) -> VerifyReceiptAnswer {
        if let number = try settings().verifyReceiptStatus {
            return VerifyReceiptAnswer(statusNumber: number, environment: environment)
        }
        guard let request else { return VerifyReceiptAnswer(statusNumber: 21000, environment: environment) }
        guard let receiptData = request.receiptData else {
            return VerifyReceiptAnswer(statusNumber: 21002, environment: environment)
        }
        let proof = Array(receiptData.utf8)
        let verifier: ProofVerifier
        do {
            verifier = ProofVerifier(
                anchors: try TrustAnchors(rootCertificates.compactMap { try TrustAnchor($0) }), clock: latestClock)
        } catch { throw .signingFailed("\(error)") }
        let purchases = try? verifier.verify(proof, expecting: ProofExpectations(origins: Set(Origin.allCases)))
            .purchases
        let (account, now) = try read { books -> (String?, Timestamp) in
            let account = try books.account(ofAny: purchases ?? [])
            return (account, try account.map(books.now(of:)) ?? books.now)
        }
        // The verifier reads the store's clock, so no transaction of the store's database may be open.
        let answer = VerifyReceiptAnswer(to: proof, environment: environment, verifier: verifier, requestDate: now)
        guard answer.status == .valid, let account else { return answer }
        return try read { books in
            // Apple documents it for `latest_receipt_info` alone (App Store Receipts, "in_app_ownership_type"), and answers have it in
            // the receipt, too (developer.apple.com/forums/thread/705027).
            let stated = try answer.adding(
                "in_app_ownership_type",
                toPurchases: { identifier in
                    try books.transactions.transaction(identifier)?.ownership.rawValue
                })
            return try books.addSubscriptions(to: stated, account: account, request, environment: environment)
        }
    }
}

extension Books {
    /// The account that made one of some purchases; nil if the store knows none of them.
    fileprivate func account(ofAny purchases: [ProvenPurchase]) throws -> String? {
        for purchase in purchases {
            if let known = try transactions.transaction(purchase.transactionIdentifier) { return known.account }
        }
        return nil
    }

    fileprivate func addSubscriptions(
        to answer: VerifyReceiptAnswer,
        account: String,
        _ request: VerifyReceiptRequest,
        environment: AppStoreEnvironment
    ) throws -> VerifyReceiptAnswer {
        let known = try subscriptions.subscriptions(of: account)
        guard !known.isEmpty else { return answer }
        if let secret = settings.sharedSecret, request.password != secret {
            return VerifyReceiptAnswer(statusNumber: 21004, environment: environment)
        }
        var sold: [Transaction] = []
        for subscription in known {
            let periods = try transactions.transactions(original: subscription.originalTransactionIdentifier)
            sold += request.excludeOldTransactions == true ? periods.suffix(1) : periods
        }
        // The latest first, as in Apple's answers.
        sold.sort { $0.purchaseDate > $1.purchaseDate }
        let latest = try receipt(account: account)
        let transactions = sold.compactMap(ReceiptObject.init(latest:))
        let renewals = known.compactMap { ReceiptObject(pending: RenewalInfoStatement(subscription: $0, terms: terms)) }
        guard transactions.count == sold.count, renewals.count == known.count else {
            return VerifyReceiptAnswer(statusNumber: 21009, environment: environment)
        }
        return answer.adding([
            ("latest_receipt_info", .array(transactions.map { .object($0.members) })),
            ("latest_receipt", .string(latest)),
            ("pending_renewal_info", .array(renewals.map { .object($0.members) })),
        ])
    }
}

/// The store's records of an account's subscriptions (Apple, "responseBody": `latest_receipt_info`, `pending_renewal_info`).
extension ReceiptObject {
    /// An entry of `latest_receipt_info`.
    fileprivate init?(latest transaction: Transaction) {
        self.init()
        add("quantity", .string(String(transaction.quantity)))
        add("product_id", .string(transaction.productIdentifier))
        add("transaction_id", .string(transaction.transactionIdentifier))
        add("original_transaction_id", .string(transaction.originalTransactionIdentifier))
        add("purchase_date", transaction.purchaseDate)
        add("original_purchase_date", transaction.originalPurchaseDate)
        add("expires_date", transaction.expiresDate)
        add("web_order_line_item_id", transaction.webOrderLineItemIdentifier.map { .string($0) })
        add("is_trial_period", .string(String(transaction.offer?.isTrial ?? false)))
        add("is_in_intro_offer_period", .string(String(transaction.offer?.isIntroductoryPrice ?? false)))
        add("cancellation_date", transaction.revocation?.date)
        add("cancellation_reason", transaction.revocation.map { .string(String($0.reason.rawValue)) })
        if transaction.isUpgraded { add("is_upgraded", .string("true")) }
        add("promotional_offer_id", transaction.offer?.promotionalOfferIdentifier.map { .string($0) })
        add("offer_code_ref_name", transaction.offer?.offerCodeReferenceName.map { .string($0) })
        add("in_app_ownership_type", .string(transaction.ownership.rawValue))
        add("subscription_group_identifier", transaction.subscriptionGroupIdentifier.map { .string($0) })
        add("app_account_token", transaction.appAccountToken.map { .string($0.uuidString.lowercased()) })
    }

    /// An entry of `pending_renewal_info`.
    fileprivate init?(pending renewal: RenewalInfoStatement) {
        self.init()
        add("expiration_intent", renewal.subscription.expirationIntent.map { .string(String($0.rawValue)) })
        add("auto_renew_product_id", .string(renewal.subscription.nextProductIdentifier))
        add("is_in_billing_retry_period", renewal.isInBillingRetryPeriod.map { .string($0 ? "1" : "0") })
        add("grace_period_expires_date", renewal.gracePeriodExpiresDate)
        add("price_consent_status", renewal.priceIncreaseStatus.map { .string(String($0.rawValue)) })
        add("promotional_offer_id", renewal.offer?.promotionalOfferIdentifier.map { .string($0) })
        add("offer_code_ref_name", renewal.offer?.offerCodeReferenceName.map { .string($0) })
        add("original_transaction_id", .string(renewal.subscription.originalTransactionIdentifier))
        add("product_id", .string(renewal.subscription.productIdentifier))
        add("auto_renew_status", .string(String(renewal.autoRenewStatus.rawValue)))
    }
}
