import Ledger
import Proofs
import Testing

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

    @Test func `an unreachable server is reported without the password`() throws {
        // No server listens on port 1.
        let address = try PostgreSQLAddress("postgres://till:secret@127.0.0.1:1/till")
        let fault = StorageFault(cause: .unreachable, path: "postgres://till@127.0.0.1:1/till")
        #expect(throws: fault) { try Ledger(address) }
        #expect(!fault.message.contains("secret"))
    }
}
