import Ledger
import TestSupport
import Testing

/// The state of the ledger's database.
@Suite struct LedgerStateTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `the state names the database, its version and its size`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2"), for: bob)
        let state = try await ledger.state()
        #expect(
            state.database.firstMatch(of: LedgerFixture.isFile ? /^SQLite 3\.\d+\.\d+$/ : /^PostgreSQL \d+\.\d+$/)
                != nil)
        #expect(state.version == 1)
        #expect(state.size > 4096)
        if LedgerFixture.isFile { #expect(state.users == 2) }
        #expect((ledger.serverReachability == nil) == LedgerFixture.isFile)
        #expect(ledger.serverReachability?.isReachable ?? true)
        #expect(ledger.serverReachability?.lastAbsence == nil)
    }

    /// A database server estimates them.
    @Test(.enabled(if: LedgerFixture.isFile))
    func `a file counts the users of now, from none, and again from none after a reset`() async throws {
        #expect(try await ledger.state().users == 0)
        for first in [1, 3] {
            _ = try await redeem(claim("\(first)"), for: alice)
            #expect(try await ledger.state().users == 1)
            _ = try await redeem(claim("\(first + 1)"), for: bob)
            #expect(try await ledger.state().users == 2)
            _ = try await ledger.write { try $0.reset(at: Self.now) }
            #expect(try await ledger.state().users == 0)
        }
    }

    @Test func `a count without a row is a broken invariant`() async throws {
        await #expect(throws: BrokenInvariant.self) {
            _ = try await ledger.read { try $0.database.single("SELECT 1 WHERE 1 = 0") as Int }
        }
    }
}
