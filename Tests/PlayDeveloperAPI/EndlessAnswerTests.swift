import Entitlements
import Foundation
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Answers of a Play Developer API that would keep the service asking for ever.
@Suite struct EndlessAnswerTests {
    private let garden: PlayGarden
    private var server: PlayServer { garden.server }

    init() async throws {
        garden = try await PlayGarden()
    }

    /// Answers about the tokens of subscriptions, each of which replaces another.
    ///
    /// - Parameter linked: Returns the token that one replaces; nil for none.
    private func answer(linked: @escaping @Sendable (String) -> String?) {
        let now = server.clock.now()
        server.answer { request in
            guard let token = request.uri.path.split(separator: "/").last.map(String.init),
                request.uri.path.contains("subscriptionsv2/tokens/")
            else { return nil }
            return PlayGarden.subscription(order: "GPA.\(token)", linked: linked(token), at: now)
        }
    }

    private static let circle = PlayDeveloperError.answerInvalid(reason: "Its linked purchase tokens form a circle.")

    @Test(arguments: [1, 2, 3, 20])
    func `purchases that replace each other in a circle are refused, and nothing is recorded`(
        _ count: Int
    ) async throws {
        answer { token in "link\((Int(token.dropFirst(4)) ?? 0) % count + 1)" }
        #expect(try await garden.present("link1") == Self.circle)
        // Each token once.
        #expect(garden.questions == count)
        #expect(try await garden.present("link1") == Self.circle)
        #expect(garden.questions == count)
        await #expect(throws: Self.circle) { try await garden.app.refresh("link1") }
        #expect(garden.questions <= 2 * count)
        #expect(try await garden.app.purchases.purchase(of: "link1") == nil)
        #expect(try await garden.items().isEmpty)
        #expect(garden.messages.count == 1)
    }

    @Test func `a circle that a later answer closes takes nothing from its owner`() async throws {
        answer { $0 == "new" ? "old" : nil }
        #expect(try await garden.present("old") == nil)
        garden.advance(milliseconds: 60_000)
        #expect(try await garden.present("new") == nil)
        let items = try await garden.items()
        #expect(items == ["plus 1"])
        answer { $0 == "new" ? "old" : "new" }
        garden.advance(milliseconds: 60_000)
        let asked = garden.questions
        await #expect(throws: Self.circle) { try await garden.app.refresh("old") }
        #expect(garden.questions == asked + 1)
        _ = try await garden.app.refresh("new")
        #expect(garden.questions <= asked + 3)
        #expect(try await garden.items() == items)
        #expect(try await garden.app.purchases.purchase(of: "new")?.successorToken == nil)
        // The schedule asks about both, each once in a run.
        let before = garden.questions
        _ = try await garden.app.reconciler.recordSilentPurchases()
        #expect(garden.questions <= before + 4)
    }

    @Test func `of a chain of ten thousand purchases, the last twenty are asked about`() async throws {
        answer { token in
            let number = Int(token.dropFirst(4)) ?? 0
            return number < 10_000 ? "link\(number + 1)" : nil
        }
        #expect(try await garden.present("link1") == nil)
        #expect(garden.questions == 21)
        #expect(try await garden.app.purchases.purchase(of: "link1")?.originalToken == "link22")
        #expect(try await garden.app.purchases.purchase(of: "link22") == nil)
        #expect(try await garden.items() == ["plus 1"])
        #expect(garden.messages.count == 1)
        // Another user has no part in it.
        let bob = try #require(User(name: "bob"))
        try await garden.app.redeem("link1", for: bob)
        #expect(try await garden.entitlements.ownItems(of: bob).filter { $0.collection == "plus" }.isEmpty)
        garden.advance(milliseconds: 60_000)
        let asked = garden.questions
        // Each that is replaced is due, and is asked about after its successor, too.
        _ = try await garden.app.reconciler.recordSilentPurchases()
        #expect(garden.questions <= asked + 2 * 21)
    }

    @Test func `a chain ends with its request`() async throws {
        answer { token in "link\((Int(token.dropFirst(4)) ?? 0) + 1)" }
        server.hold("link3")
        let caller = Task { try await garden.present("link1") }
        await expectEventually { garden.questions == 3 }
        caller.cancel()
        #expect(try await caller.value == .cancelled)
        server.release()
        #expect(try await garden.app.purchases.purchase(of: "link1") == nil)
        #expect(garden.questions == 3)
    }

    /// Answers with pages of voided purchases.
    ///
    /// - Parameter page: Returns the date of the purchase on a page and the token of the next page, by the number of the page.
    private func list(_ page: @escaping @Sendable (Int) -> (voidedAt: Timestamp?, next: String?)) {
        server.answer { request in
            guard request.uri.path.hasSuffix("/voidedpurchases") else { return nil }
            let number = request.uri.queryParameters["token"].flatMap { Int($0.filter(\.isNumber)) } ?? 0
            let (voidedAt, next) = page(number)
            let purchase = voidedAt.map {
                #"{"purchaseToken":"voided\#(number)","orderId":"GPA.\#(number)","#
                    + #""voidedTimeMillis":"\#($0.millisecondsSince1970)"}"#
            }
            let token = next.map { #","tokenPagination":{"nextPageToken":"\#($0)"}"# } ?? ""
            return .init(status: 200, body: Array(#"{"voidedPurchases":[\#(purchase ?? "")]\#(token)}"#.utf8))
        }
    }

    private func reached() async throws -> Timestamp? {
        try await garden.app.reconciler.lastVoidedPurchases()?.until
    }

    private static let endless = PlayDeveloperError.answerInvalid(
        reason: "The list of voided purchases has no end.")

    @Test func `a list of voided purchases that leads back to a page ends there, and is not complete`() async throws {
        let now = server.clock.now()
        list { _ in (nil, "page1") }
        await #expect(throws: Self.endless) { try await garden.app.reconciler.recordVoidedPurchases() }
        #expect(server.count("voidedpurchases") == 2)
        #expect(try await reached() == nil)
        list { number in (now.adding(seconds: -7200), number == 2 ? "page1" : "page\(number + 1)") }
        await #expect(throws: Self.endless) { try await garden.app.reconciler.recordVoidedPurchases() }
        #expect(server.count("voidedpurchases") == 5)
        // What was read counts.
        #expect(try await reached() == now.adding(seconds: -7200))
    }

    @Test func `a list of voided purchases without an end is read in parts that reach what they say`() async throws {
        let start = server.clock.now().adding(days: -10)
        // A purchase in each minute.
        list { number in (start.adding(seconds: 60 * Int64(number)), "page\(number + 1)") }
        var report = try await garden.app.reconciler.recordVoidedPurchases()
        #expect(report.hasMore && report.outcomes == ["recorded": 100])
        #expect(try await reached() == start.adding(seconds: 60 * 99))
        #expect(server.count("voidedpurchases") == 100)
        // The next part begins an hour before the end of the last one.
        let next = start.adding(seconds: 60 * 99 - 3600)
        list { number in
            (next.adding(seconds: 60 * Int64(number)), number < 70 ? "page\(number + 1)" : nil)
        }
        report = try await garden.app.reconciler.recordVoidedPurchases()
        #expect(!report.hasMore)
        #expect(server.requests.contains { $0.contains("startTime=\(next.millisecondsSince1970)") })
        #expect(try await reached() == server.clock.now())
    }

    @Test func `a list of voided purchases that does not advance has no end`() async throws {
        let date = server.clock.now().adding(days: -1)
        list { number in (date, "page\(number + 1)") }
        #expect(try await garden.app.reconciler.recordVoidedPurchases().hasMore)
        #expect(try await reached() == date)
        await #expect(throws: Self.endless) { try await garden.app.reconciler.recordVoidedPurchases() }
        #expect(try await reached() == date)
        #expect(server.count("voidedpurchases") == 200)
        // Dates of the future are not reached.
        let later = server.clock.now().adding(days: 400)
        list { number in (later, "page\(number + 1)") }
        await #expect(throws: Self.endless) { try await garden.app.reconciler.recordVoidedPurchases() }
        #expect(try await reached() == date)
    }

    @Test func `a list of voided purchases ends with its run`() async throws {
        list { number in (nil, "page\(number + 1)") }
        server.hold("voidedpurchases")
        let run = Task { try await garden.app.reconciler.recordVoidedPurchases() }
        await expectEventually { server.count("voidedpurchases") == 1 }
        run.cancel()
        await #expect(throws: PlayDeveloperError.cancelled) { try await run.value }
        server.release()
        #expect(try await reached() == nil)
    }
}
