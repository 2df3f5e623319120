import Foundation

/// The `receipt` object. Its members are in Apple's order.
struct ReceiptObject {
    private(set) var members = JSONObject()
    private let losAngeles: TimeZone

    /// - Returns: Nil if the system does not know the time zone of Los Angeles.
    init?(_ receipt: AppReceipt, requestDate: Timestamp) {
        guard let losAngeles = TimeZone(identifier: "America/Los_Angeles") else { return nil }
        self.losAngeles = losAngeles
        add("receipt_type", .string(receipt.receiptType))
        add("adam_id", receipt.appItemID.map { .integer($0) })
        add("app_item_id", receipt.appItemID.map { .integer($0) })
        add("bundle_id", .string(receipt.bundleIdentifier))
        add("application_version", .string(receipt.applicationVersion))
        add("download_id", receipt.downloadID.map { .integer($0) })
        add("version_external_identifier", receipt.versionExternalIdentifier.map { .integer($0) })
        add("receipt_creation_date", receipt.creationDate)
        add("request_date", requestDate)
        add("original_purchase_date", receipt.originalPurchaseDate)
        add("original_application_version", receipt.originalApplicationVersion.map { .string($0) })
        add("expiration_date", receipt.expirationDate)
        add("in_app", .array(receipt.inAppPurchases.map { .object(Self($0, losAngeles: losAngeles).members) }))
    }

    private init(_ purchase: InAppPurchase, losAngeles: TimeZone) {
        self.losAngeles = losAngeles
        add("quantity", .string(String(purchase.quantity)))
        add("product_id", .string(purchase.productIdentifier))
        add("transaction_id", .string(purchase.transactionIdentifier))
        add("original_transaction_id", purchase.originalTransactionIdentifier.map { .string($0) })
        add("purchase_date", purchase.purchaseDate)
        add("original_purchase_date", purchase.originalPurchaseDate)
        add("expires_date", purchase.expiresDate)
        if let identifier = purchase.webOrderLineItemID, identifier != 0 {
            add("web_order_line_item_id", .string(String(identifier)))
        }
        add("is_trial_period", purchase.isTrialPeriod.map { .string(String($0)) })
        add("is_in_intro_offer_period", purchase.isInIntroductoryOfferPeriod.map { .string(String($0)) })
        add("cancellation_date", purchase.cancellationDate)
        if let identifier = purchase.promotionalOfferIdentifier, !identifier.isEmpty {
            add("promotional_offer_id", .string(identifier))
        }
    }

    /// An entry of `latest_receipt_info`.
    init(latest transaction: TransactionStatement, losAngeles: TimeZone) {
        self.losAngeles = losAngeles
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
    init(pending renewal: RenewalInfoStatement, losAngeles: TimeZone) {
        self.losAngeles = losAngeles
        add("expiration_intent", renewal.expirationIntent.map { .string(String($0.rawValue)) })
        add("auto_renew_product_id", .string(renewal.autoRenewProductIdentifier))
        add("is_in_billing_retry_period", renewal.isInBillingRetryPeriod.map { .string($0 ? "1" : "0") })
        add("grace_period_expires_date", renewal.gracePeriodExpiresDate)
        add("price_consent_status", renewal.priceIncreaseStatus.map { .string(String($0.rawValue)) })
        add("promotional_offer_id", renewal.offer?.promotionalOfferIdentifier.map { .string($0) })
        add("offer_code_ref_name", renewal.offer?.offerCodeReferenceName.map { .string($0) })
        add("original_transaction_id", .string(renewal.originalTransactionIdentifier))
        add("product_id", .string(renewal.productIdentifier))
        add("auto_renew_status", .string(String(renewal.autoRenewStatus.rawValue)))
    }

    private mutating func add(_ key: String, _ value: JSONValue?) {
        if let value { _ = members.add(key, value) }
    }

    /// Adds the three forms of a date: in Greenwich Mean Time, in milliseconds since 1970 as a string, and in Pacific
    /// time. The key of the last ends in `_pst`, but the value observes daylight saving time.
    private mutating func add(_ key: String, _ date: Timestamp?) {
        guard let date else { return }
        let seconds = date.secondsSince1970
        let offset = losAngeles.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        add(key, .string("\(Self.text(date)) Etc/GMT"))
        add(key + "_ms", .string(String(date.millisecondsSince1970)))
        let local = Timestamp(secondsSince1970: seconds + Int64(offset))
        add(key + "_pst", .string("\(Self.text(local)) America/Los_Angeles"))
    }

    private static func text(_ date: Timestamp) -> String {
        String(date.rfc3339.dropLast().replacing("T", with: " "))
    }
}
