import Commerce
import Entitlements
import Foundation
import HTTPTypes
import Store
import StrictJSON
import TestSupport
import Testing

/// A customer's life over the door of RevenueCat's SDKs, with the real proofs of the local App Store.
@Suite struct RevenueCatLifeTests {
    static let anonymous = "$RCAnonymousID:" + String(repeating: "a1", count: 16)

    /// The body of a receipt request.
    static func receipt(
        _ proof: String,
        of user: String,
        product: String? = nil,
        transaction: String? = nil,
        isRestore: Bool = false
    ) -> JSONValue {
        var object: JSONObject = [
            "app_user_id": .string(user), "fetch_token": .string(proof), "is_restore": .bool(isRestore),
            "price": .string("4.99"), "observer_mode": .bool(false), "payload_version": .integer(1),
        ]
        if let product { _ = object.add("product_id", .string(product)) }
        if let transaction { _ = object.add("transaction_id", .string(transaction)) }
        return .object(object)
    }

    static func path(of user: String, _ rest: String = "") -> String {
        "/v1/subscribers/" + (user.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + rest
    }

    /// Checks an answer with customer info against the schema.
    private func info(_ answer: DoorGarden.Answer, status: Int = 200) throws -> JSONValue {
        #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
        let json = try #require(answer.json)
        #expect(try JSONSchema(named: "CustomerInfo").violations(in: json) == [])
        return json
    }

    private func names(_ value: JSONValue?) -> [String] {
        guard case .object(let object)? = value else { return [] }
        return object.keys.sorted()
    }

    @Test func `an app is configured, sells, and shows what its customer owns`() async throws {
        let door = try await DoorGarden()
        let path = Self.path(of: Self.anonymous)
        let unknown = try await door.send(.get, path)
        #expect(try names(info(unknown).at("subscriber", "subscriptions")) == [])
        #expect(unknown["subscriber", "original_app_user_id"] == .string(Self.anonymous))

        let offerings = try await door.send(.get, path + "/offerings")
        #expect(try JSONSchema(named: "Offerings").violations(in: try #require(offerings.json)) == [])
        #expect(offerings["current_offering_id"] == .string("default"))
        let mapping = try await door.send(.get, "/v1/product_entitlement_mapping")
        #expect(try JSONSchema(named: "ProductEntitlementMapping").violations(in: try #require(mapping.json)) == [])
        #expect(
            names(mapping["product_entitlement_mapping"]) == [
                "garden.basic.monthly", "garden.basic.yearly", "garden.gate", "garden.premium.monthly",
            ])

        let bought = try door.buy("garden.premium.monthly")
        let answer = try await door.send(
            .post, "/v1/receipts", Self.receipt(bought.proof, of: Self.anonymous, product: "garden.premium.monthly"))
        let customer = try info(answer)
        #expect(names(customer.at("subscriber", "entitlements")) == ["gardener"])
        let subscription = customer.at("subscriber", "subscriptions", "garden.premium.monthly")
        #expect(subscription?.at("store_transaction_id") == .string(bought.identifier))
        #expect(subscription?.at("is_sandbox") == .bool(true))
        #expect(subscription?.at("expires_date") == .string("2026-11-30T12:00:00Z"))
        #expect(subscription?.at("unsubscribe_detected_at") == .null)
        #expect(subscription?.at("store") == .string("app_store"))

        let again = try await door.send(
            .post, "/v1/receipts", Self.receipt(bought.proof, of: Self.anonymous, product: "garden.premium.monthly"))
        #expect(try info(again).at("subscriber") == customer.at("subscriber"))
    }

    @Test func `a subscription is renewed, is turned off, and ends`() async throws {
        let door = try await DoorGarden()
        let product = "garden.premium.monthly"
        let bought = try door.buy(product)
        _ = try info(
            try await door.send(.post, "/v1/receipts", Self.receipt(bought.proof, of: "al ice", product: product)))
        func subscription() async throws -> JSONValue {
            try await door.notify()
            let answer = try await door.send(.get, Self.path(of: "al ice"))
            return try #require(try info(answer).at("subscriber", "subscriptions", product))
        }
        try door.garden.advance(to: "2026-12-01T00:00:00Z")
        #expect(try await subscription().at("expires_date") == .string("2026-12-31T12:00:00Z"))

        try door.garden.store.setAutoRenew(false, of: bought.identifier)
        #expect(try await subscription().at("unsubscribe_detected_at") != .null)
        try door.garden.advance(to: "2027-01-01T00:00:00Z")
        let ended = try await door.send(.get, Self.path(of: "al ice"))
        #expect(
            try info(ended).at("subscriber", "entitlements", "gardener", "expires_date")
                == .string("2026-12-31T12:00:00Z"))
    }

    @Test(arguments: [true, false])
    func `a charge that fails keeps the entitlement only in a grace period`(hasGracePeriod: Bool) async throws {
        let door = try await DoorGarden()
        let product = "garden.premium.monthly"
        let bought = try door.buy(product)
        _ = try info(
            try await door.send(.post, "/v1/receipts", Self.receipt(bought.proof, of: "alice", product: product)))
        try door.garden.advance(to: "2026-11-10T00:00:00Z")
        try door.garden.store.failRenewal(of: bought.identifier, hasGracePeriod: hasGracePeriod)
        try door.garden.advance(to: "2026-11-10T01:00:00Z")
        try await door.notify()
        let customer = try info(try await door.send(.get, Self.path(of: "alice")))
        let subscription = customer.at("subscriber", "subscriptions", product)
        #expect(subscription?.at("billing_issues_detected_at") != .null)
        #expect((subscription?.at("grace_period_expires_date") != .null) == hasGracePeriod)
        let now = JSONValue.string(door.garden.store.now.rfc3339)
        guard case .string(let end)? = customer.at("subscriber", "entitlements", "gardener", "expires_date"),
            case .string(let moment) = now
        else {
            Issue.record("The entitlement has no end.")
            return
        }
        #expect((end > moment) == hasGracePeriod, "\(end) \(moment)")
    }

    @Test func `a trial and a refund are stated`() async throws {
        let door = try await DoorGarden()
        let product = "garden.basic.monthly"
        let bought = try door.buy(product)
        let first = try info(
            try await door.send(.post, "/v1/receipts", Self.receipt(bought.proof, of: "alice", product: product)))
        #expect(first.at("subscriber", "subscriptions", product, "period_type") == .string("trial"))
        let gate = try door.buy("garden.gate")
        _ = try info(
            try await door.send(.post, "/v1/receipts", Self.receipt(gate.proof, of: "alice", product: "garden.gate")))
        try door.garden.advance(to: "2026-11-08T00:00:00Z")
        let sale = try #require(try door.garden.store.history(of: "alice").last { $0.productIdentifier == product })
        try door.garden.store.refund(sale.transactionIdentifier)
        try door.garden.store.refund(gate.identifier)
        try await door.notify()
        let customer = try info(try await door.send(.get, Self.path(of: "alice")))
        let subscription = customer.at("subscriber", "subscriptions", product)
        #expect(subscription?.at("period_type") == .string("normal"))
        #expect(subscription?.at("refunded_at") == .string("2026-11-08T00:00:00Z"))
        #expect(subscription?.at("expires_date") == .string("2026-11-08T00:00:00Z"))
        #expect(names(customer.at("subscriber", "non_subscriptions")) == [])
        #expect(names(customer.at("subscriber", "entitlements")) == ["gardener"])
    }

    @Test func `a grant by the team is a promotional subscription`() async throws {
        let door = try await DoorGarden()
        let customer = try #require(CustomerIdentifier("alice"))
        let grant = try door.entitlements.newGrant(
            of: Item(collection: "plus", number: 2), reason: "sorry", endsAt: nil, by: "K")
        _ = try await door.entitlements.give(grant, to: customer.user, keeping: nil, for: nil)
        let answer = try info(try await door.send(.get, Self.path(of: "alice")))
        #expect(
            answer.at("subscriber", "subscriptions", "rc_promo_gardener_lifetime", "store")
                == .string("promotional"))
        #expect(answer.at("subscriber", "entitlements", "gardener", "expires_date") == .null)
    }

    @Test func `promotional offers are signed with the team's key`() async throws {
        let door = try await DoorGarden()
        let token = "0A0B0C0D-0000-4000-8000-000000000001"
        let answer = try await door.send(
            .post, "/v1/offers",
            .object([
                "app_user_id": .string(token),
                "generate_offers": .array([
                    .object(["offer_id": .string("spring"), "product_id": .string("garden.basic.monthly")]),
                    .object(["offer_id": .string("none"), "product_id": .string("garden.basic.monthly")]),
                ]),
            ]))
        #expect(answer.status == 200)
        #expect(try JSONSchema(named: "SignedOffers").violations(in: try #require(answer.json)) == [])
        guard case .array(let offers)? = answer["offers"] else {
            Issue.record("There are no offers.")
            return
        }
        #expect(offers.map { $0.at("signature_data", "signature") } == [.string(DoorGarden.signature), nil])
        #expect(offers.last?.at("signature_error", "code") == .integer(7232))
    }

    @Test func `an anonymous customer logs in, and keeps the purchases`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy("garden.gate")
        _ = try info(
            try await door.send(
                .post, "/v1/receipts", Self.receipt(bought.proof, of: Self.anonymous, product: "garden.gate")))
        func logIn(_ current: String, _ new: String) async throws -> DoorGarden.Answer {
            try await door.send(
                .post, "/v1/subscribers/identify",
                .object(["app_user_id": .string(current), "new_app_user_id": .string(new)]))
        }
        let first = try info(try await logIn(Self.anonymous, "Ann Other"), status: 201)
        #expect(names(first.at("subscriber", "non_subscriptions")) == ["garden.gate"])
        #expect(names(first.at("subscriber", "entitlements")) == ["gatekeeper"])
        let second = try info(try await logIn(Self.anonymous, "Ann Other"))
        #expect(second.at("subscriber", "non_subscriptions") == first.at("subscriber", "non_subscriptions"))
        // The other id leads to the same customer.
        let other = try info(try await door.send(.get, Self.path(of: Self.anonymous)))
        #expect(other.at("subscriber", "original_app_user_id") == .string("Ann Other"))
        // A known customer who logs in as another known one takes nothing along.
        let third = try info(try await logIn("Ann Other", "Bob"), status: 201)
        #expect(names(third.at("subscriber", "non_subscriptions")) == [])
    }

    @Test(arguments: [OwnershipPolicy.keep, .transfer(pauseSeconds: 0)])
    func `the ownership policy decides about a restore by a second customer`(policy: OwnershipPolicy) async throws {
        let door = try await DoorGarden(policy: policy)
        let bought = try door.buy("garden.gate")
        let first = try await door.send(
            .post, "/v1/receipts", Self.receipt(bought.proof, of: "alice", product: "garden.gate"))
        _ = try info(first)
        let restored = try await door.send(
            .post, "/v1/receipts",
            Self.receipt(bought.proof, of: "bob", product: "garden.gate", isRestore: true))
        switch policy {
        case .keep:
            #expect(restored.status == 409)
            #expect(restored["code"] == .integer(7102))
        default:
            #expect(try names(info(restored).at("subscriber", "entitlements")) == ["gatekeeper"])
            let alice = try info(try await door.send(.get, Self.path(of: "alice")))
            #expect(names(alice.at("subscriber", "entitlements")) == [])
        }
    }

    @Test func `nothing is finished that is not recorded`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy("garden.seeds")
        func send(_ body: JSONValue, key: String? = nil) async throws -> DoorGarden.Answer {
            try await door.send(.post, "/v1/receipts", body, key: key)
        }
        let receipt = Self.receipt(bought.proof, of: "alice", product: "garden.seeds")
        let forged = Self.receipt(String(bought.proof.dropLast(6)) + "AAAAAA", of: "alice", product: "garden.seeds")
        let refused = try await send(forged)
        #expect(refused.status == 400 && refused["code"] == .integer(7103))
        #expect(try JSONSchema(named: "Error").violations(in: try #require(refused.json)) == [])
        #expect(try await send(receipt, key: "appl_unknown").status == 503)
        #expect(try await send(receipt, key: "").status == 503)
        #expect(try await send(.array([])).status == 503)
        // The transaction counts, not the product that the app states. A receipt may be older than the purchase.
        let other = try door.buy("garden.gate")
        let stated = Self.receipt(other.proof, of: "alice", product: "garden.seeds")
        #expect(try await send(stated).status == 200)
        let old = Self.receipt(
            try door.garden.store.receipt(account: "bob"), of: "alice", product: "garden.seeds")
        #expect(try await send(old).status == 503)
        let long = Self.receipt(bought.proof, of: String(repeating: "x", count: 300), product: "garden.seeds")
        #expect(try await send(long).status == 503)
        #expect(try await send(receipt).status == 200)
    }

    @Test func `a closed door keeps receipts, and limits ask for them again`() async throws {
        let closed = try await DoorGarden([])
        let bought = try closed.buy("garden.seeds")
        let receipt = Self.receipt(bought.proof, of: "alice", product: "garden.seeds")
        #expect(try await closed.send(.post, "/v1/receipts", receipt).status == 503)
        #expect(try await closed.send(.get, Self.path(of: "alice")).status == 404)

        let limited = try await DoorGarden(requests: 1)
        #expect(try await limited.send(.post, "/v1/receipts", .object([:])).status == 503)
        let second = try await limited.send(.post, "/v1/receipts", .object([:]))
        #expect(second.status == 503)
        #expect(second.headers[.retryAfter] != nil)
    }

    @Test func `an answer that the SDK has is not sent again`() async throws {
        let door = try await DoorGarden()
        let name = try #require(HTTPField.Name("X-RevenueCat-ETag"))
        for path in [Self.path(of: "alice", "/offerings"), "/v1/product_entitlement_mapping"] {
            let first = try await door.send(.get, path, headers: [name: ""])
            let tag = try #require(first.headers[name])
            let second = try await door.send(.get, path, headers: [name: tag])
            #expect(second.status == 304 && second.body.isEmpty && second.headers[name] == tag)
            #expect(try await door.send(.get, path, headers: [name: "other"]).status == 200)
        }
    }

    @Test func `attributes are recorded, and personal ones are not shown to strangers`() async throws {
        let door = try await DoorGarden()
        func state(_ name: String, _ value: JSONValue, at milliseconds: Int64) async throws -> DoorGarden.Answer {
            try await door.send(
                .post, Self.path(of: "alice", "/attributes"),
                .object([
                    "attributes": .object([
                        name: .object(["value": value, "updated_at_ms": .integer(milliseconds)])
                    ])
                ]))
        }
        #expect(try await state("color", .string("green"), at: 2).status == 200)
        #expect(try await state("color", .string("red"), at: 1).status == 200)
        #expect(try await state("$email", .string("a@b.example"), at: 1).status == 200)
        let refused = try await state(String(repeating: "n", count: 200), .string("x"), at: 1)
        #expect(refused.status == 400 && refused["code"] == .integer(7263))
        let customer = try info(try await door.send(.get, Self.path(of: "alice")))
        #expect(customer.at("subscriber", "subscriber_attributes", "color", "value") == .string("green"))
        #expect(names(customer.at("subscriber", "subscriber_attributes")) == ["color"])
    }

    @Test func `the other endpoints satisfy the SDK`() async throws {
        let door = try await DoorGarden()
        let path = Self.path(of: "alice")
        #expect(try await door.send(.post, "/v1/config/app", .object([:])).status == 204)
        #expect(try await door.send(.post, "/v1/events", .object([:])).status == 200)
        #expect(try await door.send(.post, "/v1/diagnostics", .object(["entries": .array([])])).status == 200)
        #expect(try await door.send(.post, path + "/attribution", .object([:])).status == 200)
        #expect(try await door.send(.post, path + "/adservices_attribution", .object([:])).status == 200)
        #expect(try await door.send(.get, "/v1/health", key: "").status == 200)
        let health = try await door.send(.get, path + "/health_report_availability", key: "")
        #expect(health["report_logs"] == .bool(false))
        let bought = try door.buy("garden.seeds")
        _ = try info(
            try await door.send(
                .post, "/v1/receipts", Self.receipt(bought.proof, of: "alice", product: "garden.seeds")))
        let currencies = try await door.send(.get, path + "/virtual_currencies")
        #expect(try JSONSchema(named: "VirtualCurrencies").violations(in: try #require(currencies.json)) == [])
        #expect(currencies["virtual_currencies", "seeds", "balance"] == .integer(10))
        let eligibility = try await door.send(
            .post, path + "/intro_eligibility",
            .object(["product_identifiers": .array([.string("garden.basic.monthly"), .string("other")])]))
        #expect(eligibility["garden.basic.monthly"] == .bool(true))
        #expect(eligibility["other"] == .null)
        let secret = try await door.keys.make(name: "back end", scopes: [.read, .redeem]).key
        #expect(try await door.send(.get, path, key: secret).status == 403)
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
