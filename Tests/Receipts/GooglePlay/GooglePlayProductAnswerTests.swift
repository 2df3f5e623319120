import Foundation
import Proofs
import TestSupport
import Testing

/// The statements of Google Play about one-time products, and answers in other forms.
@Suite struct GooglePlayProductAnswerTests {
    private typealias Answers = PlayAnswers
    private static let now = Answers.now

    private func statement(_ text: String, orders: [GooglePlayOrder] = []) throws -> GooglePlayStatement {
        try Answers.statement(text, isProduct: true, orders: orders)
    }

    @Test func `a paid product is owned, with its price and its units`() throws {
        let item = #""quantity":3,"refundableQuantity":2,"consumptionState":"CONSUMPTION_STATE_CONSUMED","offerId":"o""#
        let more = Answers.paid + #","regionCode":"US","obfuscatedExternalAccountId":"\#(Answers.user)""#
        let order = try Answers.order(
            items: [#"{"productId":"seeds","total":{"currencyCode":"USD","units":"5","nanos":970000000}}"#])
        let statement = try statement(Answers.product("PURCHASED", item: item, more: more), orders: [order])
        #expect(statement.state == .purchased && !statement.isSubscription && statement.origin == .googleProduction)
        #expect(!statement.isAcknowledged && statement.acknowledgeBy == Self.now.adding(days: 2))
        let stated = try #require(statement.purchases.first)
        let (purchase, facts) = (stated.purchase, stated.purchase.facts)
        // The transaction is that of the signed purchase.
        #expect(purchase.transactionIdentifier == Answers.name)
        #expect(purchase.originalTransactionIdentifier == Answers.name)
        #expect(purchase.productIdentifier == "seeds" && purchase.quantity == 3)
        #expect(purchase.purchaseDate == Self.now.adding(days: -1))
        #expect(purchase.expiresDate == nil && purchase.revocationDate == nil && purchase.productType == nil)
        #expect(purchase.appAccountToken == UUID(uuidString: Answers.user))
        #expect(stated.renewal == nil && stated.isConsumed && stated.refundedQuantity == 1)
        #expect(facts.integer(.price) == 5_970 && facts.text(.currency) == "USD")
        #expect(facts.text(.orderId) == "GPA.1" && facts.text(.storefront) == "USA")
        #expect(facts.text(.offerIdentifier) == "o")
    }

    @Test func `a product has its purchase option and its offer, and its order the channel and the Play Points`() throws
    {
        let points = #"{"pointsOfferId":"p","pointsSpent":"100","pointsDiscountRateMicros":"500000"}"#
        let order = try Answers.order(
            "GPA.1", "REFUNDED", items: [#"{"productId":"seeds","total":{"currencyCode":"USD","units":"5"}}"#],
            more: #","salesChannel":"NATIVE_PC","pointsDetails":\#(points),"#
                + #""orderHistory":{"refundEvent":{"refundReason":"CHARGEBACK"}}"#)
        let item = #""purchaseOptionId":"buy","offerId":"o","offerToken":"AbC-_","offerTags":["spring","sale"]"#
        let statement = try statement(
            Answers.product("PURCHASED", item: item, more: Answers.paid), orders: [order])
        let facts = try #require(statement.purchases.first).purchase.facts
        #expect(facts.text(.purchaseOptionId) == "buy" && facts.text(.offerToken) == "AbC-_")
        #expect(facts.text(.offerTags) == #"["spring","sale"]"#)
        #expect(facts.text(.salesChannel) == "NATIVE_PC" && facts.text(.pointsDetails) == points)
        #expect(facts.text(.refundReason) == "CHARGEBACK")
    }

    @Test func `a paid product without an order is that of a promotion code, and costs nothing`() throws {
        let completed = #","purchaseCompletionTime":"\#(Answers.day(-1))""#
        let stated = try statement(Answers.product("PURCHASED", more: completed + #","regionCode":"KR""#))
        let facts = try #require(stated.purchases.first).purchase.facts
        #expect(facts.integer(.price) == 0 && facts.text(.currency) == "KRW" && facts[.orderId] == nil)
        #expect(facts.integer(.offerType) == Int64(SubscriptionOffer.Kind.offerCode.rawValue))
        #expect(stated.acknowledgeBy == Self.now.adding(days: 2))
        // The amount of a purchase with an order is unknown without the right to see it.
        let paid = try statement(Answers.product("PURCHASED", more: Answers.paid + #","regionCode":"KR""#))
        let known = try #require(paid.purchases.first).purchase.facts
        #expect(known[.price] == nil && known[.offerType] == nil)
    }

    /// No decision needs these members, so that an unusual form costs nobody the purchase.
    @Test func `a product with an unusual offer and unusual Play Points is owned all the same`() throws {
        let order = try Answers.order(items: [], more: #","salesChannel":7,"pointsDetails":[1]"#)
        let item = #""purchaseOptionId":{},"offerToken":[],"offerTags":"spring""#
        let statement = try statement(
            Answers.product("PURCHASED", item: item, more: Answers.paid), orders: [order])
        let facts = try #require(statement.purchases.first).purchase.facts
        #expect(facts.text(.salesChannel) == "7")
        for fact in [TransactionFact.pointsDetails, .purchaseOptionId, .offerToken, .offerTags] {
            #expect(facts[fact] == nil, "\(fact)")
        }
    }

    @Test func `a pending product is not owned, and one that was never paid neither`() throws {
        let pending = try statement(Answers.product("PENDING"))
        #expect(pending.state == .pending && pending.purchases.isEmpty && pending.acknowledgeBy == nil)
        let unpaid = try statement(Answers.product("CANCELLED"))
        #expect(unpaid.state == .paymentCanceled && unpaid.purchases.isEmpty && unpaid.acknowledgeBy == nil)
        for state in ["PURCHASE_STATE_UNSPECIFIED", "CANCELED", "LATER", ""] {
            let unknown = try statement(Answers.product(state, more: Answers.paid))
            #expect(unknown.state == .unknown && unknown.purchases.isEmpty, "\(state)")
            #expect(unknown.acknowledgeBy == nil, "\(state)")
        }
    }

    @Test func `a paid product that is canceled is taken back`() throws {
        let text = Answers.product("CANCELLED", more: Answers.paid)
        let without = try statement(text)
        #expect(without.state == .voided && without.state.isFinal && without.acknowledgeBy == nil)
        #expect(without.purchases.first?.purchase.revocationDate == Self.now)
        let order = try Answers.order(
            "GPA.1", "REFUNDED", items: [],
            more: #","orderHistory":{"refundEvent":{"eventTime":"2026-09-21T10:00:00.123456Z"}}"#)
        let purchase = try #require(try statement(text, orders: [order]).purchases.first).purchase
        #expect(purchase.revocationDate == Timestamp(millisecondsSince1970: 1_789_984_800_123))
        #expect(purchase.revocationReason == 0)
        // A refund without revocation leaves the product.
        let kept = try statement(Answers.product("PURCHASED", more: Answers.paid), orders: [order])
        #expect(kept.purchases.first?.purchase.revocationDate == nil)
    }

    @Test func `each product of a purchase is a transaction, as in a signed purchase`() throws {
        let items = [#"{"productId":"a"}"#, #"{"productId":"b","productOfferDetails":{"quantity":2}}"#]
        let purchases = try statement(Answers.product("PURCHASED", items: items, more: Answers.paid)).purchases
        #expect(
            purchases.map(\.purchase.transactionIdentifier) == ["\(Answers.name):a", "\(Answers.name):b"])
        // Each is a purchase of its own, which may be refunded by itself.
        #expect(
            purchases.map(\.purchase.originalTransactionIdentifier) == ["\(Answers.name):a", "\(Answers.name):b"])
        #expect(purchases.map(\.purchase.quantity) == [1, 2])
    }

    @Test func `a pre-order is owned from its release on`() throws {
        let offer = #""preorderOfferDetails":{"preorderReleaseTime":"2026-12-01T00:00:00Z"}"#
        let items = [#"{"productId":"a","productOfferDetails":{"quantity":1,\#(offer)}}"#]
        let ordered = try statement(Answers.product("PENDING", items: items))
        #expect(ordered.purchases.isEmpty && ordered.refusal?.reason == .purchasePending)
        #expect(ordered.refusal?.detail?.contains("2026-12-01T00:00:00Z") == true)
        let released = try statement(Answers.product("PURCHASED", items: items, more: Answers.paid))
        #expect(released.purchases.map(\.purchase.productIdentifier) == ["a"] && released.refusal == nil)
        let release = Timestamp(rfc3339: "2026-12-01T00:00:00Z")
        #expect(released.purchases.first?.purchase.facts.date(.preorderReleaseTime) == release)
    }

    /// A rental of the option `rent`, and a product that is bought with it.
    private static func rented(_ more: String = "") -> [String] {
        let details = #""purchaseOptionId":"rent","quantity":1,"rentOfferDetails":{}\#(more)"#
        return [#"{"productId":"a"}"#, #"{"productId":"b","productOfferDetails":{\#(details)}}"#]
    }

    private static func rentals(_ rent: String = #""rentalPeriod":"P2D","expirationPeriod":"PT6H""#) throws
        -> [GooglePlayRental]
    {
        let option = #"{"purchaseOptionId":"rent","rentOption":{\#(rent)}}"#
        let product = #"{"purchaseOptions":[{"purchaseOptionId":"buy","buyOption":{}},\#(option)]}"#
        return try GooglePlayRental.all(Array(product.utf8), of: "b")
    }

    @Test func `a rental is owned until its period ends, and does not renew`() throws {
        let text = Answers.product("PURCHASED", items: Self.rented(), more: Answers.paid)
        let statement = try Answers.statement(text, isProduct: true, rentals: try Self.rentals())
        #expect(statement.refusal == nil && statement.acknowledgeBy != nil)
        let purchases = statement.purchases.map(\.purchase)
        #expect(purchases.map(\.productIdentifier) == ["a", "b"])
        #expect(purchases.map(\.expiresDate) == [nil, Self.now.adding(days: 1)])
        #expect(purchases.map { $0.facts.bool(.isRental) } == [nil, true])
        #expect(purchases.map(\.productType) == [nil, .nonRenewingSubscription])
        #expect(purchases[1].facts.date(.expiresDate) == Self.now.adding(days: 1))
    }

    @Test func `a consumed rental ends after its expiration period, and no later than its rental period`() throws {
        let consumed = #","consumptionState":"CONSUMPTION_STATE_CONSUMED""#
        let text = Answers.product("PURCHASED", items: Self.rented(consumed), more: Answers.paid)
        for (period, seconds) in [("PT6H", 6 * 3600), ("P3D", 86_400)] as [(String, Int64)] {
            let rentals = try Self.rentals(#""rentalPeriod":"P2D","expirationPeriod":"\#(period)""#)
            let statement = try Answers.statement(text, isProduct: true, rentals: rentals)
            #expect(statement.purchases.last?.purchase.expiresDate == Self.now.adding(seconds: seconds), "\(period)")
        }
    }

    @Test func `the end of a rental that is known stays, whatever the catalog says later`() throws {
        let text = Answers.product("PURCHASED", items: Self.rented(), more: Answers.paid)
        let first = try Answers.statement(text, isProduct: true, rentals: try Self.rentals())
        for rentals in [try Self.rentals(#""rentalPeriod":"P9D""#), []] {
            let later = try Answers.statement(text, isProduct: true, lines: first.lines.products, rentals: rentals)
            #expect(later.purchases.last?.purchase.expiresDate == Self.now.adding(days: 1))
        }
        let answer = try GooglePlayAnswer(product: Array(text.utf8), about: Answers.token, of: Answers.packageName)
        func moment(_ lines: GooglePlayLines) -> GooglePlayAnswer.Moment {
            .init(realm: .google, askedAt: Self.now, named: .test, lines: lines)
        }
        #expect(answer.rentedProducts(after: moment(GooglePlayLines())) == ["b"])
        #expect(answer.rentedProducts(after: moment(first.lines)).isEmpty)
    }

    @Test func `a rental whose end nobody states is not owned, nor what was bought with it`() throws {
        let text = Answers.product("PURCHASED", items: Self.rented(), more: Answers.paid)
        for rentals in [
            [], try Self.rentals(#""rentalPeriod":"two days""#), try Self.rentals(#""rentalPeriod":"P0D""#),
        ] {
            let statement = try Answers.statement(text, isProduct: true, rentals: rentals)
            #expect(statement.purchases.isEmpty && statement.refusal?.reason == .purchaseKindUnsupported)
        }
        let pending = try statement(Answers.product("PENDING", items: Self.rented()))
        #expect(pending.purchases.isEmpty && pending.refusal?.reason == .purchasePending)
        let voided = try statement(Answers.product("CANCELLED", items: Self.rented(), more: Answers.paid))
        #expect(voided.purchases.count == 2 && voided.purchases.allSatisfy { $0.purchase.revocationDate != nil })
        #expect(try statement(Answers.product("CANCELLED")).refusal == nil)
    }

    @Test(
        arguments: [
            ("P2D", 2 * 86_400), ("PT48H", 2 * 86_400), ("P1W", 7 * 86_400), ("P1DT1H30M5S", 91_805),
            ("P1M", 30 * 86_400), ("P1Y", 365 * 86_400), ("P", nil), ("PT", nil), ("P0D", nil), ("2D", nil),
            ("P2", nil), ("PD", nil), ("P1H", nil), ("PT1D", nil), ("P1000D", nil), ("P1D ", nil), ("P-1D", nil),
            ("P999Y999Y", nil), ("", nil), ("P\u{661}D", nil),
        ] as [(String, Int64?)])
    func `a period of a rental is one of ISO 8601`(text: String, seconds: Int64?) {
        // The month after 2026-09-21 has 30 days.
        #expect(RentalPeriod(text)?.end(from: Self.now) == seconds.map { Self.now.adding(seconds: $0) })
    }

    @Test func `a test purchase is marked`() throws {
        let more = Answers.paid + #","testPurchaseContext":{"fopType":"TEST"}"#
        let statement = try statement(Answers.product("PURCHASED", more: more))
        #expect(statement.origin == .googleTest)
        #expect(statement.acknowledgeBy == Self.now.adding(days: -1).adding(seconds: 180))
    }

    /// Bytes that are no answer, or whose members that decide have another form.
    static let hostile: [(text: String, isProduct: Bool)] =
        [
            "", "[]", "null", "x", #"{"a":1,"a":1}"#, #"{"lineItems":{}}"#, #"{"lineItems":[1]}"#,
            #"{"lineItems":[{}]}"#, #"{"lineItems":[{"productId":5}]}"#, #"{"lineItems":[{"productId":"a b"}]}"#,
            #"{"lineItems":[{"productId":"p","expiryTime":"tomorrow"}]}"#,
            #"{"lineItems":[{"productId":"p","expiryTime":1790000000}]}"#,
            #"{"lineItems":[{"productId":"p","latestSuccessfulOrderId":{}}]}"#,
            #"{"subscriptionState":1}"#, #"{"linkedPurchaseToken":["t"]}"#, #"{"linkedPurchaseToken":"\u0001"}"#,
            #"{"testPurchase":true}"#, #"{"externalAccountIdentifiers":"ada"}"#,
            #"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":7}}"#,
            #"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"\#(String(repeating: "x", count: 65))"}}"#,
            #"{"linkedPurchaseToken":"\#(String(repeating: "x", count: 513))"}"#,
            #"{"lineItems":[\#(Array(repeating: #"{"productId":"p"}"#, count: 101).joined(separator: ","))]}"#,
            #"{"padding":"\#(String(repeating: "x", count: GooglePlayAnswer.maximumSize))"}"#,
            String(repeating: "[", count: 100_000),
        ].map { ($0, false) }
        + [
            #"{"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":0}}]}"#,
            #"{"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":-1}}]}"#,
            #"{"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":"many"}}]}"#,
            #"{"productLineItem":[{"productId":"p","productOfferDetails":7}]}"#,
            #"{"purchaseStateContext":"PURCHASED"}"#, #"{"purchaseStateContext":{"purchaseState":0}}"#,
            #"{"testPurchaseContext":1}"#, #"{"orderId":5}"#, #"{"orderId":"a b"}"#,
            #"{"obfuscatedExternalAccountId":{}}"#,
            #"{"productLineItem":[{"productId":"p","productOfferDetails":{"rentOfferDetails":true}}]}"#,
        ].map { ($0, true) }

    @Test(arguments: hostile.indices) func `an answer in another form is an error`(index: Int) {
        let (text, isProduct) = Self.hostile[index]
        #expect(throws: ProofRefusal.self, "\(text.prefix(80))") { try Answers.statement(text, isProduct: isProduct) }
    }

    @Test func `what decides nothing is read as absent in another form`() throws {
        let item = """
            "expiryTime":"\(Answers.day(20))","autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"units":[]},\
            "priceChangeDetails":[]},"offerDetails":5,"offerPhase":"x","signupPromotion":null
            """
        let text = Answers.subscription(
            "ACTIVE", item: item, more: #","pausedStateContext":[],"canceledStateContext":1,"etag":{}"#)
        let facts = try #require(try Answers.statement(text).purchases.first?.renewal).facts
        #expect(facts.integer(.autoRenewStatus) == 1 && facts[.renewalPrice] == nil)
        // An answer without anything grants nothing.
        for isProduct in [false, true] {
            let empty = try Answers.statement("{}", isProduct: isProduct)
            #expect(empty.state == .unknown && empty.purchases.isEmpty && empty.statedState.isEmpty)
        }
    }

    @Test(
        arguments: [
            (#"{"currencyCode":"KRW","units":"1200"}"#, 1_200_000),
            (#"{"currencyCode":"KRW","units":1200}"#, 1_200_000),
            (#"{"currencyCode":"USD","nanos":990000000}"#, 990), (#"{"currencyCode":"USD"}"#, 0),
            (#"{"currencyCode":"USD","units":"-1"}"#, nil), (#"{"currencyCode":"usd","units":"1"}"#, nil),
            (#"{"units":"1"}"#, nil), (#"{"currencyCode":"USD","units":"9223372036854775807"}"#, nil),
            (#"{"currencyCode":"USD","units":"1","nanos":-5}"#, nil),
        ] as [(String, Int64?)])
    func `an amount is read in Google's form`(money: String, milliunits: Int64?) throws {
        let order = try Answers.order(items: [#"{"productId":"seeds","total":\#(money)}"#])
        let facts = try #require(
            try statement(Answers.product("PURCHASED", more: Answers.paid), orders: [order]).purchases.first
        ).purchase.facts
        #expect(facts.integer(.price) == milliunits)
        #expect((facts[.currency] == nil) == (milliunits == nil))
    }

    @Test func `an order is the one that was asked for`() {
        for text in [#"{"orderId":"GPA.2"}"#, "{}", #"{"orderId":["GPA.1"]}"#] {
            #expect(throws: ProofRefusal.self) { try GooglePlayOrder(Array(text.utf8), identifier: "GPA.1") }
        }
    }

    @Test func `voided purchases are read with numbers in both forms`() throws {
        let text = """
            {"voidedPurchases":[{"kind":"androidpublisher#voidedPurchase","purchaseToken":"t","orderId":"GPA.1..0",\
            "purchaseTimeMillis":"1","voidedTimeMillis":"1790000000000","voidedSource":0,"voidedReason":7},\
            {"purchaseToken":"u","voidedTimeMillis":1790000000001,"voidedReason":"3","voidedQuantity":2,"later":{}}],\
            "pageInfo":{"totalResults":2},"tokenPagination":{"nextPageToken":"n"}}
            """
        let page = try VoidedGooglePlayPurchases(Array(text.utf8))
        #expect(page.nextPageToken == "n")
        let (first, second) = (try #require(page.purchases.first), try #require(page.purchases.last))
        #expect(first.purchaseToken == "t" && first.orderId == "GPA.1..0" && first.quantity == nil)
        #expect(first.voidedAt == Self.now && first.reason == 7 && first.source == 0 && second.source == nil)
        #expect(first.revocationReason == .refundedForOtherReason)
        #expect(second.orderId == nil && second.quantity == 2 && second.reason == 3)
        #expect(second.revocationReason == .refundedDueToIssue)
        let none = try VoidedGooglePlayPurchases(Array("{}".utf8))
        #expect(none.purchases.isEmpty && none.nextPageToken == nil)
    }

    @Test(arguments: [
        "{}", #"{"purchaseToken":"t"}"#, "5", #"{"purchaseToken":"t","voidedTimeMillis":"soon"}"#,
        #"{"purchaseToken":"t","voidedTimeMillis":"-1"}"#,
        #"{"purchaseToken":"t","voidedTimeMillis":"1","voidedQuantity":0}"#,
    ]) func `a voided purchase in another form is counted, and the others are read`(record: String) throws {
        let good = #"{"purchaseToken":"u","voidedTimeMillis":"1"}"#
        let text = #"{"voidedPurchases":[\#(record),\#(good)],"tokenPagination":{"nextPageToken":"n"}}"#
        let page = try VoidedGooglePlayPurchases(Array(text.utf8))
        #expect(page.purchases.map(\.purchaseToken) == ["u"])
        #expect(page.unreadableCount == 1 && page.nextPageToken == "n")
    }

    @Test(arguments: [
        #"{"voidedPurchases":{}}"#, #"{"tokenPagination":{"nextPageToken":5}}"#, "[]",
    ]) func `a page of voided purchases in another form is an error`(text: String) {
        #expect(throws: ProofRefusal.self) { try VoidedGooglePlayPurchases(Array(text.utf8)) }
    }
}
