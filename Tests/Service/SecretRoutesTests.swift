import Catalog
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Every operation: purchase tokens and signed proofs, searched for in the answers, their headers and the lines of the log, and the
/// statements over PostgreSQL.
@Suite struct SecretRoutesTests {
    let fixture: ServiceFixture
    let purchases: SecretPurchases
    let own: SecretPurchases
    private let token: String
    private let values: [String: String]
    private let log = RecordedLog()
    /// A token that the Play Billing Library gives to an app for a sale outside Google's billing.
    private static let externalToken = "secret-of-the-app"

    init() async throws {
        let (folder, issuer, key) = (try TemporaryFolder(), try TestIssuer(), try PrivateKey.generateRSA())
        let garden = try TestGarden(start: ManualClock().now().rfc3339)
        fixture = try await ServiceFixture(
            selling: [App(garden.catalog)], tokens: issuer.settings(keptIn: folder),
            account: ServiceFixture.playAccount(), keeping: folder, on: TestSchema.hasSessions ? TestSchema() : nil)
        token = try issuer.token(at: fixture.shop.clock.now().secondsSince1970)
        let webhook = try await fixture.send(.post, "/v1/webhooks", body: #"{"url":"https://all.example/hooks"}"#)
            .decoded(WebhookResource.self).webhookId
        let service = EntitlementService(
            apps: try Apps([App(fixture.shop.catalog), App(garden.catalog)]),
            verifier: try garden.verifier(appKeys: [SecretPurchases.appKey(key)]), ledger: fixture.ledger,
            clock: fixture.shop.clock, keepsProofs: true)
        purchases = try await SecretPurchases(
            of: #require(User(name: "alice")), named: "alice", in: service, at: garden, signedBy: key)
        own = try await SecretPurchases(
            of: #require(User(issuer: TestIssuer.issuer, name: "alice")), named: "own", in: service, at: garden,
            signedBy: key)
        let deliveries = try await fixture.send(.get, "/v1/webhooks/\(webhook)/deliveries").decoded(
            List<WebhookDeliveryResource>.self)
        let (app, now) = (TestGarden.bundleIdentifier, fixture.shop.clock.now().rfc3339)
        let grant = try await fixture.send(
            .post, "/v1/users/alice/grants", body: #"{"item":{"collection":"gate","number":1},"reason":"a prize"}"#
        ).decoded(GrantResource.self).grantId
        let moon = #"{"type":"NonConsumable","displayPrice":"1","collection":"moon","number":9}"#
        let sale = #"""
            {"packageName":"\#(app)","externalTransactionId":"sale-0","transactionTime":"\#(now)",
            "originalPreTaxAmount":{"currency":"USD","priceMicros":"1"},
            "originalTaxAmount":{"currency":"USD","priceMicros":"0"},"userTaxAddress":{"regionCode":"US"},
            "oneTimeTransaction":{"externalTransactionToken":"\#(Self.externalToken)"}}
            """#
        for (method, path, body) in [
            (HTTPRequest.Method.put, "/v1/catalog/products/garden.moon?app=\(app)", moon),
            (.post, "/v1/google/external-transactions", sale), (.put, "/v1/users/mallory/account-token", nil),
        ] {
            let answer = try await fixture.send(method, path, body: body)
            try #require(answer.status < 300, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        let change = try await fixture.send(.get, "/v1/catalog/changes?app=\(app)").decoded(
            List<CatalogChangeResource>.self)
        values = [
            "user": "alice", "product": "garden.gate", "collection": "gate", "number": "1", "balance": "seeds",
            "grant": grant, "webhook": webhook, "message": try #require(deliveries.elements.first).messageId,
            "name": "member", "app": app, "package": app, "export": "transactions", "figure": "units",
            "unclaimed": purchases.unclaimed, "external-transactions": "sale-1",
            "change": String(try #require(change.elements.first).number), "action": UUID().uuidString,
        ]
    }

    /// The status of an answer, and its text with its headers.
    private func answer(
        _ operation: AppOperation, _ path: String, _ body: AppOperation.Body?, key: String,
        from client: TestClient
    ) async throws -> (status: Int, text: String) {
        var headers: HTTPFields = [.authorization: "Bearer \(key)"]
        if let body { headers[.contentType] = body.contentType }
        return try await client.execute(
            uri: path, method: operation.method, headers: headers, body: body.map { ByteBuffer(bytes: $0.bytes) }
        ) { response in
            let fields = response.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            #expect(response.status.code < 500, "\(operation.name)")
            return (response.status.code, "\(fields)\n\(String(buffer: response.body))")
        }
    }

    /// The requests of an operation. Whoever has a token may ask about it.
    private func requests(
        of operation: AppOperation, about purchases: SecretPurchases
    ) throws -> [(path: String, body: AppOperation.Body?)] {
        let bodies = try operation.bodies(values, proof: purchases.fresh, at: fixture.shop.clock.now())
        let (first, issuer) = (purchases.identifiers[0], "?issuer=\(TestIssuer.issuer)")
        if operation.name.contains("{transaction}") {
            let subjects =
                operation.method == .get ? purchases.identifiers + purchases.secrets.prefix(3) : [purchases.owned]
            return subjects.flatMap { subject in
                let path = operation.path(values.merging(["transaction": subject]) { $1 })
                return bodies.map { (path, $0) }
            }
        }
        let path = operation.path(values)
        let app = "?app=\(TestGarden.bundleIdentifier)"
        guard operation.method == .get else {
            return bodies.flatMap { body in (operation.takesApp ? ["", app] : [""]).map { (path + $0, body) } }
        }
        let queries: Set = [
            "", "?pageSize=2", "?format=jsonl", issuer, app, "?search=\(first)", "?search=\(purchases.secrets[0])",
            operation.query,
        ]
        return queries.sorted().map { (path + $0, nil) }
    }

    /// Calls an operation, and expects that its answers have only the secrets of their requests, and that a back end is not refused
    /// each one.
    ///
    /// - Returns: The answers.
    private func call(
        _ operation: AppOperation, about purchases: SecretPurchases, key: String, at client: TestClient
    ) async throws -> [String] {
        var (answers, statuses): ([String], Set<Int>) = ([], [])
        for (path, body) in try requests(of: operation, about: purchases) {
            let (status, text) = try await answer(operation, path, body, key: key, from: client)
            let sent = path + String(decoding: body?.bytes ?? Data(), as: UTF8.self)
            let token = text.contains(Self.externalToken) ? [Self.externalToken] : []
            for leak in self.purchases.leaked(in: text, to: sent) + own.leaked(in: text, to: sent) + token {
                Issue.record("\(operation.name) \(path.prefix(80)) has \(leak)")
            }
            answers.append(text)
            statuses.insert(status)
        }
        if key == fixture.key { #expect(!operation.isUntested(answering: statuses), "\(operation.untested)") }
        return answers
    }

    /// Sends the requests of each operation and some notifications, and returns the answers.
    private func callEach() async throws -> [String] {
        try await Application(router: fixture.routes.router(), logger: log.logger).test(.router) {
            client in
            var answers: [String] = []
            for (scheme, key, purchases) in [("apiKey", fixture.key, purchases), ("userToken", token, own)] {
                // A stream of events lasts fifteen minutes. It has the references of the audit log, as the export has them.
                let operations = try AppOperation.all(for: scheme).filter { !$0.name.hasSuffix("/events") }
                for operation in operations {
                    answers += try await call(operation, about: purchases, key: key, at: client)
                }
            }
            for payload in purchases.notifications.prefix(3) {
                let body = ByteBuffer(string: #"{"signedPayload":"\#(payload)"}"#)
                try await client.execute(uri: "/v1/notifications/apple", method: .post, body: body) {
                    #expect($0.status == .ok)
                }
            }
            return answers
        }
    }

    @Test func `no route tells a token or a proof that its request has not brought`() async throws {
        let answers = try await callEach()
        // Each purchase is in some answer, by its name, its order or its transaction.
        for identifier in purchases.identifiers + own.identifiers {
            #expect(answers.contains { $0.contains(identifier) }, "no answer has \(identifier)")
        }
        let lines = log.lines
        #expect(lines.contains { $0.contains("notification") })
        for secret in purchases.secrets + own.secrets + [Self.externalToken] {
            let leak = lines.first { $0.contains(secret) }
            #expect(leak == nil, "the log has \(secret.prefix(40)): \(leak?.prefix(200) ?? "")")
        }
    }

    @Test(.enabled(if: TestSchema.hasSessions, "no PostgreSQL server of its own"))
    func `no operation joins tables of two families, or finds a user's number in a sub-select`() async throws {
        _ = try await callEach()
        #expect(try await fixture.ledger.preparedStatements().count > 50)
        #expect(try await fixture.ledger.misshapenStatements() == [])
    }
}
