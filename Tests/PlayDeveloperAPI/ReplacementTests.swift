import Entitlements
import Foundation
import Hummingbird
import Ledger
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Replaced subscriptions of Google Play, in each order in which a service can learn of one
/// (developer.android.com/google/play/billing/subscriptions, "Replacement modes" and "Handle subscription change purchases").
@Suite struct ReplacementTests {
    /// The answers of the Play Developer API, by their tokens.
    private final class Answers: Sendable {
        let ofTokens = Mutex<[String: String]>([:])

        func set(_ token: String, _ json: String) { ofTokens.withLock { $0[token] = json } }
    }

    private let garden: PlayGarden
    private let answers = Answers()
    private let bob: User
    private let start: Timestamp

    init() async throws {
        garden = try await PlayGarden()
        bob = try #require(User(name: "bob"))
        start = garden.server.clock.now()
        garden.server.answer { [answers] request in
            guard let token = request.uri.path.split(separator: "/").last.map(String.init),
                request.uri.path.contains("subscriptionsv2/tokens/"),
                let json = answers.ofTokens.withLock({ $0[token] })
            else { return nil }
            return .init(status: 200, body: Array(json.utf8))
        }
    }

    // MARK: What Google Play states

    private func day(_ days: Int64) -> String { start.adding(days: days).rfc3339 }

    private func item(
        _ product: String, plan: String = "monthly", order: String?, until end: Int64?, renews: Bool = true,
        more: String = ""
    ) -> String {
        let renewing = renews ? #""autoRenewEnabled":true,"# : ""
        return #"{"productId":"\#(product)","offerDetails":{"basePlanId":"\#(plan)"},"#
            + (end.map { #""expiryTime":"\#(day($0))","# } ?? "")
            + (order.map { #""latestSuccessfulOrderId":"\#($0)","# } ?? "")
            + #""autoRenewingPlan":{\#(renewing)"recurringPrice":{"currencyCode":"USD","units":"4"}}\#(more)}"#
    }

    private func state(
        _ token: String, _ state: String = "ACTIVE", since begin: Int64, linked: String? = nil,
        after expired: String? = nil,
        account: User? = nil, _ items: String...
    ) async throws {
        var members = [
            #""subscriptionState":"SUBSCRIPTION_STATE_\#(state)""#, #""startTime":"\#(day(begin))""#,
            #""regionCode":"US""#, #""acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED""#,
            #""lineItems":[\#(items.joined(separator: ","))]"#,
        ]
        if let linked { members.append(#""linkedPurchaseToken":"\#(linked)""#) }
        if let expired { members.append(#""outOfAppPurchaseContext":{"expiredPurchaseToken":"\#(expired)"}"#) }
        if state == "EXPIRED" { members.append(#""canceledStateContext":{"replacementCancellation":{}}"#) }
        if let account {
            let identifier = try await garden.entitlements.appAccountToken(of: account).uuidString.lowercased()
            members.append(#""externalAccountIdentifiers":{"obfuscatedExternalAccountId":"\#(identifier)"}"#)
        }
        answers.set(token, "{\(members.joined(separator: ","))}")
    }

    private static func replacement(_ mode: String, of product: String, _ plan: String = "monthly") -> String {
        #","itemReplacement":{"productId":"\#(product)","basePlanId":"\#(plan)","replacementMode":"\#(mode)"}"#
    }

    // MARK: What the service does

    private enum Step: String, CaseIterable {
        case oldEnds, newIsAnnounced, appPresents
    }

    private static let orders: [[Step]] = [
        [.oldEnds, .newIsAnnounced, .appPresents], [.oldEnds, .appPresents, .newIsAnnounced],
        [.newIsAnnounced, .oldEnds, .appPresents], [.newIsAnnounced, .appPresents, .oldEnds],
        [.appPresents, .oldEnds, .newIsAnnounced], [.appPresents, .newIsAnnounced, .oldEnds],
    ]

    private func advance(days: Int64, seconds: Int64 = 0) {
        garden.advance(milliseconds: (days * 86_400 + seconds) * 1000)
    }

    private func perform(_ step: Step, by user: User) async throws {
        advance(days: 0, seconds: 1)
        switch step {
        case .oldEnds: _ = try await garden.app.refresh("old")
        case .newIsAnnounced: _ = try await garden.app.refresh("new")
        case .appPresents: try await garden.app.redeem("new", for: user)
        }
    }

    private func items(_ user: User) async throws -> [String] {
        try await garden.entitlements.ownItems(of: user).map { "\($0.collection) \($0.number)" }
    }

    /// The events of periods and owners, the oldest first: "granted garden.basic.monthly".
    private func story(_ user: User) async throws -> [String] {
        _ = try await garden.entitlements.recordDueStates()
        return try await garden.entitlements.story(of: user, before: nil, limit: 99).reversed().compactMap { entry in
            guard case .event(let entry, _, _) = entry.content,
                // A deferred replacement says what comes next, which is another rule.
                ![.autoRenewDisabled, .autoRenewEnabled].contains(entry.event)
            else { return nil }
            return ([entry.event.rawValue, entry.subject] + (entry.reason.map { [$0] } ?? [])).joined(separator: " ")
        }
    }

    /// Buys the basic plan as alice, and goes on to the tenth day.
    private func buy(account: User? = nil) async throws {
        try await state("old", since: 0, account: account, item("garden.basic.monthly", order: "GPA.1", until: 30))
        #expect(try await garden.present("old") == nil)
        advance(days: 10)
    }

    /// The old token after a replacement: Google Play has taken its end back.
    private func endOld(account: User? = nil) async throws {
        try await state(
            "old", "EXPIRED", since: 0, account: account,
            item("garden.basic.monthly", order: "GPA.1", until: 10, renews: false))
    }

    // MARK: Tests

    private struct Change {
        let product: String
        let plan: String
        let mode: String
        let items: [String]
        var order = "GPA.2"
    }

    private static let changes = [
        Change(product: "garden.premium.monthly", plan: "monthly", mode: "WITH_TIME_PRORATION", items: ["plus 2"]),
        Change(product: "garden.premium.monthly", plan: "monthly", mode: "CHARGE_PRORATED_PRICE", items: ["plus 2"]),
        Change(product: "garden.premium.monthly", plan: "monthly", mode: "WITHOUT_PRORATION", items: ["plus 2"]),
        // Nothing is charged before the renewal.
        Change(
            product: "garden.premium.monthly", plan: "monthly", mode: "WITHOUT_PRORATION", items: ["plus 2"],
            order: "GPA.1"),
        Change(product: "garden.basic.monthly", plan: "yearly", mode: "CHARGE_FULL_PRICE", items: ["plus 1"]),
    ]

    /// Every order with the first and the last change, and the old token first and last with the others.
    private static let cases = changes.indices.flatMap { change in
        orders.indices.filter { [0, changes.count - 1].contains(change) || [0, 3].contains($0) }.map { ($0, change) }
    }

    @Test(arguments: cases)
    func `a replacement is told once, with its product and base plan, and takes nothing meanwhile`(
        order: Int, change: Int
    ) async throws {
        let change = Self.changes[change]
        try await buy()
        try await state(
            "new", since: 10, linked: "old",
            item(
                change.product, plan: change.plan, order: change.order, until: 40,
                more: Self.replacement(change.mode, of: "garden.basic.monthly")))
        try await endOld()
        for step in Self.orders[order] {
            try await perform(step, by: garden.alice)
            let items = try await items(garden.alice)
            #expect(items == ["plus 1"] || items == change.items, "\(step)")
        }
        #expect(try await items(garden.alice) == change.items)
        #expect(
            try await story(garden.alice) == [
                "granted garden.basic.monthly",
                "productChanged garden.basic.monthly \(change.product):\(change.plan)", "granted \(change.product)",
            ])
        let transactions = try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 9)
        #expect(transactions.map { $0.facts.text(.replacementMode) } == [change.mode, nil])
        #expect(transactions.allSatisfy { $0.revocationDate == nil })
        let old = try #require(transactions.last)
        #expect(old.accessEnd(among: transactions) == start.adding(days: 10))
        // Nothing of the old token is awaited.
        advance(days: 1)
        _ = try await garden.app.reconciler.recordSilentPurchases()
        #expect(try await items(garden.alice) == change.items)
    }

    /// - Parameter isStated: False if Google Play does not state `itemReplacement`, as 60 days after the renewal.
    @Test(arguments: orders.indices, [true, false]) func `a deferred replacement keeps the old plan until its end`(
        order: Int, isStated: Bool
    ) async throws {
        try await state("old", since: 0, item("garden.premium.monthly", order: "GPA.1", until: 30))
        #expect(try await garden.present("old") == nil)
        advance(days: 10)
        let mode = isStated ? Self.replacement("DEFERRED", of: "garden.premium.monthly") : ""
        try await state(
            "new", since: 10, linked: "old",
            item(
                "garden.premium.monthly", order: "GPA.1", until: 30, renews: false,
                more: #","deferredItemReplacement":{"productId":"garden.basic.monthly"}"#),
            item("garden.basic.monthly", order: nil, until: nil, more: mode))
        try await state(
            "old", "EXPIRED", since: 0, item("garden.premium.monthly", order: "GPA.1", until: 10, renews: false))
        for step in Self.orders[order] {
            try await perform(step, by: garden.alice)
            #expect(try await items(garden.alice) == ["plus 2"], "\(step)")
        }
        let chosen = try await story(garden.alice)
        #expect(
            chosen == [
                "granted garden.premium.monthly", "planChosen garden.premium.monthly garden.basic.monthly:monthly",
            ])
        advance(days: 20)
        try await state(
            "new", since: 30, linked: "old",
            item("garden.premium.monthly", order: "GPA.1", until: 30, renews: false),
            item("garden.basic.monthly", order: "GPA.2", until: 60, more: mode))
        _ = try await garden.app.refresh("new")
        #expect(try await items(garden.alice) == ["plus 1"])
        // A change at the renewal is a renewal, as at the App Store.
        #expect(try await story(garden.alice) == chosen + ["granted garden.basic.monthly"])
        let renewed = try #require(
            try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 9).first)
        #expect(renewed.purchaseDate == start.adding(days: 30))
    }

    /// ```
    /// one service                      another service
    /// asks about the old token
    ///                                  asks about the new token
    /// records its end                  records the new period
    /// ```
    @Test func `two services that get one notification each tell the same`() async throws {
        try await buy()
        try await state(
            "new", since: 10, linked: "old", item("garden.premium.monthly", order: "GPA.2", until: 40))
        try await endOld()
        let other = GooglePlayApp(
            client: try garden.server.client(), app: garden.app.purchases.app, entitlements: garden.entitlements)
        async let old = garden.app.refresh("old")
        async let new = other.refresh("new")
        _ = try await (old, new)
        #expect(try await items(garden.alice) == ["plus 2"])
        #expect(
            try await story(garden.alice) == [
                "granted garden.basic.monthly",
                "productChanged garden.basic.monthly garden.premium.monthly:monthly", "granted garden.premium.monthly",
            ])
    }

    @Test func `while the new token is unknown, the service asks until the end of the paid period`() async throws {
        try await buy()
        try await endOld()
        _ = try await garden.app.refresh("old")
        let asked = garden.questions
        for _ in 11..<30 {
            advance(days: 1)
            _ = try await garden.app.reconciler.recordSilentPurchases()
            #expect(try await items(garden.alice) == ["plus 1"])
        }
        #expect(try await story(garden.alice) == ["granted garden.basic.monthly"])
        #expect(garden.questions == asked + 19)
        advance(days: 1, seconds: 300)
        _ = try await garden.app.reconciler.recordSilentPurchases()
        #expect(try await items(garden.alice).isEmpty)
        let ended = ["granted garden.basic.monthly", "expired garden.basic.monthly replaced"]
        #expect(try await story(garden.alice) == ended)
        let why = try await garden.entitlements.explanation(
            of: Item(collection: "plus", number: 1), for: garden.alice)
        #expect(why.cause == .expired && why.reason == "replaced")
        let last = garden.questions
        for _ in 0..<5 {
            advance(days: 1)
            _ = try await garden.app.reconciler.recordSilentPurchases()
        }
        #expect(garden.questions <= last + 1)
        #expect(try await story(garden.alice) == ended)
    }

    @Test func `a replacement in a grace period ends the grace, and no item before`() async throws {
        try await buy()
        advance(days: 21)
        try await state(
            "old", "IN_GRACE_PERIOD", since: 0, item("garden.basic.monthly", order: "GPA.1", until: 33))
        _ = try await garden.app.refresh("old")
        try await state(
            "old", "EXPIRED", since: 0, item("garden.basic.monthly", order: "GPA.1", until: 31, renews: false))
        try await state(
            "new", since: 31, linked: "old", item("garden.premium.monthly", order: "GPA.2", until: 61))
        try await perform(.oldEnds, by: garden.alice)
        #expect(try await items(garden.alice) == ["plus 1"])
        try await perform(.newIsAnnounced, by: garden.alice)
        #expect(try await items(garden.alice) == ["plus 2"])
        let told = try await story(garden.alice)
        #expect(
            told == [
                "granted garden.basic.monthly", "gracePeriodBegan garden.basic.monthly",
                "productChanged garden.basic.monthly garden.premium.monthly:monthly", "granted garden.premium.monthly",
            ])
    }

    @Test func `a subscription on hold that is bought again as another plan has changed`() async throws {
        try await buy()
        advance(days: 25)
        try await state("old", "ON_HOLD", since: 0, item("garden.basic.monthly", order: "GPA.1", until: 30))
        _ = try await garden.app.refresh("old")
        try await state(
            "old", "EXPIRED", since: 0, item("garden.basic.monthly", order: "GPA.1", until: 35, renews: false))
        try await state(
            "new", since: 35, linked: "old",
            item(
                "garden.premium.monthly", order: "GPA.2", until: 65,
                more: Self.replacement("CHARGE_FULL_PRICE", of: "garden.basic.monthly")))
        try await perform(.oldEnds, by: garden.alice)
        #expect(try await items(garden.alice).isEmpty)
        try await perform(.newIsAnnounced, by: garden.alice)
        #expect(try await items(garden.alice) == ["plus 2"])
        let told = try await story(garden.alice)
        #expect(
            told == [
                "granted garden.basic.monthly", "renewalFailed garden.basic.monthly",
                "productChanged garden.basic.monthly garden.premium.monthly:monthly", "granted garden.premium.monthly",
            ])
        let old = try #require(
            try await garden.entitlements.transactions(of: garden.alice, before: nil, limit: 9).last)
        #expect(old.expiresAt == start.adding(days: 30))
    }

    private enum Renewing: CaseIterable {
        /// The customer buys the same plan again before its end, or tops it up.
        case linked
        /// The same after its end, in the Play Store.
        case outOfApp
        /// Another plan after the end of the old one.
        case linkedLater
    }

    @Test(arguments: Renewing.allCases) private func `what is bought again is no change of the plan`(
        renewing: Renewing
    ) async throws {
        try await buy()
        let begin: Int64 = renewing == .linked ? 10 : 35
        if renewing != .linked {
            advance(days: 25)
            answers.set(
                "old",
                """
                {"subscriptionState":"SUBSCRIPTION_STATE_EXPIRED","startTime":"\(day(0))","regionCode":"US",
                "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
                "canceledStateContext":{"userInitiatedCancellation":{}},
                "lineItems":[\(item("garden.basic.monthly", order: "GPA.1", until: 30, renews: false))]}
                """)
            _ = try await garden.app.refresh("old")
        }
        let plan = renewing == .linkedLater ? "yearly" : "monthly"
        try await state(
            "new", since: begin, linked: renewing == .outOfApp ? nil : "old",
            after: renewing == .outOfApp ? "old" : nil,
            item("garden.basic.monthly", plan: plan, order: "GPA.2", until: begin + 30))
        if renewing == .linked { try await endOld() }
        for step in [Step.oldEnds, .newIsAnnounced, .appPresents] {
            try await perform(step, by: garden.alice)
            #expect(try await items(garden.alice) == ["plus 1"] || renewing != .linked, "\(step)")
        }
        #expect(try await items(garden.alice) == ["plus 1"])
        let ended = renewing == .linked ? [] : ["expired garden.basic.monthly customerCancelled"]
        #expect(
            try await story(garden.alice)
                == ["granted garden.basic.monthly"] + ended + ["granted garden.basic.monthly"])
    }

    @Test(arguments: orders.indices) func `the account of the new purchase is its owner`(order: Int) async throws {
        try await buy(account: garden.alice)
        try await state(
            "new", since: 10, linked: "old", account: bob,
            item("garden.premium.monthly", order: "GPA.2", until: 40))
        try await endOld(account: garden.alice)
        for step in Self.orders[order] {
            try await perform(step, by: bob)
            let owned = (try await items(garden.alice), try await items(bob))
            #expect(owned == (["plus 1"], []) || owned == ([], ["plus 2"]), "\(step)")
        }
        #expect(try await items(garden.alice).isEmpty)
        #expect(try await items(bob) == ["plus 2"])
        #expect(
            try await story(garden.alice) == [
                "granted garden.basic.monthly", "transferredOut garden.basic.monthly",
            ])
        #expect(
            try await story(bob) == [
                "transferredIn garden.basic.monthly",
                "productChanged garden.basic.monthly garden.premium.monthly:monthly", "granted garden.premium.monthly",
            ])
        let why = try await garden.entitlements.explanation(
            of: Item(collection: "plus", number: 1), for: garden.alice)
        #expect(why.cause == .transferredToAnotherUser && why.otherOwner == bob)
        // The old token still has the identifier of the former owner.
        advance(days: 1)
        _ = try await garden.app.refresh("old")
        #expect(try await items(bob) == ["plus 2"])
        // The former owner's app may present the purchase, too.
        try await garden.app.redeem("new", for: garden.alice)
        #expect(try await items(garden.alice).isEmpty)
    }

    @Test(arguments: orders.indices)
    func `a replacement without an account stays the owner's, whoever presents it`(order: Int) async throws {
        try await buy()
        try await state(
            "new", since: 10, linked: "old", item("garden.premium.monthly", order: "GPA.2", until: 40))
        try await endOld()
        for step in Self.orders[order] {
            try await perform(step, by: bob)
            #expect(try await !items(garden.alice).isEmpty, "\(step)")
            #expect(try await items(bob).isEmpty, "\(step)")
        }
        #expect(try await items(garden.alice) == ["plus 2"])
        advance(days: 30)
        try await state(
            "new", since: 10, linked: "old", item("garden.premium.monthly", order: "GPA.2..0", until: 70))
        _ = try await garden.app.refresh("new")
        #expect(try await items(garden.alice) == ["plus 2"])
    }

    @Test func `a replacement that is never paid changes nothing`() async throws {
        try await buy()
        for pending in ["PENDING", "PENDING_PURCHASE_CANCELED"] {
            try await state(
                "new", pending, since: 10, linked: "old", item("garden.premium.monthly", order: nil, until: nil))
            _ = try await garden.app.refresh("new")
            _ = try await garden.app.refresh("old")
            #expect(try await items(garden.alice) == ["plus 1"])
            advance(days: 1)
        }
        #expect(try await story(garden.alice) == ["granted garden.basic.monthly"])
        #expect(try await garden.app.purchases.purchase(of: "old")?.successorToken == nil)
    }

    @Test(arguments: [true, false]) func `a purchase of a chain that the service has missed is the owner's, too`(
        isPresented: Bool
    ) async throws {
        try await buy()
        try await endOld()
        try await state(
            "middle", "EXPIRED", since: 10, linked: "old",
            item("garden.premium.monthly", order: "GPA.2", until: 15, renews: false))
        try await state(
            "new", since: 15, linked: "middle",
            item(
                "garden.basic.monthly", plan: "yearly", order: "GPA.3", until: 380,
                more: Self.replacement("CHARGE_FULL_PRICE", of: "garden.premium.monthly")))
        advance(days: 6)
        for step in isPresented ? [Step.appPresents, .oldEnds] : [.newIsAnnounced, .oldEnds, .appPresents] {
            try await perform(step, by: garden.alice)
            #expect(try await items(garden.alice) == ["plus 1"], "\(step)")
        }
        #expect(
            try await story(garden.alice) == [
                "granted garden.basic.monthly",
                "productChanged garden.basic.monthly garden.premium.monthly:monthly", "granted garden.premium.monthly",
                "productChanged garden.premium.monthly garden.basic.monthly:yearly", "granted garden.basic.monthly",
            ])
    }

    @Test func `a replaced token that the ledger does not know gives nothing of the paid period`() async throws {
        advance(days: 10)
        try await endOld()
        _ = try await garden.present("old")
        #expect(try await items(garden.alice).isEmpty)
    }
}
