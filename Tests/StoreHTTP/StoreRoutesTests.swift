import AppStore
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import TestSupport
import Testing

/// The store over HTTP: the sandbox and the App Store's routes. `make test-apple` tests the other routes with Apple's own
/// client.
@Suite struct StoreRoutesTests {
    let garden: TestGarden

    init() throws {
        garden = try TestGarden()
    }

    /// The answer of `verifyReceipt`.
    private struct VerifyReceiptAnswer: Decodable {
        struct Period: Decodable {
            let transactionId: String
            let expiresDate: String?

            private enum CodingKeys: String, CodingKey {
                case transactionId = "transaction_id"
                case expiresDate = "expires_date"
            }
        }

        let status: Int
        let latestReceiptInfo: [Period]?

        private enum CodingKeys: String, CodingKey {
            case status
            case latestReceiptInfo = "latest_receipt_info"
        }
    }

    /// An answer of the store.
    private struct Answer: JSONReadable {
        let status: Int
        let headers: HTTPFields
        let body: String

        var jsonData: Data { Data(body.utf8) }

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        key: String? = "key",
        authority: String? = nil
    ) async throws -> Answer {
        let application = Application(
            router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
        let headers: HTTPFields = key.map { [.authorization: "Bearer \($0)"] } ?? [:]
        return try await application.test(.router) { client in
            let answer = try await client.executeRequest(
                uri: authority.map { "http://\($0)\(path)" } ?? path, method: method, headers: headers,
                body: body.map { ByteBuffer(string: $0) })
            return Answer(
                status: answer.status.code, headers: answer.headers, body: String(buffer: answer.body))
        }
    }

    @Test(
        arguments: [
            ("purchases", #"{"account":"alice","productId":"garden.rose"}"#, 404, "productNotFound"),
            ("purchases", #"{"account":"alice","productId":"garden.seeds","quantity":11}"#, 422, "quantityOutOfRange"),
            ("purchases", #"{"productId":"garden.seeds"}"#, 400, "bodyInvalid"),
            ("purchases", #"{"account":"alice","productId":"garden.seeds","outcome":"maybe"}"#, 400, "bodyInvalid"),
            ("purchases", #"{"account":"alice","productId":"garden.seeds","offerIdentifier":"a"}"#, 400, "bodyInvalid"),
            (
                "purchases",
                #"{"account":"alice","productId":"garden.basic.monthly","offerIdentifier":"a","offerType":"introductory"}"#,
                400, "bodyInvalid"
            ),
            (
                "purchases", #"{"account":"alice","productId":"garden.basic.yearly","billingPlanType":"MONTHLY"}"#, 400,
                "bodyInvalid"
            ),
            (
                "purchases", #"{"account":"alice","productId":"garden.basic.monthly","billingPlanType":"monthly"}"#,
                409,
                "invalidAction"
            ),
            ("purchases", "[]", 400, "bodyInvalid"), ("purchases", "{", 400, "bodyInvalid"),
            ("queue/9/approve", nil, 404, "transactionNotFound"), ("queue/x/approve", nil, 400, "httpError"),
            ("transactions/9/refund", nil, 404, "transactionNotFound"),
            ("transactions/9/refund", #"{"seats":1,"isProrated":true}"#, 400, "bodyInvalid"),
            ("transactions/9/refund", #"{"seats":1,"revocationPercentage":1}"#, 400, "bodyInvalid"),
            ("transactions/9/renewal", nil, 404, "transactionNotFound"),
            ("time/advance", #"{"by":"1 month"}"#, 400, "bodyInvalid"), ("time/advance", "{}", 400, "bodyInvalid"),
            ("time/advance", #"{"by":"99y"}"#, 409, "invalidAction"),
            ("time/advance", #"{"by":"1d","account":"bob"}"#, 404, "accountUnknown"),
            ("time/advance", #"{"by":"1d","account":""}"#, 422, "accountInvalid"),
            ("notifications/faults", #"{"faults":["loud"]}"#, 400, "bodyInvalid"),
            ("notifications", "{}", 400, "bodyInvalid"),
            ("notifications", #"{"notificationType":"REFUND"}"#, 422, "notificationInvalid"),
            ("notifications", #"{"notificationType":"PRICE_CHANGE"}"#, 422, "notificationInvalid"),
            (
                "notifications", #"{"notificationType":"PRICE_CHANGE","transactionId":"9"}"#, 404, "transactionNotFound"
            ),
            ("notifications", #"{"notificationType":"RESCIND_CONSENT","account":""}"#, 422, "accountInvalid"),
            ("nothing", nil, 404, "notFound"),
        ] as [(String, String?, Int, String)])
    func `an error is a problem document`(
        path: String,
        body: String?,
        status: Int,
        code: String
    ) async throws {
        let answer = try await send(.post, "/sandbox/v1/" + path, body)
        #expect(answer.status == status)
        #expect(answer.code == code)
        #expect(answer.headers[.contentType] == "application/problem+json")
    }

    @Test func `a part of the price is refunded`() async throws {
        let sold = try #require(try garden.buy("garden.gate").purchase).transactionIdentifier
        let path = "/sandbox/v1/transactions/\(sold)/refund"
        // Nothing is known of the consumption.
        #expect(try await send(.post, path, #"{"isProrated":true}"#).code == "invalidAction")
        let answer = try await send(.post, path, #"{"reason":"issue","revocationPercentage":33333}"#)
        #expect(answer.status == 200)
        #expect(try answer.decoded(SaleResource.self).revocationPercentage == 33_333)
        #expect(try garden.store.sale(sold).revocation?.type == .refundProrated)
    }

    @Test func `a query parameter that the sandbox API does not have is refused with the nearest name`() async throws {
        let answer = try await send(.get, "/sandbox/v1/queue?acount=alice")
        #expect((answer.status, answer.code) == (400, "parameterInvalid"))
        let detail = try answer.decoded(ProblemResource.self).detail
        #expect(
            detail == #"The query parameter acount is unknown. Did you mean "account"? The parameters are account."#)
        #expect(try await send(.get, "/health/live?x=1").status == 204)
    }

    @Test func `an account has its own time`() async throws {
        try garden.buy("garden.basic.monthly")
        try garden.buy("garden.basic.monthly", account: "bob")
        let start = garden.clock.now()
        let advanced = try await send(.post, "/sandbox/v1/time/advance", #"{"by":"31d","account":"alice"}"#)
            .decoded(TimeResource.self)
        #expect(advanced.now == start.adding(days: 31).rfc3339)
        #expect(advanced.events?.map(\.account) == ["alice"])
        let read = try await send(.get, "/sandbox/v1/time?account=alice").decoded(TimeResource.self)
        #expect((read.now, read.accounts?.count) == (advanced.now, nil))
        #expect(try await send(.get, "/sandbox/v1/time?account=bob").decoded(TimeResource.self).now == start.rfc3339)
        let all = try await send(.get, "/sandbox/v1/time").decoded(TimeResource.self)
        #expect((all.now, all.accounts?.map(\.account)) == (start.rfc3339, ["alice"]))
        #expect(all.accounts?.map(\.now) == [advanced.now])
        #expect(try await send(.get, "/sandbox/v1/time?account=carol").code == "accountUnknown")
        #expect(try await send(.get, "/sandbox/v1/time?account=").code == "accountInvalid")
        // A receipt of the customer's time is from no future.
        let receipt = try garden.store.receipt(account: "alice")
        let verified = try await send(.post, "/verifyReceipt", #"{"receipt-data":"\#(receipt)"}"#, key: nil)
            .decoded(VerifyReceiptAnswer.self)
        #expect((verified.status, verified.latestReceiptInfo?.count) == (0, 2))
    }

    @Test(arguments: [nil, "", "other"] as [String?])
    func `a request without the key is refused`(key: String?) async throws {
        let body = #"{"account":"alice","productId":"garden.seeds"}"#
        #expect(try await send(.post, "/sandbox/v1/purchases", body, key: key).status == 401)
        #expect(try garden.store.history(of: "alice") == [])
    }

    @Test(arguments: [
        "/inApps/v1/transactions/1", "/inApps/v2/history/1", "/inApps/v1/subscriptions/1",
        "/inApps/v1/messaging/image/list",
    ])
    func `the server API refuses requests without a token`(path: String) async throws {
        for key in [nil, "key", "a.b.c"] {
            let answer = try await send(.get, path, key: key)
            #expect(answer.status == 401)
            #expect(answer.body.hasPrefix("Unauthenticated"))
        }
    }

    /// Some of the settings in an answer.
    private struct Settings: Decodable {
        let timeRate: String
        let failureError: String?
    }

    @Test func `a change of some settings keeps the others`() async throws {
        let change = #"{"isAskToBuyEnabled":true,"timeRate":"oneSecondIsOneDay","storefront":"KOR"}"#
        #expect(try await send(.patch, "/sandbox/v1/settings", change).status == 200)
        #expect(try await send(.patch, "/sandbox/v1/settings", #"{"locale":"ko_KR"}"#).status == 200)
        let settings = try garden.store.settings()
        let shown = try await send(.patch, "/sandbox/v1/settings", #"{"failureError":"paymentInvalid"}"#)
            .decoded(Settings.self)
        #expect((shown.timeRate, shown.failureError) == ("oneSecondIsOneDay", "paymentInvalid"))
        _ = try await send(.patch, "/sandbox/v1/settings", #"{"failureError":""}"#)
        #expect(settings.isAskToBuyEnabled)
        #expect(settings.timeRate == .oneSecondIsOneDay)
        #expect(settings.storefront == "KOR")
        #expect(settings.locale == "ko_KR")
        for wrong in [
            #"{"storeKitErrors":{"purchase":"invalidSignature"}}"#, #"{"storeKitErrors":{"sell":"unknown"}}"#,
            #"{"serverAPIError":"4040099"}"#, #"{"certificateStatus":"good"}"#, #"{"storefront":"XXX"}"#,
            #"{"timeRate":"fast"}"#,
            #"{"failureError":"bad luck"}"#, #"{"locale":1}"#,
        ] {
            let answer = try await send(.patch, "/sandbox/v1/settings", wrong)
            #expect((400...422).contains(answer.status), "\(wrong)")
        }
        #expect(try garden.store.settings() == settings)
    }

    @Test func `the answer to a purchase has its effect`() async throws {
        func buy(_ product: String, _ more: String = "") async throws -> QueueResource {
            let body = #"{"account":"alice","productId":"\#(product)"\#(more)}"#
            return try await send(.post, "/sandbox/v1/purchases", body).decoded()
        }
        let first = try await buy("garden.premium.monthly")
        let sold = try #require(try garden.store.history(of: "alice").first)
        let renewal = try #require(sold.expiresDate).rfc3339
        #expect((first.effect, first.price, first.currency) == ("charged", sold.price.milliunits, "USD"))
        #expect((first.nextProductId, first.renewalDate) == (nil, nil))
        let again = try await buy("garden.premium.monthly")
        #expect((again.effect, again.price, again.currency) == ("alreadySubscribed", nil, nil))
        #expect((again.nextProductId, again.renewalDate) == (nil, renewal))
        let change = try await buy("garden.basic.monthly")
        #expect((change.effect, change.price, change.currency) == ("changes", nil, nil))
        #expect((change.nextProductId, change.renewalDate) == ("garden.basic.monthly", renewal))
        for outcome in ["deferred", "cancelled"] {
            #expect(try await buy("garden.gate", #","outcome":"\#(outcome)""#).effect == nil, "\(outcome)")
        }
        // The list of the queue has no effects.
        let list = try await send(.get, "/sandbox/v1/queue").decoded(List<QueueResource>.self)
        #expect(list.elements.count == 5 && list.elements.allSatisfy { $0.effect == nil })
    }

    @Test func `a commitment is bought by its plan`() async throws {
        let body = #"{"account":"alice","productId":"garden.basic.yearly","billingPlanType":"monthly"}"#
        #expect(try await send(.post, "/sandbox/v1/purchases", body).code == "invalidAction")
        #expect(try await send(.patch, "/sandbox/v1/settings", #"{"storefront":"DEU"}"#).status == 200)
        let bought = try await send(.post, "/sandbox/v1/purchases", body).decoded(QueueResource.self)
        #expect((bought.effect, bought.price, bought.currency) == ("charged", 4990, "EUR"))
        let sold = try garden.transaction(try #require(bought.signedTransaction))
        #expect(sold.facts.text(.billingPlanType) == "MONTHLY")
        #expect(sold.facts.text(.commitmentInfo)?.contains(#""totalBillingPeriods":12"#) == true)
        // The change to the other plan waits for the end of the commitment.
        let up = body.replacing("monthly\"}", with: "upFront\"}")
        let changed = try await send(.post, "/sandbox/v1/purchases", up).decoded(QueueResource.self)
        #expect((changed.effect, changed.nextProductId) == ("changes", "garden.basic.yearly"))
        #expect(changed.renewalDate == "2027-10-31T12:00:00Z")
    }

    @Test func `the products list the billing plans of a subscription`() async throws {
        let listed = try await send(.get, "/sandbox/v1/products").decoded(List<ProductResource>.self).elements
        func lines(_ product: String) -> [String]? {
            listed.first { $0.productId == product }?.subscription?.billingPlans?.map { plan in
                let commitment = plan.commitmentPeriods.map { " \($0) for \(plan.commitmentPrice ?? -1)" } ?? ""
                return "\(plan.billingPlanType) \(plan.period) \(plan.price)\(commitment)"
            }
        }
        #expect(lines("garden.basic.yearly") == ["upFront P1Y 49990", "monthly P1M 4990 12 for 59880"])
        // The file names no plans of this one.
        #expect(lines("garden.basic.monthly") == nil)
    }

    @Test(arguments: ["promotional", "offerCode", "winBack"])
    func `an offer has a type by its name`(type: String) async throws {
        let body = """
            {"account":"alice","productId":"garden.basic.monthly","offerIdentifier":"none","offerType":"\(type)"}
            """
        let bought = try await send(.post, "/sandbox/v1/purchases", body).decoded(QueueResource.self)
        #expect(bought.error == "invalidOfferIdentifier")
        let list = try await send(.get, "/sandbox/v1/products").decoded(List<ProductResource>.self)
        let offers = list.elements.compactMap(\.subscription).flatMap(\.offers)
        #expect(offers.contains { $0.offerType == type })
    }

    @Test func `requests of an app fail with the simulated errors`() async throws {
        try garden.buy("garden.basic.monthly")
        let list = try await send(.get, "/sandbox/v1/products").decoded(List<ProductResource>.self)
        #expect(list.elements.count == garden.catalog.configuration.products.count)
        let path = "/sandbox/v1/accounts/alice/"
        let statuses = try await send(.get, path + "subscriptions").decoded(
            List<StatusResponse.SubscriptionGroupIdentifierItem>.self)
        let last = try #require(statuses.elements.first?.lastTransactions.first)
        #expect(last.status == .active)
        _ = try garden.renewalInfo(last.signedRenewalInfo)
        let app = try await send(.get, path + "appTransaction").decoded([String: String].self)
        try garden.verify(try #require(app["signedAppTransaction"]))
        let change = #"{"storeKitErrors":{"loadProducts":"networkError","subscriptionStatus":"systemError"}}"#
        #expect(try await send(.patch, "/sandbox/v1/settings", change).status == 200)
        for (path, failure) in [("products", "networkError"), ("accounts/alice/subscriptions", "systemError")] {
            let answer = try await send(.get, "/sandbox/v1/" + path)
            #expect(answer.status == 409)
            #expect(answer.code == "storeKitError")
            #expect(answer.body.contains(failure))
        }
        _ = try await send(.patch, "/sandbox/v1/settings", #"{"storeKitErrors":{"loadProducts":""}}"#)
        #expect(try await send(.get, "/sandbox/v1/products").status == 200)
        #expect(try await send(.get, path + "subscriptions").status == 409)
    }

    @Test func `the time has milliseconds, and a refused step names its limits`() async throws {
        garden.clock.advance(milliseconds: 123)
        let time = try await send(.get, "/sandbox/v1/time").decoded(TimeResource.self)
        #expect((time.now, time.millisecondsSince1970) == ("2026-10-31T12:00:00Z", 1_793_448_000_123))
        for (step, words) in [
            ("100000s", "a number from 1 to 99999 and one of s, min, h, d, w, mo and y"), ("0d", "from 1 to 99999"),
            ("1 month", "at most 3660 days"), ("3661d", "at most 3660 days long (ten years). This one has 3661."),
        ] {
            let answer = try await send(.post, "/sandbox/v1/time/advance", #"{"by":"\#(step)"}"#)
            #expect(answer.body.contains(words), "\(step): \(answer.body)")
        }
        let advanced = try await send(.post, "/sandbox/v1/time/advance", #"{"by":"3660d"}"#)
        #expect(advanced.status == 200)
        #expect(try advanced.decoded(TimeResource.self).millisecondsSince1970 == 1_793_448_000_123 + 3660 * 86_400_000)
    }

    @Test func `customers join a family and leave it`() async throws {
        try garden.buy("garden.gate")
        let path = "/sandbox/v1/accounts/alice/family"
        let none = try await send(.get, path).decoded(FamilyResource.self)
        #expect(none.organizer == nil && none.members.isEmpty)
        let joined = try await send(.post, path, #"{"account":"bob"}"#).decoded(FamilyResource.self)
        #expect(joined.organizer == "alice" && joined.members == ["bob"])
        let sales = try await send(.get, "/sandbox/v1/accounts/bob/transactions").decoded(List<SaleResource>.self)
        #expect(sales.elements.map(\.inAppOwnershipType) == ["FAMILY_SHARED"])
        #expect(try await send(.post, path, #"{"account":"bob"}"#).code == "invalidAction")
        #expect(try await send(.post, path, #"{"account":""}"#).code == "accountInvalid")
        #expect(try await send(.delete, "/sandbox/v1/accounts/bob/family").status == 204)
        #expect(try await send(.delete, "/sandbox/v1/accounts/bob/family").code == "invalidAction")
        let left = try await send(.get, "/sandbox/v1/accounts/bob/transactions").decoded(List<SaleResource>.self)
        #expect(left.elements.map { $0.revocationDate != nil } == [true])
    }

    @Test func `names in paths are percent-decoded`() async throws {
        try garden.buy("garden.gate", account: "앨 리스")
        let path = "/sandbox/v1/accounts/%EC%95%A8%20%EB%A6%AC%EC%8A%A4/transactions"
        #expect(try await send(.get, path).decoded(List<SaleResource>.self).elements.count == 1)
    }

    @Test func `the notification address is an http URL or empty`() async throws {
        for wrong in ["abc", "ftp://example.com", "http://"] {
            let answer = try await send(.patch, "/sandbox/v1/settings", "{\"notificationsURL\":\"\(wrong)\"}")
            #expect(answer.status == 400, "\(wrong)")
        }
        _ = try await send(.patch, "/sandbox/v1/settings", #"{"notificationsURL":"http://127.0.0.1:1/a"}"#)
        #expect(try garden.store.settings().notificationsURL?.port == 1)
        _ = try await send(.patch, "/sandbox/v1/settings", #"{"notificationsURL":""}"#)
        #expect(try garden.store.settings().notificationsURL == nil)
    }

    /// Every status that depends on the request.
    @Test func `verifyReceipt answers with the statuses of Apple`() async throws {
        try garden.buy("garden.gate")
        let receipt = try garden.store.receipt(account: "alice")
        try garden.buy("garden.basic.monthly", account: "bob")
        let subscriber = try garden.store.receipt(account: "bob")
        let foreign = try TestShop().store.receipt(account: "alice")
        let production = try TestGarden(environment: .production)
        try production.buy("garden.gate")
        let sold = try production.store.receipt(account: "alice")
        _ = try garden.store.update { $0.sharedSecret = "secret" }
        func ask(_ body: String, _ path: String = "/verifyReceipt", authority: String? = nil) async throws -> Int {
            let answer = try await send(.post, path, body, key: nil, authority: authority)
            #expect(answer.status == 200)
            return try answer.decoded(VerifyReceiptAnswer.self).status
        }
        #expect(try await ask(#"{"receipt-data":"\#(receipt)"}"#) == 0)
        #expect(try await ask("receipt") == 21000)
        #expect(try await ask("[]") == 21000)
        let get = try await send(.get, "/verifyReceipt", key: nil)
        #expect(get.body == #"{"status":21000}"#)
        #expect(try await ask("{}") == 21002)
        #expect(try await ask(#"{"receipt-data":""}"#) == 21002)
        #expect(try await ask(#"{"receipt-data":5}"#) == 21002)
        #expect(try await ask(#"{"receipt-data":"AAAA"}"#) == 21002)
        #expect(try await ask(#"{"receipt-data":"\#(subscriber)"}"#) == 21004)
        #expect(try await ask(#"{"receipt-data":"\#(subscriber)","password":5}"#) == 21004)
        #expect(try await ask(#"{"receipt-data":"\#(subscriber)","password":"secret"}"#) == 0)
        #expect(try await ask(#"{"receipt-data":"\#(receipt)"}"#, "/production/verifyReceipt") == 21007)
        #expect(try await ask(#"{"receipt-data":"\#(receipt)"}"#, "/sandbox/verifyReceipt") == 0)
        #expect(try await ask(#"{"receipt-data":"\#(sold)"}"#, "/sandbox/verifyReceipt") == 21008)
        #expect(try await ask(#"{"receipt-data":"\#(sold)"}"#, "/production/verifyReceipt") == 0)
        let tampered = Self.flipped(foreign)
        #expect(try await ask(#"{"receipt-data":"\#(tampered)"}"#) == 21003)
        for status in [21005, 21006, 21008, 21009, 21010, 21100, 21199] {
            _ = try garden.store.update { $0.verifyReceiptStatus = Int64(status) }
            #expect(try await ask(#"{"receipt-data":"\#(receipt)"}"#) == status)
        }
    }

    @Test func `verifyReceipt returns only the latest period on request`() async throws {
        try garden.buy("garden.basic.monthly")
        try garden.advance(to: "2027-01-20T00:00:00Z")
        let receipt = try garden.store.receipt(account: "alice")
        func periods(_ more: String) async throws -> [VerifyReceiptAnswer.Period] {
            let answer = try await send(.post, "/verifyReceipt", #"{"receipt-data":"\#(receipt)"\#(more)}"#, key: nil)
            return try #require(try answer.decoded(VerifyReceiptAnswer.self).latestReceiptInfo)
        }
        let all = try await periods("")
        #expect(all.count == 4)
        let latest = try await periods(#","exclude-old-transactions":true"#)
        #expect(latest.count == 1)
        #expect(latest.first?.transactionId == all.first?.transactionId)
        #expect(latest.first?.expiresDate == "2027-02-07 12:00:00 Etc/GMT")
    }

    @Test func `verifyReceipt says in the receipt whose a purchase is`() async throws {
        try garden.buy("garden.gate")
        #expect(try await send(.post, "/sandbox/v1/accounts/alice/family", #"{"account":"bob"}"#).status == 200)
        for (account, ownership) in [("alice", "PURCHASED"), ("bob", "FAMILY_SHARED")] {
            let receipt = try garden.store.receipt(account: account)
            let answer = try await send(.post, "/verifyReceipt", #"{"receipt-data":"\#(receipt)"}"#, key: nil)
                .decoded(JSONContent.self)
            guard case .array(let purchases)? = answer["receipt"]?["in_app"] else {
                Issue.record("\(account)")
                continue
            }
            #expect(purchases.map { $0["in_app_ownership_type"]?.text } == [ownership])
        }
    }

    @Test func `the table of the sandbox lists exactly its routes`() throws {
        let page = try Project.text("Documentation/Testing.md")
        let described = Set(page.matches(of: /\n\| `([A-Z]+ \/sandbox\/v1[^`]*)`/).map { String($0.1) })
        let routes = garden.store.routes(sandboxKey: APIKey("key")).operations
        #expect(described == Set(routes.filter { $0.contains("/sandbox/v1") }))
    }

    /// A receipt whose signature differs in one byte at its end.
    private static func flipped(_ receipt: String) -> String {
        guard var bytes = Data(base64Encoded: receipt) else { return receipt }
        bytes[bytes.count - 1] ^= 1
        return bytes.base64EncodedString()
    }
}
