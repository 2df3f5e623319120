import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import PlayStore
import Proofs
import TestSupport
import Testing

/// The local Play over HTTP. `make test-google` tests the rest with Google's own client.
@Suite struct PlayRoutesTests {
    private struct Answer: JSONReadable {
        let status: Int
        let body: String

        var jsonData: Data { Data(body.utf8) }
    }

    private struct Grant: Decodable {
        let access_token: String
    }

    private static let packageName = "com.example.garden"
    private static let api = "/androidpublisher/v3/applications/\(packageName)"

    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let play: GooglePlay

    init() throws {
        folder = try TemporaryFolder(isInMemory: true)
        play = try GooglePlay(folder: folder.url, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String? = "key",
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        let application = Application(router: play.routes(sandboxKey: APIKey("key")).router())
        var headers = headers
        if let key { headers[.authorization] = "Bearer \(key)" }
        return try await application.test(.router) { [headers] client in
            let answer = try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
            return Answer(status: answer.status.code, body: String(buffer: answer.body))
        }
    }

    /// An access token for a new service account.
    ///
    /// - Parameters:
    ///   - path: The path of the token endpoint.
    ///   - audience: The audience of the assertion.
    private func token(
        from path: String = "/token", audience: String = "https://oauth2.googleapis.com/token"
    ) async throws -> String {
        let url = try #require(URL(string: "http://127.0.0.1:8082"))
        let account = try play.perform { try $0.makeServiceAccount(at: url) }
        let now = clock.now().secondsSince1970
        let claims =
            #"{"iss":"\#(account.clientEmail)","scope":"https://www.googleapis.com/auth/androidpublisher","#
            + #""aud":"\#(audience)","iat":\#(now),"exp":\#(now + 3600)}"#
        let signed = [#"{"alg":"RS256"}"#, claims].map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try PrivateKey(pem: account.privateKey).signRSA(Array(signed.utf8), digest: .sha256)
        let assertion = signed + "." + Base64.encode(signature, .urlSafe)
        let answer = try await send(
            .post, path, "assertion=\(assertion)&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer",
            key: nil)
        #expect(answer.status == 200, "\(answer.body)")
        return try answer.decoded(Grant.self).access_token
    }

    private func buy(_ product: String = "garden.seeds", _ more: String = "") async throws -> PlayPurchaseResource {
        let answer = try await send(
            .post, "/sandbox/v1/purchases",
            #"{"packageName":"\#(Self.packageName)","productId":"\#(product)","account":"ada"\#(more)}"#)
        #expect(answer.status == 201, "\(answer.body)")
        return try answer.decoded()
    }

    @Test func `a purchase is signed, asked about, consumed, and bought again`() async throws {
        let bought = try await buy()
        let licensingKey = try play.perform { try $0.licensingKey(of: Self.packageName) }
        let key = try PublicKey(rsaInformation: licensingKey)
        let signature = try #require(Base64.decode(bought.signedPurchase.signature))
        #expect(key.verifiesRSA(signature, over: bought.signedPurchase.data, digest: .sha1))
        let (token, path) = (
            try await token(), "/purchases/products/\(bought.productId)/tokens/\(bought.purchaseToken)"
        )
        let purchase = try await send(.get, Self.api + path, key: token).decoded(ProductPurchase.self)
        #expect(purchase.purchaseState == 0 && purchase.acknowledgementState == 0)
        #expect(purchase.orderId == bought.orderId)
        #expect(try await send(.post, Self.api + path + ":consume", key: token).status == 204)
        #expect(try await send(.get, Self.api + path, key: token).decoded(ProductPurchase.self).consumptionState == 1)
        #expect(try await buy().purchaseToken != bought.purchaseToken)
    }

    @Test func `a purchase with Play Points from another place has them in its order`() async throws {
        func points(_ currency: String) -> String {
            #"{"pointsSpent":"100","pointsCouponValue":{"currencyCode":"\#(currency)","nanos":10000000}}"#
        }
        let refused = try await send(
            .post, "/sandbox/v1/purchases",
            #"{"packageName":"\#(Self.packageName)","productId":"garden.seeds","account":"ada","pointsDetails":"#
                + points("XXX") + "}")
        #expect(refused.status == 409)
        let more = #","salesChannel":"NATIVE_PC","offerToken":"AbC","pointsDetails":"# + points("USD")
        let (bought, token) = (try await buy("garden.seeds", more), try await token())
        let path = "/orders/\(bought.orderId ?? "")"
        let order = try await send(.get, Self.api + path, key: token).decoded(Order.self)
        #expect(order.salesChannel == .nativePC && order.pointsDetails?.pointsSpent?.value == 100)
        let (total, listed) = (order.total?.billionths ?? 0, order.lineItems?.first?.listingPrice?.billionths ?? 0)
        #expect(total > 0 && listed - total == 10_000_000)
        let purchase = try await send(
            .get, Self.api + "/purchases/productsv2/tokens/\(bought.purchaseToken)", key: token
        ).decoded(ProductPurchaseV2.self)
        #expect(purchase.productLineItem?.first?.productOfferDetails?.offerToken == "AbC")
        #expect(try await send(.post, Self.api + path + ":refund?revoke=true", key: token).status == 204)
        let refunded = try await send(.get, Self.api + path, key: token).decoded(Order.self)
        #expect(refunded.orderHistory?.refundEvent?.refundDetails?.total == order.total)
    }

    @Test func `a subscription with a promotion code begins with a free period, and ends with the customer's reason`()
        async throws
    {
        let answer = try await send(
            .post, "/sandbox/v1/subscriptions",
            #"{"packageName":"\#(Self.packageName)","productId":"garden.basic.monthly","account":"ada","#
                + #""promotionCode":"SPRING","salesChannel":"PLAY_STORE"}"#)
        #expect(answer.status == 201, "\(answer.body)")
        let (bought, token) = (try answer.decoded(PlaySubscriptionResource.self), try await token())
        let cancel = "/sandbox/v1/subscriptions/\(bought.number)/cancel"
        let words = #"{"reason":"CANCEL_SURVEY_REASON_COST_RELATED","reasonUserInput":"Too much."}"#
        #expect(try await send(.post, cancel, words).status == 409)
        #expect(try await send(.post, cancel, #"{"reason":"CANCEL_SURVEY_REASON_COST_RELATED"}"#).status == 200)
        let state = try await send(
            .get, Self.api + "/purchases/subscriptionsv2/tokens/\(bought.purchaseToken)", key: token
        ).decoded(SubscriptionPurchaseV2.self)
        let item = try #require(state.lineItems?.first)
        #expect(item.signupPromotion?.vanityCode?.promotionCode == "SPRING" && item.offerPhase?.freeTrial != nil)
        #expect(state.canceledStateContext?.userInitiatedCancellation?.cancelSurveyResult?.reason == .costRelated)
        let order = try await send(.get, Self.api + "/orders/\(bought.orderId ?? "")", key: token).decoded(Order.self)
        #expect(order.salesChannel == .playStore && order.total?.billionths == 0)
    }

    @Test func `several products of one order have one token, and are consumed and refunded together`() async throws {
        let more = #","products":[{"productId":"garden.gate"}]"#
        let (bought, token) = (try await buy("garden.seeds", more), try await token())
        #expect(bought.productIds == ["garden.seeds", "garden.gate"])
        let signed = String(decoding: bought.signedPurchase.data, as: UTF8.self)
        #expect(signed.contains(#""productIds":["garden.seeds","garden.gate"]"#))
        let order = try await send(.get, Self.api + "/orders/\(bought.orderId ?? "")", key: token).decoded(Order.self)
        let lines = try #require(order.lineItems)
        #expect(lines.compactMap(\.productId) == bought.productIds)
        let sum = lines.reduce(0) { $0 + ($1.total?.billionths ?? 0) }
        #expect(sum > 0 && order.total?.billionths == sum)
        func items() async throws -> [ProductPurchaseV2.LineItem] {
            try await send(.get, Self.api + "/purchases/productsv2/tokens/\(bought.purchaseToken)", key: token)
                .decoded(ProductPurchaseV2.self).productLineItem ?? []
        }
        #expect(try await items().compactMap(\.productId) == bought.productIds)
        // The notification has no product, and the first one names the purchase.
        #expect(try play.perform { try $0.notifications() }.first?.notification.oneTimeProductNotification?.sku == nil)
        let path = Self.api + "/purchases/products"
        #expect(
            try await send(.post, "\(path)/garden.gate/tokens/\(bought.purchaseToken):consume", key: token).status
                == 400)
        #expect(
            try await send(.post, "\(path)/garden.seeds/tokens/\(bought.purchaseToken):consume", key: token).status
                == 204)
        let consumed = try await items().map(\.productOfferDetails?.consumptionState)
        #expect(consumed == ["CONSUMPTION_STATE_CONSUMED", "CONSUMPTION_STATE_CONSUMED"])
        // "You too can't issue refunds for individual items."
        let refund = "/sandbox/v1/purchases/\(bought.number)/refund"
        #expect(try await send(.post, refund, #"{"quantity":2}"#).status == 409)
        #expect(try await send(.post, refund, "{}").status == 200)
        #expect(try await items().map(\.productOfferDetails?.refundableQuantity) == [0, 0])
        let voided = try await send(.get, Self.api + "/purchases/voidedpurchases", key: token)
        #expect(try voided.decoded(VoidedPurchaseList.self).voidedPurchases?.map(\.orderId) == [bought.orderId])
    }

    @Test(arguments: [
        #""quantity":2,"products":[{"productId":"garden.gate"}]"#,
        #""products":[{"productId":"garden.seeds"}]"#,
        #""products":[{"productId":"garden.gate"}],"usesOneTimeCode":true"#,
        #""usesOneTimeCode":true,"isPending":true"#, #""usesOneTimeCode":true,"quantity":2"#,
    ]) func `an order that Google does not take is refused`(more: String) async throws {
        let answer = try await send(
            .post, "/sandbox/v1/purchases",
            #"{"packageName":"\#(Self.packageName)","productId":"garden.seeds","account":"ada",\#(more)}"#)
        #expect([409, 422].contains(answer.status), "\(answer.body)")
        #expect(try play.perform { try $0.purchases(of: nil) }.isEmpty)
    }

    @Test func `a product that an account owns beside another one is not sold again`() async throws {
        _ = try await buy("garden.seeds", #","products":[{"productId":"garden.gate"}]"#)
        let again = try await send(
            .post, "/sandbox/v1/purchases",
            #"{"packageName":"\#(Self.packageName)","productId":"garden.gate","account":"ada"}"#)
        #expect(again.status == 409 && again.body.contains("garden.gate"))
    }

    @Test func `a promotion code gives a one-time product without an order, which is acknowledged as any other`()
        async throws
    {
        let (bought, token) = (try await buy("garden.gate", #","usesOneTimeCode":true"#), try await token())
        #expect(bought.state == "purchased" && bought.orderId == nil && bought.acknowledgementDeadline != nil)
        #expect(!String(decoding: bought.signedPurchase.data, as: UTF8.self).contains("orderId"))
        let path = Self.api + "/purchases/products/garden.gate/tokens/\(bought.purchaseToken)"
        let first = try await send(.get, path, key: token).decoded(ProductPurchase.self)
        #expect(first.purchaseType == 1 && first.orderId == nil && first.purchaseState == 0)
        let second = try await send(
            .get, Self.api + "/purchases/productsv2/tokens/\(bought.purchaseToken)", key: token
        ).decoded(ProductPurchaseV2.self)
        #expect(second.orderId == nil && second.purchaseStateContext?.purchaseState == "PURCHASED")
        clock.advance(milliseconds: 3 * 86_400_000)
        let next = try await self.token()
        let voided = try await send(.get, Self.api + "/purchases/voidedpurchases", key: next)
            .decoded(VoidedPurchaseList.self).voidedPurchases
        #expect(voided?.map(\.purchaseToken) == [bought.purchaseToken] && voided?.first?.orderId == nil)
    }

    @Test func `what is not acknowledged in time is refunded and listed as voided`() async throws {
        let (bought, token) = (try await buy(), try await token())
        clock.advance(milliseconds: 3 * 86_400_000 - 1)
        let list = Self.api + "/purchases/voidedpurchases"
        // The access token has ended with the machine's clock.
        #expect(try await send(.get, list, key: token).status == 401)
        let next = try await self.token()
        #expect(try await send(.get, list, key: next).decoded(VoidedPurchaseList.self).voidedPurchases == nil)
        clock.advance(milliseconds: 1)
        let voided = try await send(.get, list, key: next).decoded(VoidedPurchaseList.self).voidedPurchases
        #expect(voided?.map(\.orderId) == [bought.orderId])
        #expect(voided?.first?.voidedReason == VoidedPurchase.Reason.unacknowledgedPurchase.rawValue)
    }

    @Test func `the clock of the sandbox leaves access tokens alone`() async throws {
        let (_, token) = (try await buy(), try await token())
        let advanced = try await send(.post, "/sandbox/v1/time/advance", #"{"by":"3d"}"#)
        #expect(advanced.status == 200)
        // The revocation of a one-time purchase is no change of a subscription.
        #expect(try advanced.decoded(TimeResource.self).events?.isEmpty == true)
        let voided = try await send(.get, Self.api + "/purchases/voidedpurchases", key: token)
        #expect(try voided.decoded(VoidedPurchaseList.self).voidedPurchases?.count == 1)
    }

    @Test func `a call fails on demand, before or after its work`() async throws {
        func fail(_ fault: String) async throws -> Int { try await send(.post, "/sandbox/v1/faults", fault).status }
        let (bought, token) = (try await buy(), try await token())
        let path = Self.api + "/purchases/products/\(bought.productId)/tokens/\(bought.purchaseToken)"
        #expect(try await fail(#"{"reason":"backendError","status":503,"method":"purchases.products.get"}"#) == 201)
        #expect(try await send(.get, Self.api + "/orders/\(bought.orderId ?? "")", key: token).status == 200)
        #expect(try await send(.get, path, key: token).status == 503)
        #expect(try await send(.get, path, key: token).status == 200)
        #expect(try await fail(#"{"reason":"concurrentUpdate","isAfterwards":true}"#) == 201)
        #expect(try await send(.post, path + ":acknowledge", key: token).status == 409)
        let purchase = try await send(.get, path, key: token).decoded(ProductPurchase.self)
        #expect(purchase.acknowledgementState == 1)
        #expect(try await fail(#"{"reason":"unknown"}"#) == 409)
    }

    @Test func `notifications are disturbed and replayed on demand`() throws {
        var settings = PushSettings(endpoint: try #require(URL(string: "http://127.0.0.1/google")))
        settings.audience = "garden"
        try play.perform { books in
            try books.set(settings)
            try books.add([.duplicate, .drop, .delay(seconds: 60), .reorder])
            for _ in 1...5 { try books.sendTestNotification(of: Self.packageName) }
        }
        func delivered() throws -> [Int64] {
            var numbers: [Int64] = []
            while let due = try play.perform({ try $0.dueNotifications(limit: 1).first }) {
                try play.perform { try $0.recordAttempt(on: due, isDelivered: true) }
                numbers.append(due.number)
            }
            return numbers
        }
        #expect(try delivered() == [1, 1, 5, 4])
        let step = try #require(TimeStep("60s"))
        _ = try play.perform { try $0.advance(step) }
        #expect(try delivered() == [3])
        try play.perform { try $0.replay(2) }
        #expect(try delivered() == [2])
        #expect(throws: PlayError.notificationNotFound(9)) { try play.perform { try $0.replay(9) } }
    }

    @Test func `Google's client for Ruby sends the parameters of a method without a body as a form`() async throws {
        let audience = "https://www.googleapis.com/oauth2/v4/token"
        let (kept, taken) = (try await buy("garden.gate"), try await buy())
        let token = try await token(from: "/oauth2/v4/token", audience: audience)
        let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded; charset=UTF-8"]
        for (bought, body) in [(kept, "alt=json"), (taken, "revoke=true&alt=json")] {
            let path = Self.api + "/orders/\(bought.orderId ?? ""):refund"
            #expect(try await send(.post, path, body, key: token, headers: form).status == 204)
        }
        let consumed = try await buy()
        let path = "/purchases/products/\(consumed.productId)/tokens/\(consumed.purchaseToken):acknowledge"
        #expect(try await send(.post, Self.api + path, "alt=json", key: token, headers: form).status == 204)
        let states = try play.perform { books in
            try [kept, taken, consumed].map { try books.purchase($0.number).state }
        }
        #expect(states == [.purchased, .canceled, .purchased])
    }

    @Test func `a long query arrives as a form`() async throws {
        let (bought, token) = (try await buy(), try await token())
        let name = try #require(HTTPField.Name.methodOverride)
        let answer = try await send(
            .post, Self.api + "/orders:batchGet", "orderIds=\(bought.orderId ?? "")&alt=json", key: token,
            headers: [name: "GET"])
        #expect(try answer.decoded(OrderList.self).orders?.map(\.orderId) == [bought.orderId])
    }

    @Test func `a subscription of the API is sold after its plan is activated`() async throws {
        let token = try await token()
        let body = """
            {"productId": "gold", "listings": [{"languageCode": "en-US", "title": "Gold"}], "basePlans": [{
                "basePlanId": "monthly", "autoRenewingBasePlanType": {"billingPeriodDuration": "P1M"},
                "regionalConfigs": [{"regionCode": "US", "newSubscriberAvailability": true,
                    "price": {"currencyCode": "USD", "units": "5"}}]
            }]}
            """
        let created = try await send(
            .post, Self.api + "/subscriptions?productId=gold&regionsVersion.version=2025%2F03", body, key: token)
        #expect(try created.decoded(CatalogSubscription.self).basePlans?.first?.state == .draft, "\(created.body)")
        let sale = #"{"packageName":"\#(Self.packageName)","productId":"gold","account":"ada"}"#
        #expect(try await send(.post, "/sandbox/v1/subscriptions", sale).status == 404)
        let active = try await send(
            .post, Self.api + "/subscriptions/gold/basePlans/monthly:activate", "{}", key: token)
        #expect(try active.decoded(CatalogSubscription.self).basePlans?.first?.state == .active)
        #expect(try await send(.post, "/sandbox/v1/subscriptions", sale).status == 201)
        let deleted = try await send(.delete, Self.api + "/subscriptions/gold", key: token)
        #expect(deleted.status == 400 && deleted.body.contains("FAILED_PRECONDITION"))
    }

    @Test(arguments: ["\n", "\r\n"]) func `each call of a batch has an answer of its own`(lineEnd: String) async throws
    {
        let (bought, token) = (try await buy(), try await token())
        let calls = [bought.orderId ?? "", "GPA.1"].enumerated().map { index, order in
            [
                "--edge", "Content-Type: application/http", "Content-ID: <call", " + \(index)>", "",
                "GET \(Self.api)/orders/\(order)?alt=json HTTP/1.1", "Authorization: Bearer \(token)", "", "",
            ].joined(separator: lineEnd)
        }
        let body = calls.joined(separator: lineEnd) + lineEnd + "--edge--" + lineEnd
        let answer = try await send(
            .post, "/batch", body, key: nil, headers: [.contentType: #"multipart/mixed; boundary="edge""#])
        #expect(answer.status == 200)
        for text in ["HTTP/1.1 200 \r\n", "HTTP/1.1 404 \r\n", "<response-call + 0>", "<response-call + 1>"] {
            #expect(answer.body.contains(text), "\(text): \(answer.body)")
        }
        #expect(answer.body.contains(bought.purchaseToken))
    }

    @Test(arguments: [
        ("/token", 400), ("/androidpublisher/v3/applications/com.example.garden/orders/x:refund", 401),
        ("/sandbox/v1/purchases", 401), ("/sandbox/v1/reset", 401),
    ]) func `nobody writes without a credential`(path: String, status: Int) async throws {
        #expect(try await send(.post, path, "{}", key: nil).status == status)
    }

    @Test(arguments: [
        #"{"packageName":"com.example.garden","productId":"garden.seeds","account":"ada","size":1}"#,
        #"{"packageName":"com.example.garden","productId":"garden.seeds"}"#, "[]", "x",
    ]) func `a request of another form is refused`(body: String) async throws {
        let answer = try await send(.post, "/sandbox/v1/purchases", body)
        #expect(answer.status == 400)
        #expect(try answer.decoded(ProblemResource.self).code == "bodyInvalid")
    }

    @Test func `a file that is no database of the Play is refused`() throws {
        let other = try TemporaryFolder(isInMemory: true)
        try Data("no database".utf8).write(to: other.file("play.sqlite"))
        #expect(throws: PlayError.self) {
            try GooglePlay(folder: other.url, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
        }
    }
}
