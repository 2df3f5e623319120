import Entitlements
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

extension GooglePurchaseService {
    /// Records the answer to a question of now.
    @discardableResult
    func record(_ statement: GooglePlayStatement, continuing original: String?) async throws -> GooglePurchase {
        let number = try await numberOfQuestion(about: try await purchase(of: statement.purchaseToken))
        return try await record(statement, continuing: original, number: number)
    }
}

/// The order of Google Play's answers, and clocks that are wrong.
extension PurchaseTokenTests {
    private static let tenDays: Int64 = 10 * 86_400

    private func ownsGate(_ user: User) async throws -> Bool {
        try await service.items(of: user).contains { $0.item.collection == "gate" }
    }

    /// Records and applies the answer to a question that was asked before.
    private func apply(_ statement: GooglePlayStatement, number: Int64?) async throws {
        let recorded = try await purchases.record(statement, continuing: nil, number: number)
        _ = try await purchases.apply(statement, recordedAs: recorded)
    }

    /// ```
    /// one service                  another service
    /// asks: paid
    ///                              asks: refunded
    /// ```
    @Test(arguments: [true, false]) func `the answer to the later question counts, whichever is stored first`(
        earlierIsFirst: Bool
    ) async throws {
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        let known = try await purchases.purchase(of: "a")
        let earlier = try await purchases.numberOfQuestion(about: known)
        let later = try await purchases.numberOfQuestion(about: known)
        let answers = [
            (try product("a", "garden.gate", isAcknowledged: true), earlier),
            (try product("a", "garden.gate", state: "CANCELLED"), later),
        ]
        for (answer, number) in earlierIsFirst ? answers : answers.reversed() {
            // The service that asked first may even have the later clock.
            advance(seconds: 60)
            try await apply(answer, number: number)
        }
        #expect(try await !ownsGate(alice))
        #expect(try await purchases.purchase(of: "a")?.state == "voided")
    }

    @Test func `the answer to a question of before a reset hides no later refund`() async throws {
        let bought = try product("a", "garden.gate", isAcknowledged: true)
        #expect(try await redeem(bought, for: alice) == [.granted])
        for _ in 0..<9 { _ = try await refresh(bought) }
        let former = try await purchases.numberOfQuestion(about: try await purchases.purchase(of: "a"))
        let now = now
        #expect(try await service.ledger.write { try $0.reset(at: now) } == LedgerReset(users: 1))
        #expect(try await redeem(bought, for: bob) == [.granted])
        #expect(try await refresh(try product("a", "garden.gate", state: "CANCELLED")) == [.revoked])
        advance(seconds: 60)
        try await apply(bought, number: former)
        #expect(try await !ownsGate(bob))
        #expect(try await purchases.purchase(of: "a")?.state == "voided")
    }

    @Test func `of two first questions the purchase is asked about again, because nobody knows which came later`()
        async throws
    {
        try await apply(try product("a", "garden.gate"), number: nil)
        #expect(try await purchases.purchasesToAsk(limit: 9).isEmpty)
        try await apply(try product("a", "garden.gate", state: "CANCELLED"), number: nil)
        #expect(try await purchases.purchasesToAsk(limit: 9).map(\.purchaseToken) == ["a"])
        #expect(try await refresh(try product("a", "garden.gate", state: "CANCELLED")) == [.parked])
        _ = try await redeem(try product("a", "garden.gate", state: "CANCELLED"), for: alice)
        #expect(try await !ownsGate(alice))
    }

    @Test func `a clock that was ahead once hides no refund, no end and no voided purchase`() async throws {
        advance(seconds: Self.tenDays)
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        #expect(try await redeem(try product("b", "garden.gate"), for: bob) == [.granted])
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(60))
        #expect(try await redeem(try subscription("s", items: line), for: alice) == [.granted])
        advance(seconds: -Self.tenDays)
        #expect(try await refresh(try product("a", "garden.gate", state: "CANCELLED")) == [.revoked])
        #expect(try await purchases.apply(try voided("b", order: "GPA.b")) == [.revoked])
        let ended = item("garden.basic.monthly", order: "GPA.1", until: day(0))
        _ = try await refresh(try subscription("s", state: "EXPIRED", items: ended))
        #expect(try await transactions(alice).last?.expiresAt == now)
        #expect(try await plus(alice).isEmpty)
        for user in [alice, bob] { #expect(try await !ownsGate(user)) }
    }

    @Test func `a clock that is ahead ends a subscription only until it is right`() async throws {
        let line = item("garden.basic.monthly", order: "GPA.1", until: day(5))
        #expect(try await redeem(try subscription("s", items: line), for: alice) == [.granted])
        advance(seconds: Self.tenDays)
        _ = try await refresh(try subscription("s", items: line, isAcknowledged: true))
        _ = try await service.recordDueStates()
        #expect(try await plus(alice).isEmpty)
        advance(seconds: -Self.tenDays)
        #expect(try await plus(alice) == [1])
    }

    @Test func `a voided purchase stays voided, whichever question was asked last`() async throws {
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        let earlier = try await purchases.numberOfQuestion(about: try await purchases.purchase(of: "a"))
        #expect(try await purchases.apply(try voided("a", order: "GPA.a")) == [.revoked])
        // An answer of before may be on its way.
        #expect(try await purchases.purchasesToAsk(limit: 9).map(\.purchaseToken) == ["a"])
        for number in [earlier, try await purchases.numberOfQuestion(about: try await purchases.purchase(of: "a"))] {
            advance(seconds: 60)
            try await apply(try product("a", "garden.gate", isAcknowledged: true), number: number)
            #expect(try await !ownsGate(alice))
        }
        // The list is read again each hour.
        _ = try await purchases.apply(try voided("a", order: "GPA.a"))
        #expect(try await purchases.purchasesToAsk(limit: 9).isEmpty)
    }

    @Test func `the tokens of a chain share their numbers`() async throws {
        let line = item("garden.premium.monthly", order: "GPA.1", until: day(30))
        #expect(try await redeem(try subscription("old", items: line), for: alice) == [.granted])
        for _ in 0..<5 { _ = try await refresh(try subscription("old", items: line, isAcknowledged: true)) }
        let deferred = try subscription("new", items: line, more: #","linkedPurchaseToken":"old""#)
        let new = try await purchases.record(deferred, continuing: "old")
        let old = try #require(try await purchases.purchase(of: "old"))
        #expect(new.statementNumber > old.statementNumber)
        let next = try #require(try await purchases.numberOfQuestion(about: old))
        #expect(next > new.statementNumber)
        #expect(try await purchases.numberOfQuestion(about: new) == next + 1)
        #expect(try await purchases.numberOfQuestion(about: nil) == nil)
    }

    @Test func `what a clock ahead has asked is asked again once it is right`() async throws {
        advance(seconds: Self.tenDays)
        #expect(try await redeem(try product("a", "garden.gate"), for: alice) == [.granted])
        let due = try #require(try await purchases.purchasesToAcknowledge(limit: 9).due.first)
        #expect(try await purchases.beginAcknowledgement(of: due))
        advance(seconds: -Self.tenDays)
        #expect(try await self.due().isEmpty)
        let counts = try await service.mendTimes(to: now)
        #expect(counts == ["google_purchase.asked_at": 1, "google_purchase.next_attempt_at": 1])
        #expect(try await self.due() == ["a"])
        #expect(try await purchases.purchasesToAsk(limit: 9).map(\.purchaseToken) == ["a"])
        #expect(try await service.mendTimes(to: now).isEmpty)
    }
}
