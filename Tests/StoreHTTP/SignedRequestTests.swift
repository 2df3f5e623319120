import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing

/// The verdicts on requests to StoreKit that a developer's server has signed, and purchases with them. `make test-apple` lets Apple's own
/// library sign them.
@Suite struct SignedRequestTests {
    private static let uuid = "7f3c2a10-5b1e-4c8d-9a6f-2d4e8b0c1a35"
    private static let monthly = "garden.basic.monthly"

    /// The changes of a token; nil leaves a member out. `{alice}` stands for a transaction of a subscriber, `{bob}` for one of another
    /// customer, and `{carol}` for the app transaction of one who has bought nothing.
    typealias Changes = [String: JSONValue?]

    private let garden: TestGarden
    private let key: TeamKey
    private let privateKey: String
    private let values: [String: String]

    init() throws {
        garden = try TestGarden(isInMemory: true)
        var privateKey = ""
        key = try garden.store.makeTeamKey { privateKey = $1 }
        self.privateKey = privateKey
        guard
            case .appTransaction(let app) = try garden.verify(
                garden.store.read { try $0.signedAppTransaction(of: "carol") })
        else { throw TestGardenError.notAppTransaction }
        values = [
            "{alice}": try #require(try garden.buy(Self.monthly).purchase).transactionIdentifier,
            "{bob}": try #require(try garden.buy("garden.seeds", account: "bob").purchase).transactionIdentifier,
            "{carol}": try #require(app.appTransactionId),
        ]
    }

    private func filled(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return value }
        return .string(values[text] ?? text)
    }

    private func verdict(_ claims: Changes, header: Changes = [:], signedBy pem: String? = nil) throws
        -> SignedRequestVerdict
    {
        let compact = try signed(claims, header: header, by: pem)
        return try garden.store.read { try $0.verdict(onSignedRequest: compact) }
    }

    /// A request in compact form.
    private func signed(_ claims: Changes, header: Changes = [:], by pem: String? = nil) throws -> String {
        let standardHeader: Changes = ["alg": "ES256", "kid": .string(key.keyIdentifier), "typ": "JWT"]
        let standardClaims: Changes = [
            "iss": .string(key.issuerIdentifier), "bid": .string(TestGarden.bundleIdentifier),
            "iat": .integer(garden.store.now.secondsSince1970), "nonce": .string(Self.uuid),
        ]
        func text(_ standard: Changes, _ changes: Changes) -> String {
            let members = standard.merging(changes) { $1 }.compactMapValues { $0.map(filled) }
            return JSONValue.object(JSONObject(members)).compactText
        }
        let signed = [text(standardHeader, header), text(standardClaims, claims)]
            .map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try PrivateKey(pem: pem ?? privateKey).signES256(Array(signed.utf8))
        return signed + "." + Base64.encode(signature, .urlSafe)
    }

    /// Buys over HTTP.
    private func send(_ fields: [String: String]) async throws -> TestResponse {
        let body = ByteBuffer(data: try JSONEncoder().encode(fields))
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        return try await application.test(.router) { client in
            try await client.executeRequest(
                uri: "/sandbox/v1/purchases", method: .post, headers: [.authorization: "Bearer key"], body: body)
        }
    }

    /// Buys the monthly subscription with an offer.
    private func buy(for account: String = "alice", _ fields: [String: String]) async throws -> QueueResource {
        let standard = ["account": account, "productId": Self.monthly]
        let answer = try await send(standard.merging(fields) { $1 })
        #expect(answer.status == .created)
        return try JSONDecoder().decode(QueueResource.self, from: Data(buffer: answer.body))
    }

    /// The fields of a purchase with a promotional offer.
    private static func spring(_ compact: String) -> [String: String] {
        ["offerType": "promotional", "offerIdentifier": "spring", "promotionalOfferJWS": compact]
    }

    private func offer(of account: String = "alice") throws -> String? {
        try garden.store.history(of: account).last?.offer.map { "\($0.kind)" }
    }

    private static let promotional: Changes = [
        "aud": "promotional-offer", "productId": .string(monthly), "offerIdentifier": "spring",
        "transactionId": "{alice}",
    ]
    private static let introductory: Changes = [
        "aud": "introductory-offer-eligibility", "productId": .string(monthly), "allowIntroductoryOffer": .bool(true),
        "transactionId": "{alice}",
    ]

    private static func advanced(_ changes: [String: JSONValue?] = [:]) -> Changes {
        let standard: Changes = [
            "operation": "MODIFY_SUBSCRIPTION", "version": "1", "retainBillingCycle": .bool(false),
            "transactionId": "1",
            "requestInfo": .object(JSONObject(["requestReferenceId": .string(uuid)])),
        ]
        let members = standard.merging(changes) { $1 }.compactMapValues { $0 }
        let text = JSONValue.object(JSONObject(members)).compactText
        return ["aud": "advanced-commerce-api", "request": .string(Base64.encode(text.utf8))]
    }

    private static let charge: Changes = [
        "operation": "CREATE_ONE_TIME_CHARGE", "currency": "USD", "item": .object(JSONObject([:])), "taxCode": "C003",
    ]

    @Test(
        arguments: [
            (promotional, [:]), (promotional, ["transactionId": nil]), (introductory, [:]),
            (introductory, ["allowIntroductoryOffer": .bool(false)]), (introductory, ["transactionId": "{bob}"]),
            (promotional, ["aud": .array(["promotional-offer"])]), (advanced(), [:]), (advanced(charge), [:]),
            (tools(), [:]),
            (advanced(["operation": "REACTIVATE_SUBSCRIPTION", "retainBillingCycle": nil]), [:]),
        ] as [(Changes, Changes)])
    func `a request that says what Apple asks for is accepted`(claims: Changes, changes: Changes) throws {
        let verdict = try verdict(claims.merging(changes) { $1 })
        #expect(verdict.isAccepted && verdict.refusal == nil, "\(verdict.refusal ?? "")")
        #expect(verdict.claims?["nonce"]?.text == Self.uuid)
        #expect((verdict.request != nil) == (verdict.audience == "advanced-commerce-api"))
    }

    @Test func `a claim that no number can have is shown as it is`() throws {
        let numbers = try JSONParser.parse(Array("[1e999, 1.5, 7, 18446744073709551616]".utf8))
        let verdict = try verdict(Self.promotional.merging(["other": numbers]) { $1 })
        #expect(verdict.isAccepted)
        #expect(verdict.claims?["other"] == .array([.string("1e999"), .number(1.5), .integer(7), .number(0x1p64)]))
    }

    @Test(
        arguments: [
            (promotional, ["aud": "appstoreconnect-v1"], "aud"), (promotional, ["aud": nil], "aud"),
            (promotional, ["iss": "another"], "iss"), (promotional, ["bid": "com.example.other"], "bid"),
            (promotional, ["iat": nil], "iat"), (promotional, ["iat": .integer(1_793_448_000_000)], "iat"),
            (promotional, ["iat": "1793448000"], "iat"), (promotional, ["nonce": nil], "nonce"),
            (promotional, ["nonce": "one"], "nonce"), (promotional, ["productId": "garden.seeds"], "productId"),
            (promotional, ["productId": nil], "productId"),
            (promotional, ["offerIdentifier": "autumn"], "offerIdentifier"),
            (promotional, ["offerIdentifier": nil], "offerIdentifier"),
            (promotional, ["transactionId": "9"], "transactionId"),
            (promotional, ["transactionId": .integer(9)], "transactionId"),
            (promotional, ["transactionId": "{bob}"], "not eligible"),
            (introductory, ["productId": "garden.premium.monthly"], "no introductory offer"),
            (introductory, ["allowIntroductoryOffer": "true"], "allowIntroductoryOffer"),
            (introductory, ["transactionId": nil], "transactionId"), (advanced(), ["request": "e30"], "request"),
            (advanced(), ["request": nil], "request"), (advanced(["operation": "CANCEL"]), [:], "operation"),
            (advanced(["version": .integer(1)]), [:], "version"), (advanced(["requestInfo": nil]), [:], "requestInfo"),
            (advanced(["transactionId": nil]), [:], "lacks transactionId"),
            (advanced(charge.merging(["currency": .null]) { $1 }), [:], "lacks currency"),
        ] as [(Changes, Changes, String)])
    func `a request with a mistake is refused, and the reason names it`(
        claims: Changes,
        changes: Changes,
        reason: String
    ) throws {
        let verdict = try verdict(claims.merging(changes) { $1 })
        #expect(!verdict.isAccepted && verdict.refusal?.contains(reason) == true, "\(verdict.refusal ?? "accepted")")
    }

    @Test func `another key, algorithm or form is refused`() throws {
        let other = try PrivateKey.generate(.p256).pem()
        for (header, pem, reason) in [
            ([:], other, "not by the key \(key.keyIdentifier)"), (["kid": "ABCDEFGHJK"], nil, "no key of the store"),
            (["kid": nil], nil, "no key of the store"), (["alg": "RS256"], nil, "alg"),
        ] as [(Changes, String?, String)] {
            let verdict = try verdict(Self.promotional, header: header, signedBy: pem)
            #expect(verdict.refusal?.contains(reason) == true, "\(verdict.refusal ?? "accepted")")
            // The claims are shown, whoever has signed them.
            #expect(verdict.claims?["offerIdentifier"]?.text == "spring")
        }
        for compact in ["", "a.b.c", "a.b", String(repeating: "a", count: 9000)] {
            let verdict = try garden.store.read { try $0.verdict(onSignedRequest: compact) }
            #expect(verdict.refusal?.contains("not a signed JWT") == true)
            #expect(verdict.claims == nil && verdict.audience == nil)
        }
    }

    @Test func `a signed promotional offer is sold once`() async throws {
        try garden.store.expire(try #require(values["{alice}"]))
        let compact = try signed(Self.promotional)
        #expect(
            try await buy(Self.spring(compact).merging(["outcome": "cancelled"]) { $1 }).error == "paymentCancelled")
        let bought = try await buy(Self.spring(compact))
        #expect((bought.state, bought.price) == ("purchased", 1990))
        #expect(try offer() == "promotional")
        #expect(try await buy(Self.spring(compact)).error == "invalidSignature")
        // Another nonce, and no customer.
        let other = try signed(
            Self.promotional.merging(["nonce": .string(UUID().uuidString), "transactionId": nil]) { $1 })
        #expect(try await buy(Self.spring(other)).state == "purchased")
    }

    @Test func `of many payments with a signed offer at once, one is sold`() async throws {
        let fields = ["introductoryOfferEligibilityJWS": try signed(Self.introductory)]
        try garden.store.expire(try #require(values["{alice}"]))
        let errors = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<16 { group.addTask { try await buy(fields).error } }
            return try await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(errors.count { $0 == nil } == 1 && errors.count { $0 == "invalidSignature" } == 15)
    }

    @Test(
        arguments: [
            ("alice", [:], [:], "invalidOfferIdentifier", ["offerIdentifier": "autumn"]),
            ("alice", [:], ["offerIdentifier": "autumn"], "invalidSignature", [:]),
            ("alice", ["kid": "ABCDEFGHJK"], [:], "invalidSignature", [:]),
            ("alice", [:], [:], "invalidSignature", ["aud": "introductory-offer-eligibility"]),
            ("alice", [:], [:], "invalidSignature", ["productId": "garden.seeds"]),
            ("alice", [:], ["productId": "garden.premium.monthly"], "invalidSignature", [:]),
            ("alice", [:], [:], "ineligibleForOffer", ["transactionId": "{bob}"]),
            ("bob", [:], [:], "invalidSignature", [:]),
            ("bob", [:], [:], "ineligibleForOffer", ["transactionId": nil]),
        ] as [(String, Changes, [String: String], String, Changes)])
    func `a signed promotional offer fails the payment that it does not fit`(
        account: String,
        header: Changes,
        fields: [String: String],
        error: String,
        claims: Changes
    ) async throws {
        let compact = try signed(Self.promotional.merging(claims) { $1 }, header: header)
        let bought = try await buy(for: account, Self.spring(compact).merging(fields) { $1 })
        #expect((bought.state, bought.error) == ("failed", error))
        #expect(bought.transactionId == nil)
    }

    @Test func `the developer's server decides about the introductory offer`() async throws {
        // Alice has had it.
        try garden.store.expire(try #require(values["{alice}"]))
        let again = ["introductoryOfferEligibilityJWS": try signed(Self.introductory)]
        let bought = try await buy(again)
        #expect((bought.state, bought.price) == ("purchased", 0))
        #expect(try offer() == "introductory")
        #expect(try await buy(again).error == "invalidSignature")
        // Carol would get it.
        let denied = Self.introductory.merging([
            "allowIntroductoryOffer": .bool(false), "transactionId": "{carol}", "nonce": .string(UUID().uuidString),
        ]) { $1 }
        let paid = try await buy(for: "carol", ["introductoryOfferEligibilityJWS": try signed(denied)])
        #expect((paid.state, paid.price) == ("purchased", 4990))
        #expect(try offer(of: "carol") == nil)
    }

    @Test func `an approved payment keeps the decision`() async throws {
        let claims = Self.introductory.merging(["allowIntroductoryOffer": .bool(false), "transactionId": "{bob}"]) {
            $1
        }
        let compact = try signed(claims)
        let deferred = try await buy(
            for: "bob", ["introductoryOfferEligibilityJWS": compact, "outcome": "deferred"])
        #expect(deferred.state == "deferred")
        _ = try garden.store.perform(.approve, on: deferred.number)
        #expect(try offer(of: "bob") == nil)
        #expect(try garden.store.history(of: "bob").last?.price.milliunits == 4990)
    }

    @Test(
        arguments: [
            ("alice", ["productId": "garden.premium.monthly"], "garden.premium.monthly", "invalidOfferIdentifier"),
            ("alice", [:], "garden.basic.yearly", "invalidSignature"),
            ("alice", [:], "garden.seeds", "invalidSignature"),
            ("alice", ["transactionId": nil], monthly, "invalidSignature"),
            ("alice", ["aud": "promotional-offer"], monthly, "invalidSignature"),
            ("bob", [:], monthly, "invalidSignature"),
            ("carol", ["transactionId": "{bob}"], monthly, "invalidSignature"),
        ] as [(String, Changes, String, String)])
    func `a decision about another purchase fails the payment`(
        account: String,
        claims: Changes,
        product: String,
        error: String
    ) async throws {
        let compact = try signed(Self.introductory.merging(claims) { $1 })
        let bought = try await buy(
            for: account, ["productId": product, "introductoryOfferEligibilityJWS": compact])
        #expect((bought.state, bought.error) == ("failed", error))
    }

    private static let item: [String: JSONValue] = [
        "SKU": "bench", "displayName": "Bench", "description": "A bench", "price": .integer(9990),
    ]

    /// A request for a charge for an item.
    private static func bench(
        _ changes: [String: JSONValue?] = [:], item: [String: JSONValue] = item
    ) -> Changes {
        let standard: [String: JSONValue?] = [
            "operation": "CREATE_ONE_TIME_CHARGE", "currency": "USD", "storefront": "USA", "taxCode": "C003-00-2",
            "item": .object(JSONObject(item)),
        ]
        return advanced(standard.merging(changes) { $1 })
    }

    @Test func `a product that the developer's server describes is sold`() async throws {
        let compact = try signed(Self.bench(["storefront": nil]))
        let fields = ["productId": "garden.seeds", "advancedCommerceJWS": compact]
        let bought = try await buy(for: "bob", fields)
        #expect((bought.state, bought.price, bought.currency) == ("purchased", 9990, "USD"))
        let proof = try #require(bought.signedTransaction)
        #expect(try garden.transaction(proof).productId == "garden.seeds")
        let payload = try #require(Base64.decode(proof.split(separator: ".")[1].utf8, .urlSafe))
        guard case .object(let object) = try JSONParser.parse(payload),
            case .object(let info)? = object["advancedCommerceInfo"]
        else {
            Issue.record("The transaction has no advancedCommerceInfo.")
            return
        }
        #expect(object["price"] == .integer(9990) && object["currency"] == "USD")
        guard case .array(let items)? = info["items"], case .object(let item)? = items.first else {
            Issue.record("The transaction has no items.")
            return
        }
        #expect(items.count == 1 && item.members.count == Self.item.count)
        for (key, value) in Self.item { #expect(item[key] == value, "\(key)") }
        #expect(info["requestReferenceId"] == .string(Self.uuid) && info["taxCode"] == "C003-00-2")
        #expect(info["taxExclusivePrice"] == .integer(9990) && info["estimatedTax"] == .integer(0))
        #expect(try await buy(for: "bob", fields).error == "invalidSignature")
    }

    @Test(
        arguments: [
            (bench(), [:], "garden.premium.monthly", "paymentInvalid"),
            (bench(), ["kid": "ABCDEFGHJK"], "garden.seeds", "invalidSignature"),
            (promotional, [:], "garden.seeds", "invalidSignature"), (advanced(), [:], "garden.seeds", "paymentInvalid"),
            (bench(["currency": "KRW"]), [:], "garden.seeds", "paymentInvalid"),
            (bench(["storefront": "KOR"]), [:], "garden.seeds", "paymentInvalid"),
            (bench(["taxCode": .integer(3)]), [:], "garden.seeds", "paymentInvalid"),
            (bench(["requestInfo": nil]), [:], "garden.seeds", "paymentInvalid"),
            (bench(item: item.merging(["price": "9990"]) { $1 }), [:], "garden.seeds", "paymentInvalid"),
            (bench(item: item.merging(["price": .integer(-1)]) { $1 }), [:], "garden.seeds", "paymentInvalid"),
            (bench(item: item.merging(["SKU": ""]) { $1 }), [:], "garden.seeds", "paymentInvalid"),
            (bench(item: [:]), [:], "garden.seeds", "paymentInvalid"),
        ] as [(Changes, Changes, String, String)])
    func `a description with a mistake fails the payment`(
        claims: Changes,
        header: Changes,
        product: String,
        error: String
    ) async throws {
        let compact = try signed(claims, header: header)
        let bought = try await buy(for: "bob", ["productId": product, "advancedCommerceJWS": compact])
        #expect((bought.state, bought.error) == ("failed", error))
    }

    private static let yearly = "garden.basic.yearly"

    /// A request for a subscription to items.
    private static func tools(
        _ changes: [String: JSONValue?] = [:],
        items: [[String: JSONValue]] = [item, item.merging(["SKU": "shears", "price": .integer(1990)]) { $1 }]
    ) -> Changes {
        let standard: [String: JSONValue?] = [
            "operation": "CREATE_SUBSCRIPTION", "currency": "USD", "taxCode": "C003-00-2", "period": "P1M",
            "descriptors": .object(JSONObject(["displayName": "Tools", "description": "All tools"])),
            "items": .array(items.map { .object(JSONObject($0)) }),
        ]
        return advanced(standard.merging(changes) { $1 })
    }

    /// Carol's status and the Advanced Commerce parts of her latest transaction and of its renewal.
    private func commerce(of sale: String) throws -> (
        status: Int, sold: JSONContent, renews: JSONContent, price: Int64?
    ) {
        let answer = try garden.store.readOrThrow { try $0.allSubscriptionStatuses(sale, statuses: []) }
        let last = try #require(answer.data.first?.lastTransactions.first)
        let renewal = try garden.renewalInfo(last.signedRenewalInfo)
        func part(_ text: String?) throws -> JSONContent {
            try JSONDecoder().decode(JSONContent.self, from: Data(try #require(text).utf8))
        }
        return (
            last.status.rawValue,
            try part(garden.transaction(last.signedTransactionInfo).facts.text(.advancedCommerceInfo)),
            try part(renewal.facts.text(.advancedCommerceInfo)), renewal.facts.integer(.renewalPrice)
        )
    }

    private static func items(of commerce: JSONContent) throws -> [JSONContent] {
        guard case .array(let items)? = commerce["items"] else { throw TestGardenError.notTransaction }
        return items
    }

    @Test func `a subscription that the developer's server describes is sold, renews and ends`() async throws {
        let information = JSONValue.object(
            JSONObject(["requestReferenceId": .string(Self.uuid), "appAccountToken": .string(Self.uuid)]))
        let fields = [
            "productId": Self.yearly, "advancedCommerceJWS": try signed(Self.tools(["requestInfo": information])),
        ]
        let bought = try await buy(for: "carol", fields)
        #expect((bought.state, bought.price, bought.currency) == ("purchased", 11_980, "USD"))
        let first = try #require(bought.transactionId)
        let before = try commerce(of: first)
        #expect((before.status, before.price) == (1, 11_980))
        for part in [before.sold, before.renews] {
            #expect(part["period"]?.text == "P1M" && part["descriptors"]?["displayName"]?.text == "Tools")
            #expect(part["requestReferenceId"]?.text == Self.uuid && part["taxCode"]?.text == "C003-00-2")
            let items = try Self.items(of: part)
            let (skus, prices): ([String?], [JSONContent?]) = (items.map { $0["SKU"]?.text }, items.map { $0["price"] })
            #expect(skus == ["bench", "shears"])
            #expect(prices == [JSONContent.integer(9990), JSONContent.integer(1990)])
        }
        // The period is the request's, not that of the generic product.
        try garden.advance(to: "2026-12-01T12:00:00Z")
        let periods = try garden.store.history(of: "carol")
        #expect(periods.map(\.price.milliunits) == [11_980, 11_980])
        #expect(periods.map { $0.appAccountToken?.uuidString } == Array(repeating: Self.uuid.uppercased(), count: 2))
        let after = try commerce(of: first)
        #expect(after.sold == before.sold && after.price == 11_980)
        #expect(after.renews["consistencyToken"]?.text?.isEmpty == false)
        #expect(after.renews["consistencyToken"] != before.renews["consistencyToken"])
        // While it lasts, nothing else of the group is sold, and its price is the server's.
        let other = try signed(Self.tools().merging(["nonce": .string(UUID().uuidString)]) { $1 })
        for fields in [
            ["productId": Self.yearly, "advancedCommerceJWS": other], ["productId": "garden.premium.monthly"],
        ] {
            #expect(try await buy(for: "carol", fields).error == "paymentInvalid")
        }
        #expect(throws: StoreError.self) {
            try garden.store.requestPriceIncrease(of: first, to: 19_990, needsConsent: true)
        }
        #expect(throws: StoreError.self) { try garden.store.changeSeats(of: first, to: 2) }
        // The refund takes all items, and the group is free again.
        try garden.store.refund(try #require(periods.last).transactionIdentifier)
        let refunded = try commerce(of: first)
        #expect(refunded.status == 5)
        for item in try Self.items(of: refunded.sold) { #expect(item["revocationDate"] != nil) }
        #expect(try await buy(for: "carol", ["productId": "garden.premium.monthly"]).price == 9990)
        #expect(try garden.store.history(of: "carol").last?.advancedCommerceCharge == nil)
    }

    @Test func `a customer resubscribes to the subscription of the previous transaction`() async throws {
        func resubscribe(_ account: String, after previous: JSONValue?) async throws -> QueueResource {
            let claims = Self.tools(["previousTransactionId": previous])
                .merging(["nonce": .string(UUID().uuidString)]) { $1 }
            return try await buy(
                for: account, ["productId": Self.yearly, "advancedCommerceJWS": try signed(claims)])
        }
        #expect(try await resubscribe("carol", after: "1").error == "paymentInvalid")
        let first = try #require(try await resubscribe("carol", after: nil).transactionId)
        let other = try #require(try await resubscribe("dave", after: nil).transactionId)
        try garden.store.expire(first)
        for previous in [.string(other), "1", .integer(1)] as [JSONValue] {
            #expect(try await resubscribe("carol", after: previous).error == "paymentInvalid")
        }
        #expect(try await resubscribe("carol", after: .string(first)).state == "purchased")
        let periods = try garden.store.history(of: "carol")
        #expect(periods.map(\.originalTransactionIdentifier) == [first, first])
        #expect(try garden.store.notifications().last?.subtype?.rawValue == "RESUBSCRIBE")
    }

    /// The items of `tools`, the first one with an offer, or each of them.
    private static func discounted(
        _ changes: [String: JSONValue] = [:], all: Bool = false
    ) -> [[String: JSONValue]] {
        let offer: [String: JSONValue] = [
            "period": "P1M", "periodCount": .integer(2), "price": .integer(990), "reason": "ACQUISITION",
        ]
        let members = JSONObject(offer.merging(changes) { $1 })
        return [
            item.merging(["offer": .object(members)]) { $1 },
            item.merging(
                ["SKU": "shears", "price": .integer(1990)].merging(all ? ["offer": .object(members)] : [:]) { $1 }
            ) { $1 },
        ]
    }

    @Test func `an item has the price of its offer for the periods of the offer`() async throws {
        let compact = try signed(Self.tools(items: Self.discounted()))
        let bought = try await buy(for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": compact])
        #expect((bought.state, bought.price) == ("purchased", 2980))
        let first = try #require(bought.transactionId)
        let before = try commerce(of: first)
        for part in [before.sold, before.renews] {
            let offers = try Self.items(of: part).map { $0["offer"]?["price"] }
            #expect(offers == [JSONContent.integer(990), nil])
        }
        try garden.advance(to: "2026-12-01T12:00:00Z")
        let last = try commerce(of: first)
        #expect(try Self.items(of: last.sold).first?["offer"]?["periodCount"] == .integer(2))
        #expect(try Self.items(of: last.renews).first?["offer"] == nil && last.price == 11_980)
        try garden.advance(to: "2027-01-01T12:00:00Z")
        let periods = try garden.store.history(of: "carol")
        #expect(periods.map(\.price.milliunits) == [2980, 2980, 11_980])
        #expect(try Self.items(of: commerce(of: first).sold).allSatisfy { $0["offer"] == nil })
    }

    @Test func `a free trial lasts as long as its offer, and periods of the subscription follow`() async throws {
        let trial = Self.discounted(["period": "P3D", "periodCount": .integer(1), "price": .integer(0)], all: true)
        let compact = try signed(Self.tools(items: trial))
        let bought = try await buy(for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": compact])
        #expect((bought.state, bought.price) == ("purchased", 0))
        try garden.advance(to: "2026-12-04T12:00:00Z")
        let periods = try garden.store.history(of: "carol")
        #expect(periods.map(\.price.milliunits) == [0, 11_980, 11_980])
        #expect(
            periods.map { $0.expiresDate?.rfc3339 } == [
                "2026-11-03T12:00:00Z", "2026-12-03T12:00:00Z", "2027-01-03T12:00:00Z",
            ])
    }

    @Test(
        arguments: [
            ["period": "P1W"], ["period": "P1D"], ["periodCount": .integer(0)], ["periodCount": .integer(13)],
            ["price": .integer(9991)], ["price": .integer(0)], ["price": "0"], ["reason": "LOYALTY"],
        ] as [[String: JSONValue]])
    func `an offer that the store cannot sell fails the payment`(changes: [String: JSONValue]) async throws {
        let compact = try signed(Self.tools(items: Self.discounted(changes)))
        let bought = try await buy(for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": compact])
        #expect((bought.state, bought.error) == ("failed", "paymentInvalid"))
    }

    /// A modification of a subscription.
    private static func modification(_ changes: [String: JSONValue?], of sale: String = "1") -> Changes {
        let standard: [String: JSONValue?] = ["retainBillingCycle": .bool(true), "transactionId": .string(sale)]
        return advanced(standard.merging(changes) { $1 }).merging(["nonce": .string(UUID().uuidString)]) { $1 }
    }

    private static func list(_ items: [String: JSONValue]...) -> JSONValue {
        .array(items.map { .object(JSONObject($0)) })
    }

    /// An item that changes, with other members.
    private static func changed(_ members: [String: JSONValue]) -> JSONValue {
        let standard: [String: JSONValue] = [
            "currentSKU": "shears", "effective": "IMMEDIATELY", "reason": "UPGRADE",
        ]
        return list(item.merging(standard) { $1 }.merging(members) { $1 })
    }

    @Test func `a subscription is modified and reactivated as the developer's server describes`() async throws {
        let bought = try await buy(
            for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": try signed(Self.tools())])
        let sale = try #require(bought.transactionId)
        let rake = Self.item.merging(["SKU": "rake", "price": .integer(4990), "proratedPrice": .integer(100)]) { $1 }
        let added = try await buy(
            for: "carol",
            [
                "productId": Self.yearly,
                "advancedCommerceJWS": try signed(Self.modification(["addItems": Self.list(rake)], of: sale)),
            ])
        #expect((added.state, added.price) == ("purchased", 100))
        #expect(try Self.items(of: commerce(of: sale).sold).count == 3)
        try garden.store.perform(.turnAutoRenewOff, on: sale)
        let reactivation = Self.advanced([
            "operation": "REACTIVATE_SUBSCRIPTION", "transactionId": .string(sale),
            "items": Self.list(["SKU": "bench"]),
        ])
        let again = try await buy(
            for: "carol",
            [
                "productId": Self.yearly,
                "advancedCommerceJWS": try signed(reactivation.merging(["nonce": .string(UUID().uuidString)]) { $1 }),
            ])
        #expect(again.state == "purchased")
        #expect(try commerce(of: sale).price == 9990)
    }

    @Test(
        arguments: [
            [:], ["addItems": "rake"], ["addItems": list(["SKU": "rake"])],
            ["changeItems": changed(["effective": "LATER"])],
            ["changeItems": changed(["reason": "WIN_BACK"])], ["changeItems": changed(["currentSKU": ""])],
            ["changeItems": changed(["effective": "NEXT_BILL_CYCLE", "proratedPrice": .integer(1)])],
            ["changeItems": changed(["proratedPrice": .integer(9991)])],
            ["changeItems": changed(["offer": .object(JSONObject([:]))])],
            ["changeItems": changed(["displayName": "A bench with a name of thirty-one"])],
            ["changeItems": changed([:]), "removeItems": list(["SKU": "shears"])],
            ["retainBillingCycle": .bool(false), "removeItems": list(["SKU": "shears"])],
            ["retainBillingCycle": .bool(false), "changeItems": changed(["effective": "NEXT_BILL_CYCLE"])],
            ["retainBillingCycle": "true", "removeItems": list(["SKU": "shears"])],
            [
                "changeItems": changed([:]),
                "periodChange": .object(JSONObject(["effective": "NEXT_BILL_CYCLE", "period": "P1Y"])),
            ],
            [
                "changeItems": changed([:]),
                "periodChange": .object(JSONObject(["effective": "IMMEDIATELY", "period": "P1Y"])),
            ],
            ["currency": "KRW", "removeItems": list(["SKU": "shears"])],
        ] as [[String: JSONValue]])
    func `a modification with a mistake fails the payment`(changes: [String: JSONValue]) async throws {
        let bought = try await buy(
            for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": try signed(Self.tools())])
        let claims = Self.modification(changes.mapValues { $0 }, of: try #require(bought.transactionId))
        let changed = try await buy(
            for: "carol", ["productId": Self.yearly, "advancedCommerceJWS": try signed(claims)])
        #expect((changed.state, changed.error) == ("failed", "paymentInvalid"))
    }

    private static func dear(_ sku: String) -> [String: JSONValue] {
        item.merging(["SKU": .string(sku), "price": .integer(999_999_999_999)]) { $1 }
    }

    /// Requests for a subscription, each with a mistake, and the generic product.
    private static let mistakes: [(Changes, String)] = {
        var mistakes: [(Changes, String)] = [(tools(), "garden.seeds")]
        let descriptors = JSONValue.object(JSONObject(["displayName": "Tools"]))
        let changes: [(String, JSONValue)] = [("period", "P1D"), ("period", .integer(1)), ("descriptors", descriptors)]
        for (name, value) in changes { mistakes.append((tools([name: value]), yearly)) }
        let offer: [String: JSONValue] = ["offer": .object(JSONObject([:]))]
        let discounted = item.merging(offer) { $1 }
        let lists: [[[String: JSONValue]]] = [[], [item, item], [discounted], [dear("a"), dear("b")]]
        for items in lists { mistakes.append((tools(items: items), yearly)) }
        return mistakes
    }()

    @Test(arguments: mistakes)
    func `a description of a subscription with a mistake fails the payment`(
        claims: Changes,
        product: String
    ) async throws {
        let bought = try await buy(for: "bob", ["productId": product, "advancedCommerceJWS": try signed(claims)])
        #expect((bought.state, bought.error) == ("failed", "paymentInvalid"))
    }

    @Test(arguments: [
        ["advancedCommerceJWS": "a", "introductoryOfferEligibilityJWS": "b"],
        ["advancedCommerceJWS": "a", "offerIdentifier": "spring", "offerType": "promotional"],
        ["promotionalOfferJWS": "a"], ["promotionalOfferJWS": "a", "offerIdentifier": "again", "offerType": "winBack"],
        ["introductoryOfferEligibilityJWS": "a", "offerIdentifier": "spring", "offerType": "promotional"],
        ["introductoryOfferEligibilityJWS": "a", "promotionalOfferJWS": "b"],
    ])
    func `a purchase has one signed request, for its own offer`(fields: [String: String]) async throws {
        let standard = ["account": "alice", "productId": Self.monthly]
        #expect(try await send(standard.merging(fields) { $1 }).status == .badRequest)
        #expect(try garden.store.history(of: "alice").count == 1)
    }
}
