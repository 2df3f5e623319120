import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The check of a ledger compares amounts, ends and revocations with the audit log.
@Suite struct AuditedAmountTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static let coins = Credit(balance: "coins", amount: 10)

    private func grant(_ identifier: String, until end: Timestamp? = nil) -> Grant {
        Grant(
            identifier: identifier, item: Self.sprout1, reason: "an apology", grantedBy: "K", grantedAt: Self.now,
            endsAt: end)
    }

    /// Gives a user a credit, an addition, a spending, three grants of which one is revoked, and a purchase that the team revokes.
    private func fill(_ user: User, _ prefix: String) async throws {
        _ = try await redeem(
            claim(prefix + "1"), claim(prefix + "2", item: nil, credit: Self.coins), claim(prefix + "3"), for: user)
        let ends = Self.later(86_400_000)
        let gifts = [grant(prefix + "g"), grant(prefix + "h", until: ends), grant(prefix + "i")]
        try await ledger.write {
            for gift in gifts { _ = try $0.add(gift, for: user) }
            let addition = BalanceAddition(
                identifier: prefix + "a", balance: "coins", amount: 5, reason: "an apology", addedBy: "K",
                addedAt: Self.now)
            _ = try $0.add(addition, for: user)
            _ = try $0.revoke(
                grant: prefix + "i", of: user, Revocation(revokedAt: Self.now, reason: "a fraud", revokedBy: "K"))
            _ = try $0.spend(
                Spending(
                    identifier: prefix + "s", balance: "coins", amount: 4, reason: "a hat", spentBy: "K",
                    spentAt: Self.now), for: user, accepting: Set(Origin.allCases))
            let changes: [PurchaseChange] = [
                .revoke(reason: "a fraud"), .reinstate(), .revoke(reason: "another fraud"),
            ]
            for (index, change) in changes.enumerated() {
                _ = try $0.change(
                    change, ofTransaction: prefix + "1", origin: nil, of: user, by: "K", at: Self.later(Int64(index)))
            }
        }
    }

    @Test func `a ledger with each kind of amount breaks no rule, also after a merge`() async throws {
        let ghost = try #require(
            CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32))
        ).user
        let mint = try #require(CustomerIdentifier("Mint Sprout")).user
        try await fill(ghost, "a")
        try await fill(mint, "b")
        #expect(try fixture.problems() == [])
        let login = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(9)) }
        #expect(login.effect == .merged)
        #expect(try fixture.problems() == [])
    }

    private static let sentences = ["audit log", "A grant belongs to another user", "a customer who is another one"]

    /// A process that can write the file can drop its triggers.
    @Test(
        .enabled(if: LedgerFixture.isFile),
        arguments: [
            "UPDATE spending SET amount = 1, left_after = left_after + 3",
            "UPDATE spending SET balance = 'gems'",
            "UPDATE spending SET spent_at = spent_at + 1",
            "DELETE FROM spending",
            "UPDATE spending SET user_id = 2",
            "UPDATE credit SET amount = 1000000",
            "UPDATE credit SET balance = 'gems'",
            "DELETE FROM credit",
            "INSERT INTO credit (user_id, sequence, balance, amount, origin, is_revoked) SELECT 1, 1, 'coins', 5, origin, 1 FROM credit",
            "UPDATE balance_addition SET amount = 5000000",
            "INSERT INTO balance_addition SELECT user_id, balance, 'x', 7, reason, added_by, added_at, merged_from FROM balance_addition",
            "DELETE FROM balance_addition",
            "UPDATE balance_addition SET user_id = 2, merged_from = 1",
            "UPDATE team_grant SET ends_at = NULL WHERE grant_id = 'ah'",
            "UPDATE team_grant SET ends_at = ends_at + 1 WHERE grant_id = 'ah'",
            "UPDATE team_grant SET number = 2 WHERE grant_id = 'ag'",
            "UPDATE team_grant SET user_id = 2, sequence = 9 WHERE grant_id = 'ag'",
            "UPDATE team_grant SET revoked_at = NULL, revoked_by = NULL, revocation_reason = NULL WHERE grant_id = 'ai'",
            "DELETE FROM team_grant WHERE grant_id = 'ag'",
            "UPDATE team_revocation SET reinstated_by = 'K', reinstated_at = 7 WHERE reinstated_at IS NULL",
            "DELETE FROM team_revocation",
        ])
    func `a check finds a changed amount, end or revocation`(change: String) async throws {
        try await fill(alice, "a")
        _ = try await redeem(claim("9"), for: bob)
        let file = folder.file("ledger.sqlite")
        #expect(try LedgerFile(file).check().problems == [])
        let database = try DatabaseQueue(path: file.path)
        try await database.write {
            try $0.execute(sql: "PRAGMA defer_foreign_keys = ON; \(change)")
        }
        let problems = try LedgerFile(file).check().problems
        #expect(problems.contains { problem in Self.sentences.contains { problem.contains($0) } }, "\(problems)")
    }
}
