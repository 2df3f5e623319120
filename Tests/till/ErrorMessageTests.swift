import Foundation
import TestSupport
import Testing

/// The messages of frequent mistakes. Each names the error and the remedy.
@Suite struct ErrorMessageTests {
    /// A mistake on the command line, and its message.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let environment: [String: String]
        let status: Int32
        let message: String

        init(_ command: String, environment: [String: String] = [:], status: Int32 = 64, _ message: String) {
            arguments = command.split(separator: " ").map(String.init)
            self.environment = environment
            self.status = status
            self.message = message
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Mistake("serv", #"There is no command "serv". Did you mean "serve"?"#),
        Mistake("produts --json", #"There is no command "produts". Did you mean "products"?"#),
        Mistake("store bui x", #"There is no command "store bui". Did you mean "store buy"?"#),
        Mistake("keys mak", #"There is no command "keys mak". Did you mean "keys make"?"#),
        Mistake("xyzzy", #"There is no command "xyzzy"."#),
        Mistake("store xyzzy", "See 'till store --help' for more information."),
        Mistake("buy --product x --user alice", "Unknown option '--product'"),
        Mistake("buy --nonsense", "Unknown option '--nonsense'\n  See 'till buy --help' for more information."),
        Mistake("buy x --usr alice", "Unknown option '--usr'. Did you mean '--user'?"),
        Mistake("buy x --usr=alice", "Unknown option '--usr'. Did you mean '--user'?"),
        Mistake("store buy --acount a", "Unknown option '--acount'. Did you mean '--account'?"),
        Mistake("buy x --user alice --outcom purchased", "Unknown option '--outcom'. Did you mean '--outcome'?"),
        Mistake("buy x --user alice --prof=receipt", "Unknown option '--prof'. Did you mean '--proof'?"),
        Mistake("store --prot 3", "Unknown option '--prot'. Did you mean '--port'?"),
        Mistake("serve --tls-certficate x", "Unknown option '--tls-certficate'. Did you mean '--tls-certificate'?"),
        Mistake("buy", "Missing expected argument '<product>'"),
        Mistake("buy -- --nonsense", "Missing expected argument '--user <user>'"),
        Mistake("buy x --outcome purchased", "Missing expected argument '--user <user>'"),
        Mistake(
            "serve --tls-certificate c.pem --tls-key k.pem", status: 1,
            #"`tls-certificate` must be the path of an existing file; --tls-certificate is "c.pem"."#),
        Mistake(
            "serve --app-store-key k.p8 --app-store-key-id k --app-store-issuer-id i --accept apple/Sandbox", status: 1,
            #"`app-store-key` must be the path of an existing file; --app-store-key is "k.p8"."#),
        Mistake(
            "serve", environment: ["TILL_PORT": "abc"], status: 1,
            #"`port` must be a number from 0 to 65535; TILL_PORT is "abc"."#),
        Mistake(
            "serve --port 0 --data /dev/null/x", status: 1, "The data directory /dev/null/x cannot be made or written"),
        Mistake("products --catalog nowhere", status: 1, "nowhere/Till.storekit: the file is missing"),
        Mistake(
            "buy nonsense --user alice", status: 1, #"The store sells no product "nonsense". It sells com.memolease."#),
        Mistake(
            "store buy com.memolease.sesac1.sprout --account a", status: 1,
            #"no product "com.memolease.sesac1.sprout". Did you mean "com.memolease.sesac1.sprout1"?"#),
    ])
    func `a mistake is named with its remedy`(_ mistake: Mistake) async throws {
        let till = try TillProcess()
        let result = try await till.run(arguments: mistake.arguments, environment: mistake.environment)
        #expect(result.status == mistake.status)
        #expect(result.error.contains(mistake.message), "\(result.error)")
        #expect(result.output == "")
    }

    @Test func `an unknown product lists the products of this store`() async throws {
        let till = try TillProcess()
        let garden = try TestGarden()
        defer { withExtendedLifetime(garden) {} }
        let catalog = garden.folder.folder("catalog").path
        for arguments in [["buy", "nonsense", "--user", "alice"], ["store", "buy", "nonsense", "--account", "a"]] {
            let result = try await till.run(arguments: arguments + ["--catalog", catalog])
            #expect(result.status == 1)
            #expect(result.error.contains("garden.gate"), "\(result.error)")
            #expect(!result.error.contains("sprout"))
            let report = try await till.run(arguments: arguments + ["--catalog", catalog, "--json"])
            #expect(report.code == "productNotFound")
        }
    }

    @Test func `a key file that is missing is named`() async throws {
        let till = try TillProcess(hasKeys: false)
        try Data("certificate".utf8).write(to: till.folder.file("c.pem"))
        let result = try await till.run("serve", "--tls-certificate", "c.pem", "--tls-key", "k.pem")
        #expect(result.status == 1)
        #expect(result.error.contains(#"`tls-key` must be the path of an existing file; --tls-key is "k.pem"."#))
    }
}
