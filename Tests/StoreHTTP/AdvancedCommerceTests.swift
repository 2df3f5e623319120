import AppStore
import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing

/// Changes of what the developer's server described: in the app, and by the endpoints of the Advanced Commerce API.
@Suite struct AdvancedCommerceTests {
    private static let product = "garden.basic.yearly"

    private let garden: TestGarden
    private let token: String
    /// Carol's subscription to a bench for 9.99 and shears for 1.99, from 31 October to 30 November 2026.
    private let sold: String

    init() throws {
        garden = try TestGarden(isInMemory: true)
        var privateKey = ""
        let key = try garden.store.makeTeamKey { privateKey = $1 }
        token = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: key.keyIdentifier, issuerIdentifier: key.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier
        ).token(at: garden.clock.now())
        let terms = AdvancedCommerceCharge.Terms(displayName: "Tools", description: "All tools", period: .oneMonth)
        let charge = Self.charge([Self.item("bench", 9990), Self.item("shears", 1990)], terms)
        sold = try #require(try Self.buy(charge, in: garden).purchase).transactionIdentifier
    }

    private static func item(_ sku: String, _ price: Int64) -> AdvancedCommerceCharge.Item {
        .init(sku: sku, displayName: sku, description: "A tool", price: price)
    }

    private static func charge(
        _ items: [AdvancedCommerceCharge.Item], _ terms: AdvancedCommerceCharge.Terms? = nil
    ) -> AdvancedCommerceCharge {
        AdvancedCommerceCharge(
            items: items, terms: terms, currency: "USD", taxCode: "C003-00-2",
            requestReferenceIdentifier: UUID().uuidString)
    }

    private static func buy(
        _ charge: AdvancedCommerceCharge, _ product: String = product, account: String = "carol", in garden: TestGarden
    ) throws -> PaymentTransaction {
        let added = try garden.store.add(
            Payment(productIdentifier: product).with(charge), account: account)
        return try #require(try garden.store.process(account: account).first { $0.identifier == added.identifier })
    }

    /// Changes the subscription as a request in the app does.
    private func change(
        account: String = "carol", _ change: (inout AdvancedCommerceChange.Modification) -> Void
    ) throws -> PaymentTransaction {
        var modification = AdvancedCommerceChange.Modification()
        change(&modification)
        return try perform(.modification(modification), account: account)
    }

    private func perform(_ kind: AdvancedCommerceChange.Kind, account: String = "carol") throws -> PaymentTransaction {
        var charge = Self.charge([])
        charge.change = AdvancedCommerceChange(ofTransaction: sold, kind)
        return try Self.buy(charge, account: account, in: garden)
    }

    /// The answer of an endpoint: its status, and its body.
    private func send(_ path: String, _ body: String) async throws -> (status: Int, body: JSONContent) {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        let headers: HTTPFields = [.authorization: "Bearer \(token)"]
        return try await application.test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/advancedCommerce/v1/\(path)", method: .post, headers: headers, body: ByteBuffer(string: body))
            return (
                answer.status.code,
                try JSONDecoder().decode(JSONContent.self, from: Data(answer.body.readableBytesView))
            )
        }
    }

    /// A body with a new `requestInfo`, and other members.
    private static func body(_ members: String = "") -> String {
        #"{"requestInfo":{"requestReferenceId":"\#(UUID().uuidString)"}\#(members.isEmpty ? "" : ",")\#(members)}"#
    }

    /// The signed parts of an accepted request.
    private func accepted(
        _ operation: String, _ members: String = "", transaction: String? = nil
    ) async throws -> (transaction: JWSTransactionDecodedPayload, renewal: JWSRenewalInfoDecodedPayload?) {
        let answer = try await send("\(operation)/\(transaction ?? sold)", Self.body(members))
        #expect(answer.status == 200, "\(answer.body)")
        let renewal = answer.body["signedRenewalInfo"]?.text
        return (
            try garden.transaction(try #require(answer.body["signedTransactionInfo"]?.text)),
            try renewal.map(garden.renewalInfo)
        )
    }

    private func code(_ path: String, _ body: String) async throws -> Int64? {
        let answer = try await send(path, body)
        guard case .integer(let code)? = answer.body["errorCode"] else { return nil }
        #expect(Int64(answer.status) == code / 10_000)
        return code
    }

    /// The items of an Advanced Commerce part, such as `bench 9990`.
    private static func items(_ text: String?) throws -> [String] {
        let part = try JSONDecoder().decode(JSONContent.self, from: Data(try #require(text).utf8))
        guard case .array(let items)? = part["items"] else { return [] }
        return items.map { item in
            guard case .integer(let price)? = item["price"] else { return "?" }
            let words = [item["SKU"]?.text, "\(price)", item["priceIncreaseInfo"]?["status"]?.text]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }

    /// The state of the subscription: its status, whether it renews, and the items of the present and the next period.
    private func state() throws -> String {
        let answer = try garden.store.readOrThrow { try $0.allSubscriptionStatuses(sold, statuses: []) }
        let last = try #require(answer.data.first?.lastTransactions.first)
        let (sale, renewal) = (
            try garden.transaction(last.signedTransactionInfo), try garden.renewalInfo(last.signedRenewalInfo)
        )
        return [
            "\(last.status)", renewal.facts.integer(.autoRenewStatus) == 1 ? "renews" : "ends",
            try Self.items(sale.facts.text(.advancedCommerceInfo)).joined(separator: ", "), "then",
            try Self.items(renewal.facts.text(.advancedCommerceInfo)).joined(separator: ", "),
        ].joined(separator: " ")
    }

    /// The notifications so far, oldest first, without the first one.
    private func told() throws -> [String] {
        try garden.store.notifications().sorted { $0.number < $1.number }.dropFirst().map {
            [$0.type.rawValue, $0.subtype?.rawValue].compactMap(\.self).joined(separator: " ")
        }
    }

    /// The amounts of the sales of carol, each with what was paid back of it.
    private func amounts() throws -> [String] {
        try garden.store.history(of: "carol").map { sale in
            let refunds = (sale.advancedCommerceCharge?.items ?? []).flatMap { $0.refunds ?? [] }
            return ([sale.price.milliunits] + refunds.map { -$0.amount }).map { "\($0)" }.joined(separator: " ")
        }
    }

    // MARK: In the app

    @Test func `an item that is added in a period costs the rest of it, and its price from the next one on`() throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        let bought = try change { $0.added = [Self.item("rake", 4990)] }
        #expect(bought.state == .purchased)
        #expect(try amounts() == ["11980", "2495"])
        let both = "bench 9990, shears 1990, rake 4990"
        #expect(try state() == "active renews \(both) then \(both)")
        let sales = try garden.store.history(of: "carol")
        #expect(sales.map(\.isUpgraded) == [true, false])
        #expect(sales.map(\.expiresDate)[0] == sales.map(\.expiresDate)[1])
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try amounts() == ["11980", "2495", "16970"])
        #expect(try told() == ["DID_CHANGE_RENEWAL_PREF UPGRADE", "DID_RENEW"])
    }

    @Test func `an item in the place of another is charged, and the rest of the other is paid back`() throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        _ = try change {
            $0.replaced = [.init(of: "shears", by: Self.item("mower", 5990), isImmediate: true)]
        }
        #expect(try amounts() == ["11980 -995", "2995"])
        #expect(try state() == "active renews bench 9990, mower 5990 then bench 9990, mower 5990")
    }

    @Test func `the developer's server may name the price of the rest`() throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        var rake = Self.item("rake", 4990)
        rake.paid = 100
        _ = try change { $0.added = [rake] }
        #expect(try amounts() == ["11980", "100"])
    }

    @Test func `a change for the next period charges nothing before it`() throws {
        _ = try change {
            $0.replaced = [.init(of: "bench", by: Self.item("stool", 4990), isImmediate: false)]
            $0.removed = ["shears"]
            $0.period = nil
        }
        #expect(try state() == "active renews bench 9990, shears 1990 then stool 4990")
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try amounts() == ["11980", "4990"])
        #expect(try state() == "active renews stool 4990 then stool 4990")
        #expect(try told() == ["DID_CHANGE_RENEWAL_PREF DOWNGRADE", "DID_RENEW"])
    }

    @Test func `a new billing cycle begins a period at once, and pays the rest of the former back`() throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        _ = try change {
            $0.retainsBillingCycle = false
            $0.replaced = [.init(of: "bench", by: Self.item("bench.year", 99_990), isImmediate: true)]
            $0.removed = ["shears"]
            $0.period = .oneYear
            $0.displayName = "Bench"
        }
        #expect(try amounts() == ["11980 -4995 -995", "99990"])
        let last = try #require(try garden.store.history(of: "carol").last)
        #expect(last.expiresDate?.rfc3339 == "2027-11-15T12:00:00Z")
        #expect(last.advancedCommerceCharge?.terms?.displayName == "Bench")
        #expect(try state() == "active renews bench.year 99990 then bench.year 99990")
    }

    @Test func `a cancelled subscription is reactivated, for all items or for some`() async throws {
        #expect(try perform(.reactivation(skus: nil)).state == .failed)
        _ = try await accepted("subscription/cancel")
        #expect(try perform(.reactivation(skus: ["bench"])).state == .purchased)
        #expect(try state() == "active renews bench 9990, shears 1990 then bench 9990")
        _ = try await accepted("subscription/cancel")
        #expect(try perform(.reactivation(skus: ["rake"])).state == .failed)
        #expect(try perform(.reactivation(skus: nil)).state == .purchased)
        #expect(
            try told() == [
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
            ])
    }

    @Test(
        arguments: [
            { $0.added = [item("bench", 1)] }, { $0.removed = ["rake"] }, { $0.removed = ["bench", "shears"] },
            { $0.replaced = [.init(of: "rake", by: item("spade", 1), isImmediate: true)] },
            { $0.replaced = [.init(of: "bench", by: item("bench", 1), isImmediate: true)] },
            { $0.replaced = [.init(of: "bench", by: item("shears", 1), isImmediate: true)] },
            {
                $0.period = .oneYear
                $0.replaced = [.init(of: "bench", by: item("stool", 1), isImmediate: false)]
            },
        ] as [@Sendable (inout AdvancedCommerceChange.Modification) -> Void])
    func `a change that the subscription does not allow fails`(
        wrong: @Sendable (inout AdvancedCommerceChange.Modification) -> Void
    ) throws {
        #expect(try change(wrong).state == .failed)
        #expect(try amounts() == ["11980"] && told().isEmpty)
    }

    @Test func `nobody changes the subscription of another customer`() throws {
        #expect(try change(account: "bob") { $0.added = [Self.item("rake", 1)] }.state == .failed)
    }

    // MARK: By the endpoints

    @Test func `the developer's server cancels a subscription, which lasts until the end of its period`() async throws {
        let answer = try await accepted("subscription/cancel", #""storefront":"USA""#)
        #expect(answer.renewal?.facts.integer(.autoRenewStatus) == 0 && answer.transaction.revocationDate == nil)
        #expect(try state() == "active ends bench 9990, shears 1990 then bench 9990, shears 1990")
        // The same again changes nothing.
        _ = try await accepted("subscription/cancel")
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try told() == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "EXPIRED VOLUNTARY"])
        #expect(try await code("subscription/cancel/\(sold)", Self.body()) == 4_030_010)
    }

    @Test func `names and SKUs change at once, or with the next period`() async throws {
        let changes = """
            "descriptors":{"displayName":"More tools","effective":"IMMEDIATELY"},
            "items":[{"currentSKU":"bench","SKU":"seat","effective":"IMMEDIATELY"},
            {"currentSKU":"shears","displayName":"New shears","SKU":"shears2","effective":"NEXT_BILL_CYCLE"}]
            """
        let answer = try await accepted("subscription/changeMetadata", changes)
        #expect(try Self.items(answer.transaction.facts.text(.advancedCommerceInfo)) == ["seat 9990", "shears 1990"])
        #expect(answer.transaction.facts.text(.advancedCommerceInfo)?.contains("More tools") == true)
        #expect(try state() == "active renews seat 9990, shears 1990 then seat 9990, shears2 1990")
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try state() == "active renews seat 9990, shears2 1990 then seat 9990, shears2 1990")
        #expect(try told() == ["METADATA_UPDATE", "DID_RENEW"])
    }

    @Test func `a lower price begins with the next period, and a higher one after it is announced`() async throws {
        let prices = #""items":[{"SKU":"bench","price":8990},{"SKU":"shears","price":2490}]"#
        _ = try await accepted("subscription/changePrice", prices)
        #expect(
            try state() == "active renews bench 9990, shears 1990 then bench 8990, shears 1990 SCHEDULED")
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try state() == "active renews bench 8990, shears 1990 then bench 8990, shears 2490 ACCEPTED")
        #expect(
            try await code("subscription/changePrice/\(sold)", Self.body(#""items":[{"SKU":"shears","price":1}]"#))
                == 4_000_205)
        try garden.advance(to: "2027-01-01T12:00:00Z")
        #expect(try amounts() == ["11980", "10980", "11480"])
        #expect(try told() == ["PRICE_CHANGE", "DID_RENEW", "PRICE_INCREASE ACCEPTED", "DID_RENEW"])
    }

    @Test(arguments: [true, false, nil])
    func `a much higher price needs consent, without which its item and its dependents end`(
        consents: Bool?
    ) async throws {
        _ = try change { $0.added = [Self.item("rake", 4990)] }
        let prices = #""items":[{"SKU":"bench","price":19990,"dependentSKUs":["shears"]}]"#
        _ = try await accepted("subscription/changePrice", prices)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(
            try state().hasSuffix("then bench 19990 PENDING, shears 1990, rake 4990"))
        switch consents {
        case true: try garden.store.perform(.consentToPriceIncrease, on: sold)
        case false: try garden.store.perform(.declinePriceIncrease, on: sold)
        default: break
        }
        try garden.advance(to: "2027-01-01T12:00:00Z")
        let last = try #require(try garden.store.history(of: "carol").last)
        #expect(last.price.milliunits == (consents == true ? 26_970 : 4990))
        #expect(try state().hasPrefix("active renews \(consents == true ? "bench 19990" : "rake")"))
    }

    @Test func `a subscription whose only item's price finds no consent ends`() async throws {
        _ = try change { $0.removed = ["shears"] }
        _ = try await accepted("subscription/changePrice", #""items":[{"SKU":"bench","price":19990}]"#)
        try garden.advance(to: "2027-01-01T12:00:00Z")
        #expect(try told().suffix(2) == ["PRICE_INCREASE PENDING", "EXPIRED PRICE_INCREASE"])
    }

    @Test(arguments: [("FULL", ["11980 -9990 -1990"], 1), ("PRORATED", ["11980 -4995 -995"], 0)])
    func `a revoked subscription ends at once, and is paid back`(
        type: String, expected: [String], reason: Int
    ) async throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        let members = """
            "refundRiskingPreference":false,"refundType":"\(type)",
            "refundReason":"\(reason == 1 ? "FULFILLMENT_ISSUE" : "LEGAL")"
            """
        let answer = try await accepted("subscription/revoke", members)
        #expect(answer.transaction.revocationDate == garden.store.now)
        #expect(answer.transaction.revocationReason == Int64(reason))
        // Both are absent from such transactions, whose items have the refunds.
        #expect(answer.transaction.facts[.revocationType] == nil)
        #expect(answer.transaction.facts[.revocationPercentage] == nil)
        #expect(answer.renewal?.facts.integer(.autoRenewStatus) == 0)
        #expect(try amounts() == expected && told() == ["REFUND"])
        #expect(try await code("subscription/revoke/\(sold)", Self.body(members)) == 4_000_186)
        try garden.store.reverseRefund(of: sold)
        #expect(try amounts() == ["11980"] && told() == ["REFUND", "REFUND_REVERSED"])
        #expect(try garden.store.sale(sold).advancedCommerceCharge?.items.allSatisfy { $0.revokedAt == nil } == true)
    }

    @Test func `a full refund pays back the rest of each item, and its reversal takes only that`() async throws {
        let members = """
            "refundRiskingPreference":false,
            "items":[{"SKU":"bench","refundType":"CUSTOM","refundAmount":990,"refundReason":"OTHER","revoke":false}]
            """
        _ = try await accepted("transaction/requestRefund", members)
        _ = try garden.store.advance(seconds: 60)
        try garden.store.refund(sold)
        #expect(try amounts() == ["11980 -990 -9000 -1990"])
        try garden.store.reverseRefund(of: sold)
        #expect(try amounts() == ["11980 -990"])
    }

    @Test func `a revocation takes what was added in the period, too`() async throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        _ = try change { $0.added = [Self.item("rake", 4990)] }
        let members = #""refundRiskingPreference":false,"refundType":"FULL","refundReason":"OTHER""#
        _ = try await accepted("subscription/revoke", members)
        #expect(try amounts() == ["11980 -9990 -1990", "2495 -2495"])
        #expect(try told().suffix(2) == ["REFUND", "REFUND"])
    }

    @Test(arguments: [true, false])
    func `the App Store asks about the consumption first, if the developer's server prefers it`(
        isGranted: Bool
    ) async throws {
        let members = #""refundRiskingPreference":true,"refundType":"FULL","refundReason":"LEGAL""#
        _ = try await accepted("subscription/revoke", members)
        #expect(try state().hasPrefix("active ends"))
        #expect(try await code("subscription/revoke/\(sold)", Self.body(members)) == 4_000_181)
        #expect(throws: StoreError.self) { try garden.store.requestRefund(of: sold) }
        try garden.store.perform(isGranted ? .refund : .declineRefund, on: sold)
        #expect(try amounts() == [isGranted ? "11980 -9990 -1990" : "11980"])
        #expect(
            try told() == [
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "CONSUMPTION_REQUEST",
                isGranted ? "REFUND" : "REFUND_DECLINED",
            ])
    }

    @Test func `no refund is requested while the customer's own request is pending`() async throws {
        try garden.store.requestRefund(of: sold)
        let revocation = #""refundRiskingPreference":false,"refundType":"FULL","refundReason":"LEGAL""#
        let refund = """
            "refundRiskingPreference":false,
            "items":[{"SKU":"bench","refundType":"FULL","refundReason":"OTHER","revoke":false}]
            """
        for (path, members) in [("subscription/revoke", revocation), ("transaction/requestRefund", refund)] {
            #expect(try await code("\(path)/\(sold)", Self.body(members)) == 4_000_181)
        }
        try garden.store.declineRefund(of: sold)
        _ = try await accepted("transaction/requestRefund", refund)
        #expect(try told() == ["CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND"])
    }

    @Test func `items are paid back in part or whole, and taken if the request says so`() async throws {
        try garden.advance(to: "2026-11-15T12:00:00Z")
        func refund(_ item: String) -> String {
            #""refundRiskingPreference":false,"items":[{\#(item),"refundReason":"OTHER"}]"#
        }
        let path = "transaction/requestRefund"
        let partial = try await accepted(
            path, refund(#""SKU":"bench","refundType":"CUSTOM","refundAmount":990,"revoke":false"#))
        #expect(partial.transaction.revocationDate == nil && partial.renewal != nil)
        #expect(partial.transaction.facts.itemRefunds.map(\.amount) == [990])
        _ = try await accepted(path, refund(#""SKU":"shears","refundType":"PRORATED","revoke":true"#))
        #expect(try amounts() == ["11980 -990 -995"])
        #expect(try state() == "active renews bench 9990, shears 1990 then bench 9990")
        for (item, code) in [
            (#""SKU":"bench","refundType":"FULL","revoke":true"#, 4_000_168),
            (#""SKU":"bench","refundType":"CUSTOM","refundAmount":9001,"revoke":false"#, 4_030_020),
            (#""SKU":"shears","refundType":"FULL","revoke":false"#, 4_030_013),
        ] as [(String, Int64)] {
            #expect(try await self.code("\(path)/\(sold)", Self.body(refund(item))) == code, "\(item)")
        }
        _ = try await accepted(path, refund(#""SKU":"bench","refundType":"FULL","revoke":false"#))
        #expect(
            try await code("\(path)/\(sold)", Self.body(refund(#""SKU":"bench","refundType":"FULL","revoke":false"#)))
                == 4_030_021)
        #expect(try told() == ["REFUND", "REFUND", "REFUND"])
        try garden.advance(to: "2026-12-01T12:00:00Z")
        #expect(try amounts() == ["11980 -990 -9000 -995", "9990"])
        // Only the latest transaction can be refunded for the rest of its time.
        #expect(
            try await code(
                "\(path)/\(sold)", Self.body(refund(#""SKU":"bench","refundType":"PRORATED","revoke":false"#)))
                == 4_000_182)
    }

    @Test func `a one-time charge is refunded, and a declined refund is told`() async throws {
        let bought = try Self.buy(Self.charge([Self.item("gnome", 2990)]), "garden.seeds", in: garden)
        let sale = try #require(bought.purchase).transactionIdentifier
        func members(_ reason: String) -> String {
            """
            "refundRiskingPreference":false,
            "items":[{"SKU":"gnome","refundType":"FULL","refundReason":"\(reason)","revoke":true}]
            """
        }
        let path = "transaction/requestRefund"
        let declined = try await accepted(path, members("SIMULATE_REFUND_DECLINE"), transaction: sale)
        #expect(declined.renewal == nil && declined.transaction.revocationDate == nil)
        let refunded = try await accepted(path, members("UNINTENDED_PURCHASE"), transaction: sale)
        #expect(refunded.transaction.revocationDate == garden.store.now)
        #expect(try told() == ["ONE_TIME_CHARGE", "REFUND_DECLINED", "REFUND"])
        #expect(try await code("\(path)/\(sale)", Self.body(members("OTHER"))) == 4_030_021)
    }

    private static let migration = #"""
        "targetProductId":"garden.basic.yearly","taxCode":"C003-00-2",
        "descriptors":{"displayName":"Tools","description":"All tools"},
        "items":[{"SKU":"bench","displayName":"Bench","description":"A bench"}]
        """#

    @Test func `a subscription of the catalog goes on under another original transaction`() async throws {
        let former = try #require(try garden.buy("garden.premium.monthly").purchase).transactionIdentifier
        let before = try #require(try garden.store.history(of: "alice").last)
        let answer = try await accepted("subscription/migrate", Self.migration, transaction: former)
        let migrated = answer.transaction.transactionId
        #expect(answer.transaction.originalTransactionId != former)
        #expect(answer.transaction.facts.text(.previousOriginalTransactionId) == former)
        #expect(answer.transaction.productId == "garden.basic.yearly")
        #expect(answer.transaction.facts.date(.expiresDate) == before.expiresDate)
        #expect(answer.renewal?.facts.integer(.renewalPrice) == before.price.milliunits)
        #expect(try told().last == "MIGRATION")
        #expect(try await code("subscription/migrate/\(migrated)", Self.body(Self.migration)) == 4_000_176)
        try garden.advance(to: "2026-12-01T12:00:00Z")
        let sales = try garden.store.history(of: "alice")
        #expect(sales.map(\.price.milliunits) == [before.price.milliunits, 0, before.price.milliunits])
        #expect(Set(sales.map(\.originalTransactionIdentifier)).count == 2)
        let renewed = try await accepted(
            "subscription/changePrice", #""items":[{"SKU":"bench","price":1}]"#, transaction: migrated)
        #expect(renewed.transaction.facts.text(.previousOriginalTransactionId) == former)
    }

    @Test func `a migration has the next items if they differ, and no announced price`() async throws {
        // The first purchase has the introductory offer.
        _ = try garden.buy("garden.basic.monthly")
        let sale = try #require(try garden.buy("garden.premium.monthly").purchase).transactionIdentifier
        _ = try garden.buy("garden.basic.monthly")
        #expect(try await code("subscription/migrate/\(sale)", Self.body(Self.migration)) == 4_000_180)
        let renewal = #","renewalItems":[{"SKU":"stool","displayName":"Stool","description":"A stool"}]"#
        let answer = try await accepted("subscription/migrate", Self.migration + renewal, transaction: sale)
        #expect(try Self.items(answer.renewal?.facts.text(.advancedCommerceInfo)) == ["stool 4990"])
        let other = try #require(try garden.buy("garden.premium.monthly", account: "bob").purchase)
        try garden.store.requestPriceIncrease(of: other.transactionIdentifier, to: 19_990, needsConsent: true)
        #expect(
            try await code("subscription/migrate/\(other.transactionIdentifier)", Self.body(Self.migration))
                == 4_030_027)
    }

    @Test(
        arguments: [
            ("targetProductId", "null", 4_000_166), ("targetProductId", #""garden.seeds""#, 4_000_167),
            ("taxCode", "null", 4_000_099), ("descriptors", "null", 4_000_103), ("items", "null", 4_000_101),
            ("items", "[]", 4_000_160), ("descriptors", #"{"description":"a"}"#, 4_000_106),
            ("items", #"[{"SKU":"a","displayName":"a"}]"#, 4_000_107), ("storefront", #""KOR""#, 4_000_133),
        ] as [(String, String, Int64)])
    func `a wrong migration gets Apple's error`(field: String, value: String, code: Int64) async throws {
        let sale = try #require(try garden.buy("garden.premium.monthly").purchase).transactionIdentifier
        var members = [
            "targetProductId": #""garden.basic.yearly""#, "taxCode": #""C003""#,
            "descriptors": #"{"displayName":"Tools","description":"All tools"}"#,
            "items": #"[{"SKU":"bench","displayName":"Bench","description":"A bench"}]"#,
        ]
        members[field] = value
        let body = Self.body(members.map { #""\#($0)":\#($1)"# }.joined(separator: ","))
        #expect(try await self.code("subscription/migrate/\(sale)", body) == code)
    }

    @Test(
        arguments: [
            ("subscription/cancel", "[]", 4_000_173), ("subscription/cancel", "{}", 4_000_079),
            ("subscription/cancel", #"{"requestInfo":{}}"#, 4_000_080),
            ("subscription/cancel", #"{"requestInfo":{"requestReferenceId":"1"}}"#, 4_000_081),
            ("subscription/cancel", body(#""storefront":"KOR""#), 4_000_133),
            ("subscription/cancel", body(#""storefront":"XYZ""#), 4_000_028),
            ("subscription/changeMetadata", body(), 4_000_115),
            ("subscription/changeMetadata", body(#""items":[]"#), 4_000_160),
            ("subscription/changeMetadata", body(#""descriptors":{"effective":"IMMEDIATELY"}"#), 4_000_165),
            ("subscription/changeMetadata", body(#""descriptors":{"displayName":"a"}"#), 4_000_111),
            (
                "subscription/changeMetadata", body(#""items":[{"currentSKU":"rake","effective":"IMMEDIATELY"}]"#),
                4_000_121
            ),
            (
                "subscription/changeMetadata",
                body(#""items":[{"currentSKU":"bench","SKU":"shears","effective":"IMMEDIATELY"}]"#), 4_000_122
            ),
            (
                "subscription/changeMetadata",
                body(#""descriptors":{"displayName":"abcdefghijabcdefghijabcdefghija","effective":"IMMEDIATELY"}"#),
                4_000_089
            ),
            ("subscription/changePrice", body(), 4_000_101),
            ("subscription/changePrice", body(#""items":[{"SKU":"rake","price":1}]"#), 4_000_220),
            ("subscription/changePrice", body(#""items":[{"SKU":"bench","price":-1}]"#), 4_000_086),
            ("subscription/changePrice", body(#""items":[{"SKU":"bench"}]"#), 4_000_109),
            ("subscription/changePrice", body(#""currency":"KRW","items":[{"SKU":"bench","price":1}]"#), 4_000_053),
            (
                "subscription/changePrice",
                body(
                    #""items":[{"SKU":"bench","price":1,"dependentSKUs":["shears"]},{"SKU":"shears","price":1,"dependentSKUs":["bench"]}]"#
                ), 4_000_193
            ),
            ("subscription/revoke", body(#""refundType":"FULL","refundReason":"LEGAL""#), 4_000_159),
            (
                "subscription/revoke",
                body(#""refundType":"CUSTOM","refundReason":"LEGAL","refundRiskingPreference":false"#), 4_000_123
            ),
            (
                "subscription/revoke",
                body(#""refundType":"FULL","refundReason":"WHY","refundRiskingPreference":false"#),
                4_000_124
            ),
        ] as [(String, String, Int64)])
    func `a wrong request gets Apple's error`(path: String, body: String, code: Int64) async throws {
        #expect(try await self.code("\(path)/\(sold)", body) == code)
        #expect(try told().isEmpty)
    }

    @Test func `the table of the errors has each`() throws {
        let page = try Project.text("Documentation/AppStoreErrors.md")
        let listed = page.matches(of: #/\n\| ([0-9]{7}) \| [A-Za-z]+Error \| to /#).compactMap { Int($0.1) }
        #expect(listed == AdvancedCommerceError.allCases.map(\.rawValue))
        for error in AdvancedCommerceError.allCases { #expect(!error.message.isEmpty) }
    }

    @Test func `a request is about a described purchase, with a reference of its own`() async throws {
        let (catalog, seeds) = (
            try #require(try garden.buy("garden.basic.monthly").purchase).transactionIdentifier,
            try #require(try garden.buy("garden.seeds").purchase).transactionIdentifier
        )
        #expect(try await code("subscription/cancel/\(catalog)", Self.body()) == 4_030_010)
        #expect(try await code("subscription/cancel/\(seeds)", Self.body()) == 4_030_008)
        #expect(try await code("subscription/cancel/7", Self.body()) == 4_040_010)
        let body = Self.body(#""taxCode":"C004""#)
        #expect(try await send("subscription/changeMetadata/\(sold)", body).status == 200)
        #expect(try await code("subscription/changeMetadata/\(sold)", body) == 4_000_097)
        let stale = #"{"requestInfo":{"requestReferenceId":"\#(UUID().uuidString)","consistencyToken":"1"}}"#
        #expect(try await code("subscription/cancel/\(sold)", stale) == 4_000_082)
    }
}
