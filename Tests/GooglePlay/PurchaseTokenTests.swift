import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Statements of Google Play over a ledger: chains of purchases, what they grant and what is due. The answers have the form of the API's.
@Suite struct PurchaseTokenTests {
    let folder: TemporaryFolder
    private let garden: TestGarden
    let service: EntitlementService
    let purchases: GooglePurchaseService
    let names: PurchaseTokenNames
    let alice: User
    let bob: User

    init() async throws {
        folder = try TemporaryFolder(isInMemory: true)
        garden = try TestGarden(isInMemory: true)
        let app = App(garden.catalog)
        service = EntitlementService(
            apps: Apps(app), verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: garden.clock),
            ledger: try Ledger(file: folder.file("ledger.sqlite")), clock: garden.clock,
            accepted: AcceptedOrigins([.localPlayProduction]))
        purchases = GooglePurchaseService(
            entitlements: service, app: app, packageName: TestGarden.bundleIdentifier,
            origins: [.localPlayProduction, .localPlayTest])
        names = try await purchases.tokenNames
        alice = try #require(User(name: "alice"))
        bob = try #require(User(name: "bob"))
    }

    var now: Timestamp { garden.clock.now() }

    /// A day of the subscriptions, which begin at the start of the test.
    func day(_ days: Int64) -> String { now.adding(days: days).rfc3339 }

    /// A statement about a subscription.
    ///
    /// - Parameters:
    ///   - items: The line items as JSON.
    ///   - more: Further members, after a comma.
    func subscription(
        _ token: String, state: String = "ACTIVE", items: String..., more: String = "",
        isAcknowledged: Bool = false
    ) throws -> GooglePlayStatement {
        let json = """
            {"subscriptionState":"SUBSCRIPTION_STATE_\(state)","startTime":"\(now.rfc3339)","regionCode":"US",
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_\(isAcknowledged ? "ACKNOWLEDGED" : "PENDING")",
            "lineItems":[\(items.joined(separator: ","))]\(more)}
            """
        return try GooglePlayAnswer(
            subscription: Array(json.utf8), about: token, of: TestGarden.bundleIdentifier
        ).statement(.init(realm: .localPlay, askedAt: now, named: names))
    }

    func item(_ product: String, order: String?, until end: String?, more: String = "") -> String {
        let members = [
            end.map { #""expiryTime":"\#($0)""# }, order.map { #""latestSuccessfulOrderId":"\#($0)""# },
        ].compactMap(\.self)
        return #"{"productId":"\#(product)","autoRenewingPlan":{"autoRenewEnabled":true}\#(more)"#
            + members.map { "," + $0 }.joined() + "}"
    }

    func product(
        _ token: String, _ product: String, state: String = "PURCHASED", more: String = "", isAcknowledged: Bool = false
    ) throws -> GooglePlayStatement {
        let item = #"{"productId":"\#(product)","productOfferDetails":{"quantity":1}}"#
        return try self.product(token, items: [item], state: state, more: more, isAcknowledged: isAcknowledged)
    }

    /// A statement about a one-time purchase.
    ///
    /// - Parameter items: The line items as JSON.
    func product(
        _ token: String, items: [String], state: String = "PURCHASED", more: String = "", isAcknowledged: Bool = false,
        rentals: [GooglePlayRental] = []
    ) throws -> GooglePlayStatement {
        let paid = state == "PENDING" ? "" : #","orderId":"GPA.\#(token)","purchaseCompletionTime":"\#(now.rfc3339)""#
        let json = """
            {"productLineItem":[\(items.joined(separator: ","))],
            "purchaseStateContext":{"purchaseState":"\(state)"},
            "acknowledgementState":"ACKNOWLEDGEMENT_STATE_\(isAcknowledged ? "ACKNOWLEDGED" : "PENDING")"\(paid)\(more)}
            """
        return try GooglePlayAnswer(product: Array(json.utf8), about: token, of: TestGarden.bundleIdentifier)
            .statement(.init(realm: .localPlay, askedAt: now, named: names, rentals: rentals))
    }

    /// A record of Google Play's list of voided purchases.
    func voided(_ token: String, order: String) throws -> VoidedGooglePlayPurchase {
        let page = """
            {"voidedPurchases":[{"purchaseToken":"\(token)","orderId":"\(order)","voidedReason":"7","voidedSource":2,
            "voidedTimeMillis":"\(now.millisecondsSince1970)"}]}
            """
        return try #require(try VoidedGooglePlayPurchases(Array(page.utf8)).purchases.first)
    }

    /// Records a statement, and redeems its purchases for a user.
    func redeem(
        _ statement: GooglePlayStatement, for user: User, continuing original: String? = nil
    ) async throws -> [Redemption.Result] {
        let recorded = try await purchases.record(statement, continuing: original)
        let stated = try #require(try await purchases.purchases(of: statement, recordedAs: recorded))
        return try await service.redeem(stated, for: user)
    }

    /// Records a statement of now, and applies its purchases.
    func refresh(_ statement: GooglePlayStatement) async throws -> [NotificationOutcome] {
        try await purchases.apply(
            statement, recordedAs: try await purchases.record(statement, continuing: nil))
    }

    func plus(_ user: User) async throws -> [Int] {
        try await service.items(of: user).filter { $0.item.collection == "plus" }.map(\.item.number).sorted()
    }

    func transactions(_ user: User) async throws -> [RedeemedTransaction] {
        try await service.transactions(of: user, before: nil, limit: 99).reversed()
    }

    func due() async throws -> [String] {
        try await purchases.purchasesToAcknowledge(limit: 9).due.map(\.purchaseToken)
    }

    func advance(seconds: Int64) { garden.clock.advance(milliseconds: seconds * 1000) }

    @Test func `a subscription is owned by its state, and each period is a transaction of one original`() async throws {
        let first = try subscription("t", items: item("garden.basic.monthly", order: "GPA.1", until: day(30)))
        #expect(try await redeem(first, for: alice) == [.granted])
        #expect(try await plus(alice) == [1])
        advance(seconds: 30 * 86_400)
        #expect(try await plus(alice).isEmpty)
        let second = try subscription(
            "t", items: item("garden.basic.monthly", order: "GPA.1..0", until: day(30)), isAcknowledged: true)
        #expect(try await refresh(second) == [.granted])
        #expect(try await plus(alice) == [1])
        #expect(try await transactions(alice).map(\.transactionIdentifier) == ["GPA.1", "GPA.1..0"])
        #expect(Set(try await transactions(alice).map(\.originalTransactionIdentifier)) == [names.name(of: "t")])
        #expect(try await redeem(second, for: bob) == [.ownedByAnotherUser])
    }

    @Test(arguments: ["ON_HOLD", "PAUSED", "EXPIRED", "PENDING_PURCHASE_CANCELED", "OF_THE_FUTURE"])
    func `a state without access takes the item, or never gives it`(state: String) async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        let stated = try subscription("t", state: state, items: line)
        #expect(try await redeem(stated, for: bob).allSatisfy { $0 == .granted })
        #expect(try await plus(bob).isEmpty)
        let other = line.replacing("GPA.1", with: "GPA.2")
        #expect(try await redeem(try subscription("u", items: other), for: alice) == [.granted])
        advance(seconds: 1)
        _ = try await refresh(try subscription("u", state: state, items: other))
        // Nothing is stated of a purchase that was never paid, or in a state that this version does not know.
        #expect(try await plus(alice).isEmpty == !["PENDING_PURCHASE_CANCELED", "OF_THE_FUTURE"].contains(state))
    }

    @Test func `a grace period keeps the item`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 30 * 86_400)
        let grace = try subscription(
            "t", state: "IN_GRACE_PERIOD", items: item("garden.basic.monthly", order: "GPA.1", until: day(3)))
        _ = try await refresh(grace)
        #expect(try await plus(alice) == [1])
        advance(seconds: 3 * 86_400)
        #expect(try await plus(alice).isEmpty)
    }

    @Test func `an upgrade keeps the original of its chain, and ends what it replaces`() async throws {
        let basic = try subscription("old", items: item("garden.basic.monthly", order: "GPA.1", until: day(30)))
        #expect(try await redeem(basic, for: alice) == [.granted])
        advance(seconds: 86_400)
        let end = now.rfc3339
        let premium = try subscription(
            "new", items: item("garden.premium.monthly", order: "GPA.2", until: day(30)),
            more: #","linkedPurchaseToken":"old""#)
        #expect(try await redeem(premium, for: bob, continuing: "old") == [.ownedByAnotherUser])
        #expect(try await redeem(premium, for: alice, continuing: "old") == [.granted])
        advance(seconds: 120)
        #expect(try await plus(alice) == [2])
        let known = try #require(try await purchases.purchase(of: "old"))
        #expect(known.successorToken == "new" && known.askAt == premium.askedAt)
        #expect(try await purchases.purchasesToAsk(limit: 9).map(\.purchaseToken) == ["old"])
        let replaced = try subscription(
            "old", state: "EXPIRED", items: item("garden.basic.monthly", order: "GPA.1", until: end),
            more: #","canceledStateContext":{"replacementCancellation":{}}"#)
        _ = try await refresh(replaced)
        #expect(try await plus(alice) == [2])
        #expect(try await purchases.purchasesToAsk(limit: 9).isEmpty)
        let all = try await transactions(alice)
        #expect(Set(all.map(\.originalTransactionIdentifier)) == [names.name(of: "old")] && all.count == 2)
        let first = try #require(all.first)
        #expect(first.accessEnd(among: all)?.rfc3339 == end)
    }

    @Test func `a deferred replacement keeps the period that the old token has lost`() async throws {
        let (end, line) = (day(30), item("garden.premium.monthly", order: "GPA.1", until: day(30)))
        #expect(try await redeem(try subscription("old", items: line), for: alice) == [.granted])
        advance(seconds: 86_400)
        let basic = try subscription(
            "new",
            items: item(
                "garden.premium.monthly", order: "GPA.1", until: end,
                more: #","deferredItemReplacement":{"productId":"garden.basic.monthly"}"#),
            item("garden.basic.monthly", order: nil, until: nil), more: #","linkedPurchaseToken":"old""#)
        #expect(try await redeem(basic, for: alice, continuing: "old") == [.alreadyRedeemed])
        advance(seconds: 1)
        let replaced = try subscription(
            "old", state: "EXPIRED", items: item("garden.premium.monthly", order: "GPA.1", until: now.rfc3339),
            more: #","canceledStateContext":{"replacementCancellation":{}}"#)
        #expect(try await refresh(replaced).isEmpty)
        // The notification about the old token says nothing new, and belongs to alice's story all the same.
        let notification = NotificationRecord(
            app: TestGarden.bundleIdentifier, origin: .localPlayProduction, notificationUUID: "1",
            type: "SUBSCRIPTION_EXPIRED", subtype: nil, signedAt: now, proofDigest: [UInt8](repeating: 7, count: 32))
        let recorded = try #require(try await purchases.purchase(of: "old"))
        #expect(try await purchases.apply(replaced, recordedAs: recorded, notifiedBy: notification) == [.recorded])
        let received = try await service.ledger.read { try $0.notification("1", of: .localPlayProduction) }
        #expect(received?.owner == alice)
        #expect(received?.notification.transactionIdentifier == "GPA.1")
        advance(seconds: 60)
        #expect(try await plus(alice) == [2])
    }

    @Test func `a replacement that nobody has paid replaces nothing`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("old", items: line), for: alice) == [.granted])
        let linked = #","linkedPurchaseToken":"old""#
        let premium = item("garden.premium.monthly", order: nil, until: nil)
        for state in ["PENDING", "PENDING_PURCHASE_CANCELED"] {
            let unpaid = try subscription("unpaid", state: state, items: premium, more: linked)
            _ = try await purchases.record(unpaid, continuing: "old")
            #expect(try await purchases.purchase(of: "old")?.successorToken == nil)
            advance(seconds: 60)
        }
        let paid = item("garden.premium.monthly", order: "GPA.2", until: day(30))
        _ = try await purchases.record(try subscription("new", items: paid, more: linked), continuing: "old")
        #expect(try await purchases.purchase(of: "old")?.successorToken == "new")
    }

    @Test func `a token keeps the original that it was recorded with`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.9", until: day(30))
        let again = try subscription(
            "again", items: line, more: #","outOfAppPurchaseContext":{"expiredPurchaseToken":"before"}"#)
        #expect(try await purchases.record(again, continuing: "first").originalToken == "first")
        advance(seconds: 1)
        // Google Play states the context only until the purchase is acknowledged.
        let later = try subscription("again", items: line, isAcknowledged: true)
        #expect(try await purchases.record(later, continuing: nil).originalToken == "first")
    }

    /// The service may have ended before it applied the first answer about an end. Money may come back for long.
    @Test func `an end is asked for twice, and then ever more rarely`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: line), for: alice) == [.granted])
        advance(seconds: 3600)
        let ended = item("garden.basic.monthly", order: "GPA.1", until: now.rfc3339)
        _ = try await purchases.record(try subscription("t", state: "EXPIRED", items: ended), continuing: nil)
        #expect(try await plus(alice) == [1])
        var days: [Int] = []
        for day in 1...70 {
            advance(seconds: 86_400)
            guard try await !purchases.purchasesToAsk(limit: 9).isEmpty else { continue }
            days.append(day)
            _ = try await refresh(try subscription("t", state: "EXPIRED", items: ended))
            #expect(try await plus(alice).isEmpty)
        }
        #expect(days == [1, 2, 4, 8, 15, 22, 29, 36, 43, 50, 57])
    }

    @Test func `nothing comes back for a trial that has ended, so nobody asks about it`() async throws {
        let trial =
            #","offerPhase":{"freeTrial":{}},"#
            + #""autoRenewingPlan":{"recurringPrice":{"currencyCode":"USD","units":"5"}}"#
        func line(until end: String) -> String {
            #"{"productId":"garden.basic.monthly","latestSuccessfulOrderId":"GPA.1","expiryTime":"\#(end)"\#(trial)}"#
        }
        #expect(try await redeem(try subscription("t", items: line(until: day(7))), for: alice) == [.granted])
        advance(seconds: 3600)
        let end = now.rfc3339
        for _ in 0..<2 {
            _ = try await refresh(try subscription("t", state: "EXPIRED", items: line(until: end)))
            advance(seconds: 86_400)
        }
        #expect(try await purchases.purchasesToAsk(limit: 9).isEmpty)
    }

    @Test func `a statement of nobody is parked, and the account identifier names its user`() async throws {
        let gate = try product("a", "garden.gate")
        #expect(try await refresh(gate) == [.parked])
        #expect(try await due().isEmpty)
        #expect(try await redeem(gate, for: alice) == [.granted])
        let token = try await service.appAccountToken(of: bob)
        let seeds = try product(
            "b", "garden.seeds", more: #","obfuscatedExternalAccountId":"\#(token.uuidString.lowercased())""#)
        #expect(try await refresh(seeds) == [.granted])
        #expect(try await redeem(seeds, for: alice) == [.appAccountTokenMismatch])
        #expect(try await transactions(bob).map(\.productIdentifier) == ["garden.seeds"])
    }

    @Test func `an unclaimed one-time purchase is found by its order number, as people type it`() async throws {
        let gate = try product("3345-1234-5678-90123", "garden.gate")
        #expect(try await refresh(gate) == [.parked])
        let parked = try await service.unclaimedPurchases(ofTransaction: nil, after: nil, limit: 9)
        #expect(parked.count == 1)
        for text in ["GPA.3345-1234-5678-90123", "#gpa 3345 1234 5678 90123", "33451234567890123"] {
            let found = try await service.identifier(searchedBy: text)
            let shown = try await service.unclaimedPurchases(ofTransaction: found, after: nil, limit: 9)
            #expect(shown == parked && shown.first?.isCharge(named: text) == true, "\(text)")
        }
        let other = "GPA.3345-1234-5678-90124"
        #expect(try await service.identifier(searchedBy: other) == other)
    }

    @Test func `the team assigns all that a token of nobody has sold`() async throws {
        let lines = ["basic", "premium"].map { item("garden.\($0).monthly", order: "GPA.1", until: day(30)) }
        #expect(try await refresh(try subscription("t", items: lines[0], lines[1])) == [.parked, .parked])
        let door = RedemptionDoor(service)
        let result = try await door.assign(unclaimed: "GPA.1", origin: nil, to: alice, reason: "A letter", by: "K")
        #expect(result == .granted)
        #expect(try await plus(alice) == [1, 2])
    }

    @Test func `only what is redeemed is acknowledged, the earliest deadline first`() async throws {
        _ = try await purchases.record(try product("recorded", "garden.gate"), continuing: nil)
        #expect(try await due().isEmpty)
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        #expect(try await redeem(try product("p", "garden.gate", state: "PENDING"), for: alice).isEmpty)
        let prepaid =
            #"{"productId":"garden.basic.monthly","expiryTime":"\#(day(2))","prepaidPlan":{},"#
            + #""latestSuccessfulOrderId":"GPA.5"}"#
        #expect(try await redeem(try subscription("b", items: prepaid), for: alice) == [.granted])
        #expect(try await redeem(try product("c", "garden.unknown"), for: alice) == [.productUnknown])
        #expect(try await redeem(try product("d", "garden.gate", isAcknowledged: true), for: alice) == [.granted])
        #expect(try await due() == ["b", "a"])
        let first = try #require(try await purchases.purchasesToAcknowledge(limit: 1).due.first)
        #expect(try await purchases.beginAcknowledgement(of: first))
        // Another service has read the same.
        #expect(try await purchases.beginAcknowledgement(of: first) == false)
        #expect(try await due() == ["a"])
        advance(seconds: 10)
        #expect(try await due() == ["b", "a"])
        try await purchases.endAcknowledgement(of: first)
        #expect(try await due() == ["a"])
    }

    @Test func `each app on Google Play asks about its own purchases, also under one identifier`() async throws {
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        _ = try await refresh(
            try subscription("s", items: item("garden.basic.monthly", order: "GPA.1", until: day(30))))
        let other = GooglePurchaseService(
            entitlements: service, app: service.apps.first, packageName: "com.example.other",
            origins: purchases.origins)
        advance(seconds: 86_400)
        // Google Play would answer it that there is no such token.
        #expect(try await other.purchase(of: "a") == nil)
        #expect(try await other.purchasesToAcknowledge(limit: 9).due.isEmpty)
        #expect(try await other.purchasesToAsk(limit: 9).isEmpty)
        #expect(try await due() == ["a"])
        // No order has stated the price of the product.
        #expect(try await purchases.purchasesToAsk(limit: 9).map(\.purchaseToken).sorted() == ["a", "s"])
    }

    @Test func `what is due stays so until its deadline, even if Google Play answers that there is no such token`()
        async throws
    {
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        let purchase = try #require(try await purchases.purchasesToAcknowledge(limit: 9).due.first)
        #expect(try await purchases.endOverdueAcknowledgement(of: purchase) == false)
        #expect(try await due() == ["a"])
        advance(seconds: 3 * 86_400)
        #expect(try await purchases.endOverdueAcknowledgement(of: purchase))
        #expect(try await due().isEmpty)
    }

    @Test func `a consumable is due until it is consumed, even if the app has acknowledged it`() async throws {
        let seeds = try product("s", "garden.seeds", isAcknowledged: true)
        #expect(try await redeem(seeds, for: alice) == [.granted])
        let purchase = try #require(try await purchases.purchasesToAcknowledge(limit: 9).due.first)
        #expect(purchases.isConsumable(purchase))
        try await purchases.endAcknowledgement(of: purchase)
        #expect(try await due().isEmpty)
    }

    @Test func `what Google Play takes back is revoked, whichever way it says so`() async throws {
        for (token, user) in [("a", alice), ("b", bob)] {
            #expect(try await redeem(try product(token, "garden.gate"), for: user) == [.granted])
        }
        advance(seconds: 60)
        #expect(try await refresh(try product("a", "garden.gate", state: "CANCELLED")) == [.revoked])
        let voided = try voided("b", order: "GPA.b")
        #expect(try await purchases.apply(voided) == [.revoked])
        #expect(try await purchases.apply(voided) == [.recorded])
        for user in [alice, bob] {
            #expect(try await transactions(user).allSatisfy { $0.revocationDate != nil })
            #expect(try await !service.items(of: user).contains { $0.item.collection == "gate" })
        }
    }

    @Test func `a state that does not know of a chargeback gives nothing back, redeemed or not`() async throws {
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        advance(seconds: 60)
        _ = try await purchases.apply(try voided("a", order: "GPA.a"))
        _ = try await purchases.apply(try voided("b", order: "GPA.b"))
        advance(seconds: 60)
        _ = try await refresh(try product("a", "garden.gate", isAcknowledged: true))
        _ = try await redeem(try product("a", "garden.gate", isAcknowledged: true), for: alice)
        _ = try await redeem(try product("b", "garden.gate"), for: bob)
        for user in [alice, bob] {
            #expect(try await transactions(user).allSatisfy { $0.revocationDate != nil })
            #expect(try await !service.items(of: user).contains { $0.item.collection == "gate" })
        }
    }

    @Test func `a chargeback of one order leaves the renewal`() async throws {
        let first = item("garden.basic.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("t", items: first), for: alice) == [.granted])
        advance(seconds: 60)
        #expect(try await purchases.apply(try voided("t", order: "GPA.1")) == [.revoked])
        advance(seconds: 60)
        _ = try await refresh(try subscription("t", items: first, isAcknowledged: true))
        #expect(try await plus(alice).isEmpty)
        advance(seconds: 30 * 86_400)
        let second = item("garden.basic.monthly", order: "GPA.1..0", until: day(30))
        #expect(try await refresh(try subscription("t", items: second, isAcknowledged: true)) == [.granted])
        #expect(try await plus(alice) == [1])
    }

    @Test func `a token that Google Play has forgotten answers as the ledger knows it`() async throws {
        #expect(try await redeem(try product("s", "garden.seeds"), for: alice) == [.granted])
        for (user, result) in [(alice, Redemption.Result.alreadyRedeemed), (bob, .ownedByAnotherUser)] {
            let known = try #require(try await purchases.redeemedPurchases(ofToken: "s"))
            #expect(try await service.redeem(known, for: user) == [result])
        }
        #expect(try await purchases.redeemedPurchases(ofToken: "x") == nil)
    }
}
