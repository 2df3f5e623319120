import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Purchases outside the App Store, which back ends and the service report to a local App Store.
@Suite struct ExternalPurchaseTests {
    private static let path = "/v1/apple/external-purchases"
    private static let reports = "/v1/apple/external-purchase-reports"

    let garden: TestGarden
    let service: EntitlementService
    let metrics = ServiceMetrics()
    private let key: String
    private let keys: APIKeys

    init() async throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
        keys = service.ledger.apiKeys(clock: garden.clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
    }

    /// - Parameter hasKey: False for a service without a key of App Store Connect.
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, hasKey: Bool = true
    ) async throws -> ServiceFixture.Answer {
        var stores = StoreClients()
        if hasKey {
            stores.offerSigners = [
                ByteKey(TestGarden.bundleIdentifier): { _, _, _, _ in throw TestGardenError.notTransaction }
            ]
        }
        let routes = ServiceRoutes(
            Till(service, clock: garden.clock), stores: stores, RouteSettings(.apiKeys(keys), metrics: metrics))
        return try await Application(router: routes.router()).test(.router) { client in
            try await client.execute(
                uri: path, method: method, headers: [.authorization: "Bearer \(key)"],
                body: body.map { ByteBuffer(string: $0.compactText) }
            ) { response in
                ServiceFixture.Answer(
                    status: response.status.code, headers: response.headers,
                    body: Data(response.body.readableBytesView))
            }
        }
    }

    @Test func `a recorded line item without an identifier is a fault`() {
        let report = ExternalPurchaseReport(
            .init("1", of: "t", in: TestGarden.bundleIdentifier), .lineItem, [["eventType": "BUY"]],
            reportedAt: garden.clock.now(), by: nil, dueAt: garden.clock.now(), nextAttemptAt: garden.clock.now())
        #expect(throws: BrokenInvariant("a line item has an identifier", "1")) { try ReportedLineItems([report]) }
    }

    private func work(_ client: AppStoreServerClient) -> DurableWork {
        service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
            .externalPurchaseReporter(metrics: metrics, logger: ServiceFixture.logger)
    }

    /// A client whose App Store does not answer.
    private func offline() throws -> AppStoreServerClient {
        var privateKey = ""
        let made = try garden.store.makeTeamKey { privateKey = $1 }
        let key = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier)
        return key.client(at: try #require(URL(string: "http://127.0.0.1:1")), clock: garden.clock)
    }

    private func token(_ kind: ExternalPurchaseToken.Kind? = nil) throws -> ExternalPurchaseToken {
        try garden.store.write { try $0.makeExternalPurchaseToken(kind) }
    }

    private func announced(_ kind: ExternalPurchaseToken.Kind? = nil) async throws -> ExternalPurchaseToken {
        let token = try token(kind)
        let answer = try await send(.post, Self.path, .object(["token": .string(token.text)]))
        #expect(answer.status == 201)
        return token
    }

    private func listed(_ query: String = "") async throws -> [ExternalPurchaseResource] {
        try await send(.get, Self.path + query).decoded(List<ExternalPurchaseResource>.self).elements
    }

    private func reported(_ query: String = "") async throws -> [ExternalPurchaseReportResource] {
        try await send(.get, Self.reports + query).decoded(List<ExternalPurchaseReportResource>.self).elements
    }

    /// The status that the store has of each token.
    private func statuses() throws -> [String?] {
        try garden.store.read { try $0.externalPurchases.tokens().map(\.status) }
    }

    private static func object(_ members: [String: JSONValue?]) -> JSONValue {
        var object = JSONObject()
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { if let value { _ = object.add(name, value) } }
        return .object(object)
    }

    private func sale(_ identifier: String = "sale", _ changes: [String: JSONValue?] = [:]) -> JSONValue {
        Self.object(
            [
                "lineItemId": .string(identifier), "creationDate": .integer(garden.store.now.millisecondsSince1970),
                "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "garden.gate",
                "amountTaxInclusive": .integer(10_000), "amountTaxExclusive": .integer(8000),
                "taxAmount": .integer(2000), "netAmountTaxExclusive": .integer(8000), "reportingCurrency": "EUR",
                "pricingCurrency": "EUR", "taxCountry": "ESP", "quantity": .integer(1),
            ].merging(changes) { $1 })
    }

    private func refund(_ identifier: String = "refund") -> JSONValue {
        sale(
            identifier,
            [
                "eventType": "REFUND", "productType": nil as JSONValue?, "productIdentifier": nil as JSONValue?,
                "quantity": nil as JSONValue?, "amountTaxInclusive": .integer(2500),
                "amountTaxExclusive": .integer(2000), "taxAmount": .integer(500),
                "netAmountTaxExclusive": .integer(6000), "referenceLineItemId": "sale",
            ])
    }

    private static func request(_ number: Int) -> String { "00000000-0000-4000-8000-0000000000\(10 + number)" }

    private func report(
        _ number: Int, _ token: ExternalPurchaseToken, _ status: String = "LINE_ITEM", _ items: [JSONValue]? = nil,
        hasKey: Bool = true
    ) async throws -> ServiceFixture.Answer {
        try await send(
            .post, "\(Self.path)/\(token.externalPurchaseId)/reports",
            Self.object([
                "requestIdentifier": .string(Self.request(number)), "status": .string(status),
                "lineItems": items.map { .array($0) },
            ]), hasKey: hasKey)
    }

    /// Sends the notifications of the store to the service, like Apple.
    private func receiveAll() async throws {
        for notification in try garden.store.notifications() {
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    @Test func `a token of a notification is kept and listed, once`() async throws {
        let token = try token(.services)
        for _ in 0..<2 { try await receiveAll() }
        let listed = try await listed("?state=unreported")
        #expect(listed.map(\.externalPurchaseId) == [token.externalPurchaseId])
        let shown = try #require(listed.first)
        #expect((shown.tokenType, shown.isAnnounced, shown.origin) == ("SERVICES", false, "local/Sandbox"))
        #expect(shown.tokenExpirationDate == token.expirationDate?.rfc3339)
        #expect(shown.dueAt == token.expirationDate?.adding(days: 5).rfc3339)
        #expect(try await self.listed("?state=reported").isEmpty)
        // The back end's announcement adds to it.
        _ = try await send(.post, Self.path, .object(["token": .string(token.text)]))
        #expect(try await self.listed().map(\.isAnnounced) == [true])
    }

    /// Apple reminds of them as of a token without a type, whatever their end ("Reporting unrecognized and transactionless tokens").
    @Test(arguments: [ExternalPurchaseToken.Kind.inApp, .linkOut])
    func `a token of Japan is shown with its type, and due after Apple's reminder`(kind: ExternalPurchaseToken.Kind)
        async throws
    {
        let token = try token(kind)
        try await receiveAll()
        let shown = try #require(try await listed().first)
        #expect((shown.tokenType, shown.tokenExpirationDate) == (kind.rawValue, token.expirationDate?.rfc3339))
        #expect(shown.dueAt == token.creationDate.adding(days: 15).rfc3339)
    }

    /// The app has the token, which nobody has signed.
    @Test func `a notification corrects the dates that an altered announcement had`() async throws {
        let token = try token(.services)
        let altered = Self.object([
            "bundleId": .string(TestGarden.bundleIdentifier), "tokenType": "ACQUISITION",
            "externalPurchaseId": .string(token.externalPurchaseId),
            "tokenCreationDate": .integer(token.creationDate.millisecondsSince1970),
            "tokenExpirationDate": .integer(token.creationDate.adding(days: 3650).millisecondsSince1970),
        ])
        let text = Base64.encode(altered.compactBytes, .urlSafe)
        let answer = try await send(.post, Self.path, .object(["token": .string(text)]))
        #expect(answer.status == 201)
        try await receiveAll()
        let shown = try #require(try await listed().first)
        #expect(shown.tokenType == "SERVICES" && shown.isAnnounced)
        #expect(shown.dueAt == token.expirationDate?.adding(days: 5).rfc3339)
    }

    @Test func `a report is recorded, sent once, and retrieved from the store`() async throws {
        let token = try await announced()
        let answer = try await report(1, token, "LINE_ITEM", [sale()])
        #expect(answer.status == 201)
        let recorded = try answer.decoded(ExternalPurchaseReportResource.self)
        #expect((recorded.state, recorded.attempts, recorded.lineItemIds) == ("waiting", 0, ["sale"]))
        #expect(recorded.dueAt == garden.store.now.adding(days: 15).rfc3339)
        #expect(try await listed().map(\.state) == ["waiting"])
        try await garden.withStore { client in try await work(client).perform() }
        #expect(try statuses() == ["LINE_ITEM"])
        #expect(try await listed().map(\.state) == ["reported"])
        #expect(try await reported("?state=accepted").map(\.requestIdentifier) == [Self.request(1)])

        let again = try await report(1, token, "LINE_ITEM", [sale()])
        #expect(try again.decoded(ExternalPurchaseReportResource.self).state == "accepted")
        let other = try await report(1, token, "LINE_ITEM", [sale("other")])
        #expect(other.status == 409 && other.code == "externalPurchaseReportDiffers")
        _ = try garden.store.advance(seconds: 60)
        try await garden.withStore { client in try await work(client).perform() }
        #expect(try await reported().map(\.attempts) == [1])
        #expect(
            metrics.text(queueDepth: 0).contains(
                #"till_external_purchase_reports_total{outcome="accepted",code=""} 1"#))
    }

    @Test func `a refund and a correction follow their sale, whenever the store answers`() async throws {
        let token = try await announced()
        let offline = try offline()
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        _ = try garden.store.advance(seconds: 1)
        #expect(try await report(2, token, "LINE_ITEM", [refund()]).status == 201)
        try await work(offline).perform()
        #expect(try await reported("?state=waiting").map(\.attempts) == [0, 1])
        #expect(try await reported().last?.lastError?.contains("does not answer") == true)
        let date = garden.store.now
        _ = try garden.store.advance(seconds: 60)
        let retracted = Self.object(
            [
                "lineItemId": "refund", "creationDate": .integer(date.millisecondsSince1970),
                "eventType": "REFUND", "amountTaxInclusive": .integer(2500), "amountTaxExclusive": .integer(2000),
                "taxAmount": .integer(500), "netAmountTaxExclusive": .integer(8000), "reportingCurrency": "EUR",
                "pricingCurrency": "EUR", "taxCountry": "ESP", "referenceLineItemId": "sale",
                "restatement": .bool(true), "erroneouslySubmitted": .bool(true),
            ])
        let correction = try await report(3, token, "LINE_ITEM", [retracted])
        #expect(
            try correction.decoded(ExternalPurchaseReportResource.self).dueAt
                == garden.store.now.adding(days: 1).rfc3339)
        try await garden.withStore { client in try await work(client).perform() }
        #expect(try await reported("?state=accepted").map(\.requestIdentifier) == [3, 2, 1].map(Self.request))
    }

    /// A step of an attempt, after which the service ends.
    enum Step: CaseIterable {
        case recorded, begun, sent
    }

    @Test(arguments: Step.allCases)
    func `nothing is lost and nothing happens twice if the service ends after a step`(step: Step) async throws {
        let token = try await announced()
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        try await garden.withStore { client in
            try await attempt(upTo: step, client)
            _ = try garden.store.advance(seconds: 60)
            try await work(client).perform()
        }
        #expect(try statuses() == ["LINE_ITEM"])
        let known = try await reported()
        #expect(known.map(\.state) == ["accepted"])
        #expect(known.map(\.requestIdentifier) == [Self.request(1)])
        #expect(known.map(\.attempts) == [step == .recorded ? 1 : 2])
    }

    /// Performs the steps of an attempt up to one.
    private func attempt(upTo step: Step, _ client: AppStoreServerClient) async throws {
        guard step != .recorded else { return }
        let due = try await service.externalPurchaseReportsToSend(
            of: TestGarden.bundleIdentifier, at: [.localSandbox], limit: 9)
        let report = try #require(due.first)
        #expect(due.count == 1)
        #expect(try await service.beginAttempt(of: report))
        // Another service leaves it alone.
        #expect(try await !service.beginAttempt(of: report))
        guard step == .sent else { return }
        #expect(try await client.sendExternalPurchaseReport(report.content) == nil)
    }

    @Test func `what Apple refuses is listed with its mistakes, corrected, and sent under the same identifier`()
        async throws
    {
        let token = try await announced()
        let wrong = sale("sale", ["netAmountTaxExclusive": .integer(1)])
        #expect(try await report(1, token, "LINE_ITEM", [wrong]).status == 201)
        try await garden.withStore { client in
            try await work(client).perform()
            let refused = try #require(try await reported("?state=refused").first)
            #expect(refused.errors?.map(\.errorCode) == [12])
            #expect(refused.errors?.first?.fieldName == "netAmountTaxExclusive")
            #expect(refused.errors?.first?.lineItemId == "sale")
            #expect(refused.lastError == "The App Store Server API answered with 400 (12).")
            #expect(try await listed("?state=refused").count == 1)
            _ = try garden.store.advance(seconds: 86_400)
            try await work(client).perform()
            #expect(try await reported().map(\.attempts) == [1])

            #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
            try await work(client).perform()
        }
        #expect(try await reported().map(\.state) == ["accepted"])
        #expect(try statuses() == ["LINE_ITEM"])
        #expect(
            metrics.text(queueDepth: 0).contains(
                #"till_external_purchase_reports_total{outcome="refused",code="appStoreRefused"} 1"#))
    }

    private static func mistakes(_ count: Int, _ code: Int, _ field: String) -> String {
        let mistake = #"{"errorCode":\#(code),"errorMessage":"A mistake.","fieldName":"\#(field)"}"#
        return #"{"errors":[\#(Array(repeating: mistake, count: count).joined(separator: ","))]}"#
    }

    private static let simultaneous = mistakes(1, 26, "lineItemId")
    /// Apple's answers to another version of a request, or those of a proxy, name no mistakes.
    private static let general = #"{"errorCode":4000000,"errorMessage":"General Bad Request."}"#

    @Test(
        arguments: [
            (200, "{}", "accepted"), (400, simultaneous, "waiting"), (401, "", "waiting"), (403, "{}", "waiting"),
            (404, "", "waiting"), (500, "", "waiting"), (400, "", "waiting"), (400, "[]", "waiting"),
            (400, general, "waiting"), (400, #"{"errors":[]}"#, "waiting"),
            (400, #"{"errors":[{"errorCode":"1"}]}"#, "waiting"),
            (400, mistakes(1, 1, "requestIdentifier"), "refused"),
        ] as [(Int, String, String)])
    func `a report waits unless Apple accepts it, or refuses its content with mistakes`(
        status: Int, answer: String, state: String
    ) async throws {
        let token = try await announced()
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        let router = Router()
        router.put("/externalPurchase/v1/reports") { _, _ in
            Response(status: .init(code: status), body: ResponseBody(byteBuffer: ByteBuffer(string: answer)))
        }
        // Another report has the identifier.
        router.get("/externalPurchase/v1/reports/:id") { _, _ in
            #"{"externalPurchaseId":"other","status":"LINE_ITEM"}"#
        }
        try await garden.withServer(router) { client in try await work(client).perform() }
        #expect(try await reported().map(\.state) == [state])
        #expect(try await reported().allSatisfy { ($0.lastError == nil) == (state == "accepted") })
    }

    /// The service finds out, whichever mistakes Apple lists, and however many.
    @Test(arguments: [
        (mistakes(60, 1, "lineItemId"), "sale", "accepted"), (mistakes(60, 1, "lineItemId"), "x", "refused"),
    ])
    func `a refused report that Apple has already is accepted`(
        answer: String, lineItem: String, state: String
    ) async throws {
        let token = try await announced()
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        let router = Router()
        router.put("/externalPurchase/v1/reports") { _, _ in
            Response(status: .badRequest, body: ResponseBody(byteBuffer: ByteBuffer(string: answer)))
        }
        router.get("/externalPurchase/v1/reports/:id") { _, context in
            let known = Self.object([
                "requestIdentifier": .string(context.parameters.get("id") ?? ""),
                "externalPurchaseId": .string(token.externalPurchaseId), "status": "LINE_ITEM",
                "lineItems": .array([.object(["lineItemId": .string(lineItem)])]),
            ])
            return known.compactText
        }
        try await garden.withServer(router) { client in try await work(client).perform() }
        let recorded = try #require(try await reported().first)
        #expect(recorded.state == state)
        // The ledger keeps fifty of them.
        #expect(recorded.errors?.count == (state == "refused" ? 50 : nil))
    }

    @Test func `a report of a token of several apps names the app`() async throws {
        let token = try await announced()
        let kept = ExternalPurchase.Token(
            identifier: token.externalPurchaseId, type: nil, createdAt: garden.store.now, expiresAt: nil)
        _ = try await service.announce(kept, of: "com.example.other")
        let refused = try await report(1, token, "NO_LINE_ITEM")
        #expect(refused.status == 409 && refused.code == "externalPurchaseAmbiguous")
        #expect(String(decoding: refused.body, as: UTF8.self).contains("com.example.other"))
        let path = "\(Self.path)/\(token.externalPurchaseId)/reports"
        func named(_ app: String) async throws -> ServiceFixture.Answer {
            try await send(
                .post, path,
                Self.object([
                    "requestIdentifier": .string(Self.request(1)), "status": "NO_LINE_ITEM", "bundleId": .string(app),
                ]))
        }
        #expect(try await named("com.example.third").code == "externalPurchaseUnknown")
        #expect(try await reported().isEmpty)
        let answer = try await named(TestGarden.bundleIdentifier)
        #expect(answer.status == 201)
        #expect(
            try answer.decoded(ExternalPurchaseReportResource.self).bundleId == TestGarden.bundleIdentifier)
    }

    @Test func `tokens that nobody reports are reported by the service, a day before they are due`() async throws {
        _ = try await announced()
        _ = try token(.services)
        _ = try token()
        let unknown = try garden.store.notify(
            try NotificationOnDemand(type: "EXTERNAL_PURCHASE_TOKEN", subtype: "UNREPORTED"), about: "", or: "")
        _ = try await service.receive(notification: Array(unknown.signedPayload.utf8))
        try await garden.withStore { client in
            try await work(client).perform()
            #expect(try await reported().isEmpty)
            // Apple has reminded four days ago of the token that it made fourteen days ago.
            _ = try garden.store.advance(seconds: 4 * 86_400)
            try await work(client).perform()
            #expect(try statuses() == [nil, nil, nil, "UNRECOGNIZED_TOKEN"])
            // Three days later, the service learns of the custom link token.
            _ = try garden.store.advance(seconds: 3 * 86_400)
            try await receiveAll()
            try await work(client).perform()
            #expect(try statuses() == [nil, "UNRECOGNIZED_TOKEN", nil, "UNRECOGNIZED_TOKEN"])
            // Apple tells of the other tokens after ten days.
            _ = try garden.store.advance(seconds: 7 * 86_400)
            try await receiveAll()
            try await work(client).perform()
        }
        #expect(
            try statuses() == ["NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "UNRECOGNIZED_TOKEN", "UNRECOGNIZED_TOKEN"])
        #expect(try await listed().allSatisfy { $0.state == "reported" })
        let own = try await reported()
        #expect(own.allSatisfy { $0.reportedBy == nil && $0.state == "accepted" } && own.count == 4)
    }

    @Test func `a back end reports a duplicate, and transactions after a report without them`() async throws {
        let (first, second) = (try await announced(.services), try await announced(.services))
        #expect(try await report(1, second, "DUPLICATE_TOKEN").status == 201)
        #expect(try await report(2, first, "NO_LINE_ITEM").status == 201)
        #expect(try await report(3, first, "LINE_ITEM", [sale()]).status == 201)
        try await garden.withStore { client in
            try await work(client).perform()
            _ = try garden.store.advance(seconds: 30 * 86_400)
            try await work(client).perform()
        }
        #expect(try statuses() == ["LINE_ITEM", "DUPLICATE_TOKEN"])
        #expect(try await reported("?state=accepted").count == 3)
    }

    @Test func `attempts go on after the deadline, and the metric tells of a late report`() async throws {
        let token = try await announced()
        let offline = try offline()
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        for _ in 0..<16 {
            try await work(offline).perform()
            _ = try garden.store.advance(seconds: 86_400)
        }
        #expect(try await reported("?state=waiting").map(\.attempts) == [16])
        try await garden.withStore { client in try await work(client).perform() }
        #expect(try statuses() == ["LINE_ITEM"])
        let text = metrics.text(queueDepth: 0)
        #expect(text.contains(#"till_external_purchase_reports_total{outcome="late",code=""} 1"#))
        #expect(
            text.contains(#"till_external_purchase_reports_total{outcome="failed",code="appStoreUnreachable"} 16"#))
    }

    private func duties() async throws -> OpenDuties {
        try await service.openDuties([.externalPurchase: [.localSandbox]])
    }

    @Test func `a report is due until Apple has it, and missed if Apple has it late`() async throws {
        let token = try await announced()
        #expect(try await duties().isEmpty)
        #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
        let due = try #require(try await duties().due.first)
        #expect((due.subject, due.deadline) == (token.externalPurchaseId, garden.store.now.adding(days: 15)))
        let offline = try offline()
        for _ in 0..<17 {
            try await work(offline).perform()
            _ = try garden.store.advance(seconds: 86_400)
        }
        // It waits, so it stays news.
        #expect(try await duties().missed == [due])
        #expect(try await duties().counts[.externalPurchase]?.newlyMissed == 1)
        try await garden.withStore { client in try await work(client).perform() }
        #expect(try await duties().missed == [due])
        #expect(try await duties().counts[.externalPurchase]?.newlyMissed == 0)
        _ = try garden.store.advance(seconds: 7 * 86_400)
        #expect(try await duties().isEmpty)
    }

    @Test func `a report that Apple refuses is due until it is corrected`() async throws {
        let token = try await announced()
        let wrong = sale("sale", ["netAmountTaxExclusive": .integer(1)])
        #expect(try await report(1, token, "LINE_ITEM", [wrong]).status == 201)
        try await garden.withStore { client in
            try await work(client).perform()
            #expect(try await duties().due.map(\.isRefused) == [true])
            #expect(try await report(1, token, "LINE_ITEM", [sale()]).status == 201)
            #expect(try await duties().due.map(\.isRefused) == [false])
            try await work(client).perform()
        }
        #expect(try await duties().isEmpty)
    }

    /// Without a key of App Store Connect, nothing is sent.
    @Test func `a token that nobody can report is due on its last day, and then missed`() async throws {
        let token = try token(.services)
        try await receiveAll()
        let dueAt = try #require(token.expirationDate).adding(days: 5)
        _ = try garden.store.advance(
            seconds: dueAt.secondsSince1970 - garden.store.now.secondsSince1970 - 2 * 86_400)
        #expect(try await duties().isEmpty)
        _ = try garden.store.advance(seconds: 86_400)
        let due = try await duties().due
        #expect(due.map(\.subject) == [token.externalPurchaseId] && due.map(\.deadline) == [dueAt])
        _ = try garden.store.advance(seconds: 86_400)
        #expect(try await duties().missed == due)
        _ = try garden.store.advance(seconds: 7 * 86_400)
        #expect(try await duties().isEmpty)
    }

    @Test func `an invalid request is refused before it is recorded`() async throws {
        let token = try await announced()
        for text in [
            "", "=", "e30", "W10", Base64.encode(#"{"bundleId":"com.example.garden"}"#.utf8, .urlSafe),
            String(repeating: "a", count: 2049),
        ] {
            let answer = try await send(.post, Self.path, .object(["token": .string(text)]))
            #expect(answer.code == "bodyInvalid", "\(text)")
        }
        let other = Base64.encode(
            #"{"bundleId":"other","externalPurchaseId":"SANDBOX_1","tokenCreationDate":1}"#.utf8, .urlSafe)
        let mismatch = try await send(.post, Self.path, .object(["token": .string(other)]))
        #expect(mismatch.code == "bundleIdentifierMismatch")
        for (status, items) in [
            ("OTHER", nil), ("LINE_ITEM", nil), ("LINE_ITEM", []), ("NO_LINE_ITEM", [sale()]),
            ("LINE_ITEM", [sale("sale", ["eventType": "GIFT"])]), ("LINE_ITEM", [sale("sale", ["quantity": "1"])]),
            ("LINE_ITEM", [sale("sale", ["taxAmount": nil as JSONValue?])]),
            ("LINE_ITEM", [sale("sale", ["unknown": "x"])]),
            ("LINE_ITEM", [sale("sale", ["creationDate": .integer(Int64.max)])]),
            ("LINE_ITEM", [sale(String(repeating: "x", count: 129))]),
            ("LINE_ITEM", Array(repeating: sale(), count: 101)),
        ] as [(String, [JSONValue]?)] {
            #expect(try await report(1, token, status, items).code == "bodyInvalid", "\(status)")
        }
        let unknown = try self.token()
        #expect(try await report(1, unknown, "NO_LINE_ITEM").code == "externalPurchaseUnknown")
        #expect(try await report(1, token, "NO_LINE_ITEM", hasKey: false).code == "externalPurchaseKeyMissing")
        #expect(try await reported().isEmpty)
    }

    @Test func `Apple's example of a token is read, with its padding`() async throws {
        let example = """
            eyJhcHBBcHBsZUlkIjoxMjM0NTY3ODkwLCJidW5kbGVJZCI6ImNvbS5leGFtcGxlIiwidG9rZW5DcmVhdGlvbkRhdGUiOjE3MzA0NDg3MjAwMDAsImV4dGVybmFsUHVyY2hhc2VJZCI6IlNBTkRCT1hfMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAwIiwidG9rZW5UeXBlIjoiU0VSVklDRVMiLCJ0b2tlbkV4cGlyYXRpb25EYXRlIjoxNzMwNDUyMzIwMDAwfQ==
            """
        // The service does not sell the app of the example.
        let answer = try await send(.post, Self.path, .object(["token": .string(example)]))
        #expect(answer.code == "bundleIdentifierMismatch")
    }
}
