import Proofs

/// The exact JSON of the protocol. A member without a value is null, as the SDKs' decoders expect it.
extension CustomerInfo {
    package var json: JSONValue { json(attributeErrors: []) }

    /// - Parameter attributeErrors: The attributes of the request that are not recorded.
    func json(attributeErrors: [AttributeFailure]) -> JSONValue {
        var object: JSONObject = [
            "request_date": .date(requestDate),
            "request_date_ms": .integer(requestDate.millisecondsSince1970),
            "subscriber": .object(subscriber),
        ]
        if !attributeErrors.isEmpty {
            _ = object.add("attributes_error_response", .object(["attribute_errors": attributeErrors.json]))
        }
        return .object(object)
    }

    /// The content for the entity tag: everything but the dates of the request, and the products that are active now. If one
    /// ends, an SDK must not use its stored answer, which has an earlier request date.
    package var contentForEntityTag: JSONValue {
        var content = self
        content.requestDate = firstSeen
        content.lastSeen = firstSeen
        let active =
            subscriptions.filter { $0.value.isActive(at: requestDate) }.keys.map(\.text)
            + entitlements.filter { $0.value.expiresDate.map { $0 > requestDate } ?? true }.keys.map(\.text)
        return .array([content.json, .array(active.map { ByteKey($0) }.sorted().map { .string($0.text) })])
    }

    private var subscriber: JSONObject {
        var object: JSONObject = [
            "entitlements": .members(entitlements) { $0.json },
            "first_seen": .date(firstSeen),
            "last_seen": .date(lastSeen),
            "management_url": .text(managementURL),
            "non_subscriptions": .members(purchases) { .array($0.map(\.json)) },
            "original_app_user_id": .string(originalAppUserIdentifier),
            "original_application_version": .text(originalApplicationVersion),
            "original_purchase_date": .date(originalPurchaseDate),
            "other_purchases": .members(purchases) { .object(["purchase_date": .date($0.last?.purchaseDate)]) },
            "subscriptions": .members(subscriptions) { $0.json },
        ]
        if !attributes.isEmpty {
            let members = attributes.map { (ByteKey($0.name), $0) }
            _ = object.add(
                "subscriber_attributes", .members(Dictionary(members) { first, _ in first }) { $0.json })
        }
        return object
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

extension CustomerAttribute {
    fileprivate var json: JSONValue {
        .object(["value": .text(value), "updated_at_ms": .integer(updatedAt.millisecondsSince1970)])
    }
}
