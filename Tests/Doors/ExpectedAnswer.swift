import Proofs
import TestSupport
import Testing

/// The complete answers of the RevenueCat door that tests expect. A member that a test does not state is null or empty.
enum ExpectedAnswer {
    /// The time at which the garden's store begins.
    static let start = "2026-10-31T12:00:00Z"
    private static let managementURL: JSONValue = "https://apps.apple.com/account/subscriptions"

    /// Customer info.
    ///
    /// - Parameters:
    ///   - now: The time of the answer.
    ///   - isManaged: True if a subscription of the App Store is active.
    ///   - purchases: The only purchase of each product that does not renew.
    ///   - attributes: Nil for a customer without attributes that apps may read.
    static func customer(
        _ identifier: String,
        at now: String,
        firstSeen: String = start,
        isManaged: Bool = false,
        entitlements: JSONObject = [:],
        subscriptions: JSONObject = [:],
        purchases: JSONObject = [:],
        attributes: JSONObject? = nil
    ) throws -> JSONValue {
        let moment = try #require(Timestamp(rfc3339: now))
        var subscriber: JSONObject = [
            "entitlements": .object(entitlements),
            "first_seen": .string(firstSeen),
            "last_seen": .string(now),
            "management_url": isManaged ? managementURL : .null,
            "non_subscriptions": .object(purchases.mapValues { .array([$0]) }),
            "original_app_user_id": .string(identifier),
            "original_application_version": .null,
            "original_purchase_date": .null,
            "other_purchases": .object(
                purchases.mapValues { .object(["purchase_date": $0.at("purchase_date") ?? .null]) }),
            "subscriptions": .object(subscriptions),
        ]
        if let attributes { _ = subscriber.add("subscriber_attributes", .object(attributes)) }
        return .object([
            "request_date": .string(now),
            "request_date_ms": .integer(moment.millisecondsSince1970),
            "subscriber": .object(subscriber),
        ])
    }

    /// The latest period of a subscription of the local App Store, at the standard price.
    ///
    /// - Parameters:
    ///   - transaction: The transaction of the period.
    ///   - date: The beginning of the period.
    ///   - end: The end of access.
    ///   - thousandths: The price in thousandths of a dollar.
    ///   - changes: The other values of members.
    static func subscription(
        _ transaction: String,
        bought date: String = start,
        until end: String,
        price thousandths: Int64,
        _ changes: JSONObject = [:]
    ) -> JSONValue {
        let standard: JSONObject = [
            "auto_resume_date": .null,
            "billing_issues_detected_at": .null,
            "display_name": .null,
            "expires_date": .string(end),
            "grace_period_expires_date": .null,
            "is_sandbox": .bool(true),
            "management_url": managementURL,
            "original_purchase_date": .string(start),
            "ownership_type": "PURCHASED",
            "period_type": "normal",
            "price": price(thousandths),
            "purchase_date": .string(date),
            "refunded_at": .null,
            "store": "app_store",
            "store_transaction_id": .string(transaction),
            "unsubscribe_detected_at": .null,
        ]
        return .object(changes.members.reduce(standard) { $0.replacing($1.key, with: $1.value) })
    }

    /// A grant without an end, as a subscription.
    static func grant(from date: String) -> JSONValue {
        .object([
            "auto_resume_date": .null,
            "billing_issues_detected_at": .null,
            "display_name": .null,
            "expires_date": .null,
            "grace_period_expires_date": .null,
            "is_sandbox": .bool(false),
            "management_url": .null,
            "original_purchase_date": .string(date),
            "ownership_type": "PURCHASED",
            "period_type": "normal",
            "price": .null,
            "purchase_date": .string(date),
            "refunded_at": .null,
            "store": "promotional",
            "store_transaction_id": .null,
            "unsubscribe_detected_at": .null,
        ])
    }

    /// A purchase that does not renew.
    static func purchase(_ transaction: String, bought date: String = start, price thousandths: Int64) -> JSONValue {
        // The identifier is opaque to apps, and the same in each answer.
        let name = "\(TestGarden.bundleIdentifier)/local/Sandbox/\(transaction)"
        return .object([
            "display_name": .null,
            "id": .string(DigestAlgorithm.sha256.digest(of: Array(name.utf8)).prefix(10).hexadecimal),
            "is_sandbox": .bool(true),
            "original_purchase_date": .string(date),
            "price": price(thousandths),
            "purchase_date": .string(date),
            "store": "app_store",
            "store_transaction_id": .string(transaction),
        ])
    }

    /// A right with the product that gives it.
    ///
    /// - Parameters:
    ///   - end: The end of access; nil for none.
    ///   - grace: The end of the grace period; nil for none.
    static func entitlement(
        by product: String,
        bought date: String = start,
        until end: String?,
        grace: String? = nil
    ) -> JSONValue {
        .object([
            "expires_date": end.map { .string($0) } ?? .null,
            "grace_period_expires_date": grace.map { .string($0) } ?? .null,
            "product_identifier": .string(product),
            "purchase_date": .string(date),
        ])
    }

    static func error(_ code: Int, _ message: String) -> JSONValue {
        .object(["code": .integer(code), "message": .string(message)])
    }

    private static func price(_ thousandths: Int64) -> JSONValue {
        .object(["amount": .number(JSONNumber(thousandths: thousandths)), "currency": "USD"])
    }
}

extension DoorGarden.Answer {
    /// Checks the status and the whole body. A member more or less is a failure.
    func expect(_ expected: JSONValue, status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(self.status == status, sourceLocation: sourceLocation)
        let text = String(decoding: body, as: UTF8.self)
        let found = try #require(json, "\(text)", sourceLocation: sourceLocation)
        #expect(found.differences(from: expected) == [], sourceLocation: sourceLocation)
    }

    /// Checks the whole answer with customer info, also against the schema of the SDKs.
    func expectCustomer(
        _ expected: JSONValue,
        status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try expect(expected, status: status, sourceLocation: sourceLocation)
        #expect(
            try JSONSchema(named: "CustomerInfo").violations(in: try #require(json)) == [],
            sourceLocation: sourceLocation)
    }
}

extension JSONObject {
    fileprivate func mapValues(_ transform: (JSONValue) -> JSONValue) -> JSONObject {
        members.reduce(into: JSONObject()) { _ = $0.add($1.key, transform($1.value)) }
    }
}

extension JSONValue {
    /// The value at a path of names; nil if there is none.
    func at(_ path: String...) -> JSONValue? {
        var value: JSONValue? = self
        for name in path {
            guard case .object(let object)? = value else { return nil }
            value = object[name]
        }
        return value
    }
}
