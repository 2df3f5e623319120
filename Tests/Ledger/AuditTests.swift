import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The audit log records the changes of a user's items, and its chain reveals tampering.
@Suite struct AuditTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `the audit log has each change once`() async throws {
        let grant = Grant(
            identifier: "g", item: Item(collection: "sprout", number: 3), reason: "an apology", grantedBy: "K",
            grantedAt: Self.now, endsAt: nil)
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), claim("9", item: nil), for: alice)
        _ = try await redeem(claim("1"), for: alice)
        _ = try await notify("1", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        _ = try await notify("1", claim("1", revoked: Self.now, signedAt: Self.later(1)))
        _ = try await notify("2", claim("1", signedAt: Self.later(2)))
        for _ in 0..<2 {
            _ = try await ledger.write {
                try $0.change(
                    .revoke(reason: "a fraud"), ofTransaction: "1", origin: nil, of: alice, by: "K", at: Self.now)
            }
        }
        for _ in 0..<2 {
            _ = try await ledger.write {
                try $0.change(.reinstate(), ofTransaction: "1", origin: nil, of: alice, by: "K", at: Self.now)
            }
        }
        _ = try await ledger.write { try $0.add(grant, for: alice) }
        let revocation = Revocation(revokedAt: Self.now, reason: "a fraud", revokedBy: "K")
        for _ in 0..<2 { _ = try await ledger.write { try $0.revoke(grant: "g", of: alice, revocation) } }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 4, reason: "a hat", spentBy: "K", spentAt: Self.now)
        _ = try await ledger.write {
            try $0.spend(
                spending, for: alice, accepting: Set(Origin.allCases))
        }
        #expect(
            try await story(of: alice) == [
                "user granted 1 p", "user granted 2 p", "user refused 9 p productUnknown", "App Store revoked 1 p",
                "App Store granted 1 p", "key K revoked 1 p a fraud", "key K granted 1 p",
                "key K itemGiven g sprout 3 an apology", "key K itemTakenBack g sprout 3 a fraud",
                "key K spent s 4 coins a hat",
            ])
        #expect(try await story(of: bob) == [])
        let records = try await ledger.read { try $0.audit(of: alice) }
        #expect(zip(records, [nil] + records.dropLast()).allSatisfy { $0.follows($1) })
        #expect(records.map(\.number) == Array(1...10))
        #expect(try await ledger.read { try $0.audit(of: alice, after: 3, limit: 2) }.map(\.number) == [4, 5])
        #expect(try fixture.problems() == [])
    }

    @Test func `the store that has stated a change is its actor, also one that Till does not know`() async throws {
        let origins: [Origin] = [
            .localSandbox, .localPlayProduction, try #require(Origin(rawValue: "acme/Production")),
        ]
        for (index, origin) in origins.enumerated() {
            let transaction = "\(index)"
            _ = try await redeem(claim(transaction, origin: origin), for: alice)
            try await ledger.write {
                _ = try $0.record(
                    self.claim(transaction, origin: origin, revoked: Self.now, signedAt: Self.later(1)),
                    at: Self.later(1))
            }
        }
        let told = try await story(of: alice).filter { $0.contains("revoked") }
        #expect(told == ["App Store revoked 0 p", "Google Play revoked 1 p", "acme revoked 2 p"])
    }

    @Test func `a repeated refusal is recorded once`() async throws {
        _ = try await redeem(claim(), for: alice)
        for _ in 0..<3 { _ = try await redeem(claim(), for: bob) }
        _ = try await redeem(claim("2"), for: alice)
        for _ in 0..<3 { _ = try await redeem(claim("2"), claim(), for: bob) }
        #expect(
            try await story(of: bob) == [
                "user refused 1 p ownedByAnotherUser", "user refused 2 p ownedByAnotherUser",
            ])
    }

    @Test func `each reason of refusal and each revoked restore is recorded once`() async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        _ = try await redeem(claim(repeatsOriginal: true), claim("2", original: "1", repeatsOriginal: true), for: alice)
        for _ in 0..<3 {
            _ = try await redeem(claim(appAccountToken: token), for: bob)
            _ = try await redeem(claim(item: nil), for: bob)
        }
        #expect(
            try await story(of: bob) == ["user refused 1 p appAccountTokenMismatch", "user refused 1 p productUnknown"])
        let refund = claim(revoked: Self.now, repeatsOriginal: true, signedAt: Self.later(1))
        for uuid in ["1", "2"] { _ = try await notify(uuid, refund) }
        #expect(
            try await story(of: alice) == [
                "user granted 1 p", "user granted 2 p", "App Store revoked 2 p", "App Store revoked 1 p",
            ])
    }

    /// A process that can write the file can drop its triggers. The chain still reveals the change.
    @Test(
        .enabled(if: LedgerFixture.isFile),
        arguments: [
            "UPDATE audit SET reference = '7' WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET happened_at = happened_at + 1 WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET event = 'refused' WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET actor = 'till' WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET origin = NULL WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET subject = 'q' WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET digest = zeroblob(32) WHERE user_id = 1 AND number = 2",
            "UPDATE audit SET reason = 'no fraud' WHERE user_id = 1 AND number = 4",
            "UPDATE audit SET reason = 'never given' WHERE user_id = 1 AND number = 2",
            "DELETE FROM audit WHERE user_id = 1 AND number = 2",
            "DELETE FROM audit WHERE user_id = 1 AND number = 1",
            "UPDATE audit SET number = -number; UPDATE audit SET number = CASE number WHEN -2 THEN 3 WHEN -3 THEN 2 ELSE -number END",
            "DELETE FROM audit WHERE user_id = 1 AND number > 1",
        ])
    func `a check finds a change of the audit log`(change: String) async throws {
        _ = try await redeem(claim("1"), claim("2"), claim("3"), for: alice)
        _ = try await ledger.write {
            try $0.change(.revoke(reason: "a fraud"), ofTransaction: "1", origin: nil, of: alice, by: "K", at: Self.now)
        }
        let file = folder.file("ledger.sqlite")
        #expect(try LedgerFile(file).check().problems == [])
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        #expect(throws: DatabaseError.self) { try database.write { try $0.execute(sql: change) } }
        #expect(try LedgerFile(file).check().problems == [])
        try await database.write {
            try $0.execute(sql: "DROP TRIGGER audit_is_kept; DROP TRIGGER audit_is_not_rewritten; \(change)")
        }
        let problems = try LedgerFile(file).check().problems
        #expect(problems.contains { $0.contains("audit log") }, "\(problems)")
    }

    @Test(.enabled(if: LedgerFixture.isFile)) func `the erasure of a reason leaves the chain unbroken`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await ledger.write {
            try $0.change(
                .revoke(reason: "asked for by Alice Liddell"), ofTransaction: "1", origin: nil, of: alice, by: "K",
                at: Self.now)
        }
        _ = try await redeem(claim("2"), for: alice)
        let file = folder.file("ledger.sqlite")
        try await DatabaseQueue(path: file.path).write {
            try $0.execute(sql: "UPDATE audit SET reason = NULL, reason_salt = NULL WHERE reason IS NOT NULL")
        }
        #expect(try LedgerFile(file).check().problems == [])
        #expect(try await story(of: alice) == ["user granted 1 p", "key K revoked 1 p", "user granted 2 p"])
    }

    @Test func `a period whose first statement is its end by an upgrade breaks no rule`() async throws {
        let period = claim(
            revoked: Self.later(9), signedAt: Self.later(9), expiresAt: Self.later(1000),
            facts: TransactionFacts([.isUpgraded: .integer(1)]))
        // The period that follows ends it, and is not known yet.
        #expect(try await redeem(period, for: alice) == [.granted])
        #expect(try await story(of: alice) == ["user granted 1 p"])
        #expect(try fixture.problems() == [])
    }
}
