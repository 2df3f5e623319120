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
}
