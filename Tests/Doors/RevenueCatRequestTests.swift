import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// The bodies of requests.
@Suite struct RevenueCatRequestTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `a receipt request has a user, a proof and attributes`() throws {
        let request = try ReceiptRequest(
            Self.bytes(
                """
                {"payload_version": 1, "app_user_id": "user name", "fetch_token": "eyJ.a.b", "is_restore": true,
                 "product_id": "garden.gate", "transaction_id": "7", "app_transaction": "eyJ.c.d", "price": "15.99",
                 "added_later": {}, "attributes": {"$email": {"value": "a@example.com", "updated_at_ms": 5},
                                                   "gone": {"value": null, "updated_at_ms": 6}}}
                """))
        #expect(request.user == "user name")
        #expect(request.fetchToken == .transaction(Self.bytes("eyJ.a.b")))
        #expect(request.transactionIdentifier == "7")
        #expect(request.productIdentifier == "garden.gate")
        #expect(
            try request.attributes.accepted == [
                Attribute(
                    name: "$email", value: "a@example.com", statedAt: Timestamp(millisecondsSince1970: 5),
                    isPublic: true),
                Attribute(
                    name: "gone", value: nil, statedAt: Timestamp(millisecondsSince1970: 6), isPublic: true),
            ])
    }

    /// The members that purchases-android sends for a subscription with an offer, from an offering.
    @Test func `a receipt request of Android has a purchase token and its products`() throws {
        let body = Self.bytes(
            """
            {"fetch_token": "aaaabbbbccccddddeeeeffff.AO-J1Oz_-", "product_ids": ["garden.basic", "garden.addon"],
             "platform_product_ids": [{"product_id": "garden.basic", "base_plan_id": "monthly", "offer_id": "trial"},
                                      {"product_id": "garden.addon"}],
             "app_user_id": "alice", "is_restore": false, "presented_offering_identifier": "default",
             "applied_targeting_rule": {"revision": 1, "rule_id": "r"}, "observer_mode": false,
             "purchase_completed_by": "revenuecat", "price": 4.99, "currency": "EUR", "normal_duration": "P1M",
             "pricing_phases": [{"billingPeriod": "P1M", "billingCycleCount": 0, "formattedPrice": "4,99 €",
                                 "priceAmountMicros": 4990000, "priceCurrencyCode": "EUR", "recurrenceMode": 1}],
             "proration_mode": "IMMEDIATE_WITH_TIME_PRORATION", "initiation_source": "purchase", "sdk_originated": true,
             "payload_version": 1, "attributes": {"$displayName": {"value": "Alice", "updated_at_ms": 5}}}
            """)
        let request = try ReceiptRequest(body, isAndroid: true)
        #expect(request.user == "alice")
        #expect(
            request.fetchToken
                == .googlePlay(Array(#"{"purchaseToken":"aaaabbbbccccddddeeeeffff.AO-J1Oz_-"}"#.utf8)))
        #expect(request.productIdentifiers == ["garden.basic", "garden.addon"])
        #expect(request.productIdentifier == nil && request.transactionIdentifier == nil)
        #expect(request.attributes.accepted.map(\.name) == ["$displayName"])
        // Of another platform it is no proof.
        #expect(throws: RedemptionError.self) { try ReceiptRequest(body) }
    }

    @Test(arguments: [
        #"{"app_user_id": "a", "fetch_token": "aaaa", "product_ids": "garden.basic"}"#,
        #"{"app_user_id": "a", "fetch_token": "aaaa", "product_ids": [1]}"#,
        #"{"app_user_id": "a", "fetch_token": ["aaaa"]}"#,
        #"{"app_user_id": "a", "fetch_token": "aaaa", "product_ids": [\#(String(repeating: #""a","#, count: 100))"b"]}"#,
    ])
    func `an invalid receipt request of Android is sent again`(body: String) throws {
        let problem = try #require(throws: Problem.self) { try ReceiptRequest(Self.bytes(body), isAndroid: true) }
        #expect(problem.code == "bodyInvalid")
    }

    @Test func `a receipt request may have no proof`() throws {
        for token in ["", #", "fetch_token": null"#, #", "fetch_token": """#] {
            let request = try ReceiptRequest(Self.bytes(#"{"app_user_id": "user"\#(token)}"#))
            #expect(request.fetchToken == nil)
            #expect(request.attributes.accepted.isEmpty)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"app_user_id": 1}"#, #"{"app_user_id": "a\u0000"}"#,
        #"{"app_user_id": "\#(String(repeating: "a", count: 513))"}"#,
        #"{"app_user_id": "a", "is_restore": 1}"#, #"{"app_user_id": "a", "attributes": []}"#,
        #"{"app_user_id": "a", "attributes": {"name": {"value": "b"}}}"#,
        #"{"app_user_id": "a", "attributes": {"": {"value": "b", "updated_at_ms": 1}}}"#,
        #"{"app_user_id": "a", "attributes": {"name": {"value": 1, "updated_at_ms": 1}}}"#,
    ])
    func `an invalid receipt request is sent again`(body: String) throws {
        let problem = try #require(throws: Problem.self) { try ReceiptRequest(Self.bytes(body)) }
        #expect(problem.code == "bodyInvalid")
        #expect(RevenueCatProblem(problem, at: .receipts).status == 503)
    }

    @Test func `an invalid proof is refused with its own reason`() throws {
        let body = Self.bytes(#"{"app_user_id": "a", "fetch_token": "no proof"}"#)
        let refusal = try #require(throws: RedemptionError.self) { try ReceiptRequest(body) }
        #expect(refusal == .refused(ProofRefusal(.encodingInvalid)))
    }

    @Test func `the attributes of a request are limited`() throws {
        func body(_ count: Int, _ length: Int) -> [UInt8] {
            let value = String(repeating: "v", count: length)
            let members = (0..<count).map { #""name\#($0)":{"value":"\#(value)","updated_at_ms":1}"# }
            return Self.bytes(#"{"attributes":{\#(members.joined(separator: ","))}}"#)
        }
        #expect(try AttributeChanges(body(AttributeChanges.maximumCount, 10)).accepted.count == 100)
        #expect(throws: Problem.self) { try AttributeChanges(body(AttributeChanges.maximumCount + 1, 10)) }
        #expect(throws: Problem.self) { try AttributeChanges(body(1, AttributeChanges.maximumValueLength + 1)) }
    }

    @Test func `an attribute that is refused loses no other`() throws {
        let changes = try AttributeChanges(
            Self.bytes(
                #"""
                {"attributes": {"level": {"value": "9", "updated_at_ms": 1},
                  "n\u009b31m": {"value": "x", "updated_at_ms": 1}, "n\u0000": {"value": "x", "updated_at_ms": 1},
                  "escape": {"value": "\u001b[2J", "updated_at_ms": 1}, "note": {"value": "a\nb", "updated_at_ms": 1}}}
                """#))
        #expect(changes.accepted.map(\.name).sorted() == ["level", "note"])
        #expect(changes.errors.map(\.name).sorted() == ["escape", "n\u{0}", "n\u{9B}31m"])
    }

    @Test func `a log-in names both users`() throws {
        let request = try LogInRequest(Self.bytes(#"{"app_user_id":"old id","new_app_user_id":"new id"}"#))
        #expect((request.user, request.newUser) == ("old id", "new id"))
        #expect(throws: Problem.self) { try LogInRequest(Self.bytes(#"{"app_user_id":"old id"}"#)) }
    }

    @Test func `an offer request names at least one offer`() throws {
        let request = try OfferRequest(
            Self.bytes(
                """
                {"app_user_id": "user", "fetch_token": "AQID", "generate_offers": [
                  {"offer_id": "half", "product_id": "garden.monthly", "subscription_group": "garden"},
                  {"offer_id": "free", "product_id": "garden.yearly"}]}
                """))
        #expect(request.offers.map(\.identifier) == ["half", "free"])
        #expect(request.offers.map(\.productIdentifier) == ["garden.monthly", "garden.yearly"])
        #expect(throws: Problem.self) {
            try OfferRequest(Self.bytes(#"{"app_user_id": "user", "generate_offers": []}"#))
        }
    }

    @Test(.enabled(if: Vectors.areAvailable)) func `each recorded request is read`() throws {
        let file = try #require(Vectors.folder).appending(path: "revenuecat/requests.jsonl")
        var counts: [RevenueCatEndpoint: Int] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            guard case .object(let recorded) = try JSONParser.parse(Array(line.utf8)),
                case .string(let method)? = recorded["method"], case .string(let path)? = recorded["path"]
            else {
                Issue.record("\(line)")
                continue
            }
            let endpoint = try #require(
                RevenueCatEndpoint(method: method == "GET" ? .get : .post, path: path[...]), "\(method) \(path)")
            counts[endpoint, default: 0] += 1
            guard case .object(var body)? = recorded["body"] else { continue }
            switch endpoint {
            case .receipts:
                // The recorded proofs are placeholders.
                body = body.replacing("fetch_token", with: "eyJ.a.b")
                let request = try ReceiptRequest(Self.bytes(JSONValue.object(body).compactText))
                #expect(request.user == "user")
                #expect(request.attributes.accepted.map(\.name) == ["$attConsentStatus"])
                #expect(request.fetchToken != nil)
            case .logIn: _ = try LogInRequest(Self.bytes(JSONValue.object(body).compactText))
            case .introEligibility:
                let request = try IntroEligibilityRequest(Self.bytes(JSONValue.object(body).compactText))
                #expect(request.productIdentifiers.count == 4)
            default: break
            }
        }
        #expect(counts.values.reduce(0, +) == 62)
        #expect(counts[.receipts] ?? 0 > 40)
        #expect(counts[.logIn] == 2)
    }
}
