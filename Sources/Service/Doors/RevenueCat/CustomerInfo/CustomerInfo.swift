import Entitlements
import Features
import HTTPSupport
import Proofs

/// The protocol's customer info: everything that an app learns about a customer.
package struct CustomerInfo: Sendable {
    package var facts: CustomerInfoFacts
    /// The store page for the active subscriptions; nil if none is active. Of two stores, it is that of the App Store.
    package var managementURL: String?
    /// The latest period of each subscription, by product.
    package var subscriptions: [ByteKey: Subscription] = [:]
    /// The other purchases, by product. The oldest comes first.
    package var purchases: [ByteKey: ArraySlice<Purchase>] = [:]
    package var entitlements: [ByteKey: Entitlement] = [:]

    /// The latest period of a subscription, or a promotional grant.
    package struct Subscription: Hashable, Sendable {
        /// The kind of the period's price.
        package enum PeriodType: String, Sendable, CaseIterable {
            case normal, intro, trial, prepaid
        }

        package enum Ownership: String, Sendable, CaseIterable {
            case purchased = "PURCHASED"
            case familyShared = "FAMILY_SHARED"
        }

        /// Nil for a grant by the team.
        package var store: PurchaseStore?
        package var isSandbox: Bool
        package var purchaseDate: Timestamp
        package var originalPurchaseDate: Timestamp
        /// The end of access: of the paid period or its grace period, or the date of a refund. Nil for no end.
        package var expiresDate: Timestamp?
        package var periodType = PeriodType.normal
        package var ownership = Ownership.purchased
        package var unsubscribeDetectedAt: Timestamp?
        package var billingIssuesDetectedAt: Timestamp?
        package var gracePeriodExpiresDate: Timestamp?
        /// The end of a pause at Google Play; nil if it is not paused.
        package var autoResumeDate: Timestamp?
        package var refundedAt: Timestamp?
        /// The transaction at the App Store, or the order at Google Play; nil for a promotional grant.
        package var storeTransactionIdentifier: String?
        package var displayName: String?
        package var price: Price?
        /// The base plan at Google Play; nil if it has not stated one.
        package var planIdentifier: String?

        package func isActive(at moment: Timestamp) -> Bool { expiresDate.map { $0 > moment } ?? true }
    }

    /// A purchase that does not renew.
    package struct Purchase: Hashable, Sendable {
        /// The opaque identifier of the purchase.
        package var identifier: String
        package var store: PurchaseStore
        package var isSandbox: Bool
        package var purchaseDate: Timestamp
        package var originalPurchaseDate: Timestamp
        package var storeTransactionIdentifier: String
        package var displayName: String?
        package var price: Price?
    }

    /// A right with the purchase or grant that gives it longest.
    package struct Entitlement: Hashable, Sendable {
        /// A key of `subscriptions` or `purchases`. The SDK drops an entitlement without one.
        package var productIdentifier: String
        package var purchaseDate: Timestamp
        /// The end of access; nil for no end.
        package var expiresDate: Timestamp?
        package var gracePeriodExpiresDate: Timestamp?
        /// The base plan at Google Play; nil if it has not stated one.
        package var planIdentifier: String?

        /// True if this entitlement lasts longer than another. Of two with the same end, the later purchase does.
        func lasts(longerThan other: Entitlement) -> Bool {
            expiresDate.isLaterEnd(than: other.expiresDate)
                ?? ((purchaseDate, ByteKey(other.productIdentifier))
                    > (other.purchaseDate, ByteKey(productIdentifier)))
        }
    }

    /// The next moment at which time alone may change customer info, besides the dates of the request; nil if there is none.
    package var changesAt: Timestamp? {
        let moment = facts.requestDate
        var next: Timestamp?
        func note(_ change: Timestamp?) {
            if let change, change > moment { next = min(next ?? change, change) }
        }
        for subscription in subscriptions.values { note(subscription.expiresDate) }
        for entitlement in entitlements.values { note(entitlement.expiresDate) }
        for transaction in facts.transactions { note(transaction.turningPoint(after: moment)) }
        return next
    }
}

/// The exact JSON of the protocol, which is the same until the facts change or time changes them. Each answer adds the dates of its
/// request. A member without a value is null, as the SDKs' decoders expect it.
package struct RenderedCustomerInfo: Sendable {
    /// The JSON between the dates at the beginning and the value of `last_seen`.
    private let beforeLastSeen: [UInt8]
    /// The members of the customer after `last_seen`.
    private let afterLastSeen: [UInt8]
    /// The entity tag. It covers everything but the dates of the request, and the products that are active now. If one ends, an SDK
    /// must not use its stored answer, which has an earlier request date.
    package private(set) var tag = ""

    package init(_ info: CustomerInfo) {
        let facts = info.facts
        var json = AnswerJSON()
        json.append(#","subscriber":{"#)
        json.members("entitlements", info.entitlements) { $0.write(to: &$1) }
        json.date("first_seen", facts.firstSeen)
        json.name("last_seen")
        // Kept without the room that an array leaves for more.
        beforeLastSeen = json.bytes.withUnsafeBufferPointer { Array($0) }
        // A purchase and a subscription have fewer bytes, unless their names are long.
        json = AnswerJSON(reserving: 512 * (info.purchases.count + 1) + 768 * info.subscriptions.count)
        json.text("management_url", info.managementURL)
        json.members("non_subscriptions", info.purchases) { purchases, json in
            json.list(purchases) { $0.write(to: &$1) }
        }
        json.text("original_app_user_id", facts.identifier)
        json.text("original_application_version", facts.originalApplicationVersion)
        json.date("original_purchase_date", facts.originalPurchaseDate)
        json.members("other_purchases", info.purchases) { purchases, json in
            json.object { $0.date("purchase_date", purchases.last?.purchaseDate) }
        }
        json.members("subscriptions", info.subscriptions) { $0.write(to: &$1) }
        if !facts.attributes.isEmpty {
            let attributes = Dictionary(facts.attributes.map { (ByteKey($0.name), $0) }) { first, _ in first }
            json.members("subscriber_attributes", attributes) { $0.write(to: &$1) }
        }
        json.append("}")
        afterLastSeen = json.bytes.withUnsafeBufferPointer { Array($0) }
        tag = entityTag(of: info)
    }

    package var size: Int { beforeLastSeen.count + afterLastSeen.count + tag.utf8.count }

    /// The entity tag, of the content without its dates and of the active products. It is a digest of the parts, without a copy of all.
    private func entityTag(of info: CustomerInfo) -> String {
        let (moment, firstSeen) = (info.facts.requestDate, info.facts.firstSeen)
        let active =
            info.subscriptions.filter { $0.value.isActive(at: moment) }.map(\.key)
            + info.entitlements.filter { $0.value.expiresDate.map { $0 > moment } ?? true }.map(\.key)
        var digest = SHA256State()
        var json = AnswerJSON()
        json.append("[")
        Self.begin(&json, at: firstSeen)
        digest.update(json.bytes[...])
        digest.update(beforeLastSeen[...])
        json = AnswerJSON()
        json.string(firstSeen)
        digest.update(json.bytes[...])
        digest.update(afterLastSeen[...])
        json = AnswerJSON()
        json.append("},")
        json.list(active.sorted()[...]) { $1.string($0.text) }
        json.append("]")
        digest.update(json.bytes[...])
        return RevenueCatAnswer.entityTag(of: digest)
    }

    /// Appends the dates at the beginning.
    private static func begin(_ json: inout AnswerJSON, at requestDate: Timestamp) {
        json.append("{")
        json.date("request_date", requestDate)
        json.name("request_date_ms")
        json.append(requestDate.millisecondsSince1970)
    }

    /// - Parameters:
    ///   - lastSeen: The date of the customer's last request; nil for this one.
    ///   - attributeErrors: The attributes of the request that are not recorded.
    ///   - consumption: For each bought product at Google Play, true if the SDK is to consume it.
    package func json(
        at requestDate: Timestamp,
        lastSeen: Timestamp? = nil,
        attributeErrors: [AttributeFailure] = [],
        consumption: [ByteKey: Bool] = [:]
    ) -> [UInt8] {
        // With room for the dates.
        var json = AnswerJSON(reserving: size + 128)
        Self.begin(&json, at: requestDate)
        json.append(beforeLastSeen)
        json.string(lastSeen ?? requestDate)
        json.append(afterLastSeen)
        if !attributeErrors.isEmpty {
            json.append(#","attributes_error_response":{"attribute_errors":"#)
            json.append(JSONAnswer.encode(attributeErrors.json))
            json.append("}")
        }
        if !consumption.isEmpty {
            json.members("purchased_products", consumption) { isConsumable, json in
                json.object { $0.flag("should_consume", isConsumable) }
            }
        }
        json.append("}")
        return json.bytes
    }
}

extension CustomerInfo.Subscription {
    fileprivate func write(to json: inout AnswerJSON) {
        json.append("{")
        json.date("auto_resume_date", autoResumeDate)
        json.date("billing_issues_detected_at", billingIssuesDetectedAt)
        json.text("display_name", displayName)
        json.date("expires_date", expiresDate)
        json.date("grace_period_expires_date", gracePeriodExpiresDate)
        json.flag("is_sandbox", isSandbox)
        json.text("management_url", store?.subscriptionAddress)
        json.date("original_purchase_date", originalPurchaseDate)
        json.text("ownership_type", ownership.rawValue)
        json.text("period_type", periodType.rawValue)
        json.price("price", price)
        if let planIdentifier { json.text("product_plan_identifier", planIdentifier) }
        json.date("purchase_date", purchaseDate)
        json.date("refunded_at", refundedAt)
        json.text("store", store?.rawValue ?? "promotional")
        json.text("store_transaction_id", storeTransactionIdentifier)
        json.date("unsubscribe_detected_at", unsubscribeDetectedAt)
        json.append("}")
    }
}

extension CustomerInfo.Purchase {
    fileprivate func write(to json: inout AnswerJSON) {
        json.append("{")
        json.text("display_name", displayName)
        json.text("id", identifier)
        json.flag("is_sandbox", isSandbox)
        json.date("original_purchase_date", originalPurchaseDate)
        json.price("price", price)
        json.date("purchase_date", purchaseDate)
        json.text("store", store.rawValue)
        json.text("store_transaction_id", storeTransactionIdentifier)
        json.append("}")
    }
}

extension CustomerInfo.Entitlement {
    fileprivate func write(to json: inout AnswerJSON) {
        json.append("{")
        json.date("expires_date", expiresDate)
        json.date("grace_period_expires_date", gracePeriodExpiresDate)
        json.text("product_identifier", productIdentifier)
        if let planIdentifier { json.text("product_plan_identifier", planIdentifier) }
        json.date("purchase_date", purchaseDate)
        json.append("}")
    }
}

extension Attribute {
    fileprivate func write(to json: inout AnswerJSON) {
        json.append("{")
        json.text("value", value)
        json.name("updated_at_ms")
        json.append(statedAt.millisecondsSince1970)
        json.append("}")
    }
}
