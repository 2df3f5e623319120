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
            self.init(command.split(separator: " ").map(String.init), environment: environment, status: status, message)
        }

        init(_ arguments: [String], environment: [String: String] = [:], status: Int32 = 64, _ message: String) {
            self.arguments = arguments
            self.environment = environment
            self.status = status
            self.message = message
        }

        var testDescription: String { arguments.joined(separator: " ") }
    }

    @Test(arguments: [
        Mistake("serv", #"There is no command "serv". Did you mean "serve"?"#),
        Mistake("produts", #"There is no command "produts". Did you mean "products"?"#),
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
        Mistake("buy -- --nonsense", "Missing expected argument '<user>'"),
        Mistake("buy x --outcome purchased", "Missing expected argument '<user>'"),
        Mistake(
            "serve --tls-certificate c.pem --tls-key k.pem", status: 1,
            #"`tls-certificate` must be the path of an existing file; --tls-certificate is "c.pem"."#),
        Mistake(
            "serve --app-store-key k.p8 --app-store-key-id k --app-store-issuer-id i --accept apple/Sandbox", status: 1,
            #"`app-store-key` must be the path of an existing file; --app-store-key is "k.p8"."#),
        Mistake(
            "serve", environment: ["TILL_PORT": "abc"],
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

    @Test(arguments: mistakes)
    func `a wrong input gets a sentence that names the remedy, and no form of another command`(
        _ mistake: Mistake
    ) async throws {
        let till = try TillProcess()
        let result = try await till.run(
            arguments: mistake.arguments,
            environment: ["TILL_API_KEY": "", "TILL_TOKEN": ""].merging(mistake.environment) { $1 })
        #expect(result.status == mistake.status, "\(result)")
        #expect(result.error.contains(mistake.message), "\(result.error)")
        #expect(result.output == "")
        let usage = result.error.split(separator: "\n").filter { $0.hasPrefix("Usage: ") }
        #expect(usage.allSatisfy { $0.hasPrefix("Usage: till \(mistake.arguments[0])") }, "\(result.error)")
    }

    /// Wrong inputs of every kind: words, values, numbers, dates, files, combinations, and what is not there.
    private static let mistakes = [
        Mistake("bu", #"There is no command "bu". Did you mean "buy"?"#),
        Mistake("import other", #"There is no command "import other"."#),
        Mistake("completion tcsh", "Please provide one of 'bash', 'zsh' or 'fish'. The shell"),
        Mistake("buy x --user", "Missing value for '--user <user>'. The user"),
        Mistake("buy x --user=", "The value '' is invalid for '--user <user>'. The user"),
        Mistake(["buy", "x", "--user", ""], "The value '' is invalid for '<user>'. The user"),
        Mistake(["buy", "x", "--user", "a b"], "The value 'a b' is invalid for '<user>'. The user"),
        Mistake("buy x --user a --outcome bad", "The value 'bad' is invalid for '--outcome <outcome>'. The outcome"),
        Mistake("buy x --user a --kill-after xx", #"Unknown step "xx". The steps are paymentAdded, "#),
        Mistake("owned", "Missing expected argument '<user>'. The user"),
        Mistake("owned a b", "Unexpected argument 'b'.\nUsage: till owned"),
        Mistake("owned a --server foo", "The value 'foo' is invalid for '--server <url>'. The address of a running"),
        Mistake("owned a --server http://x.com", "would send the credential unencrypted. Use https"),
        Mistake("owned a --server https://127.0.0.1:1", "Put the service's API key into TILL_API_KEY"),
        Mistake("owned a --ca-file x", "--ca-file needs --server."),
        Mistake("owned a --issuer=", "The value '' is invalid for '--issuer <issuer>'. The issuer"),
        Mistake("owned a --accept foo", "for '--accept <origin>'. Please provide one of apple/Production, "),
        Mistake("owned a --accept apple/Production --accept local/Sandbox", "cost nothing. Leave out one of them."),
        Mistake("why alice sprout x", "The value 'x' is invalid for '<number>'. The number of the item"),
        Mistake("why alice sprout", "Missing expected argument '<number>'. The number of the item"),
        Mistake("give alice sprout 1", "Missing expected argument '--reason <reason>'. The reason"),
        Mistake("give alice sprout -1 --reason x", "The value '-1' is invalid for '<number>'. The number"),
        Mistake(
            "give alice sprout 1 --reason x --until tomorrow",
            "The value 'tomorrow' is invalid for '--until <date>'. The end (of the grant: a date (2027-01-31)"),
        Mistake("add alice seeds -5 --reason x", "The value '-5' is invalid for '<amount>'. The amount."),
        Mistake("add alice seeds x --reason x", "The value 'x' is invalid for '<amount>'. The amount."),
        Mistake("story alice --month 2027-13", "invalid for '--month <month>'. A month in UTC, such as 2027-03"),
        Mistake("story alice --kind foo", "Please provide one of purchases, renewals, refunds, "),
        Mistake("story alice --limit 0", "Error: --limit must be a number from 1 to 1000.\n"),
        Mistake("buy x --user a --store foo", "Please provide one of 'app_store' and 'play_store'. The store"),
        Mistake(
            "reconcile --app-store-key none.p8 --app-store-key-id a --app-store-issuer-id b",
            "Apple's API serves only apple/Production and apple/Sandbox. Name another address with --url."),
        Mistake(
            "reconcile --key none.p8 --key-id a --issuer-id b --accept apple/Sandbox --data .", status: 1,
            #"has no ledger."#),
        Mistake("story alice --limit -5", "The value '-5' is invalid for '--limit <limit>'. The number of rows"),
        Mistake("story alice --limit abc", "The value 'abc' is invalid for '--limit <limit>'. The number of rows"),
        Mistake("customers", "Missing expected argument '<text>'. A part of a name, or a whole"),
        Mistake("customers list foo", "Please provide one of all, newest, lastPurchase, "),
        Mistake("move alice 1", "Missing expected argument '<other>'. The other user"),
        Mistake("erase-user alice", "Erasure cannot be undone. Repeat the name: --confirm alice"),
        Mistake("attributes set alice level", "Missing expected argument '<value>'. The value"),
        Mistake("unclaimed --day foo", "The value 'foo' is invalid for '--day <day>'. Only purchases"),
        Mistake("unclaimed list --day 2027-02-30", "The value '2027-02-30' is invalid for '--day <day>'."),
        Mistake("serve --port abc", #"`port` must be a number from 0 to 65535; --port is "abc"."#),
        Mistake("serve --port -1", "The value '-1' is invalid for '--port <n>'. The port; 0 for any free one"),
        Mistake("serve --idle-seconds -5", "The value '-5' is invalid for '--idle-seconds <seconds>'. The time"),
        Mistake("serve --log-level foo", "`log-level` must be one of trace, "),
        Mistake("serve --accept foo", "`accept` must be one or more of apple/Production, "),
        Mistake("serve --config none.json", status: 1, "none.json does not exist. Name another one with --config."),
        Mistake("serve --sandbox-key x", "--sandbox-key needs --store, --play or --allow-reset."),
        Mistake("serve --store --sandbox-key x", "--sandbox-key must have 16 to 256 characters of ASCII"),
        Mistake("serve --play-port 5", "--play-port needs --play."),
        Mistake("serve --store --accept apple/Production", status: 1, "leave out --store, or run `till store`"),
        Mistake(
            "serve --allow-reset --accept apple/Sandbox", status: 1,
            "`allow-reset` must be left out where a store's customers buy, and accept has apple/Sandbox"),
        Mistake("serve extra", "Unexpected argument 'extra'.\nUsage: till serve"),
        Mistake("serve --ledger foo", status: 1, "is not a PostgreSQL URL. Use the form postgres://"),
        Mistake("reconcile --days 0", "--days must be a number from 1 to 180."),
        Mistake("trust add none.cer", status: 1, "none.cer\" does not exist. Check the path."),
        Mistake("trust add none.cer --package x", "--package must be the name of an Android app, such as com.example."),
        Mistake("receipt validate none", status: 1, #""none" does not exist. Check the path."#),
        Mistake("receipt validate x --guid xx", "The value 'xx' is invalid for '--guid <id>'. The required device"),
        Mistake("receipt validate x --environment foo", "Please provide one of 'Production', 'Sandbox', "),
        Mistake("receipt validate x --app-key zz", "Add --bundle-id."),
        Mistake("init --storekit none --bundle-id a", status: 1, "none: the file is missing."),
        Mistake("init --storekit none --bundle-id a_b", "is not a bundle identifier. Use letters, digits, hyphens"),
        Mistake("import revenuecat none.csv", status: 1, #""none.csv" does not exist. Check the path."#),
        Mistake("ledger check", status: 1, "has no ledger. Name the data directory with --data"),
        Mistake("ledger check --ledger mysql://x", status: 1, "is not a PostgreSQL URL. Use the form postgres://"),
        Mistake("ledger restore none", status: 1, "does not exist. Check the path."),
        Mistake("keys make x --scope foo", "Please provide one of read, redeem, grant, "),
        Mistake("keys make x --until foo", "--until must be a number of days from 1d to 36500d"),
        Mistake("keys make x --until -1d", "The value '-1d' is invalid for '--until <date>'. The end (of the key"),
        Mistake("keys make x --expires 2020-01-01", "--until must be in the future"),
        Mistake("keys make --public", "A public key is for one app. Name it with --"),
        Mistake("console add-user ada --role boss", "Please provide one of 'viewer', 'support', 'catalog' or 'admin'."),
        Mistake("demo --port 99999", #"--port must be a number from 0 to 65535; it is "99999"."#),
        Mistake("demo --seed x", "The value 'x' is invalid for '--seed <n>'. The number that decides the sales."),
        Mistake(
            "figures foo", "The value 'foo' is invalid for '<figure>'. Please provide one of units, transactions, "),
        Mistake("figures revenue --by year", "Please provide one of 'day', 'week' or 'month'."),
        Mistake("figures revenue --from 2027-02-30", "The value '2027-02-30' is invalid for '--from <date>'. The"),
        Mistake("export foo", "Please provide one of 'transactions', 'customers' or 'events'."),
        Mistake("export transactions --cursor x", "--cursor needs --server."),
        Mistake("export transactions --format xml", "Please provide one of 'csv' and 'jsonl'."),
        Mistake("webhooks change x", "Name a change, such as --url, --message-type, --bundle-id or --authorization."),
        Mistake("webhooks resend x --from 2027-01-01", "--from and --to need each other."),
        Mistake("webhooks resend x --from 1 --to 2", "The value '1' is invalid for '--from <date>'. The"),
        Mistake("webhooks secret x --overlap 5", "--overlap needs --rotate."),
        Mistake("webhooks secret x --rotate --overlap -5", "The value '-5' is invalid for '--overlap <seconds>'. With"),
        Mistake("refunds --limit 0", "--limit must be a number from 1 to 1000."),
        Mistake("notifications --store foo", "Please provide one of 'app_store' and 'play_store'."),
        Mistake("products --locale xx", #"There are no texts in "xx": choose one of en, ko."#),
        Mistake("products --collection nope", #"There is no collection "nope": choose one of background, sprout."#),
        Mistake("products undo x", "The value 'x' is invalid for '<change>'. The number of the change"),
        Mistake("products compare --days 0", "--days must be a number from 1 to 3650."),
        Mistake("store buy x --account a --quantity -1", "The value '-1' is invalid for '--quantity <quantity>'. The"),
        Mistake("store buy x --account a --app-account-token x", "An account token must be a UUID."),
        Mistake("store time --advance -5d", "The value '-5d' is invalid for '--advance <time>'. The time to advance"),
        Mistake("store time --advance 5", "The value '5' is invalid for '--advance <time>'. The time to advance"),
        Mistake("store time", status: 1, "has no store. Name the data directory with --data"),
        Mistake("store approve x", "The value 'x' is invalid for '<id>'."),
        Mistake("store subscription foo 1", "Please provide one of renew, fail, expire, "),
        Mistake("store settings --receipt-status abc", "--receipt-status must be a number, or empty."),
        Mistake("store serve --port abc", "The value 'abc' is invalid for '--port <port>'. The port; 0 for any free"),
        Mistake("store serve --products none", "Name both --products and --bundle-id, or neither."),
        Mistake("store reset --foo", "Error: Unknown option '--foo'\n  See 'till store reset --help'"),
        Mistake("play time --advance 3d", status: 1, "has no local Google Play. Name the data directory with --data"),
        Mistake("play buy x", "Missing expected argument '--account <account>'. The"),
    ]

    @Test func `a value that the service never accepts is wrong usage, in the words of the command line`() async throws
    {
        let till = try TillProcess()
        #expect(try await till.run("keys", "make", "shop").status == 0)
        for mistake in [
            Mistake(
                ["give", "a", "sprout", "1", "--reason", ""], "till: --reason must have 1 to 500 visible characters"),
            Mistake("add alice seeds 0 --reason x", "till: The amount must be a number from 1 to "),
            Mistake("webhooks add foo", "The URL of a webhook must have the scheme https"),
            Mistake(
                "figures revenue --from 2027-02-02 --to 2027-01-01", "The first day must not be after the last day"),
            Mistake("give alice sprout 9999 --reason x", status: 1, "No product of the catalog grants sprout 9999."),
        ] {
            let result = try await till.run(arguments: mistake.arguments)
            #expect(result.status == mistake.status, "\(mistake.arguments): \(result)")
            #expect(result.error.contains(mistake.message), "\(result.error)")
        }
    }

    @Test func `with --json, wrong usage is printed as JSON, too`() async throws {
        let till = try TillProcess(hasKeys: false)
        for (arguments, sentence) in [
            (["story", "alice", "--limit", "0", "--json"], "--limit must be a number from 1 to 1000."),
            (["buy", "x", "--json"], "Missing expected argument '<user>'. The user"),
            (["nonsense", "--json"], #"There is no command "nonsense"."#),
            (["products", "--locale", "xx", "--json"], #"There are no texts in "xx": choose one of en, ko."#),
        ] {
            let result = try await till.run(arguments: arguments)
            #expect(result.status == 64 && result.code == "usageInvalid", "\(result)")
            let message = try result.json()["message"]?.text
            #expect(message?.hasPrefix(sentence) == true, "\(result.output)")
            #expect(result.error.hasPrefix("Error: \(message ?? "")\n"), "\(result.error)")
        }
        let setting = try await till.run("serve", "--port", "abc", "--json")
        #expect(setting.status == 64 && setting.code == "configurationInvalid")
    }

    @Test(arguments: [
        ["--help"], ["serve", "--help"], ["--experimental-dump-help"], ["version"], ["completion", "bash"],
        ["products"],
        ["products", "--json"], ["export", "transactions"], ["status"],
    ])
    func `a reader that closes the pipe is no error`(arguments: [String]) async throws {
        let till = try TillProcess(hasKeys: false)
        // The export needs a ledger.
        #expect(try await till.run("keys", "make", "shop").status == 0)
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let result = try await till.run(arguments: arguments, output: pipe.fileHandleForWriting)
        #expect(result.status == 0 && result.signal == nil, "\(result)")
        // The export notes that no service has run over the ledger.
        #expect(!result.error.contains("Error"), "\(result.error)")
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
