import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The requests of a running service to the App Store, and its answers, over a socket.
@Suite struct ReconciliationTests {
    let garden: TestGarden
    let service: EntitlementService
    let metrics = ServiceMetrics()
    let alice: User
    private static let origins: Set<Origin> = [.localSandbox]

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
        alice = try #require(User(name: "alice"))
    }

    private func reconciler(_ client: AppStoreServerClient) -> Reconciler {
        service.reconciler(of: service.apps.first, asking: client, about: Self.origins)
    }

    /// Runs a companion of the service until `body` is done.
    private func running(_ companion: some ServiceLifecycle.Service, _ body: () async throws -> Void) async throws {
        let task = Task { try await companion.run() }
        defer { task.cancel() }
        try await body()
        task.cancel()
        // Cancellation ends it.
        _ = await task.result
    }

    private func schedule(
        _ client: AppStoreServerClient,
        notifications: Int64?,
        histories: Int64?,
        runs: ReconciliationRuns = ReconciliationRuns()
    ) -> ReconciliationSchedule {
        reconciler(client).schedule(
            notificationSeconds: notifications, historySeconds: histories, runs: runs, metrics: metrics,
            logger: Logger(label: "tests"))
    }

    private func responder(_ client: AppStoreServerClient) -> DurableWork {
        reconciler(client).consumptionResponder(
            answering: (refundPreference: .grantProrated, sampleContentProvided: true), metrics: metrics,
            logger: Logger(label: "tests"))
    }

    private struct Sale {
        let transactionIdentifier: String
        let proof: [UInt8]
    }

    private func buy(_ product: String, token: UUID? = nil, account: String = "alice") throws -> Sale {
        let bought = try garden.buy(product, appAccountToken: token, account: account)
        return Sale(
            transactionIdentifier: try #require(bought.purchase?.transactionIdentifier),
            proof: Array(try garden.store.signedTransaction(bought.identifier).utf8))
    }

    private func redeem(_ sale: Sale, for user: String = "alice") async throws {
        _ = try await service.redeem(sale.proof, for: try #require(User(name: user)))
    }

    private func owns(_ collection: String) async throws -> Bool {
        try await service.items(of: alice).contains { $0.item.collection == collection && $0.item.number > 0 }
    }

    private func openRequests(of origins: Set<Origin>, limit: Int) async throws -> [OpenConsumptionRequest] {
        try await service.ledger.read {
            try $0.openConsumptionRequests(at: service.clock.now(), of: origins, limit: limit)
        }
    }

    /// Sends the last notification to the service, like Apple.
    private func receiveLast() async throws {
        let last = try #require(try garden.store.notifications().last)
        _ = try await service.receive(notification: Array(last.signedPayload.utf8))
    }

    @Test func `missed notifications are applied at each run`() async throws {
        let token = try await service.appAccountToken(of: alice)
        _ = try buy("garden.gate", token: token)
        try await garden.withStore { client in
            try await running(schedule(client, notifications: 1, histories: nil)) {
                try await expectEventually { try await owns("gate") }
                _ = try buy("garden.basic.monthly", token: token)
                try await expectEventually { try await owns("plus") }
            }
        }
    }

    @Test func `histories bring refunds`() async throws {
        let gate = try buy("garden.gate")
        try await redeem(gate)
        try garden.store.refund(gate.transactionIdentifier)
        #expect(try await owns("gate"))
        try await garden.withStore { client in
            try await running(schedule(client, notifications: nil, histories: 3600)) {
                try await expectEventually { try await !owns("gate") }
            }
        }
    }

    @Test func `histories confirm the purchases that an import expects`() async throws {
        let gate = try buy("garden.gate")
        let mint = try #require(CustomerIdentifier("mint")).user
        let purchases = [gate.transactionIdentifier, "0"].map {
            ExpectedPurchase(
                app: TestGarden.bundleIdentifier, origin: .localSandbox, originalTransactionIdentifier: $0,
                productIdentifier: "garden.gate", purchaseDate: garden.store.now,
                expiresAt: $0 == "0" ? garden.store.now : nil)
        }
        let moment = garden.store.now
        _ = try await service.ledger.write {
            try $0.add(imported: mint, purchases: purchases, by: "process", at: moment)
        }
        #expect(try await service.items(of: mint).allSatisfy { $0.item.collection != "gate" })
        let item = Item(collection: "gate", number: 1)
        let explained = try await service.explanation(of: item, for: mint)
        #expect(explained.cause == .expected && explained.products == ["garden.gate"])
        #expect(explained.since == purchases.first?.purchaseDate)
        #expect(explained.reference == gate.transactionIdentifier)
        #expect(try await service.explanation(of: item, for: alice).cause == .neverBought)
        #expect(
            try await service.explanation(of: Item(collection: "plus", number: 1), for: mint).cause == .neverBought)
        try await garden.withStore { client in
            let report = try await reconciler(client).recordHistories()
            // The store does not know the other transaction. It stays expected.
            #expect(report.outcomes == ["granted": 1, "appStoreRefused": 1])
        }
        #expect(try await service.items(of: mint).contains { $0.item.collection == "gate" })
        #expect(try await service.explanation(of: item, for: mint).cause == .owned)
        let expected = try await service.ledger.read { try $0.expectedCustomers(after: "", of: Self.origins, limit: 9) }
        #expect(expected.map(\.transactionIdentifier) == ["0"])
    }

    @Test func `a requested run starts at once, and overlaps with no other`() async throws {
        let token = try await service.appAccountToken(of: alice)
        let runs = ReconciliationRuns()
        let isSlow = Atomic(false)
        let running = Atomic(0)
        let most = Atomic(0)
        let router = Router()
        router.post("/inApps/v1/notifications/history") { _, _ in
            most.max(running.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .sequentiallyConsistent)
            while isSlow.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
            running.subtract(1, ordering: .sequentiallyConsistent)
            return #"{"hasMore":false,"notificationHistory":[]}"#
        }
        try await garden.withServer(router) { client in
            try await self.running(schedule(client, notifications: nil, histories: nil, runs: runs)) {
                isSlow.store(true, ordering: .sequentiallyConsistent)
                #expect(runs.request(.notifications))
                await expectEventually { running.load(ordering: .sequentiallyConsistent) == 1 }
                #expect(!runs.request(.notifications))
                #expect(runs.state(of: .notifications).runningSince == garden.store.now)
                isSlow.store(false, ordering: .sequentiallyConsistent)
                await expectEventually { runs.state(of: .notifications).last?.findings == [:] }
                #expect(runs.state(of: .histories).last == nil && !runs.state(of: .histories).isRequested)
            }
            #expect(most.load(ordering: .sequentiallyConsistent) == 1)
        }
        // The findings stay in the ledger. A failure keeps them.
        _ = try buy("garden.gate", token: token)
        try await garden.withStore { client in
            try await self.running(schedule(client, notifications: nil, histories: nil, runs: runs)) {
                #expect(runs.request(.notifications))
                await expectEventually { runs.state(of: .notifications).last?.findings == ["granted": 1] }
                let checkpoint = try await reconciler(client).checkpoint(of: .notifications)
                #expect(checkpoint?.findings == ["granted": 1] && checkpoint?.until == garden.store.now)
            }
        }
        let failing = Router()
        failing.post("/inApps/v1/notifications/history") { _, _ in HTTPResponse.Status.unauthorized }
        try await garden.withServer(failing) { client in
            try await self.running(schedule(client, notifications: nil, histories: nil, runs: runs)) {
                #expect(runs.request(.notifications))
                await expectEventually { runs.state(of: .notifications).last?.errorCode == "appStoreRefused" }
                #expect(runs.state(of: .notifications).runningSince == nil)
            }
        }
    }

    /// A server without customers that counts the requests.
    @Test func `a restart does not request the histories again`() async throws {
        try await redeem(try buy("garden.gate"))
        let notifications = Atomic(0)
        let histories = Atomic(0)
        let router = Router()
        router.post("/inApps/v1/notifications/history") { _, _ in
            notifications.add(1, ordering: .relaxed)
            return #"{"hasMore":false,"notificationHistory":[]}"#
        }
        router.get("/inApps/v2/history/:id") { _, _ in
            histories.add(1, ordering: .relaxed)
            return #"{"hasMore":false,"signedTransactions":[]}"#
        }
        try await garden.withServer(router) { client in
            try await running(schedule(client, notifications: nil, histories: 3600)) {
                await expectEventually { histories.load(ordering: .relaxed) == 1 }
                let subject = "histories of \(client.url.absoluteString)"
                try await expectEventually {
                    try await service.ledger.read { try $0.checkpoint(ofReconciliation: subject) }?.until != nil
                }
            }
            try await running(schedule(client, notifications: 1, histories: 3600)) {
                await expectEventually { notifications.load(ordering: .relaxed) == 2 }
            }
            #expect(histories.load(ordering: .relaxed) == 1)
            _ = try garden.store.advance(seconds: 3600)
            try await running(schedule(client, notifications: nil, histories: 3600)) {
                await expectEventually { histories.load(ordering: .relaxed) == 2 }
            }
        }
    }

    @Test func `a customer that the store does not know does not block the others`() async throws {
        let (gate, season) = (try buy("garden.gate"), try buy("garden.season", account: "bob"))
        try await redeem(gate)
        try await redeem(season, for: "bob")
        try garden.store.delete(gate.transactionIdentifier)
        try garden.store.refund(season.transactionIdentifier)
        try await garden.withStore { client in
            let report = try await reconciler(client).recordHistories()
            #expect(report.outcomes == ["appStoreRefused": 1, "revoked": 1])
        }
    }

    @Test func `histories bring the renewal state of subscriptions`() async throws {
        let basic = try buy("garden.basic.monthly")
        try await redeem(basic)
        #expect(try await service.subscriptions(of: alice).map(\.renews) == [nil])
        try garden.store.setAutoRenew(false, of: basic.transactionIdentifier)
        try await garden.withStore { client in
            let report = try await reconciler(client).recordHistories()
            #expect(report.outcomes == ["recorded": 2])
        }
        #expect(try await service.subscriptions(of: alice).map(\.renews) == [false])
    }

    @Test func `renewal information applies only to its own purchase`() async throws {
        let (basic, other) = (try buy("garden.basic.monthly"), try buy("garden.premium.monthly", account: "bob"))
        try await redeem(basic)
        let statuses = try garden.store.readOrThrow {
            try $0.allSubscriptionStatuses(other.transactionIdentifier, statuses: [])
        }
        let renewalInfo = try #require(statuses.data.first?.lastTransactions.first).signedRenewalInfo
        await #expect(throws: RedemptionError.notRedeemable) {
            try await service.receive(statement: basic.proof, renewalInfo: Array(renewalInfo.utf8))
        }
        await #expect(throws: RedemptionError.notRedeemable) {
            try await service.receive(statement: basic.proof, renewalInfo: basic.proof)
        }
        #expect(try await service.subscriptions(of: alice).map(\.renews) == [nil])
    }

    /// The answer to a consumption request, in Apple's words.
    private struct Consumption: Decodable {
        let deliveryStatus: String
        let refundPreference: String?
        let customerConsented: Bool
        let sampleContentProvided: Bool
    }

    /// Apple accepts `GRANT_PRORATED` without a percentage only for subscriptions.
    @Test(
        arguments: [
            ("garden.basic.monthly", true, "DELIVERED", "GRANT_PRORATED"), ("garden.seeds", true, "DELIVERED", nil),
            ("garden.gate", false, "UNDELIVERED_OTHER", nil),
        ] as [(String, Bool, String, String?)])
    func `the operator's answer is sent once`(
        product: String,
        isRedeemed: Bool,
        status: String,
        preference: String?
    ) async throws {
        let sale = try buy(product)
        if isRedeemed { try await redeem(sale) }
        try garden.store.requestRefund(of: sale.transactionIdentifier)
        try await receiveLast()
        try await garden.withStore { client in
            try await running(responder(client)) {
                try await expectEventually {
                    try await openRequests(of: Self.origins, limit: 1) == []
                }
            }
        }
        let said = try #require(try garden.store.read { try $0.consumption(of: sale.transactionIdentifier) })
        let answer = try JSONDecoder().decode(Consumption.self, from: Data(said.utf8))
        #expect(answer.deliveryStatus == status)
        #expect(answer.refundPreference == preference)
        #expect(answer.customerConsented)
        #expect(answer.sampleContentProvided)
    }

    /// A server that at first cannot accept the answer about one purchase.
    @Test func `a failed answer does not block others, and each is accepted once`() async throws {
        var sales: [Sale] = []
        for _ in 0..<2 {
            sales.append(try buy("garden.seeds"))
            try garden.store.requestRefund(of: try #require(sales.last).transactionIdentifier)
            try await receiveLast()
            garden.clock.advance(milliseconds: 1000)
        }
        let first = sales[0].transactionIdentifier
        let asked = Mutex<[String]>([])
        let router = Router()
        router.put("/inApps/v2/transactions/consumption/:id") { _, context in
            let id = try context.parameters.require("id")
            let count = asked.withLock { asked in
                asked.append(id)
                return asked.count { $0 == id }
            }
            return id == first && count == 1 ? HTTPResponse.Status.internalServerError : .accepted
        }
        try await garden.withServer(router) { client in
            try await running(responder(client)) {
                try await expectEventually {
                    try await openRequests(of: Self.origins, limit: 9).map(\.transactionIdentifier)
                        == [
                            first
                        ]
                }
            }
            try await running(responder(client)) {
                try await expectEventually {
                    try await openRequests(of: Self.origins, limit: 9) == []
                }
            }
        }
        #expect(asked.withLock(\.self) == [first, sales[1].transactionIdentifier, first])
    }

    @Test func `notifications are fetched after the store's time was moved`() async throws {
        let token = try await service.appAccountToken(of: alice)
        _ = try garden.store.advance(seconds: 40 * 86_400)
        _ = try buy("garden.gate", token: token)
        try await garden.withStore { client in
            #expect(try await reconciler(client).recordNotifications().outcomes == ["granted": 1])
            _ = try garden.store.advance(seconds: 40 * 86_400)
            // The checkpoint advances, although a part of the time since it is too long ago.
            _ = try await reconciler(client).recordNotifications()
            let subject = "notifications of \(client.url.absoluteString)"
            #expect(
                try await service.ledger.read { try $0.checkpoint(ofReconciliation: subject) }?.until
                    == garden.store.now)
        }
    }

    @Test func `a question whose answer is refused for good is settled`() async throws {
        let seeds = try buy("garden.seeds")
        try garden.store.requestRefund(of: seeds.transactionIdentifier)
        try await receiveLast()
        try garden.store.delete(seeds.transactionIdentifier)
        #expect(try await openRequests(of: Self.origins, limit: 9).count == 1)
        #expect(try await openRequests(of: [.appleProduction], limit: 9) == [])
        try await garden.withStore { client in
            try await running(responder(client)) {
                try await expectEventually {
                    try await openRequests(of: Self.origins, limit: 1) == []
                }
            }
        }
    }

    @Test func `a question is open for twelve hours`() async throws {
        let seeds = try buy("garden.seeds")
        try garden.store.requestRefund(of: seeds.transactionIdentifier)
        try await receiveLast()
        _ = try garden.store.advance(seconds: 12 * 60 * 60)
        #expect(try await openRequests(of: Self.origins, limit: 9).count == 1)
        _ = try garden.store.advance(seconds: 1)
        #expect(try await openRequests(of: Self.origins, limit: 9) == [])
    }

    /// A server that refuses once because of too many requests, with a retry time that has passed.
    @Test func `a rate-limited client waits and retries`() async throws {
        try await redeem(try buy("garden.gate"))
        let asked = Atomic(0)
        let router = Router()
        router.get("/inApps/v2/history/:id") { _, _ in
            guard asked.add(1, ordering: .relaxed).oldValue > 0 else {
                return Response(
                    status: .tooManyRequests, headers: [.retryAfter: "0"],
                    body: .init(byteBuffer: ByteBuffer(string: #"{"errorCode":4290000,"errorMessage":"x"}"#)))
            }
            return Response(
                status: .ok,
                body: .init(byteBuffer: ByteBuffer(string: #"{"hasMore":false,"signedTransactions":[]}"#)))
        }
        try await garden.withServer(router) { client in
            let report = try await reconciler(client).recordHistories()
            #expect(report.outcomes == [:])
        }
        #expect(asked.load(ordering: .relaxed) == 2)
    }
}
