import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Season passes in the ledger: the rows of one follow from those of the others.
@Suite struct FixedPeriodLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static let day: Int64 = 86_400
    private static let period = SubscriptionPeriod("P30D")

    /// A pass for 30 days that was bought on a day.
    private func pass(
        _ identifier: String, on day: Int64, origin: Origin = .localProduction, takenBack: Int64? = nil
    ) -> Claim {
        claim(
            identifier, origin: origin, product: "season", bought: Self.later(day * Self.day),
            revoked: takenBack.map { Self.later($0 * Self.day) },
            signedAt: Self.later((takenBack ?? day) * Self.day), expiresAt: Self.later((day + 30) * Self.day),
            period: Self.period)
    }

    private static func view(at day: Int64) -> Viewpoint {
        Viewpoint(accepting: AcceptedOrigins(Set(Origin.allCases)), at: later(day * Self.day)) { _ in
            .nonRenewingSubscription
        }
    }

    /// The ends of a user's purchases in days, by the transactions, as lists of transactions, purchases and the item have them.
    private func ends(of user: User, at day: Int64 = 1) async throws -> [String] {
        let view = Self.view(at: day)
        @Sendable func days(_ end: Timestamp?) -> String {
            end.map { "\(($0.secondsSince1970 - Self.now.secondsSince1970) / Self.day)" } ?? "-"
        }
        return try await ledger.read { transaction in
            let transactions = try transaction.transactions(of: user, before: nil, limit: 99)
                .sorted { $0.transactionIdentifier < $1.transactionIdentifier }
            for each in transactions {
                let purchases = try transaction.purchases(
                    ofTransaction: each.transactionIdentifier, at: view.moment, type: view.type)
                #expect(purchases.map(\.status.until) == [each.expiresAt])
            }
            let item = try transaction.ownedItems(of: user, from: view).first
            return transactions.map { "\($0.transactionIdentifier): \(days($0.expiresAt))" }
                + ["item: \(item.map { days($0.until) } ?? "none")"]
        }
    }

    @Test func `a pass that is bought while one runs adds its whole time, in any order of arrival`() async throws {
        for order in [["1", "2", "3"], ["3", "2", "1"], ["2", "1", "3"]] {
            let fixture = try Self()
            let passes = [
                "1": fixture.pass("1", on: 0), "2": fixture.pass("2", on: 10, origin: .localPlayProduction),
                "3": fixture.pass("3", on: 20),
            ]
            for identifier in order {
                let pass = try #require(passes[identifier])
                for _ in 0..<2 { _ = try await fixture.redeem(pass, for: fixture.alice, at: Self.later(21 * Self.day)) }
            }
            #expect(try await fixture.ends(of: fixture.alice, at: 21) == ["1: 30", "2: 60", "3: 90", "item: 90"])
            #expect(try fixture.fixture.problems() == [])
        }
    }

    @Test func `a group of passes, a gap, and a test purchase beside paid ones`() async throws {
        let test = pass("4", on: 2, origin: .localSandbox)
        #expect(
            try await redeem(pass("1", on: 0), pass("2", on: 1), test, for: alice, at: Self.later(2 * Self.day))
                == [.granted, .granted, .granted])
        #expect(try await redeem(pass("3", on: 70), for: alice, at: Self.later(70 * Self.day)) == [.granted])
        #expect(try await ends(of: alice, at: 70) == ["1: 30", "2: 60", "3: 100", "4: 32", "item: 100"])
        #expect(try fixture.problems() == [])
    }

    @Test func `a refund, and what the team takes and gives back, move the other ends`() async throws {
        let at = Self.later(12 * Self.day)
        _ = try await redeem(pass("1", on: 0), pass("2", on: 10), for: alice, at: at)
        func change(_ change: PurchaseChange) async throws {
            let changed = try await ledger.write {
                try $0.change(change, ofTransaction: "1", origin: nil, of: self.alice, by: "K", at: at)
            }
            #expect(changed.count == 1)
            #expect(try fixture.problems() == [])
        }
        #expect(try await ends(of: alice, at: 12) == ["1: 30", "2: 60", "item: 60"])
        try await change(.revoke(reason: "a mistake"))
        #expect(try await ends(of: alice, at: 12) == ["1: 30", "2: 40", "item: 40"])
        try await change(.reinstate())
        #expect(try await ends(of: alice, at: 12) == ["1: 30", "2: 60", "item: 60"])
        let refund = pass("1", on: 0, takenBack: 12)
        #expect(try await ledger.write { try $0.record(refund, at: at) } == .revoked)
        #expect(try await ends(of: alice, at: 12) == ["1: 30", "2: 40", "item: 40"])
        let reversal = claim(
            "1", origin: .localProduction, product: "season", signedAt: Self.later(13 * Self.day),
            expiresAt: Self.later(30 * Self.day), period: Self.period)
        _ = try await ledger.write { try $0.record(reversal, at: at) }
        #expect(try await ends(of: alice, at: 13) == ["1: 30", "2: 60", "item: 60"])
        #expect(try fixture.problems() == [])
    }

    @Test func `a transfer, a move and a log-in take the time along`() async throws {
        let (at, ghost) = (
            Self.later(12 * Self.day),
            try #require(CustomerIdentifier("$RCAnonymousID:00000000000000000000000000000001")).user
        )
        _ = try await redeem(pass("1", on: 0), pass("2", on: 10), for: alice, at: at)
        _ = try await redeem(pass("3", on: 5), for: bob, at: at)
        #expect(try await ends(of: bob, at: 12) == ["3: 35", "item: 35"])
        #expect(try await redeem(pass("1", on: 0), for: bob, under: .transfer(pauseSeconds: 0), at: at) == [.granted])
        #expect(try await ends(of: alice, at: 12) == ["2: 40", "item: 40"])
        #expect(try await ends(of: bob, at: 12) == ["1: 30", "3: 60", "item: 60"])
        _ = try await redeem(pass("4", on: 11), for: ghost, at: at)
        _ = try await ledger.write { try $0.logIn(ghost, as: self.bob, by: .user, at: at) }
        #expect(try await ends(of: bob, at: 12) == ["1: 30", "3: 60", "4: 90", "item: 90"])
        #expect(try fixture.problems() == [])
    }

    @Test func `the history ends with the last pass`() async throws {
        _ = try await redeem(pass("1", on: 0), for: alice, at: Self.later(1))
        _ = try await redeem(pass("2", on: 10), for: alice, at: Self.later(10 * Self.day))
        _ = try await ledger.write { try $0.recordDueStates(from: Self.view(at: 45), limit: 9) }
        // The time goes on with the other one.
        #expect(try await story(of: alice).filter { $0.contains("expired") } == [])
        _ = try await ledger.write { try $0.recordDueStates(from: Self.view(at: 61), limit: 9) }
        let ended = try await ledger.read { try $0.audit(of: self.alice) }.map(\.entry).filter { $0.event == .expired }
        #expect(ended.map(\.reference) == ["2"])
        #expect(ended.map(\.happenedAt) == [Self.later(60 * Self.day)])
        #expect(try fixture.problems() == [])
    }
}
