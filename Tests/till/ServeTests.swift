import Foundation
import TestSupport
import Testing

/// `till serve` from its start to its end: the address, the connections, TLS, the signals.
@Suite struct ServeTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal stops the service cleanly`(signal: Int32) async throws {
        let server = try await ServeProcess(till)
        #expect(try await server.curl("/health/ready").status == 204)
        #expect(await server.end(signal) == 0)
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

    @Test func `a service with a certificate speaks TLS`() async throws {
        let files = till.folder
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "tls.key",
                "-out", "tls.crt", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
            ], in: files.url)
        let server = try await ServeProcess(
            till,
            ["--console", "--tls-certificate", files.file("tls.crt").path, "--tls-key", files.file("tls.key").path])
        #expect(server.url.scheme == "https")
        let trusted = ["--cacert", files.file("tls.crt").path]
        let answer = try await server.curl("/health/live", options: trusted)
        #expect(answer.status == 204)
        #expect(try await server.curl("/health/live").status == 0)
        for (path, status) in [
            ("/health/live", 204), ("/openapi.json", 200), ("/nowhere", 404), ("/v1/products", 401),
            ("/console/log-in", 200),
        ] {
            let named = try await server.curl(path, options: trusted + ["--header", "Host: shop.example"])
            #expect(named.status == status)
            #expect(named.field("Strict-Transport-Security") == "max-age=31536000", "\(path)")
            // Browsers would use TLS only for every other server of this machine.
            for host in ["localhost", "127.0.0.1:8443"] {
                let local = try await server.curl(path, options: trusted + ["--header", "Host: \(host)"])
                #expect(local.status == status)
                #expect(local.field("Strict-Transport-Security") == nil, "\(path)")
            }
        }
        // The answer of the parser, which does not know the host.
        let refused = try await server.curl("/health/live", options: trusted + ["--header", "Content-Length: x"])
        #expect(refused.status == 400)
        #expect(refused.field("Strict-Transport-Security") == nil)
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `a service speaks TLS 1.2 and later, with ephemeral keys and authenticated encryption`() async throws {
        let files = till.folder
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "tls.key", "-out", "tls.crt", "-subj",
                "/CN=127.0.0.1", "-days", "2",
            ], in: files.url)
        let server = try await ServeProcess(
            till, ["--tls-certificate", files.file("tls.crt").path, "--tls-key", files.file("tls.key").path])
        let port = try #require(server.url.port)
        // Security level 0 lets the client offer what its own defaults leave out.
        for (arguments, isSpoken): ([String], Bool) in [
            (["-tls1_3"], true), (["-tls1_2"], true),
            (["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"], true),
            (["-tls1_2", "-cipher", "ECDHE-RSA-CHACHA20-POLY1305"], true),
            (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], false), (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], false),
            (["-tls1_2", "-cipher", "AES128-GCM-SHA256"], false),
            (["-tls1_2", "-cipher", "AES256-SHA:AES128-SHA:@SECLEVEL=0"], false),
            (["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"], false),
        ] {
            var hasSpoken = true
            do {
                try await Tool.run(
                    "openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + arguments, in: files.url)
            } catch is Tool.Failure {
                hasSpoken = false
            }
            #expect(hasSpoken == isSpoken, "\(arguments)")
        }
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test func `a service without a certificate asks for no TLS`() async throws {
        let server = try await ServeProcess(till, ["--console"])
        for path in ["/health/live", "/nowhere", "/console/log-in"] {
            #expect(try await server.curl(path).field("Strict-Transport-Security") == nil)
        }
    }

    @Test func `a connection with an incomplete body is closed`() async throws {
        let key = try await till.makeKey()
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

    @Test func `a request needs one valid host and at most one credential`() async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let expectations: [(head: [String], status: String, isExplained: Bool)] = [
            (["HTTP/1.1", "Host: x"], "204", false),
            (["HTTP/1.1", "Host: [::1]:80", "Authorization: Bearer a"], "204", false),
            (["HTTP/1.0"], "204", false),
            (["HTTP/1.0", "Host: x"], "204", false),
            (["HTTP/1.0", "Host: x y"], "400", true),
            (["HTTP/1.0", "Host: x", "Host: x"], "400", true),
            (["HTTP/1.1"], "400", true),
            (["HTTP/1.1", "Host:"], "400", true),
            (["HTTP/1.1", "Host: x/y"], "400", true),
            (["HTTP/1.1", "Host: x, y"], "400", true),
            (["HTTP/1.1", "Host: x", "Host: x"], "400", true),
            (["HTTP/1.1", "host: x", "HOST: y"], "400", true),
            (["HTTP/1.1", "Host: x", "Authorization: Bearer a", "authorization: Bearer a"], "400", true),
            // Refused by the parser.
            (["HTTP/1.1", "Host: x", "Content-Length: 0", "Content-Length: 0"], "400", true),
        ]
        for (number, expectation) in expectations.enumerated() {
            let lines = ["GET /health/live " + expectation.head[0]] + expectation.head.dropFirst()
            let request = (lines + ["Connection: close", "", ""]).joined(separator: "\r\n")
            try Data(request.utf8).write(to: till.folder.file("request-\(number)"))
        }
        try await Tool.run(
            "bash",
            [
                "-c",
                """
                for number in {0..\(expectations.count - 1)}; do
                    exec 3<>/dev/tcp/127.0.0.1/\(port)
                    cat request-$number >&3
                    timeout 25 cat <&3 >answer-$number
                done
                """,
            ], in: till.folder.url)
        for (number, expectation) in expectations.enumerated() {
            let answer = try String(contentsOf: till.folder.file("answer-\(number)"), encoding: .utf8)
            #expect(answer.hasPrefix("HTTP/1.1 \(expectation.status) "), "\(expectation.head): \(answer)")
            #expect(answer.contains("headInvalid") == expectation.isExplained, "\(expectation.head): \(answer)")
        }
    }

    /// The parser refuses them, which has no answer of its own.
    @Test(arguments: [
        // A user's name of 3000 characters.
        ["GET /v1/users/\(String(repeating: "%ED%95%9C", count: 3000))/items HTTP/1.1", "Host: x"],
        ["GET /\(String(repeating: "x", count: 8192)) HTTP/1.1", "Host: x"],
        ["GET / HTTP/1.1", "Host: x", "Authorization: Bearer \(String(repeating: "x", count: 8193))"],
        ["GET / HTTP/1.1", "Host: x"] + (0..<10).map { "X-\($0): \(String(repeating: "x", count: 4000))" },
        ["GET / HTTP/1.1", "Host: x"] + (0..<101).map { "X-\($0): 1" },
        ["GET / HTTP/2.0", "Host: x"], ["NONSENSE / HTTP/1.1", "Host: x"], ["GET / HTTP/1.1", "Host: x", "A\u{1}: 1"],
    ])
    func `a head that is too large or malformed is refused with a problem, after the answers before it`(
        lines: [String]
    ) async throws {
        let server = try await ServeProcess(till)
        let refused = lines + ["", "GET / HTTP/1.1", "Host: x", "", ""]
        let answers = try await answers(of: server, to: [Self.live, refused])
        let parts = answers.components(separatedBy: "HTTP/1.1 ")
        #expect(parts.count == 3 && parts[1].hasPrefix("204 ") && parts[2].hasPrefix("400 "), "\(answers)")
        // Of them, the last one alone ends the connection.
        #expect(parts.map { $0.lowercased().contains("\r\nconnection: close\r\n") } == [false, false, true])
        #expect(answers.lowercased().contains("content-type: application/problem+json\r\n"))
        let body = try #require(answers.components(separatedBy: "\r\n\r\n").last)
        let problem = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        #expect(problem?["code"] as? String == "headInvalid" && problem?["status"] as? Int == 400)
        // The next connection is served.
        #expect(try await server.curl("/health/ready").status == 204)
    }

    /// The client would take content for the next response (RFC 9110 section 9.3.2).
    @Test(arguments: [
        (["HEAD /nowhere HTTP/1.1", "Host: x"], "404 ", false),
        (["HEAD /v1/users/a/receipts HTTP/1.1", "Host: x"], "405 ", false),
        (["HEAD / HTTP/1.1", "Host: x y"], "400 ", true),
        // Refused by the parser.
        (["HEAD / HTTP/2.0", "Host: x"], "400 ", true),
        (["", "HEAD / HTTP/1.1", "Host: x", "A\u{1}: 1"], "400 ", true),
        (["HEAD /\(String(repeating: "x", count: 8192)) HTTP/1.1", "Host: x"], "400 ", true),
        (
            ["HEAD / HTTP/1.1", "Host: x"] + (0..<10).map { "X-\($0): \(String(repeating: "x", count: 4000))" }, "400 ",
            true
        ),
    ])
    func `a refused HEAD has the length of its problem, and no content`(
        lines: [String], status: String, isLast: Bool
    ) async throws {
        let server = try await ServeProcess(till)
        let last = ["", "GET /health/live HTTP/1.1", "Host: x", "Connection: close", "", ""]
        let requests = isLast ? [Self.live, lines + ["", ""]] : [lines + last]
        let parts = try await answers(of: server, to: requests).components(separatedBy: "HTTP/1.1 ").dropFirst()
        let refused = try #require(isLast ? parts.last : parts.first)
        #expect(parts.count == 2 && refused.hasPrefix(status) && refused.hasSuffix("\r\n\r\n"), "\(parts)")
        #expect(refused.components(separatedBy: "\r\n\r\n").count == 2, "\(parts)")
        let headers = refused.lowercased()
        #expect(headers.contains("content-type: application/problem+json\r\n"))
        #expect(headers.contains("content-length: ") && !headers.contains("content-length: 0\r\n"))
    }

    /// The parser tells no method of a head that it refuses, and its first bytes came together with the request before it.
    @Test(arguments: ["GET / HTTP/2.0", "HEAD / HTTP/2.0"])
    func `a refused head that came together with a request has no content`(line: String) async throws {
        let server = try await ServeProcess(till)
        let parts = try await answers(of: server, to: [Self.live.dropLast() + [line, "Host: x", "", ""]])
            .components(separatedBy: "HTTP/1.1 ")
        #expect(parts.count == 3 && parts[1].hasPrefix("204 ") && parts[2].hasPrefix("400 "), "\(parts)")
        #expect(parts[2].lowercased().contains("content-length: 0\r\n") && parts[2].hasSuffix("\r\n\r\n"), "\(parts)")
    }

    private static let live = ["GET /health/live HTTP/1.1", "Host: x", "", ""]

    /// The responses of one connection, until the service closes its side.
    ///
    /// - Parameter requests: The lines of the requests. Each element is sent after the head of the response to the one before it.
    private func answers(of server: ServeProcess, to requests: [[String]]) async throws -> String {
        let port = try #require(server.url.port)
        for (number, lines) in requests.enumerated() {
            try Data(lines.joined(separator: "\r\n").utf8).write(to: till.folder.file("request-\(number)"))
        }
        try await Tool.run(
            "bash",
            [
                "-c",
                """
                exec 3<>/dev/tcp/127.0.0.1/\(port)
                cat request-0 >&3
                for number in $(seq 1 \(requests.count - 1)); do
                    while IFS= read -r line <&3; do
                        echo "$line"
                        [[ "$line" == $'\\r' ]] && break
                    done >>answers
                    cat "request-$number" >&3
                done
                timeout 25 cat <&3 >>answers
                """,
            ], in: till.folder.url)
        return try String(contentsOf: till.folder.file("answers"), encoding: .utf8)
    }

    /// The parser reads nothing after such a request. Its client would wait for an answer to the next one.
    @Test(arguments: [
        // Of Java's `HttpClient`.
        [
            "GET /health/live HTTP/1.1", "Connection: Upgrade, HTTP2-Settings", "Host: x", "HTTP2-Settings: AA",
            "Upgrade: h2c",
        ],
        ["POST /nowhere HTTP/1.1", "Connection: Upgrade", "Content-Length: 0", "Host: x", "Upgrade: websocket"],
        ["CONNECT x:443 HTTP/1.1", "Host: x"],
    ])
    func `a request that offers another protocol is answered without it, and is the last one of its connection`(
        lines: [String]
    ) async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        let requests = ["GET /health/live HTTP/1.1", "Host: x", ""] + lines + ["", ""]
        try Data(requests.joined(separator: "\r\n").utf8).write(to: till.folder.file("requests"))
        // Ends when the service closes its side.
        try await Tool.run(
            "bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); cat requests >&3; timeout 25 cat <&3 >answers"],
            in: till.folder.url)
        let parts = try String(contentsOf: till.folder.file("answers"), encoding: .utf8)
            .components(separatedBy: "HTTP/1.1 ")
        let status = lines[0].hasPrefix("GET") ? "204 " : "404 "
        #expect(parts.count == 3 && parts[1].hasPrefix("204 ") && parts[2].hasPrefix(status), "\(parts)")
        #expect(parts.map { $0.lowercased().contains("\r\nconnection: close\r\n") } == [false, false, true])
    }

    @Test(arguments: [
        // The body is not read before the answer.
        (["POST /v1/users/a/receipts HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "", "nonsense", ""], "401 "),
        (["GET /health/live HTTP/1.1", "Host: x", "Transfer-Encoding: gzip", "", ""], "204 "),
    ])
    func `a body that the parser refuses ends its connection, after one answer`(
        lines: [String], status: String
    ) async throws {
        let server = try await ServeProcess(till)
        let port = try #require(server.url.port)
        try Data(lines.joined(separator: "\r\n").utf8).write(to: till.folder.file("request"))
        try await Tool.run(
            "bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); cat request >&3; timeout 25 cat <&3 >answer"],
            in: till.folder.url)
        let parts = try String(contentsOf: till.folder.file("answer"), encoding: .utf8)
            .components(separatedBy: "HTTP/1.1 ")
        #expect(parts.count == 2 && parts[1].hasPrefix(status), "\(parts)")
        #expect(try await server.curl("/health/ready").status == 204)
    }
}
