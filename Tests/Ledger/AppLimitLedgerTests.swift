import Catalog
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Callers who are limited to one of two apps, in either database. The transactions of both apps have the same identifiers.
@Suite struct AppLimitLedgerTests: LedgerSuite {
    private static let garden = TestGarden.bundleIdentifier
    private static let orchard = "com.example.orchard"
    private static let apps = [garden, orchard]

    let fixture: LedgerFixture
    private let service: EntitlementService

    init() async throws {
        fixture = try LedgerFixture()
        let (garden, orchard) = (try TestGarden(), try TestGarden(bundleIdentifier: Self.orchard, gate: 2))
        service = EntitlementService(
            apps: try Apps([App(garden.catalog), App(orchard.catalog)]), verifier: try garden.verifier(),
            ledger: fixture.ledger, clock: ManualClock(Self.now))
        try await service.registerApps()
    }

    private static func gate(of app: String) -> Item { Item(collection: "gate", number: app == garden ? 1 : 2) }

    private func claim(
        _ transaction: String,
        in app: String,
        product: String = "garden.gate",
        item: Item? = nil,
        credit: Credit? = nil,
        revoked: Timestamp? = nil
    ) -> Claim {
        Claim(
            app: app, origin: .localSandbox, transactionIdentifier: transaction,
            originalTransactionIdentifier: transaction, productIdentifier: product, quantity: 1,
            purchaseDate: Self.now, revocationDate: revoked, signedAt: revoked ?? Self.now,
            proofDigest: [UInt8](repeating: 7, count: 32), item: item, credit: credit)
    }

    private func sell(to user: User) async throws {
        for app in Self.apps {
            let results = try await redeem(
                claim("1", in: app, item: Self.gate(of: app)),
                claim("2", in: app, product: "garden.seeds", credit: Credit(balance: "seeds", amount: 10)), for: user)
            #expect(results == [.granted, .granted])
        }
    }

    /// The same use case, limited to each app.
    private func ofEachApp<Value: Sendable>(_ body: (EntitlementService) async throws -> Value) async throws -> [Value]
    {
        var values: [Value] = []
        for app in Self.apps { values.append(try await body(service.limited(to: app))) }
        return values
    }

    @Test func `a caller sees the items and the purchases of the app`() async throws {
        try await sell(to: alice)
        let items = try await ofEachApp { try await $0.items(of: alice).map(\.item.description) }
        #expect(items == [["bed 0", "gate 1"], ["bed 0", "gate 2"]])
        #expect(try await service.items(of: alice).map(\.item.description) == ["bed 0", "gate 1", "gate 2"])
        let sold = try await ofEachApp { try await $0.transactions(of: alice, before: nil, limit: 9).map(\.app) }
        #expect(sold == Self.apps.map { [$0, $0] })
        let identified = try await ofEachApp {
            try await $0.transactions(of: alice, identifiedBy: ["1", "2"]).map(\.app)
        }
        #expect(identified == Self.apps.map { [$0, $0] })
        let histories = try await ofEachApp { try await $0.history(of: alice)?.transactions.map(\.app) }
        #expect(histories == Self.apps.map { [$0, $0] })
        let found = try await ofEachApp { try await $0.purchases(ofTransaction: "1").map(\.app) }
        #expect(found == Self.apps.map { [$0] })
        let unknown = try await service.limited(to: "com.example.unknown").items(of: alice)
        #expect(unknown.isEmpty)
    }

    @Test func `an answer to a redemption has the items of the app`() async throws {
        try await sell(to: alice)
        for app in Self.apps {
            let limit = service.catalogs.limit(to: app)
            var again = PresentedClaims(
                [claim("1", in: app, item: Self.gate(of: app))], for: alice, accepting: [.localSandbox], by: .user)
            again.limit = limit
            let requests: [ClaimRequest] = [
                .redeem(again), .redeem(PresentedClaims([], for: alice, accepting: [.localSandbox], by: .user)),
            ]
            let answers = try await ledger.write {
                try $0.decide(requests, under: .keep, accepting: AcceptedOrigins([.localSandbox]), at: Self.now)
            }
            let items = answers.map { answer -> [Item] in
                guard case .redeemed(let answer) = answer else { return [] }
                return answer.items
            }
            #expect(items == [[Self.gate(of: app)], Self.apps.map(Self.gate(of:))])
        }
    }

    @Test func `a caller sees the grants of the app's items, and revokes them`() async throws {
        let team = ["gate 1", "gate 2", "gate 1", "gate 2"]
        for (number, item) in team.enumerated() {
            let grant = Grant(
                identifier: "g\(number)", item: Self.gate(of: item == "gate 1" ? Self.garden : Self.orchard),
                reason: "a prize", grantedBy: "K", grantedAt: Self.now, endsAt: nil)
            _ = try await service.give(grant, to: alice)
        }
        let pages = try await ofEachApp { try await $0.grants(of: alice, before: nil, limit: 2).map(\.identifier) }
        #expect(pages == [["g2", "g0"], ["g3", "g1"]])
        let items = try await ofEachApp { try await $0.items(of: alice).map(\.item.description) }
        #expect(items == [["bed 0", "gate 1"], ["bed 0", "gate 2"]])
        let own = service.limited(to: Self.garden)
        await #expect(throws: GrantError.grantNotFound) {
            try await own.revoke(grant: "g1", of: alice, reason: "a test", by: "K")
        }
        #expect(try await own.revoke(grant: "g0", of: alice, reason: "a test", by: "K").revocation != nil)
        #expect(throws: GrantError.itemUnknown(Self.gate(of: Self.orchard))) {
            try own.newGrant(of: Self.gate(of: Self.orchard), reason: "a test", endsAt: nil, by: "K")
        }
    }

    @Test func `a balance that two apps fill is spent by neither`() async throws {
        try await sell(to: alice)
        for app in Self.apps {
            let own = service.limited(to: app)
            #expect(try await own.balances(of: alice).isEmpty)
            let spending = own.newSpending(of: 1, from: "seeds", reason: "a test", by: "K")
            await #expect(throws: AppLimitError.balanceOfAnotherApp("seeds", app: app)) {
                try await own.spend(spending, for: alice)
            }
        }
        #expect(try await service.balances(of: alice) == [Credit(balance: "seeds", amount: 20)])
    }

    @Test func `a balance that another app has filled before is not the caller's`() async throws {
        let catalogs = [try TestGarden().catalog, try Catalog(folder: Project.products)]
        let service = EntitlementService(
            apps: try Apps(catalogs.map { App($0) }), verifier: try TestGarden().verifier(), ledger: ledger,
            clock: ManualClock(Self.now)
        ).limited(to: Self.garden)
        let seeds = Credit(balance: "seeds", amount: 10)
        for app in catalogs.map(\.bundleIdentifier) {
            _ = try await redeem(claim("1", in: app, product: "garden.seeds", credit: seeds), for: alice)
        }
        _ = try await redeem(claim("2", in: Self.garden, product: "garden.seeds", credit: seeds), for: bob)
        #expect(try await service.balances(of: alice).isEmpty)
        #expect(try await service.balances(of: bob) == [seeds])
        let spending = service.newSpending(of: 1, from: "seeds", reason: "a test", by: "K")
        await #expect(throws: AppLimitError.balanceOfAnotherApp("seeds", app: Self.garden)) {
            try await service.spend(spending, for: alice)
        }
        #expect(try await service.spend(spending, for: bob).left == 9)
    }

    @Test func `a story and an explanation have what happened in the app`() async throws {
        try await sell(to: alice)
        for app in Self.apps {
            _ = try await redeem(claim("1", in: app, item: Self.gate(of: app)), for: bob)
            let record = NotificationRecord(
                app: app, origin: .localSandbox, notificationUUID: "n \(app)", type: "REFUND", subtype: nil,
                signedAt: Self.later(1), proofDigest: [UInt8](repeating: 8, count: 32))
            let refund = claim("2", in: app, product: "garden.seeds", revoked: Self.later(1))
            _ = try await ledger.write { try $0.record(record, stating: refund, at: Self.later(1)) }
        }
        _ = try await service.change(
            .revoke(reason: "a test"), ofTransaction: "1", origin: nil, in: Self.orchard, of: alice, by: "K")
        func words(_ user: User) async throws -> [[String]] {
            try await ofEachApp { service in
                try await service.story(of: user, before: nil, limit: 9).map { entry in
                    switch entry.content {
                    case .event(let event, _, let owner):
                        "\(event.event.rawValue) \(event.reference) \(event.app ?? "none") \(owner?.name ?? "")"
                    case .notification(let notification): notification.notificationUUID
                    }
                }.sorted()
            }
        }
        func sold(_ app: String) -> [String] {
            ["granted 1 \(app) ", "granted 2 \(app) ", "n \(app)", "revoked 2 \(app) "]
        }
        #expect(
            try await words(alice) == [
                sold(Self.garden), (sold(Self.orchard) + ["revoked 1 \(Self.orchard) "]).sorted(),
            ])
        #expect(try await words(bob) == Self.apps.map { ["refused 1 \($0) alice"] })
        let causes = try await ofEachApp { service in
            [
                try await service.explanation(of: Self.gate(of: Self.garden), for: alice).cause.rawValue,
                try await service.explanation(of: Self.gate(of: Self.orchard), for: alice).cause.rawValue,
            ]
        }
        #expect(causes == [["owned", "notInCatalog"], ["notInCatalog", "revokedByTeam"]])
        #expect(try fixture.problems() == [])
    }

    @Test func `expected and unclaimed purchases are those of the app`() async throws {
        for app in Self.apps {
            _ = try await ledger.write { try $0.record(claim("7", in: app, item: Self.gate(of: app)), at: Self.now) }
        }
        let parked = try await ofEachApp {
            try await $0.unclaimedPurchases(ofTransaction: "7", after: nil, limit: 9).map(\.app)
        }
        #expect(parked == Self.apps.map { [$0] })
        let purchase = ExpectedPurchase(
            app: Self.orchard, origin: .localSandbox, originalTransactionIdentifier: "8",
            productIdentifier: "garden.season", purchaseDate: Self.now, expiresAt: nil)
        _ = try await ledger.write { try $0.add(imported: bob, purchases: [purchase], by: "process", at: Self.now) }
        let season = Item(collection: "bed", number: 1)
        let causes = try await ofEachApp { try await $0.explanation(of: season, for: bob).cause.rawValue }
        #expect(causes == ["neverBought", "expected"])
        let result = try await RedemptionDoor(service).assign(
            unclaimed: "7", origin: nil, seeing: Self.garden, to: alice, reason: "a test", by: "K")
        #expect(result == .granted)
        #expect(try await service.items(of: alice).map(\.item.description) == ["bed 0", "gate 1"])
        #expect(
            try await service.unclaimedPurchases(ofTransaction: "7", after: nil, limit: 9).map(\.app)
                == [Self.orchard])
    }

    @Test func `an endpoint of an app gets the events of the app's purchases`() async throws {
        for (identifier, app) in [("a", Self.garden), ("b", Self.orchard), ("c", nil)] {
            let endpoint = WebhookEndpoint(
                identifier: identifier, url: "https://example.com/\(identifier)", createdAt: Self.now, createdBy: "K",
                secret: [UInt8](repeating: 1, count: 32), app: app)
            #expect(try await ledger.write { try $0.add(endpoint, upTo: 1) })
            #expect(try await ledger.read { try $0.webhookEndpoint(identifier) } == endpoint)
        }
        try await sell(to: alice)
        let grant = Grant(
            identifier: "g", item: Self.gate(of: Self.garden), reason: "a prize", grantedBy: "K", grantedAt: Self.now,
            endsAt: nil)
        _ = try await service.give(grant, to: alice)
        func apps(_ endpoint: String) async throws -> [String] {
            try await ledger.read { try $0.webhookDeliveries(to: endpoint, in: nil, before: nil, limit: 9) }
                .map { $0.entry.app ?? "none" }.sorted()
        }
        #expect(try await apps("a") == [Self.garden, Self.garden])
        #expect(try await apps("b") == [Self.orchard, Self.orchard])
        #expect(try await apps("c") == [Self.garden, Self.garden, Self.orchard, Self.orchard, "none"])
    }

    @Test
    func `an endpoint that becomes an app's shows and sends only the app's messages`()
        async throws
    {
        let webhooks = WebhookService(service, clock: ManualClock(Self.now)) { _ in [] }
        let url = try WebhookURL("https://example.com/", allowsPlain: false)
        let (first, second) = (try await webhooks.add(url, by: "K"), try await webhooks.add(url, by: "K"))
        try await sell(to: alice)
        func kept(_ endpoint: WebhookEndpoint) async throws -> [WebhookDelivery] {
            try await ledger.read { try $0.webhookDeliveries(to: endpoint.identifier, in: nil, before: nil, limit: 9) }
        }
        let all = try await kept(first)
        let foreign = try #require(all.first { $0.entry.app == Self.orchard }).messageIdentifier
        // The service ended between the change and the deletion.
        try await ledger.write {
            _ = try $0.database.execute(
                "UPDATE webhook_endpoint SET app = $1 WHERE endpoint_id = $2", [Self.garden, first.identifier])
        }
        let own = webhooks.limited(to: Self.garden)
        let listed = try await own.deliveries(to: first.identifier, in: nil, before: nil, limit: 9)
        let told = try await own.deliveries(to: first.identifier, about: alice, before: nil, limit: 9)
        #expect(all.count == 4)
        #expect(
            [listed, told].map { $0.map(\.entry.app) } == [[Self.garden, Self.garden], [Self.garden, Self.garden]])
        await #expect(throws: WebhookError.messageNotFound) {
            _ = try await own.delivery(foreign, to: first.identifier)
        }
        await #expect(throws: WebhookError.messageNotFound) {
            _ = try await own.replay(foreign, to: first.identifier, by: "K")
        }
        let due = try await webhooks.due(for: try await webhooks.endpoint(first.identifier), limit: 9)
        #expect(due?.map(\.entry.app) == [Self.garden, Self.garden])
        #expect(try await kept(first).count == 2)

        let changed = try await webhooks.change(second.identifier, app: .set(Self.orchard), by: "K")
        #expect(changed.app == Self.orchard)
        #expect(try await kept(second).map(\.entry.app) == [Self.orchard, Self.orchard])
    }

    @Test func `a change leaves what it does not name, and a caller changes only the app's endpoints`()
        async throws
    {
        let webhooks = WebhookService(service, clock: ManualClock(Self.now)) { _ in [] }
        let (own, url) = (
            webhooks.limited(to: Self.garden), try WebhookURL("https://example.com/", allowsPlain: false)
        )
        let made = try await own.add(url, by: "K")
        let types = try WebhookTypes(["purchase.refunded"], of: .standard)
        let filtered = try await own.change(made.identifier, types: .set(types), by: "K")
        #expect(filtered.app == Self.garden && filtered.types == types && filtered.url == url.text)
        #expect(try await own.change(made.identifier, app: .set(nil), by: "K").app == Self.garden)
        await #expect(throws: WebhookError.appUnknown(Self.orchard)) {
            _ = try await own.change(made.identifier, app: .set(Self.orchard), by: "K")
        }
        let other = try WebhookURL("https://other.example/", allowsPlain: false)
        await #expect(throws: WebhookError.appUnknown("x")) {
            _ = try await webhooks.change(made.identifier, url: other, app: .set("x"), by: "K")
        }
        #expect(try await own.endpoint(made.identifier) == filtered)
        let moved = try await webhooks.change(made.identifier, url: other, app: .set(Self.orchard), by: "K")
        #expect(moved.app == Self.orchard && moved.types == types && moved.url == other.text)
        await #expect(throws: WebhookError.notFound) { _ = try await own.change(made.identifier, url: url, by: "K") }
        await #expect(throws: WebhookError.notFound) {
            _ = try await own.replaceSecret(of: made.identifier, keepingPreviousFor: 0, by: "K")
        }
        await #expect(throws: WebhookError.notFound) { _ = try await own.replayFailed(to: made.identifier, by: "K") }
        #expect(try await webhooks.endpoint(made.identifier) == moved)
        #expect(
            try await webhooks.changes(of: made.identifier, limit: 9).map(\.event) == [
                .secretReplaced, .filterChanged, .urlChanged, .filterChanged, .filterChanged, .added,
            ])
    }

    @Test(arguments: [Self.garden, nil])
    func `an endpoint does not go to an app, or to all apps, that have ten endpoints already`(app: String?)
        async throws
    {
        let webhooks = WebhookService(service, clock: ManualClock(Self.now)) { _ in [] }
        let (url, other) = (
            try WebhookURL("https://example.com/", allowsPlain: false),
            try WebhookURL("https://other.example/", allowsPlain: false)
        )
        var own: [WebhookEndpoint] = []
        for _ in 0..<10 { own.append(try await webhooks.add(url, app: app, by: "K")) }
        await #expect(throws: WebhookError.tooMany) { _ = try await webhooks.add(url, app: app, by: "K") }
        let outside = try await webhooks.add(url, app: Self.orchard, by: "K")
        await #expect(throws: WebhookError.tooMany) {
            _ = try await webhooks.change(outside.identifier, url: other, app: .set(app), by: "K")
        }
        #expect(try await webhooks.endpoint(outside.identifier) == outside)
        #expect(try await webhooks.changes(of: outside.identifier, limit: 9).map(\.event) == [.added])
        // One that is there already stays, whatever else changes.
        let first = try #require(own.first)
        #expect(try await webhooks.change(first.identifier, url: other, app: .set(app), by: "K").url == other.text)
        try await webhooks.remove(first.identifier, by: "K")
        #expect(try await webhooks.change(outside.identifier, app: .set(app), by: "K").app == app)
    }

    @Test func `an endpoint that goes to another app has a new secret, and no authorization of before`() async throws {
        let webhooks = WebhookService(service, clock: ManualClock(Self.now)) { _ in [] }
        let (old, new) = (WebhookAuthorization("Bearer old"), WebhookAuthorization("Bearer new"))
        let made = try await webhooks.add(
            try WebhookURL("https://example.com/", allowsPlain: false), authorization: old, by: "K")
        let replaced = try await webhooks.replaceSecret(of: made.identifier, keepingPreviousFor: 60, by: "K")
        #expect(replaced.secrets(at: Self.now).count == 2)
        var secrets = Set(replaced.secrets(at: Self.now))
        let changes: [(app: String?, given: WebhookSetting<WebhookAuthorization>, kept: WebhookAuthorization?)] = [
            (Self.garden, .unchanged, nil), (Self.orchard, .set(new), new), (nil, .unchanged, nil),
        ]
        for (app, given, kept) in changes {
            let changed = try await webhooks.change(made.identifier, app: .set(app), authorization: given, by: "K")
            let own = changed.secrets(at: Self.now)
            #expect(changed.authorization == kept && own.count == 1 && secrets.isDisjoint(with: own))
            secrets.formUnion(own)
            #expect(try await webhooks.change(made.identifier, app: .set(app), by: "K") == changed)
            #expect(try await webhooks.endpoint(made.identifier) == changed)
        }
        #expect(
            try await webhooks.changes(of: made.identifier, limit: 20).map(\.event) == [
                .filterChanged, .authorizationChanged, .secretReplaced, .filterChanged,
                .filterChanged, .authorizationChanged, .secretReplaced, .filterChanged,
                .filterChanged, .authorizationChanged, .secretReplaced, .filterChanged,
                .secretReplaced, .added,
            ])
        #expect(try fixture.problems() == [])
    }

    @Test func `the hash chain covers the app of an entry`() async throws {
        try await sell(to: alice)
        let records = try await ledger.read { try $0.audit(of: alice) }
        #expect(records.map(\.entry.app) == Self.apps.flatMap { [$0, $0] })
        #expect(zip(records, [nil] + records.map(Optional.some)).allSatisfy { $0.follows($1) })
    }
}
