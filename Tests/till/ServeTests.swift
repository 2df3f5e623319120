import Commerce
import Foundation
import TestSupport
import Testing
import Wire

@Suite struct ServeTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private func key(_ scopes: String...) async throws -> String {
        let scopes = scopes.flatMap { ["--scope", $0] }
        let made = try await till.run(arguments: ["keys", "make", "tests", "--json"] + scopes)
        return try made.decoded(MadeKey.self).key
    }

    @Test func `a redeemed receipt survives a kill of the service`() async throws {
        // The purchase runs without the service, so nothing is redeemed yet. The command trusts the store's root.
        let bought = try await till.run(
            "buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        #expect(bought.signal == SIGKILL)
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
            .trimmingCharacters(in: .newlines)
        let key = try await key()
        let first = try await ServeProcess(till)
        let answer = try await first.curl(
            "/v1/users/alice/receipts", key: key, body: "{\"receipt\":\"\(receipt)\"}")
        #expect(answer.status == 200)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till)
        let again = try await second.curl(
            "/v1/users/alice/receipts", key: key, body: "{\"receipt\":\"\(receipt)\"}")
        #expect(try again.decoded(Redemption.self).outcome == .unchanged)
        let list = try await second.curl("/v1/users/alice/transactions", key: key).decoded(TransactionList.self)
        #expect(list.transactions.count == 1)
        #expect(await second.end(SIGTERM) == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal stops the service cleanly`(signal: Int32) async throws {
        let server = try await ServeProcess(till)
        #expect(try await server.curl("/health/ready").status == 204)
        #expect(await server.end(signal) == 0)
    }

    @Test func `a running service refuses a key once it is revoked`() async throws {
        let key = try await key("read")
        let server = try await ServeProcess(till)
        #expect(try await server.curl("/v1/products", key: key).status == 200)
        #expect(try await server.curl("/v1/users/alice/receipts", key: key, body: "{}").status == 403)
        let id = key.split(separator: "_")[1]
        #expect(try await till.run("keys", "revoke", String(id)).status == 0)
        #expect(try await server.curl("/v1/products", key: key).status == 401)
        let list = try await till.run("keys", "list").output
        #expect(list.contains(id))
        #expect(!list.contains(key))
        #expect(try await till.run("keys", "revoke", "none").status == 1)
    }

    @Test func `a connection with an incomplete body is closed`() async throws {
        let key = try await key()
        let server = try await ServeProcess(till, ["--request-seconds", "1"])
        let port = try #require(server.url.port)
        // Ends when the service closes the connection; a service that waits for the rest fails the test.
        try await Tool.run(
            "bash",
            [
                "-c",
                """
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                printf 'POST /v1/users/alice/receipts HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer %s\\r\\n' '\(key)' >&3
                printf 'Content-Length: 100\\r\\n\\r\\n{' >&3
                timeout 25 cat <&3
                # Nor does an answer that came before the body's end keep it open.
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                printf 'POST /health/live HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 100\\r\\n\\r\\n{' >&3
                timeout 25 cat <&3
                """,
            ], in: till.folder.url)
        // Connections before and after it are served.
        #expect(try await server.curl("/v1/products", key: key).status == 200)
    }

    @Test func `pipelined requests are answered one by one, in their order`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        try await Tool.run(
            "bash",
            [
                "-c",
                """
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                {
                    for path in /openapi.json /health/live /openapi.json /nowhere; do
                        printf 'GET %s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' $path
                    done
                    printf 'POST /v1/users/alice/receipts HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 2\\r\\n\\r\\n{}'
                    printf 'GET /health/live HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'
                } >&3
                timeout 25 cat <&3 >answers
                """,
            ], in: till.folder.url)
        let answers = try String(contentsOf: till.folder.file("answers"), encoding: .utf8)
        let statuses = answers.split(separator: "\r\n").filter { $0.contains("HTTP/1.1 ") }.compactMap {
            $0.split(separator: "HTTP/1.1 ").last?.prefix(3)
        }
        #expect(statuses == ["200", "204", "200", "404", "401", "204"])
    }

    @Test func `an account survives a kill, and its secrets are not logged`() async throws {
        let first = try await ServeProcess(till, ["--accounts", "--log-level", "trace"])
        let credentials = #"{"email":"mint@example.com","password":"correct horse"}"#
        let entered = try await first.curl("/v1/accounts", body: credentials)
        #expect(entered.status == 201)
        let tokens = try entered.decoded(EntranceResource.self).tokens
        let (access, refresh) = (tokens.accessToken, tokens.refreshToken)
        #expect(try await first.curl("/v1/sessions", body: credentials + "x").status == 400)
        #expect(await first.end(SIGKILL) == -SIGKILL)

        let second = try await ServeProcess(till, ["--accounts", "--log-level", "trace"])
        #expect(try await second.curl("/v1/me/items", key: access).status == 200)
        let renewal = "{\"refreshToken\":\"\(refresh)\"}"
        #expect(try await second.curl("/v1/sessions/renewal", body: renewal).status == 200)
        #expect(try await second.curl("/v1/sessions/renewal", body: renewal).code == "refreshTokenReused")
        #expect(await second.end(SIGTERM) == 0)
        for secret in ["mint", "correct horse", access, refresh] {
            #expect(try !first.log.contains(secret))
            #expect(try !second.log.contains(secret))
        }

        // A team with its own users leaves the setting off.
        let third = try await ServeProcess(till)
        #expect(try await third.curl("/v1/accounts", body: credentials).code == "notFound")
        #expect(try await third.curl("/v1/me/items", key: access).code == "keyInvalid")
    }

    @Test func `each request is logged without its secrets`() async throws {
        let issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--kill-after", "purchased")
        let receipt = try await till.run("receipt", "export", "--user", "alice").output
            .trimmingCharacters(in: .newlines)
        let key = try await key()
        let server = try await ServeProcess(
            till,
            [
                "--jwt-issuer", TestIssuer.issuer, "--jwt-audience", TestIssuer.audience, "--jwt-keys", keys.path,
                "--log-level", "trace",
            ])
        let token = try issuer.token(for: "mallory", at: Int64(Date.now.timeIntervalSince1970))
        let body = "{\"receipt\":\"\(receipt)\"}"
        #expect(try await server.curl("/v1/users/alice/receipts", key: key, body: body).status == 200)
        #expect(try await server.curl("/v1/me/receipts", key: token, body: body).status == 409)
        #expect(try await server.curl("/v1/me/items", key: token + "x").status == 401)
        #expect(try await server.curl("/v1/users/alice/items", key: key + "x").status == 401)
        #expect(await server.end(SIGTERM) == 0)
        let log = try server.log
        let lines = log.split(separator: "\n").filter { $0.contains(" request") && $0.contains("route=") }
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { $0.contains("hb.request.id=") })
        #expect(lines.first?.contains("key=\(key.split(separator: "_")[1]) ") == true)
        #expect(lines.first?.contains("route=/v1/users/{user}/receipts status=200") == true)
        let parts = token.split(separator: ".")
        let secrets: [Substring] = [
            key.split(separator: "_", maxSplits: 2)[2], parts[1], parts[2], receipt.prefix(100), "mallory", "alice",
        ]
        for secret in secrets {
            #expect(!log.contains(secret))
        }
    }

    @Test func `a user's token gives access until it expires`() async throws {
        let issuer = try TestIssuer()
        let keys = till.folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        let server = try await ServeProcess(
            till, ["--jwt-issuer", TestIssuer.issuer, "--jwt-audience", TestIssuer.audience],
            environment: ["TILL_JWT_KEYS": keys.path])
        let now = Int64(Date.now.timeIntervalSince1970)
        #expect(try await server.curl("/v1/me/items", key: try issuer.token(at: now)).status == 200)
        let owned = try await till.run(
            arguments: ["owned", "anybody", "--server", server.url.absoluteString, "--json"],
            environment: ["TILL_TOKEN": try issuer.token(at: now)])
        #expect(try owned.decoded(OwnedItemList.self).items.count == 2)
        #expect(try await server.curl("/v1/me/items", key: try issuer.token(at: now - 3601)).status == 401)
        #expect(try await server.curl("/v1/me/items", key: try TestIssuer().token(at: now)).status == 401)
    }

    @Test(
        arguments: [
            (["--jwt-issuer", "x"], "jwt-audience"),
            (["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "http://example.com/"], "jwt-keys"),
            (["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "none.json"], "cannot be read"),
            (
                ["--jwt-issuer", "x", "--jwt-audience", "x", "--jwt-keys", "none.json", "--jwt-algorithms", "HS256"],
                "jwt-algorithms"
            ),
        ] as [([String], String)])
    func `token settings that cannot work are refused at the start`(arguments: [String], part: String) async throws {
        let result = try await till.run(arguments: ["serve", "--port", "0"] + arguments)
        #expect(result.status == 1)
        #expect(result.error.contains(part))
    }

    @Test func `a service with a certificate speaks TLS`() async throws {
        let files = till.folder
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "tls.key",
                "-out", "tls.crt", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
            ], in: files.url)
        let server = try await ServeProcess(
            till, ["--tls-certificate", files.file("tls.crt").path, "--tls-key", files.file("tls.key").path])
        #expect(server.url.scheme == "https")
        let answer = try await server.curl("/health/live", options: ["--cacert", files.file("tls.crt").path])
        #expect(answer.status == 204)
        #expect(try await server.curl("/health/live").status == 0)
        #expect(await server.end(SIGTERM) == 0)
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

    @Test(arguments: [
        (#"{"prot":1}"#, [:], "prot"), (#"{"port":"many"}"#, [:], "port"), (#"{"port":70000}"#, [:], "port"),
        ("[]", [:], "till.json"), ("{", [:], "till.json"), (#"{"accept":["nobody"]}"#, [:], "accept"),
        (#"{"accept":[]}"#, [:], "accept"),
        (#"{"accept":["apple/Production","apple/Sandbox"]}"#, [:], "sandbox-users"),
        (#"{"accept":["apple/Sandbox"],"sandbox-users":["review"]}"#, [:], "sandbox-users"),
        (#"{"sandbox-users":["a b c"]}"#, [:], "sandbox-users"), (#"{"ownership":"mine"}"#, [:], "transferIfInactive"),
        (#"{"transfer-pause-seconds":60}"#, [:], "transfer-pause-seconds"),
        ("{}", ["TILL_PORT": "x"], "port"), ("{}", ["TILL_TLS_KEY": "k.pem"], "tls-certificate"),
        (#"{"log-level":"loud"}"#, [:], "log-level"), (#"{"maximum-connections":0}"#, [:], "maximum-connections"),
    ])
    func `an invalid setting is refused and named`(
        file: String, environment: [String: String], named: String
    ) async throws {
        try Data(file.utf8).write(to: till.folder.file("till.json"))
        let result = try await till.run(
            arguments: ["serve", "--config", "till.json", "--print-configuration"], environment: environment)
        #expect(result.status == 1)
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
            ("{}", [:], ["--log-level", "inof"], #"--log-level is "inof". Did you mean "info"?"#),
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
        #expect(result.status == 1)
        #expect(result.error.contains(sentence), "\(result.error)")
        #expect(!result.error.contains("hidden"))
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

    @Test func `the service does not start without roots, a free port and a host`() async throws {
        let noRoots = try await till.run("serve", "--accept", "apple/Production")
        #expect(noRoots.status == 1)
        #expect(noRoots.error.contains("till trust add"))
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let taken = try await till.run("serve", "--port", "\(port)")
        #expect(taken.status == 1)
        #expect(taken.error.contains("\(port)"))
        let nowhere = try await till.run("serve", "--host", "nowhere.invalid")
        #expect(nowhere.status == 1)
        #expect(nowhere.error.contains("nowhere.invalid"))
    }

    @Test func `commands with --server use a running service`() async throws {
        // The service has its own data directory and trusts the store's roots.
        let service = try TillProcess(hasKeys: false)
        for root in ["receipts-root", "transactions-root"] {
            let added = try await service.run("trust", "add", till.folder.file("data/store/keys/\(root).cer").path)
            #expect(added.status == 0)
        }
        let made = try await service.run("keys", "make", "app", "--json")
        let key = ["TILL_API_KEY": try made.decoded(MadeKey.self).key]
        let server = try await ServeProcess(service)
        let address = server.url.absoluteString

        let bought = try await till.run(
            arguments: ["buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--server", address, "--json"],
            environment: key)
        #expect(bought.status == 0, "\(bought.error)")
        #expect(try bought.decoded(OwnedItemList.self).items.count == 3)
        let owned = try await till.run(
            arguments: ["owned", "alice", "--server", address + "/"], environment: key)
        #expect(owned.output.contains("Sturdy Sprout"))
        // The app's own ledger has no part of it.
        #expect(!(try await till.run("owned", "alice")).output.contains("Sturdy Sprout"))

        let products = try await till.run(
            arguments: ["products", "--collection", "sprout", "--server", address, "--json"], environment: key)
        let own = try await till.run("products", "--collection", "sprout", "--json").output
        #expect(products.output == own)
        let receipt = till.folder.file("alice.receipt").path
        try await till.run("receipt", "export", "--user", "alice", "--out", receipt)
        let valid = try await till.run(
            arguments: ["receipt", "validate", receipt, "--server", address, "--json"], environment: key)
        let ownVerdict = try await till.run("receipt", "validate", receipt, "--json").output
        #expect(valid.output == ownVerdict)
        try Data("AAAA".utf8).write(to: URL(filePath: receipt))
        let invalid = try await till.run(
            arguments: ["receipt", "validate", receipt, "--server", address, "--json"], environment: key)
        #expect(invalid.status == 1)
        let refusal = try invalid.decoded(InvalidProof.self)
        #expect(refusal.reason == "encodingInvalid")
        #expect(refusal.step == "encoding")

        let unknown = try await till.run(
            arguments: ["owned", "alice", "--server", address], environment: ["TILL_API_KEY": "till_x_y"])
        #expect(unknown.status == 1)
        #expect(unknown.error.contains("API key"))
        #expect(!unknown.error.contains("till_x_y"))
        let without = try await till.run(
            arguments: ["owned", "alice", "--server", address], environment: ["TILL_API_KEY": ""])
        #expect(without.error.contains("TILL_API_KEY"))
        #expect(try await till.run("owned", "alice", "--server", "ftp://x").status == 64)
    }

    @Test func `a port in use is reported once, with that cause`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let second = try await till.run("serve", "--port", "\(port)")
        #expect(second.status == 1)
        #expect(
            second.error.contains(
                "127.0.0.1:\(port) is in use by another program. End it, or choose another port with --port."))
        #expect(second.error.components(separatedBy: "in use").count == 2)
        #expect(!second.error.contains("error"))
    }

    @Test func `the log says that the service stops, what it waits for, and that it has stopped`() async throws {
        let server = try await ServeProcess(till, ["--grace-seconds", "7", "--webhooks"])
        #expect(await server.end(SIGTERM) == 0)
        let lines = try server.log.split(separator: "\n").map(String.init)
        let told = [
            "graceSeconds=7 [HTTPSupport] stopping", "waiting for requests under way", "messages to webhooks",
            "stopped",
        ]
        let places = told.map { text in lines.firstIndex { $0.contains(text) } }
        #expect(!places.contains(nil))
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
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
}
