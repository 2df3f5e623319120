import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The paged verification of the audit logs finds the same changes as the check of the whole ledger.
@Suite struct AuditVerificationTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// Verifies page by page until the end.
    private func verified(_ limit: Int) async throws -> AuditVerification {
        var verification = AuditVerification()
        for _ in 0..<100 where !verification.isComplete {
            verification = try await ledger.verifyAudit(continuing: verification, limit: limit)
        }
        return verification
    }

    @Test(arguments: [1, 2, 3, 4, 5, 1000]) func `sound logs are verified in pages of any size`(limit: Int) async throws
    {
        #expect(try await verified(limit).isComplete)
        _ = try await redeem(claim("1"), claim("2"), claim("3"), for: alice)
        _ = try await redeem(claim("9"), claim("8"), for: bob)
        // A user without records.
        _ = try await ledger.write { try $0.makeAppAccountToken(of: try #require(User(name: "carol")), at: Self.now) }
        let verification = try await verified(limit)
        #expect(verification.isComplete)
        #expect(verification.breaks == [])
        #expect(verification.records == 5)
        #expect(verification.users == 3)
    }

    @Test func `records that are written between two pages are no break`() async throws {
        _ = try await redeem(claim("1"), claim("2"), for: alice)
        _ = try await redeem(claim("9"), for: bob)
        var verification = try await ledger.verifyAudit(continuing: AuditVerification(), limit: 1)
        #expect(!verification.isComplete)
        _ = try await redeem(claim("3"), for: alice)
        _ = try await redeem(claim("8"), for: bob)
        for _ in 0..<20 where !verification.isComplete {
            verification = try await ledger.verifyAudit(continuing: verification, limit: 1)
        }
        #expect(verification.isComplete)
        #expect(verification.breaks == [])
        #expect(verification.records == 5)
    }

    @Test(
        .enabled(if: LedgerFixture.isFile),
        arguments: [
            ("UPDATE audit SET reference = '7' WHERE user_id = 1 AND number = 2", Int64(2)),
            ("UPDATE audit SET digest = zeroblob(32) WHERE user_id = 1 AND number = 2", 2),
            ("DELETE FROM audit WHERE user_id = 1 AND number = 2", 3),
            ("DELETE FROM audit WHERE user_id = 1 AND number = 1", 2),
            ("DELETE FROM audit WHERE user_id = 1 AND number = 3", 3),
            ("DELETE FROM audit WHERE user_id = 1", 1),
            ("UPDATE \"user\" SET audit_digest = zeroblob(32) WHERE user_id = 1", 3),
        ])
    func `each change is found, once for its user`(change: String, number: Int64) async throws {
        _ = try await redeem(claim("1"), claim("2"), claim("3"), for: alice)
        _ = try await redeem(claim("9"), for: bob)
        try await DatabaseQueue(path: folder.file("ledger.sqlite").path).write {
            try $0.execute(sql: "DROP TRIGGER audit_is_kept; DROP TRIGGER audit_is_not_rewritten; \(change)")
        }
        for limit in [1, 2, 3, 1000] {
            let verification = try await verified(limit)
            #expect(verification.isComplete)
            #expect(verification.breaks.map(\.user) == [alice], "\(limit)")
            #expect(verification.breaks.map(\.number) == [number], "\(limit)")
            #expect(verification.users == 2)
        }
        #expect(try fixture.problems().contains { $0.contains("audit log") || $0.contains("last numbers") })
    }
}
