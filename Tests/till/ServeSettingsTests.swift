import Foundation
import HTTPSupport
import Service
import TestSupport
import Testing
import till

/// The settings of `till serve`: the options, the variables and the file.
@Suite struct ServeSettingsTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `options override variables, and variables override the file`() async throws {
        let settings =
            #"{"host":"10.0.0.1","port":1,"idle-seconds":7,"accept":["xcode","local/Production"],"#
            + #""sandbox-users":["review"],"ownership":"transfer","transfer-pause-seconds":60}"#
        try Data(settings.utf8)
            .write(to: till.folder.file("till.json"))
        let printed = try await till.run(
            arguments: ["serve", "--config", "till.json", "--port", "3", "--print-configuration"],
            environment: ["TILL_PORT": "2", "TILL_HOST": "10.0.0.2", "TILL_LOG_LEVEL": ""])
        let report = try printed.json()
        #expect(report["port"] == .integer(3))
        #expect(report["host"] == .string("10.0.0.2"))
        #expect(report["idle-seconds"] == .integer(7))
        #expect(report["accept"] == .array([.string("local/Production"), .string("xcode")]))
        #expect(report["sandbox-users"] == .array([.string("review")]))
        #expect(report["ownership"] == .string("transfer"))
        #expect(report["transfer-pause-seconds"] == .integer(60))
        #expect(report["log-level"] == .string("info"))
        // The output is a configuration file with the same settings.
        try Data(printed.output.utf8).write(to: till.folder.file("printed.json"))
        let again = try await till.run("serve", "--config", "printed.json", "--print-configuration")
        #expect(again.output == printed.output)
    }

    @Test func `a feature that is off names a setting, and so do the console's pages`() async throws {
        for feature in OptionalOperations.all {
            let option = feature.option.split(separator: " ").first
            #expect(Setting.all.contains { "--\($0.name)" == option }, "\(feature.option)")
        }
        let server = try await ServeProcess(till)
        for path in ["/console", "/console/customers/customer/alice"] {
            let problem = try await server.curl(path).decoded(ProblemResource.self)
            #expect(problem.status == 404 && problem.code == "featureOff")
            #expect(problem.detail.contains("\"console\""))
        }
    }

    @Test func `the source of each setting is printed`() async throws {
        let settings = "{\n  \"idle-seconds\": 7,\n  \"ledger\": \"postgres://till:hidden@db/till\"\n}"
        try Data(settings.utf8).write(to: till.folder.file("till.json"))
        let printed = try await till.run(
            arguments: ["serve", "--config", "till.json", "--port", "3", "--print-configuration"],
            environment: ["TILL_HOST": "10.0.0.2", "TILL_ACCEPT": "xcode"])
        func row(_ name: String) -> [Substring] {
            printed.error.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == name[...] } ?? []
        }
        #expect(row("port") == ["port", "3", "--port"])
        #expect(row("host") == ["host", "10.0.0.2", "TILL_HOST"])
        #expect(row("accept") == ["accept", "xcode", "TILL_ACCEPT"])
        #expect(row("idle-seconds") == ["idle-seconds", "7", "till.json,", "line", "2"])
        #expect(row("grace-seconds") == ["grace-seconds", "30", "default"])
        #expect(!(printed.output + printed.error).contains("hidden"))
    }

    @Test(
        arguments: [
            (#"{"prot":1}"#, [:], "prot", 1), (#"{"port":"many"}"#, [:], "port", 64),
            (#"{"port":70000}"#, [:], "port", 64),
            ("[]", [:], "till.json", 1), ("{", [:], "till.json", 1), (#"{"accept":["nobody"]}"#, [:], "accept", 64),
            (#"{"accept":[]}"#, [:], "accept", 64),
            (#"{"accept":["apple/Production","apple/Sandbox"]}"#, [:], "sandbox-users", 1),
            (#"{"accept":["apple/Sandbox"],"sandbox-users":["review"]}"#, [:], "sandbox-users", 1),
            (#"{"accept":["google/Production","localPlay/Production"]}"#, [:], "because it has google/Production", 1),
            (#"{"accept":["apple/Production","localPlay/Test"]}"#, [:], "because it has apple/Production", 1),
            (#"{"accept":["apple/Production","local/Production"]}"#, [:], "a list without local/Production", 1),
            (#"{"accept":["google/Production","local/Sandbox"]}"#, [:], "a list without local/Sandbox", 1),
            (#"{"accept":["google/Production","google/Test"]}"#, [:], "a list without google/Test", 1),
            (#"{"accept":["apple/Production","google/Test"]}"#, [:], "a list without google/Test", 1),
            (#"{"accept":["apple/Production","google/Production","xcode"]}"#, [:], "a list without xcode", 1),
            (#"{"sandbox-users":["a b c"]}"#, [:], "sandbox-users", 1),
            (#"{"ownership":"mine"}"#, [:], "transferIfInactive", 64),
            (#"{"transfer-pause-seconds":60}"#, [:], "transfer-pause-seconds", 1),
            ("{}", ["TILL_PORT": "x"], "port", 64), ("{}", ["TILL_TLS_KEY": "k.pem"], "tls-certificate", 1),
            (#"{"log-level":"loud"}"#, [:], "log-level", 64),
            (#"{"maximum-connections":0}"#, [:], "maximum-connections", 64),
        ] as [(String, [String: String], String, Int32)])
    func `an invalid setting is refused and named`(
        file: String, environment: [String: String], named: String, status: Int32
    ) async throws {
        try Data(file.utf8).write(to: till.folder.file("till.json"))
        let result = try await till.run(
            arguments: ["serve", "--config", "till.json", "--print-configuration"], environment: environment)
        #expect(result.status == status)
        #expect(result.error.contains(named))
    }

    @Test(
        arguments: [
            (
                #"{"host":"x"}"#, ["TILL_PORT": "abc"], [],
                #"`port` must be a number from 0 to 65535; TILL_PORT is "abc"."#
            ),
            (
                "{\n\"port\": 70000}", [:], [],
                #"`port` must be a number from 0 to 65535; in line 2 of till.json it is "70000"."#
            ),
            ("{}", [:], ["--port", "1.5"], #"`port` must be a number from 0 to 65535; --port is "1.5"."#),
            (
                #"{"apps": [{"port": 1}]}"#, [:], [],
                #"has the unknown setting "apps[0].port""#
            ),
            ("{\n\n\"prot\": 1}", [:], [], #"has, in line 3, the unknown setting "prot". Did you mean "port"?"#),
            (
                "{}", [:], ["--log-level", "inof"],
                #"must be one of trace, debug, info, notice, warning, error, critical; --log-level is "inof". Did you mean "info"?"#
            ),
            (
                #"{"webhooks":"yes"}"#, [:], [],
                #"`webhooks` must be true or false; in line 1 of till.json it is "yes"."#
            ),
            (#"{"accept":"xcode"}"#, [:], [], "`accept` must be one or more of apple/Production, "),
            (#"{"sandbox-users":[1]}"#, [:], [], "`sandbox-users` must be a list of texts; "),
            ("{}", [:], ["--tls-certificate", "c.pem", "--tls-key", "till.json"], #"--tls-certificate is "c.pem"."#),
            ("{}", ["TILL_TLS_KEY": "k.pem"], ["--tls-certificate", "till.json"], #"TILL_TLS_KEY is "k.pem"."#),
            ("{}", [:], ["--tls-key", "k.pem"], "`tls-certificate` must be set together with tls-key."),
            (
                "{}", [:], ["--refund-preference", "DECLINE"],
                "`refund-preference` must be set together with app-store-key; --refund-preference is \"DECLINE\".\n"
            ),
            (
                #"{"allowed-origins":["https://shop.example.com","*"]}"#, [:], [],
                "`allowed-origins` must be a list of origins as browsers send them"
            ),
            ("{}", [:], ["--allowed-origins", "https://a.example/"], "and null are none; --allowed-origins is"),
            (
                "{}", ["TILL_MAIL_PASSWORD": "hidden"], [],
                "`mail-password` must be set together with accounts; TILL_MAIL_PASSWORD is set."
            ),
        ] as [(String, [String: String], [String], String)])
    func `a wrong value is named with its place`(
        file: String, environment: [String: String], arguments: [String], sentence: String
    ) async throws {
        try Data(file.utf8).write(to: till.folder.file("till.json"))
        let result = try await till.run(
            arguments: ["serve", "--config", "till.json", "--print-configuration"] + arguments,
            environment: environment)
        // A value that no service accepts is wrong usage.
        let forms = ["a number from", "one of ", "true or false", "one or more of ", "a list of texts"]
        #expect(result.status == (forms.contains { sentence.contains("must be \($0)") } ? 64 : 1))
        #expect(result.error.contains(sentence), "\(result.error)")
        #expect(!result.error.contains("hidden"))
    }

    @Test func `a variable that nothing reads is named, with the nearest that something does`() async throws {
        let result = try await till.run(
            arguments: ["serve", "--print-configuration"],
            environment: ["TILL_MAXIMUM_CONECTIONS": "3", "TILL_API_KEY": "x"])
        #expect(result.status == 0)
        #expect(
            result.error.contains(
                "The variable TILL_MAXIMUM_CONECTIONS is unknown and has no effect. Did you mean \"TILL_MAXIMUM_CONNECTIONS\"?"
            ))
        #expect(!result.error.contains("TILL_API_KEY"))
        #expect(!result.error.contains("The variable TILL_DATA"))
    }

    @Test func `a sandbox user has an issuer and a name`() async throws {
        func report(_ arguments: String...) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["serve", "--print-configuration", "--accept", "local/Production"] + arguments)
        }
        let users = try await report("--accounts", "--sandbox-users", "review", "--sandbox-users", "till 1f")
        #expect(try users.json()["sandbox-users"] == .array([.string("review"), .string("till 1f")]))
        let stranger = try await report("--sandbox-users", "https://other.example review")
        #expect(stranger.status == 1)
        #expect(stranger.error.contains("\"https://other.example\" is neither jwt-issuer nor till"))
        #expect(try await report("--sandbox-users", "a b c").status == 1)
    }

    @Test(
        arguments: [
            (["--jwt-issuer", "x"], "jwt-audience"),
            (["--jwt-issuer", "", "--jwt-audience", "x", "--jwt-keys", "none.json"], "the service's own users"),
            (["--jwt-issuer", " ", "--jwt-audience", "x", "--jwt-keys", "none.json"], "the service's own users"),
            (["--jwt-issuer", "erased", "--jwt-audience", "x", "--jwt-keys", "none.json"], "the service's own users"),
            (["--jwt-issuer", "x", "--jwt-audience", "", "--jwt-keys", "none.json"], "jwt-audience"),
            (["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "http://example.com/"], "jwt-keys"),
            (
                ["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "none.json"],
                "none.json\" of jwt-keys does not exist. Check the path."
            ),
            (
                ["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "/"],
                "\"/\" of jwt-keys cannot be read. Check that it is a file and that you may read it."
            ),
            (
                ["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "none.json", "--jwt-algorithms", "HS256"],
                "jwt-algorithms"
            ),
        ] as [([String], String)])
    func `token settings that cannot work are refused at the start`(arguments: [String], part: String) async throws {
        let result = try await till.run(arguments: ["serve", "--port", "0"] + arguments)
        // HS256 is an algorithm that no service accepts.
        #expect(result.status == (arguments.contains("HS256") ? 64 : 1))
        #expect(result.error.contains(part))
    }

    @Test func `the log names the catalog of the settings`() async throws {
        let garden = try TestGarden()
        defer { withExtendedLifetime(garden) {} }
        let catalog = garden.folder.folder("catalog").path
        let server = try await ServeProcess(till, ["--catalog", catalog])
        #expect(try server.log.contains("catalog=\(catalog)"))
        let apps = #"{"apps": [{"bundle-id": "\#(TestGarden.bundleIdentifier)", "catalog": "\#(catalog)"}]}"#
        try Data(apps.utf8).write(to: till.folder.file("till.json"))
        let other = try await ServeProcess(till, ["--config", "till.json"])
        #expect(try other.log.contains("catalog=\(catalog)"))
    }
}
