import Catalog
import Entitlements
import Proofs
import Service
import TestSupport
import Testing

/// Customer info from the facts behind a recorded answer of the real service, held against that answer.
@Suite(.enabled(if: Vectors.areAvailable)) struct RecordedCustomerInfoTests {
    @Test(arguments: [("CustomerInfo", 2), ("CustomerInfo-v2", 3)])
    func `the facts behind a recorded answer lead to the same subscriptions`(answer: String, count: Int) throws {
        let recording = try Recording(answer)
        let answer = try recording.answer()
        let recorded = try recording.member("subscriptions").members
        let ours = try answer.member("subscriptions")
        let fromAppStore = recorded.filter { $0.value.text("store") == "app_store" }
        #expect(fromAppStore.count == count)
        for subscription in fromAppStore {
            let expected = try #require(subscription.value.object)
            let found = try #require(ours[subscription.key]?.object)
            for member in expected.members { #expect(found[member.key] == member.value, "\(member.key)") }
        }
    }

    @Test(arguments: ["CustomerInfo", "CustomerInfo-v2"])
    func `the facts behind a recorded answer lead to the same customer`(answer: String) throws {
        let recording = try Recording(answer)
        let answer = try recording.answer()
        #expect(answer.root["request_date"] == recording.root["request_date"])
        #expect(answer.root["request_date_ms"] == recording.root["request_date_ms"])
        for name in [
            "first_seen", "last_seen", "management_url", "original_app_user_id", "original_application_version",
            "original_purchase_date",
        ] {
            #expect(answer.subscriber[name] == recording.subscriber[name], "\(name)")
        }
        for name in ["entitlements", "non_subscriptions", "other_purchases"] {
            #expect(
                try answer.member(name).keys.sorted() == recording.member(name).keys.sorted(), "\(name)")
        }
    }

    @Test func `the facts behind a recorded answer lead to the same entitlement`() throws {
        let recording = try Recording("CustomerInfo-v2")
        let expected = try #require(try recording.member("entitlements")["premium"]?.object)
        let found = try #require(try recording.answer().member("entitlements")["premium"]?.object)
        for member in expected.members { #expect(found[member.key] == member.value, "\(member.key)") }
    }

    @Test func `the facts behind a recorded answer lead to the same other purchases`() throws {
        let recording = try Recording("CustomerInfo")
        for purchases in try recording.member("non_subscriptions").members {
            let found = try #require(try recording.answer().member("non_subscriptions")[purchases.key]?.elements)
            let recorded = try #require(purchases.value.elements)
            #expect(found.count == recorded.count)
            for (purchase, expected) in zip(found, recorded) {
                // The identifier is the real service's own.
                for member in try #require(expected.object).members where member.key != "id" {
                    #expect(purchase.object?[member.key] == member.value, "\(member.key)")
                }
            }
        }
    }
}

/// An answer with customer info.
private struct Recording {
    let root: JSONObject
    let subscriber: JSONObject

    init(_ name: String) throws {
        try self.init(try RecordedAnswerTests.recorded(name))
    }

    init(_ answer: JSONValue) throws {
        root = try #require(answer.object)
        subscriber = try #require(root["subscriber"]?.object)
    }

    func member(_ name: String) throws -> JSONObject { try #require(subscriber[name]?.object) }

    func answer() throws -> Recording {
        let facts = try facts()
        return try Recording(
            JSONParser.parse(
                RenderedCustomerInfo(CustomerInfo(facts)).json(
                    at: facts.requestDate, lastSeen: subscriber.date("last_seen"))))
    }

    private func facts() throws -> CustomerInfoFacts {
        guard case .number(let number)? = root["request_date_ms"], let requestDate = number.int64 else {
            throw Missing()
        }
        var facts = CustomerInfoFacts(
            identifier: subscriber.text("original_app_user_id") ?? "",
            requestDate: Timestamp(millisecondsSince1970: requestDate),
            firstSeen: try #require(subscriber.date("first_seen")))
        facts.originalApplicationVersion = subscriber.text("original_application_version")
        facts.originalPurchaseDate = subscriber.date("original_purchase_date")
        for (index, member) in try self.member("subscriptions").members.enumerated() {
            let subscription = try #require(member.value.object)
            let identifier = "subscription-\(index)"
            facts.transactions.append(
                try transaction(
                    identifier, of: member.key, subscription, type: .autoRenewableSubscription,
                    until: subscription.date("expires_date")))
            guard let date = subscription.date("unsubscribe_detected_at") else { continue }
            facts.renewals[TransactionKey(app: "app", origin: .appleSandbox, identifier: identifier)] = StatedRenewal(
                statedAt: date, proofDigest: [], facts: RenewalFacts([.autoRenewStatus: .integer(0)]))
        }
        for member in try self.member("non_subscriptions").members {
            for element in member.value.elements ?? [] {
                let purchase = try #require(element.object)
                facts.transactions.append(
                    try transaction(
                        purchase.text("store_transaction_id") ?? "", of: member.key, purchase, type: .consumable,
                        until: nil))
            }
        }
        facts.rights = try self.member("entitlements").members.map { member in
            RightSources(
                name: member.key,
                products: [try #require(member.value.text("product_identifier"))], items: [])
        }
        return facts
    }

    private func transaction(
        _ identifier: String,
        of product: String,
        _ recorded: JSONObject,
        type: ProductType,
        until end: Timestamp?
    ) throws -> RedeemedTransaction {
        var stated: [TransactionFact: StatedValue] = [.type: .text(type.rawValue)]
        stated[.originalPurchaseDate] = recorded.date("original_purchase_date").map {
            .integer($0.millisecondsSince1970)
        }
        if recorded.text("period_type") == "intro" { stated[.offerType] = .integer(1) }
        let purchaseDate = try #require(recorded.date("purchase_date"))
        return RedeemedTransaction(
            sequence: 1, origin: recorded["is_sandbox"] == .bool(true) ? .appleSandbox : .appleProduction,
            transactionIdentifier: identifier, originalTransactionIdentifier: identifier, productIdentifier: product,
            purchaseDate: purchaseDate, redeemedAt: purchaseDate,
            app: "app", expiresAt: end, facts: TransactionFacts(stated))
    }

    private struct Missing: Error {}
}

extension JSONObject {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    fileprivate func date(_ name: String) -> Timestamp? { text(name).flatMap { Timestamp(rfc3339: $0) } }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String? { object?.text(name) }

    fileprivate var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    fileprivate var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
}
