import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// A database server that goes away, is slow, takes no writes, or lacks statistics.
@Suite(.enabled(if: TestSchema.hasSessions)) struct PostgreSQLServerTests: LedgerSuite {
    let fixture: LedgerFixture
    let schema: TestSchema

    init() throws {
        fixture = try LedgerFixture()
        schema = try #require(fixture.schema)
    }

    private static func isAbsence(_ error: any Error) -> Bool { (error as? StorageFault)?.cause == .unreachable }

    /// A failover takes seconds. A redemption reads its caller's key first, so reads wait as long as writes.
    @Test func `reads and writes wait for a server during a failover`() async throws {
        let (line, address) = try schema.line()
        // The address of a standby, too, which is the same server here.
        let place = "127.0.0.1:\(line.port)"
        let ledger = try Ledger(try PostgreSQLAddress(address.replacing(place, with: "\(place),\(place)")))
        let alice = alice
        _ = try await ledger.write { try $0.redeem([claim("1")], for: alice, at: Self.now) }
        line.goAway()
        let gone = ContinuousClock.now
        async let items = ledger.read { try $0.items(of: alice, at: Self.now) }
        async let results = ledger.write { try $0.redeem([claim("2")], for: alice, at: Self.now) }.results
        await expectEventually {
            // A ping fails at once.
            await #expect(throws: StorageFault.self) { try await ledger.ping() }
            return line.refusalCount > 5 && ContinuousClock.now - gone > .seconds(4)
        }
        line.mend()
        #expect(try await items == [Self.sprout1])
        #expect(try await results == [.granted])
        try await ledger.ping()
    }

    /// The address of standbys leads to the primary, as after a promotion.
    @Test func `the primary answers for a server that is no standby`() async throws {
        let ledger = try Ledger(PostgreSQLAddress(schema.address, replicas: schema.address))
        let replicas = try #require(ledger.replicas)
        let alice = alice
        #expect(replicas.position == nil)
        let receipt = CommitReceipt()
        try await CommitReceipt.$current.withValue(receipt) {
            _ = try await ledger.read { try $0.items(of: alice, at: Self.now) }
            #expect(receipt.position == nil)
            _ = try await ledger.write { try $0.redeem([claim("1")], for: alice, at: Self.now) }
        }
        let position = try #require(replicas.position)
        #expect(receipt.position == position)
        await expectEventually { replicas.state.isUp == false }
        try await LedgerPosition.$required.withValue(position) {
            let items = try await ledger.read(mayLag: true) { try $0.items(of: alice, at: Self.now) }
            #expect(items == [Self.sprout1])
        }
        #expect(replicas.state.answered == 0)
        #expect(replicas.state.passedOn == 1)
        _ = try await ledger.write { try $0.redeem([claim("2")], for: alice, at: Self.now) }
        #expect(replicas.position != position)
        #expect(receipt.position == position)
    }

    /// With one host, nothing can take the server's place.
    @Test(arguments: [true, false])
    func `a lost server without a standby is soon reported, and used again`(closes: Bool) async throws {
        let (line, address) = try schema.line()
        let ledger = try Ledger(try PostgreSQLAddress(address))
        let alice = alice
        _ = try await ledger.write { try $0.redeem([claim("1")], for: alice, at: Self.now) }
        if closes { line.goAway() } else { line.vanish() }
        let gone = ContinuousClock.now
        for _ in 0..<2 {
            await #expect { try await ledger.read { try $0.items(of: alice, at: Self.now) } } throws: {
                Self.isAbsence($0)
            }
            await #expect {
                try await ledger.write { try $0.redeem([claim("2")], for: alice, at: Self.now) }
            } throws: { Self.isAbsence($0) }
        }
        // Each of the four would wait twenty seconds for a failover.
        #expect(ContinuousClock.now - gone < .seconds(40))
        #expect(ledger.serverReachability?.isReachable == false)
        guard closes else { return }
        line.mend()
        await expectEventually { (try? await ledger.ping()) != nil }
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        let answer = try await ledger.write { try $0.redeem([claim("2")], for: alice, at: Self.now) }
        #expect(answer.results == [.granted])
    }

    @Test func `a statement that takes long does not lose its server`() async throws {
        let (line, address) = try schema.line()
        let ledger = try Ledger(try PostgreSQLAddress(address))
        let process: Int64? = try await ledger.read { transaction in
            let _: String? = try transaction.database.value("SELECT pg_sleep(4)::text", [])
            return try transaction.database.value("SELECT pg_backend_pid()::bigint", [])
        }
        let again: Int64? = try await ledger.read { try $0.database.value("SELECT pg_backend_pid()::bigint", []) }
        #expect(process != nil && process == again)
        #expect(line.refusalCount == 0)
    }

    /// A read replica answers, but takes no writes. A failover may make it the primary again.
    @Test func `a server that takes no writes is told from one that is gone`() async throws {
        let ledger = ledger
        let role = "replica_\(UUID().uuidString.prefix(8).lowercased())"
        try schema.execute("CREATE ROLE \(role) LOGIN; ALTER ROLE \(role) SET default_transaction_read_only = on")
        defer { _ = try? schema.execute("DROP ROLE \(role)") }
        let address = try PostgreSQLAddress(schema.address.replacing("//till@", with: "//\(role)@"))
        let fault = try #require(throws: StorageFault.self) { try Ledger(address) }
        #expect(fault.cause == .readOnly)
        #expect(fault.message.contains("read replica") && fault.message.contains("session is read-only"))
        try await ledger.ping()
    }

    /// PostgreSQL takes statistics of a table after its first fifty rows, minutes later.
    @Test(.enabled(if: !TestSchema.isDistributed)) func `a check names large tables without statistics`() async throws {
        try schema.execute(#"ALTER TABLE "user" SET (autovacuum_enabled = false)"#)
        func add(_ numbers: ClosedRange<Int>) async throws {
            let users = numbers.compactMap { User(name: "user\($0)") }
            try await ledger.write { transaction in
                for user in users { _ = try transaction.number(of: user, at: Self.now) }
            }
        }
        try await add(1...50)
        #expect(try ledger.check().tablesWithoutStatistics == [])
        try await add(51...51)
        #expect(try ledger.check().tablesWithoutStatistics.contains("user"))
        var text = Data()
        _ = try ledger.export { text.append($0) }
        var rest: Data? = text
        let other = try fixture.another()
        _ = try other.importLines { () throws(ImportError) -> Data? in
            defer { rest = nil }
            return rest
        }
        #expect(try other.check().tablesWithoutStatistics == [])
    }
}
