import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// A pooler that gives each transaction another session of the server.
@Suite(.enabled(if: TestSchema.givesTransactions)) struct PoolerTests: LedgerSuite {
    let fixture: LedgerFixture
    let schema: TestSchema

    init() throws {
        fixture = try LedgerFixture()
        schema = try #require(fixture.schema)
    }

    private static let settings = """
        SELECT current_setting('synchronous_commit') || ' ' || current_setting('enable_seqscan') || ' '
            || current_setting('lock_timeout')
        """

    @Test func `each transaction has the settings, and leaves none behind`() async throws {
        let usual = try schema.execute(Self.settings)
        #expect(usual == ["on on 0"])
        for _ in 0..<8 {
            #expect(try await ledger.read { try $0.database.value(Self.settings, []) } == "on off 10s")
            #expect(try await ledger.write { try $0.database.value(Self.settings, []) } == "on off 10s")
            #expect(try await ledger.read(.statement) { try $0.database.value(Self.settings, []) } == "on off 10s")
            #expect(try schema.execute(Self.settings) == usual)
        }
    }

    @Test func `no statement has a name`() async throws {
        _ = try await redeem(claim(), for: alice)
        _ = try await ledger.read { [alice] in try $0.items(of: alice, at: Self.now) }
        let names: Int64? = try await ledger.read {
            try $0.database.value("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''", [])
        }
        #expect(names == 0)
    }

    @Test func `services hear of each other's changes over the server itself`() async throws {
        let (here, there) = (try fixture.again(), try fixture.again())
        let heard = Mutex<Set<Int64>>([])
        here.observe { users in heard.withLock { $0.formUnion(users) } }
        there.observe { _ in }
        _ = try await redeem(claim("1"), for: alice)
        let users = [alice, bob]
        var number = 1
        // The first notifications may come before the other one listens.
        await expectEventually {
            number += 1
            let claim = claim("\(number)", item: Item(collection: "s", number: number))
            let user = users[number % 2]
            _ = try? await there.write { try $0.redeem([claim], for: user, at: Self.now) }
            return heard.withLock { $0.count } == 2
        }
        #expect(try fixture.problems() == [])
    }
}
