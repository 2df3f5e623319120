import Acme
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A service over a SQLite ledger, with doors, figures and webhooks, that trusts the test's certificates and asks a scripted Google
/// Play over a socket. Rows read it over HTTP.
actor TableService {
    private static let logger = Logger(label: "table", factory: { _ in SwiftLogNoOpLogHandler() })
    /// The customers of RevenueCat's door.
    private static let issuer = "issuer=customer"

    nonisolated let clock: ManualClock
    nonisolated let play: ScriptedPlay
    nonisolated let acme: AcmeShop
    private let client: TestClient
    private let parts: Parts
    private var sweep = HistorySweep()
    private var messages = Messages()
    private var notificationCount = 0

    /// The parts of the service, which keep its folder.
    private struct Parts: Sendable {
        let folder: TemporaryFolder
        let entitlements: EntitlementService
        let googlePlay: GooglePlayApp
        let acme: AcmeStore
        let webhooks: WebhookService
        let figures: FigureService
        let routes: ServiceRoutes
        let key: String
        let publicKey: String
        let issuer: TestPushIssuer
    }

    /// The bodies of the messages so far, in the order of the history.
    private struct Messages {
        var till: [JSONValue] = []
        var revenueCat: [JSONValue] = []
    }

    private init(
        _ parts: Parts, _ play: ScriptedPlay, _ acme: AcmeShop, _ clock: ManualClock, _ client: TestClient
    ) {
        (self.parts, self.play, self.acme, self.clock, self.client) = (parts, play, acme, clock, client)
    }

    /// Runs something beside a store and a service that began at noon of 1 March 2027.
    static func run(
        _ name: StoreName, _ body: @Sendable @escaping (any TableStore) async throws -> Void
    ) async throws {
        let (play, clock) = (ScriptedPlay(), ManualClock(try Day.moment("03-01")))
        let acme = try AcmeShop(clock: clock)
        try await Application(router: play.router(), logger: logger).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let parts = try await Self.parts(clock, url, acme)
            try await Application(router: parts.routes.router(), logger: logger).test(.router) { client in
                let service = TableService(parts, play, acme, clock, client)
                try await service.addWebhooks()
                switch name {
                case .apple: try await body(AppleTableStore(service))
                case .google: try await body(GoogleTableStore(service))
                case .acme: try await body(AcmeTableStore(service))
                }
            }
        }
    }

    private static func parts(_ clock: ManualClock, _ url: URL, _ shop: AcmeShop) async throws -> Parts {
        let folder = try TemporaryFolder(isInMemory: true)
        let app = App(try catalog(in: folder.folder("catalog")))
        let ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let keys = ledger.apiKeys(clock: clock)
        let entitlements = EntitlementService(
            apps: Apps(app),
            verifier: ProofVerifier(anchors: try TestChains.anchors(try TestChains.ellipticCurve.get()), clock: clock),
            ledger: ledger, clock: clock,
            accepted: AcceptedOrigins(
                [.localProduction, .localPlayProduction, try #require(AcmeStore.production)]))
        let developer = PlayDeveloperClient(
            account: try ScriptedPlay.account(at: url), url: url, packageName: ScriptedPlay.packageName,
            realm: .localPlay, clock: clock)
        let googlePlay = GooglePlayApp(client: developer, app: app, entitlements: entitlements)
        let acme = AcmeStore(entitlements, trusting: shop.publicKey) { try shop.answer(about: $0) }
        let (webhooks, figures) = (entitlements.webhooks(clock: clock), ledger.figures(clock: clock))
        let issuer = try TestPushIssuer.shared.get()
        let issuerKeys = folder.file("google-keys.json")
        try Data(try issuer.keys().utf8).write(to: issuerKeys)
        let tokens = PushTokens(
            .init(audience: TestPushIssuer.audience, email: TestPushIssuer.email, keys: .file(issuerKeys)),
            clock: clock, logger: logger)
        let till = Till(entitlements, clock: clock) { ($0.webhooks, $0.figures) = (webhooks, figures) }
        var stores = StoreClients(
            googlePlay: [googlePlay],
            playNotifications: GooglePlayNotifications(tokens: tokens, service: entitlements, apps: [googlePlay]))
        stores.others = [acme]
        let settings = RouteSettings(.apiKeys(keys))
        let routes = ServiceRoutes(
            till, stores: stores, settings, others: [DoorRoutes([.revenueCat], till, stores: stores, settings)])
        return Parts(
            folder: folder, entitlements: entitlements, googlePlay: googlePlay, acme: acme, webhooks: webhooks,
            figures: figures,
            routes: routes, key: try await keys.make(name: "table", scopes: Set(APIKeyScope.allCases)).key,
            publicKey: try await keys.makePublic(name: "app", app: TestGarden.bundleIdentifier, platform: .apple)
                .identifier,
            issuer: issuer)
    }

    /// The garden's catalog, with a right that both plans give.
    private static func catalog(in folder: URL) throws -> Catalog {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: TestGarden.file, to: folder.appending(path: Catalog.configurationFile))
        let items = """
            { "bundleId": "\(TestGarden.bundleIdentifier)", "ownedByEverybody": [], "items": [
                { "productID": "garden.gate", "collection": "gate", "number": 1 },
                { "productID": "garden.season", "collection": "bed", "number": 1, "duration": "P3M" },
                { "productID": "garden.basic.monthly", "collection": "plus", "number": 1 },
                { "productID": "garden.basic.yearly", "collection": "plus", "number": 1 },
                { "productID": "garden.premium.monthly", "collection": "plus", "number": 2 },
                { "productID": "garden.seeds", "balance": "seeds", "amount": 10 } ] }
            """
        let offerings = """
            { "rights": [ { "name": "gardener", "items": [
                { "collection": "plus", "number": 1 }, { "collection": "plus", "number": 2 } ] } ] }
            """
        try Data(items.utf8).write(to: folder.appending(path: Catalog.itemsFile))
        try Data(offerings.utf8).write(to: folder.appending(path: Catalog.offeringsFile))
        return try Catalog(folder: folder)
    }

    // MARK: Time and the work of a service

    nonisolated func now() -> Timestamp { clock.now() }

    nonisolated func advance(to moment: String) throws { advance(to: try Day.moment(moment)) }

    /// Moves the clock forwards, never back.
    nonisolated func advance(to moment: Timestamp) {
        let difference = moment.millisecondsSince1970 - clock.now().millisecondsSince1970
        if difference > 0 { clock.advance(milliseconds: difference) }
    }

    /// Does what a service does by itself in the next two minutes: it asks Google Play, records what is due, sends its messages and
    /// sums up.
    func settle() async throws {
        for _ in 0..<2 {
            clock.advance(milliseconds: 61000)
            do {
                _ = try await parts.googlePlay.reconciler.recordSilentPurchases()
                _ = try await parts.googlePlay.reconciler.recordVoidedPurchases()
            } catch is PlayDeveloperError {
                // The service logs it, and asks again later.
            }
            var sweep = sweep
            try await sweep.run(parts.entitlements, [])
            self.sweep = sweep
        }
        try await parts.googlePlay.acknowledger(metrics: ServiceMetrics(), logger: Self.logger).perform()
        try await deliver()
        _ = try await parts.figures.rollUp()
    }

    private func addWebhooks() async throws {
        let url = try WebhookURL("http://127.0.0.1:9/hooks", allowsPlain: true)
        _ = try await parts.webhooks.add(url, by: "table")
        _ = try await parts.webhooks.add(
            url, format: .revenueCat, authorization: WebhookAuthorization("Bearer hooks"), by: "table")
    }

    /// The types of RevenueCat in the order in which its pages dispatch those of one moment: "BILLING_ISSUE, CANCELLATION, and
    /// EXPIRATION … are dispatched in order at the same time". The sender sends them concurrently, so the queue's order says nothing.
    private static let dispatched = ["SUBSCRIPTION_PAUSED", "BILLING_ISSUE", "CANCELLATION", "EXPIRATION"]

    /// Takes all due messages out of the queue, as the sender does.
    private func deliver() async throws {
        let queue = parts.webhooks
        for endpoint in try await queue.dueEndpoints() {
            while let due = try await queue.due(for: endpoint, limit: 100), !due.isEmpty {
                let leased = try await queue.lease(due)
                var bodies: [(number: Int64, rank: Int, body: JSONValue)] = []
                for message in leased {
                    guard let signed = try await queue.signed(message, for: endpoint) else { continue }
                    let body = try JSONParser.parse(signed.body)
                    let content = body["event"] ?? body
                    let rank = content["type"]?.text.flatMap { Self.dispatched.firstIndex(of: $0) } ?? 0
                    bodies.append((message.number, rank, content))
                }
                let ordered = bodies.sorted { ($0.number, $0.rank) < ($1.number, $1.rank) }.map(\.body)
                switch endpoint.format {
                case .standard, .cloudEvents, .slack: messages.till += ordered
                case .revenueCat: messages.revenueCat += ordered
                }
                try await queue.record(
                    leased.map {
                        queue.result(of: $0, .answered(status: 204), milliseconds: 1, response: nil)
                    })
            }
        }
    }

    // MARK: Requests

    struct Answer: Sendable {
        let status: Int
        let json: JSONValue

        /// The answer of a successful request.
        ///
        /// - Throws: `Failure` for another status.
        var value: JSONValue {
            get throws {
                guard (200...299).contains(status) else { throw Failure(status: status, json: json) }
                return json
            }
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let status: Int
        let json: JSONValue

        var description: String { "\(status) \(json.compactText)" }
    }

    /// - Parameter token: Another bearer than the API key; empty for none.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, bearer: String? = nil
    ) async throws -> Answer {
        let bearer = bearer ?? parts.key
        let headers: HTTPFields = bearer.isEmpty ? [:] : [.authorization: "Bearer \(bearer)"]
        let answer = try await client.executeRequest(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0.compactText) })
        let bytes = Array(answer.body.readableBytesView)
        return Answer(status: answer.status.code, json: bytes.isEmpty ? .null : try JSONParser.parse(bytes))
    }

    func get(_ path: String) async throws -> JSONValue { try await send(.get, path).value }

    /// The path of a user of RevenueCat's door.
    static func path(_ user: String, _ rest: String) -> String {
        "/v1/users/\(user)/\(rest)\(rest.contains("?") ? "&" : "?")\(issuer)"
    }

    /// Redeems as an app does.
    func redeem(_ proof: JSONValue, for user: String) async throws -> Answer {
        try await send(.post, Self.path(user, "transactions"), proof)
    }

    /// The account token of a user, which the app gives to the store.
    func accountToken(of user: String) async throws -> String {
        let answer = try await send(.put, Self.path(user, "account-token")).value
        return try #require(answer["appAccountToken"]?.text)
    }

    /// Sends a notification of the App Store.
    func notify(apple payload: String) async throws {
        _ = try await send(
            .post, "/v1/notifications/apple", json(("signedPayload", .string(payload))), bearer: ""
        ).value
        try await settle()
    }

    /// Pushes a notification of Google Play, as Pub/Sub does.
    func notify(google notification: JSONValue) async throws {
        try await push(notification)
        try await settle()
    }

    /// The same, without the service's own work after it.
    func push(_ notification: JSONValue) async throws {
        notificationCount += 1
        let identifier = JSONValue.string("\(notificationCount)")
        let message = json(
            ("data", .string(Base64.encode(notification.compactText.utf8))), ("messageId", identifier),
            ("message_id", identifier), ("publishTime", .date(now())))
        let token = try parts.issuer.token(at: now().secondsSince1970)
        _ = try await send(
            .post, "/v1/notifications/google",
            json(("message", message), ("subscription", "projects/p/subscriptions/s")), bearer: token
        ).value
    }

    /// Sends a message of acme.
    func notify(acme message: [UInt8]) async throws {
        _ = try await parts.acme.receive(message)
        try await settle()
    }

    /// Asks acme about a contract.
    func ask(acme contract: String) async throws {
        _ = try await parts.acme.refresh(contract)
        try await settle()
    }

    // MARK: Surfaces

    /// A surface as a text.
    func read(_ surface: Surface, of user: String) async throws -> String {
        let parts =
            switch surface {
            case .items: try await items(of: user)
            case .subscriptions: try await subscriptions(of: user)
            case .why: try await causes(of: user)
            case .story: try await story(of: user)
            case .webhooks: tillMessages(about: user)
            case .revenueCat: revenueCatMessages(about: user)
            case .customerInfo: try await customerInfo(of: user)
            case .figures: try await figures()
            }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private static func short(_ product: String?) -> String {
        (product ?? "?").replacing("garden.", with: "").replacing(".monthly", with: "")
    }

    private static func until(_ answer: JSONValue) -> String {
        answer["until"]?.text.map { " until \(Day.text($0))" } ?? ""
    }

    private static func renews(_ answer: JSONValue) -> String {
        // What is owned for good neither renews nor ends.
        answer["state"]?.text == "owned" ? "" : answer["renews"]?.flag.map { $0 ? " renews" : " ends" } ?? ""
    }

    private func items(of user: String) async throws -> [String] {
        let items = try await get(Self.path(user, "items"))["items"]?.elements ?? []
        let balances = try await get(Self.path(user, "balances"))["balances"]?.elements ?? []
        let owned = items.map { item in
            "\(item["collection"]?.text ?? "?") \(item["number"]?.integer ?? -1) \(item["state"]?.text ?? "?")"
                + Self.until(item) + Self.renews(item)
        }
        let filled = balances.filter { $0["amount"]?.integer != 0 }.map { balance in
            "\(balance["amount"]?.integer ?? 0) \(balance["balance"]?.text ?? "?")"
        }
        return owned.sorted() + filled
    }

    private func subscriptions(of user: String) async throws -> [String] {
        try await get(Self.path(user, "subscriptions"))["subscriptions"]?.elements.map { answer in
            let product = answer["productId"]?.text
            let next = answer["nextProductId"]?.text.flatMap { $0 == product ? nil : " as \(Self.short($0))" } ?? ""
            let reason = answer["expirationReason"]?.text.map { " (\($0))" } ?? ""
            return "\(Self.short(product)) \(answer["state"]?.text ?? "?")" + Self.until(answer) + Self.renews(answer)
                + next + reason
        }.sorted() ?? []
    }

    private func causes(of user: String) async throws -> [String] {
        var causes: [String] = []
        for item in ["plus/1", "plus/2", "gate/1", "bed/1"] {
            let answer = try await get(Self.path(user, "items/\(item)/explanation"))
            causes.append("\(item.replacing("/", with: " ")) \(answer["cause"]?.text ?? "?")")
        }
        return causes.filter { !$0.hasSuffix(" neverBought") }
    }

    private func story(of user: String) async throws -> [String] {
        let entries = try await get(Self.path(user, "story?pageSize=100"))["entries"]?.elements ?? []
        return entries.reversed().filter { $0["notification"] == nil }.map { entry in
            let kind = entry["kind"]?.text ?? "?"
            let (reason, text) = (entry["reason"]?.text, entry["text"]?.text?.lowercased() ?? "")
            switch kind {
            case "autoRenewDisabled":
                // The App Store tells of the customer's choice alone.
                let actor = reason ?? "user"
                let isBlamed = text.contains("customer turned") || text.contains("customer has turned")
                return "\(kind) by \(actor)" + (isBlamed && actor != "user" ? " BLAMES THE CUSTOMER" : "")
            case "paused": return reason.map { "\(kind) until \(Day.text($0))" } ?? kind
            default: return kind
            }
        }
    }

    private func tillMessages(about user: String) -> [String] {
        messages.till.filter { $0["data"]?["user"]?["name"]?.text == user }.map { $0["type"]?.text ?? "?" }
    }

    private func revenueCatMessages(about user: String) -> [String] {
        messages.revenueCat.filter { event in
            event["app_user_id"]?.text == user
                || event["transferred_to"]?.elements.contains { $0.text == user } ?? false
                || event["transferred_from"]?.elements.contains { $0.text == user } ?? false
        }.map { event in
            let type = event["type"]?.text ?? "?"
            guard type != "TRANSFER" else { return type }
            let reason = (event["cancel_reason"]?.text ?? event["expiration_reason"]?.text).map { "/\($0)" } ?? ""
            let price = event["price"]?.amount.map { String(format: "%g", $0) } ?? "?"
            let next = event["new_product_id"]?.text.map { " -> \(Self.short($0))" } ?? ""
            return
                "\(type)\(reason) \(Self.short(event["product_id"]?.text)) \(event["period_type"]?.text ?? "?") \(price)"
                + next
        }
    }

    private func customerInfo(of user: String) async throws -> [String] {
        let answer = try await send(.get, "/v1/subscribers/\(user)", bearer: parts.publicKey).value
        let subscriber = answer["subscriber"] ?? .null
        let subscriptions = (subscriber["subscriptions"]?.members ?? []).map { key, subscription in
            func date(_ name: String, _ word: String) -> String {
                subscription[name]?.text.map { " \(word) \(Day.text($0))" } ?? ""
            }
            func mark(_ name: String, _ word: String) -> String { subscription[name]?.text == nil ? "" : " \(word)" }
            let plan = subscription["product_plan_identifier"]?.text.map { ":\($0)" } ?? ""
            let shared = subscription["ownership_type"]?.text == "FAMILY_SHARED" ? " shared" : ""
            let name = Self.short(key)
            return (name.contains(":") ? name : name + plan) + " \(subscription["period_type"]?.text ?? "?")"
                + date("expires_date", "until") + mark("unsubscribe_detected_at", "unsubscribed")
                + mark("billing_issues_detected_at", "unpaid") + date("refunded_at", "refunded")
                + date("auto_resume_date", "resumes") + shared
        }.sorted()
        let purchases = (subscriber["non_subscriptions"]?.members ?? []).map { key, bought in
            "\(Self.short(key))" + (bought.elements.count == 1 ? "" : " ×\(bought.elements.count)")
        }.sorted()
        let now = now().rfc3339
        let rights = (subscriber["entitlements"]?.members ?? []).filter { _, right in
            right["expires_date"]?.text.map { $0 > now } ?? true
        }.map { "has \($0.key)" }
        return subscriptions + purchases + rights
    }

    /// The figures and whether they are levels of the end of the day.
    private static let figures: [(name: String, isLevel: Bool)] = [
        ("revenue", false), ("refunds", false), ("refunded-revenue", false), ("active-subscriptions", true),
        ("mrr", true), ("churn", false), ("renewals", false), ("conversions", false),
    ]

    private func figures() async throws -> [String] {
        let today = now().rfc3339.prefix(10)
        var sums: [String] = []
        for figure in Self.figures {
            let answer = try await get("/v1/figures/\(figure.name)?from=2027-03-01&to=\(today)&by=month")
            let values = (answer["series"]?.elements ?? []).map { series in
                (series["values"]?.elements ?? []).compactMap(\.integer)
            }
            let value = values.map { figure.isLevel ? $0.last ?? 0 : $0.reduce(0, +) }.reduce(0, +)
            if value != 0 { sums.append("\(figure.name) \(value)") }
        }
        return sums
    }
}
