import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Answers of an App Store that would keep the service asking for ever, over a socket.
@Suite struct EndlessHistoryTests {
    let garden: TestGarden
    let service: EntitlementService
    /// The requests for the history of notifications, and for that of transactions.
    private let asked = Asked()

    init() throws {
        garden = try TestGarden()
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
    }

    /// A request for a page of notifications.
    struct Period: Hashable, Decodable, Sendable {
        let startDate: Int64
        let endDate: Int64

        var minutes: Int64 { (endDate - startDate) / 60_000 }
    }

    private final class Asked: Sendable {
        let periods = Mutex<[Period]>([])
        let histories = Atomic(0)
    }

    private func reconciler(_ client: AppStoreServerClient) -> Reconciler {
        service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
    }

    private func reached(_ client: AppStoreServerClient) async throws -> Timestamp? {
        try await reconciler(client).checkpoint(of: .notifications)?.until
    }

    /// A server of notifications.
    ///
    /// - Parameter next: Returns the token of the page after one with a token, for a period; nil for the last page.
    private func notifications(
        _ next: @escaping @Sendable (Period, String?) -> String?
    ) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("/inApps/v1/notifications/history") { [asked] request, _ in
            let body = try await request.body.collect(upTo: 1 << 16)
            let period = try JSONDecoder().decode(Period.self, from: Data(body.readableBytesView))
            asked.periods.withLock { $0.append(period) }
            let token = next(period, request.uri.queryParameters["paginationToken"].map(String.init))
            let more = token.map { #""hasMore":true,"paginationToken":"\#($0)""# } ?? #""hasMore":false"#
            return #"{\#(more),"notificationHistory":[]}"#
        }
        return router
    }

    @Sendable private static func following(_ token: String?) -> String {
        "page\((token.flatMap { Int($0.dropFirst(4)) } ?? 0) + 1)"
    }

    @Test func `notifications without an end are asked for in ever shorter periods, and nothing is reached`()
        async throws
    {
        try await garden.withServer(notifications { Self.following($1) }) { client in
            await #expect(throws: ReconciliationError.answerInvalid) {
                try await reconciler(client).recordNotifications(days: 1)
            }
            let periods = asked.periods.withLock(\.self)
            #expect(periods.count % 200 == 0 && periods.count <= 200 * 12)
            #expect(periods.last?.minutes == 1)
            #expect(Set(periods.map(\.startDate)).count == 1)
            let until = try await reached(client)
            #expect(until == nil)
        }
    }

    @Test func `a page of notifications that leads back to an earlier one is an error, and so is a missing token`()
        async throws
    {
        for next in ["page1", "page2"] {
            let router = notifications { $1 == "page1" ? next : "page1" }
            try await garden.withServer(router) { client in
                await #expect(throws: ReconciliationError.answerInvalid) {
                    try await reconciler(client).recordNotifications()
                }
                let until = try await reached(client)
                #expect(until == nil)
            }
        }
        #expect(asked.periods.withLock(\.count) == 2 + 3)
        let router = Router()
        router.post("/inApps/v1/notifications/history") { _, _ in #"{"hasMore":true,"notificationHistory":[]}"# }
        try await garden.withServer(router) { client in
            await #expect(throws: ReconciliationError.answerInvalid) {
                try await reconciler(client).recordNotifications()
            }
            let until = try await reached(client)
            #expect(until == nil)
        }
    }

    @Test func `more notifications than a list may have are read in parts, each of which is reached`() async throws {
        let isBroken = Atomic(false)
        // The first ten days have too many, and the last ones are few.
        let start = garden.store.now.adding(days: -30)
        let crowded = start.adding(days: 10).millisecondsSince1970
        let router = notifications { period, token in
            if isBroken.load(ordering: .relaxed), period.startDate > crowded { return "page1" }
            return period.startDate < crowded && period.minutes > 5 * 1440 ? Self.following(token) : nil
        }
        try await garden.withServer(router) { client in
            isBroken.store(true, ordering: .relaxed)
            await #expect(throws: ReconciliationError.answerInvalid) {
                try await reconciler(client).recordNotifications()
            }
            let until = try #require(try await reached(client))
            #expect(until.millisecondsSince1970 > start.adding(days: 3).millisecondsSince1970)
            #expect(until < garden.store.now)
            // No moment lies between two parts.
            let parts = asked.periods.withLock(\.self)
            let ends = Set(parts.map(\.endDate))
            #expect(Set(parts.map(\.startDate)).subtracting(ends).count == 1)
            // The next run continues an hour before.
            asked.periods.withLock { $0 = [] }
            isBroken.store(false, ordering: .relaxed)
            let report = try await reconciler(client).recordNotifications()
            #expect(!report.hasMore)
            #expect(asked.periods.withLock(\.first)?.startDate == until.adding(seconds: -3600).millisecondsSince1970)
            #expect(try await reached(client) == garden.store.now)
        }
    }

    @Test(arguments: [true, false])
    func `a history of a customer without an end holds up no other, and is not complete`(
        _ isRepeated: Bool
    ) async throws {
        var transactions: [String] = []
        for (product, name) in [("garden.gate", "alice"), ("garden.season", "bob")] {
            let bought = try garden.buy(product, account: name)
            let proof = Array(try garden.store.signedTransaction(bought.identifier).utf8)
            _ = try await service.redeem(proof, for: try #require(User(name: name)))
            transactions.append(try #require(bought.purchase?.transactionIdentifier))
        }
        let endless = try #require(transactions.first)
        let router = Router()
        router.get("/inApps/v2/history/:id") { [asked] request, context in
            guard try context.parameters.require("id") == endless else {
                return #"{"hasMore":false,"signedTransactions":[]}"#
            }
            asked.histories.add(1, ordering: .relaxed)
            let revision = request.uri.queryParameters["revision"].map(String.init)
            let next = isRepeated ? "page1" : Self.following(revision)
            return #"{"hasMore":true,"revision":"\#(next)","signedTransactions":[]}"#
        }
        try await garden.withServer(router) { client in
            let report = try await reconciler(client).recordHistories()
            #expect(report.outcomes == ["appStoreAnswerInvalid": 1])
            #expect(asked.histories.load(ordering: .relaxed) == (isRepeated ? 2 : 1000))
            let subject = "histories of \(client.url.absoluteString)"
            #expect(try await service.ledger.read { try $0.checkpoint(ofReconciliation: subject) } == nil)
        }
    }
}
