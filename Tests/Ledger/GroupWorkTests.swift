import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The work of the database for a group: on PostgreSQL its scans and the rows that they read, in a file the steps of SQLite's machine.
@Suite(.enabled(if: !TestSchema.isDistributed, "each node of Citus counts for itself"))
struct GroupWorkTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static func work(in database: any LedgerDatabase) throws -> Int64 {
        try database.single(
            LedgerFixture.isFile
                ? "SELECT coalesce(sum(nstep), 0) FROM sqlite_stmt"
                : """
                SELECT CAST(coalesce(sum(seq_scan + seq_tup_read + coalesce(idx_scan + idx_tup_fetch, 0)), 0) AS BIGINT)
                FROM pg_stat_xact_user_tables WHERE schemaname = current_schema()
                """)
    }

    /// A group with a known purchase of each user, and with a purchase of another user, which is refused. Each request has a key.
    private func requests(of users: Range<Int>, at moment: Timestamp) throws -> [ClaimRequest] {
        let facts = TransactionFacts([.type: .text(ProductType.autoRenewableSubscription.rawValue)])
        let renewal = StatedRenewal(
            statedAt: moment, proofDigest: [UInt8](repeating: 7, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(1)]))
        return try users.map { number in
            let own = claim(
                "\(number)", signedAt: moment, expiresAt: Self.later(100_000), facts: facts, renewal: renewal)
            let other = claim("\(number - 1)", signedAt: moment, expiresAt: Self.later(100_000))
            var presented = PresentedClaims(
                [own, other], for: try #require(User(name: "user\(number)")), accepting: [.localSandbox], by: .user)
            presented.keeping = AnswerKeeping(
                key: IdempotencyKey(caller: "user\(number)", key: "\(number)"), oldest: Self.now
            ) { _ in nil }
            return .redeem(presented)
        }
    }

    @Test func `a redemption in a group of 64 is no more work than in one of 8`() async throws {
        // A build of SQLite may lack the table of its statements.
        if LedgerFixture.isFile {
            let option = "SELECT 1 FROM pragma_compile_options WHERE compile_options = 'ENABLE_STMTVTAB'"
            guard try await ledger.read(.statement, { try $0.database.hasRow(option) }) else { return }
        }
        var work: [Int: Int64] = [:]
        for (moment, groups) in [[0..<73], [1..<9, 9..<73]].enumerated() {
            for users in groups {
                let requests = try requests(of: users, at: Self.later(Int64(moment)))
                work[users.count] = try await ledger.write { transaction in
                    let before = try Self.work(in: transaction.database)
                    let answers = try transaction.decide(
                        requests, under: .keep, accepting: AcceptedOrigins([.localSandbox]),
                        at: Self.later(Int64(moment)))
                    let results = answers.compactMap { answer in
                        if case .redeemed(let redeemed) = answer { redeemed.results } else { nil }
                    }
                    #expect(results.count == users.count)
                    if moment == 1 { #expect(Set(results) == [[.alreadyRedeemed, .ownedByAnotherUser]]) }
                    return try Self.work(in: transaction.database) - before
                }
            }
        }
        let (small, large) = try (Double(#require(work[8])) / 8, Double(#require(work[64])) / 64)
        #expect(small > 0 && large <= 1.1 * small, "\(small) and \(large) for each redemption")
        #expect(try fixture.problems() == [])
    }
}
