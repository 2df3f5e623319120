import COpenSSL
import Foundation
import HTTPSupport
import Synchronization
import TestSupport
import Testing

/// A barrier for concurrent requests.
private actor Arrivals {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait(for all: Int) async {
        guard waiting.count + 1 < all else {
            for continuation in waiting { continuation.resume() }
            waiting = []
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}

/// The client of other servers, over sockets, against servers that err in every way.
@Suite struct OutgoingClientTests {
    private let client = OutgoingClient()

    /// A whole answer of at most 1000 bytes, in more time than any test takes.
    private static let limits = OutgoingLimits(answer: .seconds(300), body: .whole(upTo: 1000))

    private func get(
        _ url: String, _ limits: OutgoingLimits = Self.limits, over client: OutgoingClient? = nil
    ) async throws(OutgoingFailure) -> OutgoingAnswer {
        try await (client ?? self.client).send(OutgoingRequest(.get, url), limits)
    }

    /// Waits until the task is cancelled.
    @Sendable private static func hang() async {
        for await _ in AsyncStream<Void>.makeStream().stream {}
    }

    // MARK: - Requests

    @Test func `a request has its own headers and no others`() async throws {
        let server = try await ScriptedServer { try await $1.answer(200, "X-A: 1\r\nx-a:  2 \r\nX-B:\r\n") }
        var request = OutgoingRequest(.post, server.url("/a/../b?x=1%20y#end"), type: "text/plain", body: [1, 0, 2])
        request.add("Empty", "")
        request.add("Word", "안녕")
        let answer = try await client.send(request, Self.limits)
        #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        #expect(answer.headers("X-A") == ["1", "2"] && answer.header("x-b") == "" && answer.header("X-C") == nil)
        _ = try await get("http://user:secret@127.0.0.1:\(server.port)")
        let received = server.requests
        #expect(
            received.first?.head == [
                "POST /a/../b?x=1%20y HTTP/1.1", "Host: 127.0.0.1:\(server.port)", "Content-Type: text/plain", "Empty:",
                "Word: 안녕", "Content-Length: 3",
            ])
        #expect(received.first?.body == [1, 0, 2])
        #expect(received.last?.head == ["GET / HTTP/1.1", "Host: 127.0.0.1:\(server.port)"])
    }

    @Test(arguments: [
        (OutgoingRequest.Method.get, nil), (.delete, nil), (.post, "0"), (.put, "0"), (.patch, "0"),
    ])
    func `a request without a body states its size only if one is expected`(
        method: OutgoingRequest.Method, size: String?
    ) async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        _ = try await client.send(OutgoingRequest(method, server.url()), Self.limits)
        let request = try #require(server.requests.first)
        #expect(request.head.first == "\(method.rawValue) / HTTP/1.1")
        #expect(request.header("Content-Length") == size && request.header("Content-Type") == nil)
    }

    /// libcurl would call a request with a body `PUT`.
    @Test(arguments: [OutgoingRequest.Method.get, .post, .put, .patch, .delete])
    func `a body does not change the method`(method: OutgoingRequest.Method) async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        _ = try await client.send(OutgoingRequest(method, server.url(), body: [1]), Self.limits)
        let request = try #require(server.requests.first)
        #expect(request.head.first == "\(method.rawValue) / HTTP/1.1" && request.body == [1])
    }

    /// libcurl would ask for permission first (`Expect: 100-continue`).
    @Test func `a large body is sent at once`() async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }
        _ = try await client.send(OutgoingRequest(.put, server.url(), type: "x/y", body: body), Self.limits)
        #expect(server.requests.first?.body == body)
        #expect(server.requests.first?.header("Expect") == nil)
    }

    @Test(arguments: [
        "ftp://127.0.0.1/", "file:///etc/passwd", "127.0.0.1", "", "http://", "http+unix://%2Ftmp/",
        "smtp://127.0.0.1/", "http://127.0.0.1:99999/", "http://evil%2F.example/",
    ])
    func `another scheme, and a host or a port that is none, is not sent`(url: String) async throws {
        await #expect(throws: OutgoingFailure.requestInvalid) { try await get(url) }
    }

    @Test(arguments: [
        ("X", "a\r\nHost: b"), ("X", "a\nb"), ("X", "a\0b"), ("X", "\u{7F}"), ("X: a\r\nY", "b"), ("", "b"),
        ("X Y", "b"),
    ])
    func `a header cannot begin another one`(name: String, value: String) async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        var request = OutgoingRequest(.get, server.url())
        request.add(name, value)
        await #expect(throws: OutgoingFailure.requestInvalid) { try await client.send(request, Self.limits) }
        #expect(server.openedCount == 0)
    }

    // MARK: - Answers

    @Test(arguments: [
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nTrailer: x\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nok",
    ])
    func `an answer has its own head, and its body in each framing`(text: String) async throws {
        let server = try await ScriptedServer { _, line in
            try await line.write(text)
            return false
        }
        let answer = try await get(server.url())
        #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        #expect(answer.header("Link") == nil && answer.header("Trailer") == nil)
    }

    /// Nobody has asked for it, so the bytes are those of the server.
    @Test func `a body stays as it is encoded`() async throws {
        let server = try await ScriptedServer { try await $1.answer(200, "Content-Encoding: gzip\r\n", "no gzip") }
        #expect(try await get(server.url()).body == Array("no gzip".utf8))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok",
    ])
    func `an answer that ends in the middle is none`(text: String) async throws {
        let server = try await ScriptedServer { _, line in
            try await line.write(text)
            return false
        }
        await #expect(throws: OutgoingFailure.connectionEnded) { try await get(server.url()) }
    }

    @Test func `a server that speaks no HTTP gives no answer`() async throws {
        let server = try await ScriptedServer { _, line in
            try await line.write("220 mail.example ESMTP\r\n\r\n")
            return false
        }
        await #expect(throws: OutgoingFailure.other) { try await get(server.url()) }
    }

    @Test(arguments: [
        "HTTP/1.1 OK", "HTTP/1.1 ", "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 +20 OK", "HTTP/1.1 2000 OK", "HTTP 200 OK",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 OK",
    ])
    func `a status line without a number of three digits gives no answer`(line: String) async throws {
        let server = try await ScriptedServer { _, connection in
            try await connection.write("\(line)\r\nContent-Length: 2\r\n\r\nok")
            return false
        }
        for limits in [Self.limits, OutgoingLimits(answer: .seconds(300), body: .ignored)] {
            await #expect(throws: OutgoingFailure.other) { try await get(server.url(), limits) }
        }
    }

    /// libcurl hands it over like every header.
    @Test(arguments: ["HTTP/1.1 500: x", "HTTP/x: 500", "HTTP/: 500"])
    func `a header whose name begins like a status line leaves the status`(header: String) async throws {
        let server = try await ScriptedServer { try await $1.answer(201, "X-A: 1\r\n\(header)\r\nX-B: 2\r\n") }
        let answer = try await get(server.url())
        #expect(answer.status == 201 && answer.header("X-A") == "1" && answer.header("X-B") == "2")
    }

    @Test func `a server that does not listen and an unknown host are unreachable`() async throws {
        await #expect(throws: OutgoingFailure.unreachable) { try await get("http://127.0.0.1:1/") }
        await #expect(throws: OutgoingFailure.unreachable) { try await get("http://nowhere.invalid/") }
    }

    // MARK: - Limits

    /// The part of an answer that has no end.
    enum Endless: CaseIterable { case head, provisionalHeads, chunks, bodyOfStatedSize, bodyToTheEnd }

    @Test(arguments: Endless.allCases) func `an endless answer is read no further than its limit`(part: Endless)
        async throws
    {
        let server = try await ScriptedServer { _, line in
            let (start, more) =
                switch part {
                case .head: ("HTTP/1.1 200 OK\r\n", "X: \(String(repeating: "x", count: 900))\r\n")
                case .provisionalHeads: ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                case .chunks: ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n")
                case .bodyOfStatedSize: ("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", "hello")
                case .bodyToTheEnd: ("HTTP/1.1 200 OK\r\n\r\n", "hello")
                }
            try await line.write(start)
            while true { try await line.write(String(repeating: more, count: 100)) }
        }
        await #expect(throws: OutgoingFailure.tooLarge) { try await get(server.url()) }
        await expectEventually { server.closedCount == 1 }
    }

    @Test func `a body of the largest size is whole, and one byte more is too large`() async throws {
        let server = try await ScriptedServer { request, line in
            try await line.answer(200, "", String(repeating: "x", count: Int(request.path.dropFirst()) ?? 0))
        }
        #expect(try await get(server.url("/1000")).body.count == 1000)
        await #expect(throws: OutgoingFailure.tooLarge) { try await get(server.url("/1001")) }
        let unhurried = OutgoingLimits(answer: .seconds(300), body: .unhurried(upTo: 0))
        #expect(try await get(server.url("/0"), unhurried).body == [])
        await #expect(throws: OutgoingFailure.tooLarge) { try await get(server.url("/1"), unhurried) }
    }

    /// An answer that stops before its head, or in its body.
    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"])
    func `a server that stops is waited for no longer than the limit`(text: String) async throws {
        let server = try await ScriptedServer { _, line in
            try await line.write(text)
            await Self.hang()
            return false
        }
        for body in [OutgoingLimits.Body.whole(upTo: 1000), .unhurried(upTo: 1000)] {
            await #expect(throws: OutgoingFailure.timedOut) {
                try await get(server.url(), OutgoingLimits(answer: .milliseconds(50), body: body))
            }
        }
        await expectEventually { server.closedCount == 2 }
    }

    @Test func `a server that does not speak its TLS is waited for no longer than the limit of a connection`()
        async throws
    {
        let server = try await ScriptedServer { _, _ in true }
        await #expect(throws: OutgoingFailure.timedOut) {
            try await get(
                "https://127.0.0.1:\(server.port)/",
                OutgoingLimits(connection: .milliseconds(50), answer: .seconds(300), body: .ignored))
        }
    }

    @Test func `a status counts without the end of its body`() async throws {
        let server = try await ScriptedServer { request, line in
            if request.path == "/cut" {
                try await line.write("HTTP/1.1 201 X\r\nContent-Length: 9\r\n\r\nbegin")
                return false
            }
            try await line.write("HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n")
            if request.path == "/endless" { while true { try await line.write("5\r\nhello\r\n") } }
            await Self.hang()
            return false
        }
        func beginning(_ size: Int, within time: Duration) -> OutgoingLimits {
            OutgoingLimits(answer: .seconds(300), body: .beginning(upTo: size, within: time))
        }
        for path in ["/cut", "/endless", "/stop"] {
            #expect(try await get(server.url(path), beginning(99, within: .zero)).status == 201)
        }
        let (cut, endless, stopped) = (
            try await get(server.url("/cut"), beginning(99, within: .seconds(300))),
            try await get(server.url("/endless"), beginning(12, within: .seconds(300))),
            try await get(server.url("/stop"), beginning(99, within: .milliseconds(500)))
        )
        #expect(cut.status == 201 && cut.body == Array("begin".utf8))
        #expect(endless.status == 201 && endless.body == Array("beginhellohe".utf8))
        #expect(stopped.status == 201 && "begin".hasPrefix(String(decoding: stopped.body, as: UTF8.self)))
    }

    @Test func `an unhurried body takes longer than the time for its head, and pauses no longer`() async throws {
        let (steps, step) = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { request, line in
            guard request.path == "/slow" else {
                await Self.hang()
                return false
            }
            try await line.write("HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n")
            for await _ in steps { try await line.write("x") }
            return true
        }
        async let slow = get(
            server.url("/slow"), OutgoingLimits(answer: .seconds(20), body: .unhurried(upTo: 24)))
        await expectEventually { !server.requests.isEmpty }
        // Pauses of a second, more of them than the limit has seconds. On a busy machine a pause takes several seconds.
        for _ in 0..<24 {
            await #expect(throws: OutgoingFailure.timedOut) {
                try await get(server.url("/never"), OutgoingLimits(answer: .seconds(1), body: .ignored))
            }
            step.yield()
        }
        step.finish()
        #expect(try await slow.body == Array(repeating: UInt8(ascii: "x"), count: 24))
    }

    // MARK: - Cancellation

    /// The moment at which a request is cancelled.
    enum Phase: CaseIterable { case beginning, handshake, head, body, queue }

    @Test(arguments: Phase.allCases) func `a cancelled request ends at once, and no other one does`(phase: Phase)
        async throws
    {
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let server = try await ScriptedServer { request, line in
            switch request.path {
            case "/head": await Self.hang()
            case "/body":
                try await line.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
                await Self.hang()
            case "/other":
                for await _ in gates {}
                try await line.answer()
            default: try await line.answer()
            }
            return true
        }
        // All wait in one queue if there is one.
        let client = OutgoingClient(connectionsPerHost: phase == .queue ? 1 : 0)
        let other = Task { try await get(server.url("/other"), over: client) }
        await expectEventually { server.requests.count == 1 }
        let path = phase == .body ? "/body" : "/head"
        let url = phase == .handshake ? "https://127.0.0.1:\(server.port)/" : server.url(path)
        let cancelled = Task {
            if phase == .beginning { withUnsafeCurrentTask { $0?.cancel() } }
            return try await get(url, over: client)
        }
        switch phase {
        case .beginning, .queue: break
        case .handshake: await expectEventually { server.openedCount == 2 }
        case .head, .body: await expectEventually { server.requests.count == 2 }
        }
        cancelled.cancel()
        await #expect(throws: OutgoingFailure.cancelled) { try await cancelled.value }
        if [.handshake, .head, .body].contains(phase) { await expectEventually { server.closedCount == 1 } }
        gate.finish()
        #expect(try await other.value.status == 200)
        #expect(try await get(server.url(), over: client).status == 200)
        #expect(server.closedCount <= 1)
    }

    @Test func `many requests are cancelled while they begin, run and end`() async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let task = Task { try await get(server.url("/\(number)")) }
                    for _ in 0..<number % 40 { await Task.yield() }
                    if number % 2 == 0 { task.cancel() }
                    switch await task.result {
                    case .success(let answer): #expect(answer.status == 200)
                    case .failure(let error): #expect(number % 2 == 0 && error as? OutgoingFailure == .cancelled)
                    }
                }
            }
        }
        #expect(try await get(server.url()).status == 200)
    }

    // MARK: - Connections

    @Test func `a connection is used again after a whole answer, and after no other`() async throws {
        let server = try await ScriptedServer { request, line in
            if request.path == "/endless" {
                try await line.write("HTTP/1.1 200 OK\r\n\r\n")
                while true { try await line.write("hello") }
            }
            try await line.answer()
            return true
        }
        for path in ["/1", "/2", "/endless", "/3", "/4"] { _ = try? await get(server.url(path)) }
        #expect(server.requests.map(\.connection) == [1, 1, 1, 2, 2])
        // The connection of a request without an address of its own may lead elsewhere.
        let named = server.url(host: "localhost")
        var request = OutgoingRequest(.get, named)
        request.address = "127.0.0.1"
        _ = try await get(named)
        for _ in 0..<2 { _ = try await client.send(request, Self.limits) }
        _ = try await get(named)
        #expect(server.requests.suffix(4).map(\.connection) == [3, 4, 4, 3])
    }

    @Test func `an ignored body leaves a connection that is used again`() async throws {
        let server = try await ScriptedServer { request, line in
            try await line.answer(204, "", "")
        }
        let limits = OutgoingLimits(answer: .seconds(300), body: .ignored)
        for _ in 0..<3 { #expect(try await get(server.url(), limits).status == 204) }
        #expect(server.openedCount == 1)
    }

    /// The server closes the connection at the moment of a request, so nobody knows whether it was carried out.
    @Test(arguments: [[UInt8](), [1, 2, 3]]) func `a POST is never sent twice, and a GET may be`(body: [UInt8])
        async throws
    {
        let server = try await ScriptedServer { request, line in
            if request.path == "/close", request.connection == 1 { return false }
            return try await line.answer()
        }
        _ = try await get(server.url("/first"))
        let request = OutgoingRequest(.post, server.url("/close"), body: body)
        if body.isEmpty {
            // It does not use an open connection.
            #expect(try await client.send(request, Self.limits).status == 200)
        } else {
            await #expect(throws: OutgoingFailure.connectionEnded) { try await client.send(request, Self.limits) }
        }
        #expect(server.requests.count { $0.path == "/close" } == 1)
        #expect(try await get(server.url("/close")).status == 200)
    }

    @Test func `all requests run at once without a limit`() async throws {
        let server = try await ScriptedServer { [arrivals = Arrivals()] _, line in
            await arrivals.wait(for: 100)
            return try await line.answer()
        }
        await withTaskGroup { group in
            for _ in 0..<100 { group.addTask { try? await get(server.url()).status } }
            for await status in group { #expect(status == 200) }
        }
        #expect(server.openedCount == 100)
    }

    @Test func `requests beyond the limit of connections wait for one`() async throws {
        let running = Mutex((now: 0, most: 0))
        let server = try await ScriptedServer { request, line in
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await Task.yield()
            running.withLock { $0.now -= 1 }
            if request.path == "/close" { return false }
            return try await line.answer()
        }
        let limited = OutgoingClient(connectionsPerHost: 2)
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    let answer = try? await get(server.url(number % 10 == 0 ? "/close" : "/"), over: limited)
                    #expect((answer?.status == 200) == (number % 10 != 0))
                }
            }
        }
        #expect(running.withLock(\.most) <= 2)
    }

    @Test func `a client without a request closes its connections, and begins anew`() async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        let brief = OutgoingClient(idleTime: .milliseconds(1))
        for round in 1...3 {
            #expect(try await get(server.url(), over: brief).status == 200)
            await expectEventually { server.closedCount == round }
        }
        for _ in 0..<200 { #expect(try await get(server.url(), over: brief).status == 200) }
    }

    // MARK: - Redirects

    /// Follows five redirects at most.
    private static let following = OutgoingLimits(answer: .seconds(300), body: .whole(upTo: 1000), redirects: 5)

    @Test(arguments: [
        (301, OutgoingRequest.Method.post, "GET"), (302, .post, "GET"), (303, .post, "GET"), (307, .post, "POST"),
        (308, .post, "POST"), (302, .put, "PUT"), (303, .patch, "GET"), (307, .get, "GET"),
    ])
    func `a redirect is followed as browsers do, if at all`(
        status: Int, method: OutgoingRequest.Method, next: String
    ) async throws {
        let server = try await ScriptedServer { request, line in
            try await line.answer(request.path == "/a" ? status : 200, "Location: b\r\n")
        }
        var request = OutgoingRequest(method, server.url("/a"), type: "x/y", body: method == .get ? nil : [1])
        request.add("Authorization", "Bearer secret")
        #expect(try await client.send(request, Self.limits).status == status)
        #expect(server.requests.map(\.path) == ["/a"])
        #expect(try await client.send(request, Self.following).status == 200)
        let last = try #require(server.requests.last)
        #expect(last.head.first == "\(next) /b HTTP/1.1" && last.header("Authorization") == "Bearer secret")
        #expect(last.body == (next == "GET" ? [] : [1]))
        if method != .get { #expect((last.header("Content-Type") == nil) == (next == "GET")) }
    }

    @Test func `another server gets no credential by a redirect`() async throws {
        let other = try await ScriptedServer { try await $1.answer() }
        let server = try await ScriptedServer { try await $1.answer(307, "Location: \(other.url("/b"))\r\n") }
        var request = OutgoingRequest(.post, server.url(), body: [1])
        request.add("authorization", "Bearer secret")
        request.add("X-A", "1")
        #expect(try await client.send(request, Self.following).status == 200)
        #expect(other.requests.first?.header("Authorization") == nil && other.requests.first?.header("X-A") == "1")
    }

    @Test(arguments: ["/", "/other", "/5"]) func `redirects end`(start: String) async throws {
        let server = try await ScriptedServer { request, line in
            let next =
                switch request.path {
                case "/": "/"
                case "/other": "/back"
                case "/back": "/other"
                default: "/\((Int(request.path.dropFirst()) ?? 0) + 1)"
                }
            return try await line.answer(302, "Location: \(next)\r\n")
        }
        await #expect(throws: OutgoingFailure.redirectsEndless) { try await get(server.url(start), Self.following) }
        #expect(server.requests.count == (start == "/" ? 1 : start == "/other" ? 2 : 6))
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:1/"])
    func `a redirect to anything but HTTP is the answer`(location: String) async throws {
        let server = try await ScriptedServer { try await $1.answer(302, "Location: \(location)\r\n") }
        #expect(try await get(server.url(), Self.following).status == 302)
    }

    // MARK: - TLS and addresses

    @Test func `a certificate is trusted by its root and its name alone`() async throws {
        let (identity, stranger) = (try await TLSIdentity(), try await TLSIdentity())
        let server = try await ScriptedServer(tls: identity.server) { try await $1.answer() }
        func ask(
            _ host: String, at address: String? = nil, trusting roots: AdditionalRoots?
        ) async throws(OutgoingFailure) -> Int {
            var request = OutgoingRequest(.get, server.url("/", host: host))
            (request.address, request.roots) = (address, roots)
            return try await client.send(request, Self.limits).status
        }
        let roots = try identity.roots
        #expect(try await ask("127.0.0.1", trusting: roots) == 200)
        // The name of the URL counts, not the address.
        #expect(try await ask("receiver.invalid", at: "127.0.0.1", trusting: roots) == 200)
        #expect(server.requests.last?.header("Host") == "receiver.invalid:\(server.port)")
        await #expect(throws: OutgoingFailure.tlsFailed) {
            try await ask("other.invalid", at: "127.0.0.1", trusting: roots)
        }
        // No connection that another request has verified is used.
        await #expect(throws: OutgoingFailure.tlsFailed) { try await ask("127.0.0.1", trusting: nil) }
        let others = try stranger.roots
        await #expect(throws: OutgoingFailure.tlsFailed) { try await ask("127.0.0.1", trusting: others) }
        #expect(server.requests.count == 2)
    }

    /// Nobody can tell whether it is whole: the end of a connection is not part of what TLS protects.
    @Test func `a body that ends with its connection is no whole body over TLS`() async throws {
        let identity = try await TLSIdentity()
        let server = try await ScriptedServer(tls: identity.server) { _, line in
            try await line.write("HTTP/1.1 200 OK\r\n\r\nok")
            return false
        }
        var request = OutgoingRequest(.get, server.url())
        request.roots = try identity.roots
        await #expect(throws: OutgoingFailure.connectionEnded) { try await client.send(request, Self.limits) }
        let beginning = OutgoingLimits(answer: .seconds(300), body: .beginning(upTo: 99, within: .seconds(300)))
        #expect(try await client.send(request, beginning).status == 200)
    }

    @Test func `TLS 1.1 is refused`() async throws {
        let identity = try await TLSIdentity()
        let old = try identity.server
        // Versions that OpenSSL still speaks at its lowest level alone.
        #expect(SSL_CTX_set_cipher_list(old.pointer, "ALL:@SECLEVEL=0") == 1)
        #expect(SSL_CTX_ctrl(old.pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil) == 1)
        #expect(SSL_CTX_ctrl(old.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_1_VERSION), nil) == 1)
        let server = try await ScriptedServer(tls: old) { try await $1.answer() }
        var request = OutgoingRequest(.get, server.url())
        request.roots = try identity.roots
        await #expect(throws: OutgoingFailure.tlsFailed) { try await client.send(request, Self.limits) }
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func `an address in place of the host is the one that is connected to`(
        address: String
    ) async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        var request = OutgoingRequest(.get, server.url("/", host: "nowhere.invalid"))
        request.address = address
        if address == "::1" {
            // The server listens at 127.0.0.1 alone.
            await #expect(throws: OutgoingFailure.unreachable) { try await client.send(request, Self.limits) }
        } else {
            #expect(try await client.send(request, Self.limits).status == 200)
            #expect(server.requests.first?.header("Host") == "nowhere.invalid:\(server.port)")
        }
    }

    @Test(arguments: ["", "localhost", "127.0.0.1:80", "[::1]", "0x7f.1", "::1%lo", "127.0.0.1:80:"])
    func `an address is an IP address`(address: String) async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        var request = OutgoingRequest(.get, server.url())
        request.address = address
        await #expect(throws: OutgoingFailure.requestInvalid) { try await client.send(request, Self.limits) }
        #expect(server.openedCount == 0)
    }

    /// Its host was checked, and that of the redirect was not.
    @Test(arguments: [302, 307]) func `a request at an address follows no redirect`(status: Int) async throws {
        let server = try await ScriptedServer { try await $1.answer(status, "Location: /b\r\n") }
        var request = OutgoingRequest(.get, server.url("/a", host: "nowhere.invalid"))
        request.address = "127.0.0.1"
        #expect(try await client.send(request, Self.following).status == status)
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test func `a connection at an address serves no other host and no other port`() async throws {
        let (server, other) = (
            try await ScriptedServer { try await $1.answer() }, try await ScriptedServer { try await $1.answer() }
        )
        for (host, server) in [
            ("a.invalid", server), ("b.invalid", server), ("a.invalid", server), ("A.INVALID", server),
            ("a.invalid", other), ("127.0.0.1", server),
        ] {
            var request = OutgoingRequest(.get, server.url("/", host: host))
            request.address = "127.0.0.1"
            #expect(try await client.send(request, Self.limits).status == 200)
        }
        #expect(server.requests.map(\.connection) == [1, 2, 1, 1, 3] && other.openedCount == 1)
    }

    @Test func `an address does not become that of another request`() async throws {
        let server = try await ScriptedServer { try await $1.answer() }
        var request = OutgoingRequest(.get, server.url("/", host: "nowhere.invalid"))
        request.address = "127.0.0.1"
        #expect(try await client.send(request, Self.limits).status == 200)
        request.address = nil
        await #expect(throws: OutgoingFailure.unreachable) { try await client.send(request, Self.limits) }
    }

    @Test(arguments: ["", "hello\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `roots are certificates`(text: String) {
        #expect(AdditionalRoots(pem: Array(text.utf8)) == nil)
    }
}
