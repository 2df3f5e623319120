import Ledger
import TestSupport
import Testing

/// A redemption and a transfer of one purchase, in transactions that two servers check separately, as the workers of a distributed
/// database do. The keys of purchases are on one server, and the rows of users on the other.
@Suite(.enabled(if: TestSchema.hasSessions, "no PostgreSQL server of its own"))
struct OwnerRaceTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// The statement by which a redemption requires the owner that it has read.
    private func requirement() async throws -> String {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2", original: "1"), for: alice)
        let statements: [String] = try await ledger.read(.statement) {
            try $0.database.rows(
                """
                SELECT statement FROM pg_prepared_statements
                WHERE statement LIKE 'UPDATE "claim" %' AND statement LIKE '% 1 / (%'
                """
            ) { try $0.next() }
        }
        return try #require(statements.first)
    }

    /// The identifier of the purchase.
    private static let one = "\\x\(PackedText.bytes(of: "1").hexadecimal)"

    /// The sessions of one use case on both servers.
    private struct UseCase {
        let keys: TestSession
        let users: TestSession
        let isolation: String

        func begin() throws {
            for session in [keys, users] { try session.run("BEGIN ISOLATION LEVEL \(isolation)") }
        }

        func owner() throws -> String? {
            try keys.run("SELECT owner_id FROM claim WHERE transaction_id = '\(one)'").first
        }

        /// Writes for a user, if no other has written since the version was read.
        func write(for user: String) throws {
            let version = try users.run(#"SELECT version FROM "user" WHERE user_id = \#(user)"#).first ?? ""
            let written = try users.run(
                #"UPDATE "user" SET version = version + 1 WHERE user_id = \#(user) AND version = \#(version) RETURNING 1"#
            )
            #expect(written == ["1"])
        }

        func transfer(to user: String) throws {
            try keys.run("UPDATE claim SET owner_id = \(user) WHERE transaction_id = '\(one)'")
        }

        func commit() throws {
            for session in [keys, users] { try session.run("COMMIT") }
        }
    }

    private struct World {
        let redemption: UseCase
        let transfer: UseCase
        let alice: String
        let bob: String
        let schemas: [TestSchema]

        /// Gives alice the purchase.
        init(isolation: String) throws {
            let (keys, users) = (try TestSchema(), try TestSchema())
            schemas = [keys, users]
            for schema in schemas { _ = try Ledger(try PostgreSQLAddress(schema.address)) }
            func useCase() -> UseCase {
                UseCase(keys: TestSession(keys), users: TestSession(users), isolation: isolation)
            }
            (redemption, transfer) = (useCase(), useCase())
            (alice, bob) = ("1", "2")
            for user in [alice, bob] {
                try users.execute(
                    """
                    INSERT INTO "user" (user_id, issuer, name, app_account_token, is_app_account_token_settled,
                        first_seen_at, version, last_transaction, last_grant, audit_number, audit_digest)
                    VALUES (\(user), '', 'u\(user)', decode(repeat('0\(user)', 17), 'hex'), 0, 0, 1, 0, 0, 0, decode(repeat('00', 32), 'hex'))
                    """)
            }
            try keys.execute(
                """
                INSERT INTO claim (transaction_id, origin, app, user_id, owner_id)
                VALUES ('\(one)', 4, 1, \(alice), \(alice))
                """)
        }
    }

    /// The arguments of the requirement: the owner, then the key.
    private func arguments(_ owner: String) -> [String] { ["{\(owner)}", "{\"\\\(Self.one)\"}", "{4}", "{1}"] }

    @Test(arguments: [("SERIALIZABLE", "40001"), ("REPEATABLE READ", "40001"), ("READ COMMITTED", "22012")])
    func `a redemption does not commit after the transfer of its purchase`(isolation: String, state: String)
        async throws
    {
        let requirement = try await requirement()
        for isRequired in [false, true] {
            let world = try World(isolation: isolation)
            try world.redemption.begin()
            #expect(try world.redemption.owner() == world.alice)
            try world.transfer.begin()
            try world.transfer.transfer(to: world.bob)
            for user in [world.alice, world.bob] { try world.transfer.write(for: user) }
            try world.transfer.commit()
            // On the other server, this is the first statement of the redemption, which sees what the transfer has written.
            try world.redemption.write(for: world.alice)
            if isRequired {
                #expect(throws: TestSession.Refusal(state: state)) {
                    try world.redemption.keys.run(requirement, arguments(world.alice))
                }
            } else {
                // Neither server alone notices the conflict.
                try world.redemption.commit()
            }
        }
    }

    @Test func `a transfer does not commit after a redemption of the purchase`() async throws {
        let requirement = try await requirement()
        let world = try World(isolation: "SERIALIZABLE")
        try world.transfer.begin()
        #expect(try world.transfer.owner() == world.alice)
        try world.redemption.begin()
        #expect(try world.redemption.owner() == world.alice)
        try world.redemption.keys.run(requirement, arguments(world.alice))
        try world.redemption.write(for: world.alice)
        try world.redemption.commit()
        #expect(throws: TestSession.Refusal(state: "40001")) { try world.transfer.transfer(to: world.bob) }
    }
}
