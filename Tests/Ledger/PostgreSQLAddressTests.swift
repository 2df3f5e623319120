import Ledger
import Proofs
import Testing
import Vocabulary

@Suite struct PostgreSQLAddressTests {
    @Test(arguments: [
        ("postgres://till@localhost/till", "postgres://till@localhost/till"),
        ("postgresql://till:pa%20ss@db:5433/till", "postgres://till@db:5433/till"),
        ("postgres://till:pass@a,b:5433/till?target_session_attrs=any", "postgres://till@a,b:5433/till"),
        ("postgres://a:1,b:2/till?password=pass&sslmode=require", "postgres://a:1,b:2/till"),
        ("postgres://%2Frun%2Fpostgresql/till?user=till", "postgres://till@/run/postgresql/till"),
    ])
    func `the description of an address has no password`(url: String, name: String) async throws {
        #expect(try PostgreSQLAddress(url).description == name)
    }

    @Test(arguments: [
        "", "till", "host=localhost dbname=till", "http://localhost/till", "postgres://till:secret@localhost:x?y/till",
        "postgres://till:ab/secret@localhost/till", "postgres://till:p@secret@localhost/till",
        "postgres://till:secret/till",
        "postgres://till:secret@[::1/till", "postgres://localhost/till?color=secret",
    ])
    func `an invalid address is refused and not repeated`(url: String) {
        #expect(throws: PostgreSQLAddressError()) { try PostgreSQLAddress(url) }
        #expect(!PostgreSQLAddressError().message.contains("secret"))
    }

    @Test(arguments: [
        "postgres://till:secret@127.0.0.1:1/till", "postgres://till:secret@127.0.0.1:1,127.0.0.1:1/till",
    ])
    func `an unreachable server is reported with the reason, and without the password`(url: String) throws {
        // No server listens on port 1.
        let address = try PostgreSQLAddress(url)
        let fault = try #require(throws: StorageFault.self) { try Ledger(address) }
        #expect(fault.cause == .unreachable)
        #expect(fault.path == address.description)
        #expect(fault.reason?.contains("Connection refused") == true, "\(fault.reason ?? "")")
        #expect(!fault.message.contains("secret") && !fault.message.contains("\n"))
    }

    @Test func `a direct address is that of a pooler's server`() throws {
        let address = try PostgreSQLAddress(
            "postgres://till@pooler:6432/till", direct: "postgres://till:secret@db/till")
        #expect(address.isPooled)
        #expect(address.description == "postgres://till@pooler:6432/till")
        #expect(address.direct.description == "postgres://till@db/till")
        #expect(!address.direct.isPooled)
        let server = try PostgreSQLAddress("postgres://till@db/till")
        #expect(!server.isPooled)
        #expect(server.direct.description == server.description)
        #expect(throws: PostgreSQLAddressError()) {
            try PostgreSQLAddress("postgres://till@pooler/till", direct: "http://secret")
        }
    }
}
