import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The shapes of the statements of use cases that no operation runs at once: of notifications, logs-in, background work and the console.
/// `SecretRoutesTests` has those of each operation.
@Suite(.enabled(if: TestSchema.hasSessions, "no PostgreSQL server of its own"))
struct StatementShapeTests: LedgerSuite {
    let fixture: LedgerFixture
    private let clock = ManualClock(now)
    private let service: EntitlementService

    init() throws {
        fixture = try LedgerFixture()
        service = EntitlementService(
            apps: Apps(App(try Catalog(folder: Project.products))),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock), ledger: fixture.ledger, clock: clock)
    }

    @Test func `no statement joins tables of two families, or finds a user's number in a sub-select`() async throws {
        try await redeemAndNotify()
        try await changeUsers()
        try await read()
        try await runFeatures()
        try await askGooglePlay()
        try await rescindConsent()
        let statements = try await ledger.preparedStatements()
        for needed in [
            "INSERT INTO \"redeemed_transaction\"", "DELETE FROM \"spending\"", "DELETE FROM \"parked_original\"",
            "DELETE FROM \"expected_purchase\"", "INSERT INTO \"user_alias\"", "UPDATE \"claim\"",
        ] {
            #expect(statements.contains { $0.text.hasPrefix(needed) }, "\(needed) in \(statements.count) statements")
        }
        // The page of a store is one statement, however many purchases of the other store are newer.
        #expect(
            statements.count { $0.text.contains("origin IN (") && $0.text.hasSuffix("sequence DESC LIMIT $4") } == 2)
        #expect(try await ledger.misshapenStatements() == [])
    }

    // MARK: The use cases

    private func redeemAndNotify() async throws {
        let endpoint = WebhookEndpoint(
            identifier: "a", url: "https://example.com/a", createdAt: Self.now, createdBy: "K",
            secret: [UInt8](repeating: 1, count: 32))
        let events = WebhookEndpoint(
            identifier: "b", url: "https://example.com/b", format: .revenueCat, createdAt: Self.now, createdBy: "K",
            secret: [UInt8](repeating: 2, count: 32))
        _ = try await ledger.write { try $0.add(endpoint, upTo: 2) && $0.add(events, upTo: 2) }
        let coins = Credit(balance: "coins", amount: 10)
        let facts = TransactionFacts([.type: .text(ProductType.autoRenewableSubscription.rawValue)])
        let renewal = StatedRenewal(
            statedAt: Self.now, proofDigest: [UInt8](repeating: 7, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(1)]))
        let subscribed = claim("3", item: nil, expiresAt: Self.later(100), facts: facts, renewal: renewal)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), subscribed, for: alice)
        _ = try await redeem(
            claim("4", original: "3", signedAt: Self.later(1), item: nil, expiresAt: Self.later(200), facts: facts),
            for: alice)
        _ = try await redeem(claim("1"), for: bob)
        let refund = claim("1", revoked: Self.later(2), signedAt: Self.later(2))
        #expect(try await notify("n1", refund) == .revoked)
        _ = try await notify("n1", refund)
        _ = try await notify("n2", claim("9", revoked: Self.later(2), signedAt: Self.later(2)))
        _ = try await redeem(claim("9"), for: bob)
        // A renewal of a purchase that nobody has redeemed.
        #expect(try await notify("n3", claim("7", original: "6")) == .parked)
        let found = try await service.unclaimedPurchases(ofTransaction: "6", after: nil, limit: 9)
        #expect(found.map(\.transactionIdentifier) == ["7"])
        _ = try await redeem(claim("6"), for: bob)
        _ = try await redeem(claim("5"), for: alice)
        _ = try await redeem(claim("5"), for: bob, under: .transfer(pauseSeconds: 10), at: Self.later(100))
        clock.advance(milliseconds: 1_000_000)
        try await service.recordDueStates()
    }

    private func changeUsers() async throws {
        let ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "1", count: 32))).user
        let mint = try #require(CustomerIdentifier("mint")).user
        for (user, name) in [(ghost, "ghost"), (mint, "mint")] {
            let credit = Credit(balance: "coins", amount: 10)
            _ = try await redeem(claim(name), claim(name + "2", item: nil, credit: credit), for: user)
            let spending = Spending(
                identifier: name, balance: "coins", amount: 3, reason: "a hat", spentBy: "K", spentAt: Self.now,
                request: Spending.Request(idempotencyKey: "k", digest: [UInt8](repeating: 1, count: 32)))
            _ = try await ledger.write { try $0.spend(spending, for: user, accepting: Set(Origin.allCases)) }
            let grant = Grant(
                sequence: 0, identifier: name, item: Item(collection: "gate", number: 1), reason: "a gift",
                grantedBy: "K", grantedAt: Self.now, endsAt: nil)
            _ = try await ledger.write { try $0.add(grant, for: user) }
            let attribute = try Attribute(name: "level", value: name, statedAt: Self.now)
            try await ledger.write { try $0.state([attribute], of: user, at: Self.now) }
            try await ledger.write { try $0.addWish(for: name, of: user, at: Self.now) }
        }
        let merged = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(9)) }
        #expect(merged.effect == .merged)
        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(10)) }
        try await importCustomer(as: mint)
    }

    /// Imports a customer with an expected purchase, which a log-in moves and a proof confirms.
    private func importCustomer(as mint: User) async throws {
        let other = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "2", count: 32))).user
        let purchase = ExpectedPurchase(
            app: "com.example.app", origin: .localSandbox, originalTransactionIdentifier: "8", productIdentifier: "p",
            purchaseDate: Self.now, expiresAt: nil)
        _ = try await ledger.write { try $0.add(imported: other, purchases: [purchase], by: "K", at: Self.now) }
        let merged = try await ledger.write { try $0.logIn(other, as: mint, by: .user, at: Self.later(11)) }
        #expect(merged.effect == .merged)
        #expect(try await ledger.read { try $0.expectedPurchases(of: mint) } == [purchase])
        #expect(try await redeem(claim("8"), for: mint) == [.granted])
    }

    private func read() async throws {
        _ = try await service.items(of: alice)
        _ = try await service.ownItems(of: alice)
        _ = try await service.rights(of: alice)
        _ = try await service.subscriptions(of: alice)
        _ = try await service.history(of: alice)
        // An answer is kept from the second on, and the next read compares it with the ledger.
        let kept = UserAnswers<AttributedAnswer<Bool>>(upTo: 1 << 20) { _ in 1 }
        for _ in 0..<3 where try await service.answer(about: alice, keptIn: kept) == nil {
            let (known, moment) = try await service.attributedHistory(of: alice)
            guard let known else { continue }
            service.keep(true, madeFrom: known, at: moment, changingAt: nil, about: alice, in: kept)
        }
        _ = try await service.balances(of: alice)
        _ = try await service.grants(of: alice, before: nil, limit: 9)
        _ = try await service.transactions(of: alice, identifiedBy: ["1", "2"])
        for store in PurchaseStore.allCases {
            _ = try await service.transactions(of: alice, from: store, before: nil, limit: 1)
        }
        for identifier in ["1", "GPA.1"] { _ = try await service.purchases(ofTransaction: identifier) }
        _ = try await service.story(of: alice, before: nil, limit: 9)
        for transaction in try await service.transactions(of: alice, before: nil, limit: 9) {
            _ = try await service.refundStory(of: transaction, for: alice)
        }
        _ = try await service.identifier(searchedBy: "GPA.3345-1234-5678-90123")
        _ = try await service.explanation(of: Self.sprout1, for: alice)
        let token = try await service.appAccountToken(of: alice)
        // Each search reads the newest names again, also those that a rebuild has read.
        for text in ["LIC", "alice", token.uuidString] {
            #expect(try await !service.names.users(named: text, limit: 9).users.isEmpty)
        }
        try await service.names.keepUp(isRebuild: false)
        try await ledger.read { [alice, service] transaction in
            for selection in CustomerSelection.allCases {
                let query = CustomerQuery(selection, in: .sandbox, currency: "USD", product: "p", at: Self.now)
                let found = try transaction.customers(query, after: nil, limit: 9)
                _ = try transaction.listed(found.customers, in: .sandbox)
                _ = try transaction.count(of: query)
            }
            _ = try transaction.spentCurrencies(in: .sandbox)
            _ = try transaction.newestUnclaimed(
                ofProduct: "p", in: nil, statedOn: CalendarDay(Self.now), before: nil, limit: 9)
            _ = try transaction.webhookDeliveries(to: "a", about: alice, before: nil, limit: 9)
            _ = try transaction.expectedCustomers(after: "", of: [.localSandbox], limit: 9)
            _ = try transaction.recordedNotification("n1", from: .localSandbox, of: alice)
            _ = try transaction.recordedTransactions("1", of: alice)
            _ = try transaction.notifications(before: nil, limit: 9)
            _ = try transaction.openConsumptionRequests(at: Self.now, of: [.localSandbox], limit: 9)
            _ = try transaction.latestConsumptionRequests(in: "com.example.app", limit: 9)
            for bought in ["2", "3", "unknown"] {
                let question = OpenConsumptionRequest(
                    app: "com.example.app", origin: .localSandbox, notificationUUID: "q",
                    transactionIdentifier: bought, isRedeemed: true, isSubscription: false, reason: nil,
                    signedAt: Self.now)
                _ = try transaction.refundFacts(about: question, in: service.apps.first.catalog)
                _ = try transaction.retentionOwnership(ofTransaction: bought, in: "com.example.app", at: Self.now)
            }
            _ = try transaction.latestActivity(from: [.localSandbox], limit: 9)
            _ = try transaction.refusalGroups(since: Self.now, latest: 9)
            let comparison = ProductComparison(
                of: service.apps.first.catalog, soldBy: [.localSandbox], in: 0, until: Self.now)
            _ = try transaction.comparedProducts(by: comparison, after: nil, limit: 99)
        }
    }

    private func runFeatures() async throws {
        let webhooks = try ledger.webhooks(of: service.apps, clock: clock)
        let due = try await webhooks.due(for: try await webhooks.endpoint("a"), limit: 9) ?? []
        #expect(!due.isEmpty)
        _ = try await webhooks.lease(due)
        _ = try await webhooks.dueEndpoints()
        try await forward()
        let accounts = AccountService(ledger: ledger, clock: clock, randomness: .system, cost: .minimal)
        let entrance = try await accounts.open(try EmailAddress("mint@example.com"), passwordHash: "h")
        _ = try await accounts.user(presenting: entrance.tokens.access.text)
        _ = try await accounts.renew(entrance.tokens.refresh.text)
        let figures = ledger.figures(clock: clock)
        try await figures.rollUp()
        _ = try await figures.answer(try FigureQuery(.retention, from: figures.today, to: figures.today))
        _ = try await ledger.write { try $0.erase(entrance.account.user, by: .user, at: clock.now()) }
    }

    private func askGooglePlay() async throws {
        let purchases = GooglePurchaseService(
            entitlements: service, app: service.apps.first, packageName: "com.example.app",
            origins: [.localPlayProduction])
        let answer = """
            {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"\(Self.now.rfc3339)",
            "linkedPurchaseToken":"old","lineItems":[{"productId":"p","expiryTime":"\(Self.later(9_000_000).rfc3339)",
            "latestSuccessfulOrderId":"GPA.1"}]}
            """
        let statement = try GooglePlayAnswer(subscription: Array(answer.utf8), about: "t", of: "com.example.app")
            .statement(.init(realm: .localPlay, askedAt: clock.now(), named: try await purchases.tokenNames))
        let purchase = try await purchases.record(statement, continuing: "old", number: nil)
        #expect(try await purchases.numberOfQuestion(about: purchase) == 2)
        #expect(try await purchases.apply(statement, recordedAs: purchase) == [.parked])
        #expect(try await purchases.redeemedPurchases(ofToken: "t") == nil)
        let voided = #"{"voidedPurchases":[{"purchaseToken":"t","orderId":"GPA.2","voidedTimeMillis":"1"}]}"#
        for purchase in try VoidedGooglePlayPurchases(Array(voided.utf8)).purchases {
            #expect(try await purchases.apply(purchase).isEmpty)
        }
        _ = try await purchases.purchasesToAsk(limit: 9)
        #expect(try await purchases.purchasesToAcknowledge(limit: 9).due.isEmpty)
        _ = try await purchases.beginAcknowledgement(of: purchase)
        _ = try await purchases.refuse(purchase)
        try await purchases.endOverdueAcknowledgement(of: purchase)
        _ = try await service.mendTimes(to: clock.now())
        try await reportExternalTransactions(purchases)
        try await reportExternalPurchases()
        try await answerRefundReviews(purchases)
        try await askAboutStoreActions(purchases)
    }

    private func rescindConsent() async throws {
        let notification = NotificationRecord(
            app: "com.example.app", origin: .localSandbox, notificationUUID: "c", type: "RESCIND_CONSENT", subtype: nil,
            signedAt: Self.now, proofDigest: [UInt8](repeating: 9, count: 32),
            content: #"{"appData":{"appTransactionId":"1"}}"#)
        _ = try await service.store(notification)
        let purchases = Set(
            ["1", "unknown"].map { TransactionKey(app: "com.example.app", origin: .localSandbox, identifier: $0) })
        let moment = clock.now()
        let consents = try await ledger.read {
            try $0.rescindedConsents(of: [.localSandbox], in: "com.example.app", at: moment, limit: 9)
        }
        #expect(consents.map(\.appTransactionIdentifier) == ["1"])
        let view = Viewpoint(accepting: AcceptedOrigins(), at: moment)
        for consent in consents {
            _ = try await ledger.write { try $0.apply(consent, to: purchases, by: .block, from: view) }
        }
        let told = try await ledger.read { try $0.audit(of: alice, after: 0, limit: 99) }.map(\.entry.event)
        #expect(told.contains(.consentRescinded))
    }

    private func askAboutStoreActions(_ purchases: GooglePurchaseService) async throws {
        let actions = StoreActionService(service)
        for lane in actions.lanes { #expect(try await actions.due(in: lane, limit: 9).due.isEmpty) }
        #expect(try await actions.actions(in: .waiting, about: "1", limit: 9).isEmpty)
        // An order, which is looked for among the redeemed purchases and those that nobody has redeemed.
        let refund = StoreActionRequest(
            "a", .refund, of: "GPA.unknown", origin: nil, app: nil, reason: "Bought twice", [:])
        await #expect(throws: GrantError.transactionNotFound) { try await actions.request(refund, by: "K") }
        #expect(try await purchases.place(ofPurchase: "unknown") == nil)
    }

    private func answerRefundReviews(_ purchases: GooglePurchaseService) async throws {
        try await purchases.record(
            reviewOf: "GPA.1", "secret", notifiedAs: "m", from: .localPlayProduction, at: clock.now())
        for review in try await purchases.refundReviewsToAnswer(limit: 9).due {
            #expect(try await purchases.beginAnswer(to: review))
            let evidence = try await purchases.evidence(about: review)
            try await purchases.settle(
                review, by: evidence, RefundAnswer(.decline, to: evidence.facts), isDryRun: false, refusedAs: nil)
        }
        _ = try await ledger.read { try $0.latestRefundReviews(limit: 9) }
        let duties = StoreDuties(uniqueKeysWithValues: StoreDuty.Kind.allCases.map { ($0, [.localPlayProduction]) })
        _ = try await service.openDuties(duties)
    }

    private func reportExternalTransactions(_ purchases: GooglePurchaseService) async throws {
        let now = clock.now()
        for part in [.sale, .partialRefund(identifier: "r")] as [ExternalTransactionReport.Part] {
            let key = purchases.key(ofExternalTransaction: "sale-1", part, in: .localPlay)
            let report = ExternalTransactionReport(
                key, of: "com.example.app", [:], occurredAt: now, reportedAt: now, by: "K")
            _ = try await service.record(report)
        }
        for report in try await purchases.externalTransactionsToPassOn(in: .localPlay, limit: 9).due {
            #expect(try await purchases.beginAttempt(of: report))
            try await purchases.failed(report, "e", isFinal: false)
            try await purchases.passedOn(report)
            _ = try await purchases.preTaxMicros(after: report)
        }
        _ = try await service.externalTransaction("sale-1", of: "com.example.app", in: .localPlay, limit: 9)
        let listed = try await service.externalTransactions(of: nil, in: nil, after: nil, limit: 1)
        let position = listed.first?.position
        _ = try await service.externalTransactions(of: "com.example.app", in: .refused, after: position, limit: 9)
    }

    private func reportExternalPurchases() async throws {
        let (app, now) = ("com.example.app", clock.now())
        func token(_ name: String) -> ExternalPurchase.Token {
            ExternalPurchase.Token(identifier: "SANDBOX_\(name)", type: nil, createdAt: now, expiresAt: nil)
        }
        for _ in 0..<2 { _ = try await service.announce(token("1"), of: app) }
        let own = ExternalPurchase.Token(
            identifier: "SANDBOX_2", type: nil, createdAt: now.adding(days: -20), expiresAt: nil)
        _ = try await service.announce(own, of: app)
        _ = try await service.report(.noLineItem, [], about: "SANDBOX_1", as: "r", of: app, by: "K") { _ in }
        try await service.reportUnreportedExternalPurchases(of: app, at: [.localSandbox])
        let due = try await service.externalPurchaseReportsToSend(of: app, at: [.localSandbox], limit: 9)
        #expect(due.count == 2)
        for report in due {
            #expect(try await service.beginAttempt(of: report))
            try await service.failed(report, .init("e"), isFinal: false)
            try await service.failed(report, .init("e"), isFinal: true)
            try await service.recordAcceptance(of: report)
        }
        let purchase = try await service.externalPurchases(of: nil, in: nil, after: nil, limit: 1).first?.position
        _ = try await service.externalPurchases(of: app, in: .waiting, after: purchase, limit: 9)
        _ = try await service.externalPurchase("SANDBOX_1", of: app, limit: 9)
        let report = try await service.externalPurchaseReports(of: nil, in: nil, after: nil, limit: 1).first?.position
        _ = try await service.externalPurchaseReports(of: app, in: .refused, after: report, limit: 9)
    }

    private func forward() async throws {
        let target = ForwardingTarget(try WebhookURL("https://b.example/apple", allowsPlain: false))
        let forwarding = NotificationForwarding(to: [target], from: ledger, clock: clock)
        let notification = NotificationRecord(
            app: "com.example.app", origin: .localSandbox, notificationUUID: "f", type: "TEST", subtype: nil,
            signedAt: Self.now, proofDigest: [UInt8](repeating: 8, count: 32))
        try await forwarding.enqueue(notification, body: [1])
        _ = try await forwarding.dueEndpoints()
        let leased = try await forwarding.lease(try await forwarding.due(for: target, limit: 9) ?? [])
        try await forwarding.record(leased.map { forwarding.result(of: $0, .unanswered(code: "timedOut")) })
        _ = try await forwarding.waiting()
        _ = try await forwarding.deleteExpired()
    }
}
