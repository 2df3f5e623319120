import Features
import Proofs

/// The protocol's customer info: everything that an app learns about a customer.
package struct CustomerInfo: Sendable {
    /// The store page on which customers manage their subscriptions.
    package static let managementURL = "https://apps.apple.com/account/subscriptions"

    package var facts: CustomerInfoFacts
    /// Nil unless a subscription of the App Store is active.
    package var managementURL: String?
    /// The latest period of each subscription, by product.
    package var subscriptions: [ByteKey: Subscription] = [:]
    /// The other purchases, by product. The oldest comes first.
    package var purchases: [ByteKey: [Purchase]] = [:]
    package var entitlements: [ByteKey: Entitlement] = [:]

    /// The latest period of a subscription, or a promotional grant.
    package struct Subscription: Hashable, Sendable {
        /// The kind of the period's price.
        package enum PeriodType: String, Sendable, CaseIterable {
            case normal, intro, trial
        }

        package enum Ownership: String, Sendable, CaseIterable {
            case purchased = "PURCHASED"
            case familyShared = "FAMILY_SHARED"
        }

        package var store: Store
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
        package var refundedAt: Timestamp?
        /// Nil for a promotional grant.
        package var storeTransactionIdentifier: String?
        package var displayName: String?
        package var price: Price?

        /// True if the customer has access at a moment.
        package func isActive(at moment: Timestamp) -> Bool { expiresDate.map { $0 > moment } ?? true }
    }

    /// A purchase that does not renew.
    package struct Purchase: Hashable, Sendable {
        /// The opaque identifier of the purchase.
        package var identifier: String
        package var store: Store
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

        /// True if this entitlement lasts longer than another. Of two with the same end, the later purchase does.
        func lasts(longerThan other: Entitlement) -> Bool {
            expiresDate.isLaterEnd(than: other.expiresDate)
                ?? ((purchaseDate, ByteKey(other.productIdentifier))
                    > (other.purchaseDate, ByteKey(productIdentifier)))
        }
    }

    /// The protocol's name of a store.
    package enum Store: String, Sendable, CaseIterable {
        case appStore = "app_store"
        /// A grant by the team.
        case promotional
    }
}

/// The exact JSON of the protocol. A member without a value is null, as the SDKs' decoders expect it.
extension CustomerInfo {
    /// - Parameter attributeErrors: The attributes of the request that are not recorded.
    /// - Returns: The answer, and the content that its entity tag covers: everything but the dates of the request, and the
    ///   products that are active now. If one ends, an SDK must not use its stored answer, which has an earlier request date.
    package func answer(attributeErrors: [AttributeFailure] = []) -> (json: JSONValue, covered: JSONValue) {
        let owned = Owned(self)
        let active =
            subscriptions.filter { $0.value.isActive(at: facts.requestDate) }.map(\.key)
            + entitlements.filter { $0.value.expiresDate.map { $0 > facts.requestDate } ?? true }.map(\.key)
        return (
            json(owned, requestDate: facts.requestDate, lastSeen: facts.lastSeen, attributeErrors),
            .array([
                json(owned, requestDate: facts.firstSeen, lastSeen: facts.firstSeen, []),
                .array(active.sorted().map { .string($0.text) }),
            ])
        )
    }

    /// The objects about products, which are made once for the answer and its entity tag.
    private struct Owned {
        let entitlements, purchases, purchaseDates, subscriptions: JSONValue

        init(_ info: CustomerInfo) {
            entitlements = .members(info.entitlements) { $0.json }
            purchases = .members(info.purchases) { .array($0.map(\.json)) }
            purchaseDates = .members(info.purchases) { .object(["purchase_date": .date($0.last?.purchaseDate)]) }
            subscriptions = .members(info.subscriptions) { $0.json }
        }
    }

    private func json(
        _ owned: Owned,
        requestDate: Timestamp,
        lastSeen: Timestamp,
        _ attributeErrors: [AttributeFailure]
    ) -> JSONValue {
        .present([
            "request_date": .date(requestDate),
            "request_date_ms": .integer(requestDate.millisecondsSince1970),
            "subscriber": subscriber(owned, lastSeen: lastSeen),
            "attributes_error_response": attributeErrors.isEmpty
                ? nil : .object(["attribute_errors": attributeErrors.json]),
        ])
    }

    private func subscriber(_ owned: Owned, lastSeen: Timestamp) -> JSONValue {
        let stated = Dictionary(facts.attributes.map { (ByteKey($0.name), $0) }) { first, _ in first }
        return .present([
            "entitlements": owned.entitlements,
            "first_seen": .date(facts.firstSeen),
            "last_seen": .date(lastSeen),
            "management_url": .text(managementURL),
            "non_subscriptions": owned.purchases,
            "original_app_user_id": .string(facts.identifier),
            "original_application_version": .text(facts.originalApplicationVersion),
            "original_purchase_date": .date(facts.originalPurchaseDate),
            "other_purchases": owned.purchaseDates,
            "subscriptions": owned.subscriptions,
            "subscriber_attributes": facts.attributes.isEmpty ? nil : .members(stated) { $0.json },
        ])
    }
}

extension CustomerInfo.Subscription {
    fileprivate var json: JSONValue {
        .object([
            "auto_resume_date": .null,
            "billing_issues_detected_at": .date(billingIssuesDetectedAt),
            "display_name": .text(displayName),
            "expires_date": .date(expiresDate),
            "grace_period_expires_date": .date(gracePeriodExpiresDate),
            "is_sandbox": .bool(isSandbox),
            "management_url": .text(store == .appStore ? CustomerInfo.managementURL : nil),
            "original_purchase_date": .date(originalPurchaseDate),
            "ownership_type": .string(ownership.rawValue),
            "period_type": .string(periodType.rawValue),
            "price": .price(price),
            "purchase_date": .date(purchaseDate),
            "refunded_at": .date(refundedAt),
            "store": .string(store.rawValue),
            "store_transaction_id": .text(storeTransactionIdentifier),
            "unsubscribe_detected_at": .date(unsubscribeDetectedAt),
        ])
    }
}

extension CustomerInfo.Purchase {
    fileprivate var json: JSONValue {
        .object([
            "display_name": .text(displayName),
            "id": .string(identifier),
            "is_sandbox": .bool(isSandbox),
            "original_purchase_date": .date(originalPurchaseDate),
            "price": .price(price),
            "purchase_date": .date(purchaseDate),
            "store": .string(store.rawValue),
            "store_transaction_id": .string(storeTransactionIdentifier),
        ])
    }
}

extension CustomerInfo.Entitlement {
    fileprivate var json: JSONValue {
        .object([
            "expires_date": .date(expiresDate),
            "grace_period_expires_date": .date(gracePeriodExpiresDate),
            "product_identifier": .string(productIdentifier),
            "purchase_date": .date(purchaseDate),
        ])
    }
}

extension Attribute {
    fileprivate var json: JSONValue {
        .object(["value": .text(value), "updated_at_ms": .integer(statedAt.millisecondsSince1970)])
    }
}
