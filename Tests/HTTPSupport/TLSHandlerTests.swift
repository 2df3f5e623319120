import COpenSSL
import Foundation
import HTTPSupport
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// The server's side of TLS against clients that do not read, do not end, or end too early, over sockets.
@Suite(.timeLimit(.minutes(10))) struct TLSHandlerTests {
    /// More than the system keeps of a connection whose client does not read.
    private static let large = ByteBuffer(repeating: UInt8(ascii: "x"), count: 8 << 20)
    private static let long = Duration.seconds(1200)

    private final class Counts: Sendable {
        let sent = Atomic(0)
        let begun = Atomic(0)
        let notes = Atomic(0)
    }

    /// Runs a service over TLS until the end of `body`. No limit ends its connections, unless `configure` sets one.
    ///
    /// - Parameter body: The closure that gets the port, and a call that begins the shutdown.
    private func withService(
        _ counts: Counts = Counts(), _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (Int, () async -> Void) async throws -> Void
    ) async throws {
        let identity = try await TLSIdentity()
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.tls = (identity.folder.file("certificate.pem"), identity.folder.file("key.pem"))
        for time in [\ServerConfiguration.idleTime, \.headTime, \.requestTime, \.lingerTime] {
            configuration[keyPath: time] = Self.long
        }
        configuration.gracePeriod = .seconds(300)
        configure(&configuration)
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Companion { [configuration] in
            let router = Router(context: ServiceContext.self)
            router.get("small") { _, _ in "ok" }
            router.get("large") { _, _ in
                counts.begun.add(1, ordering: .relaxed)
                return Response(status: .ok, body: .init(byteBuffer: Self.large))
            }
            router.post("notes") { request, _ in
                _ = try await request.body.collect(upTo: 1000)
                counts.notes.add(1, ordering: .relaxed)
                return "ok"
            }
            try await ServiceServer.run(router, configuration: configuration, logger: logger) { url in
                if let number = url.port { port.yield(number) }
            }
        }
        let group = ServiceGroup(services: [server], logger: logger)
        let running = Task {
            defer { port.finish() }
            try await group.run()
        }
        let result: Result<Void, any Error>
        do {
            let number = try #require(await ports.first { _ in true })
            try await body(number) { await group.triggerGracefulShutdown() }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    @Test func `requests of a client that reads nothing wait, and others are answered meanwhile`() async throws {
        let counts = Counts()
        // Of 32 MiB, the systems of both sides keep a fraction.
        let total = 2048
        let request = "GET /large HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "x", count: 4052))\r\n\r\n"
        try await withService(counts) { port, _ in
            let client = Task {
                try await TLSClient.connect(to: port) { client in
                    try await client.shakeHands()
                    for _ in 0..<total {
                        try await client.write(String(repeating: request, count: 4))
                        counts.sent.add(1, ordering: .relaxed)
                    }
                    // Nothing is read; the end comes with that of the test.
                    for await _ in AsyncStream<Never>.makeStream().stream {}
                }
            }
            // The requests wait once none is taken while the service answers to another client, many times.
            var (last, answers) = (0, 0)
            while answers < 20 {
                let answer = try await TLSClient.answer(to: "/small", from: port)
                #expect(answer.hasPrefix("HTTP/1.1 200 "))
                let sent = counts.sent.load(ordering: .relaxed)
                answers = sent == last && counts.begun.load(ordering: .relaxed) > 0 ? answers + 1 : 0
                last = sent
            }
            #expect(last < total)
            #expect(counts.begun.load(ordering: .relaxed) < 8)
            client.cancel()
            _ = await client.result
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `a shutdown leaves a slow client the rest of its answer`(version: Int32) async throws {
        try await withService { port, shutDown in
            try await TLSClient.connect(to: port, version: version) { slow in
                try await slow.shakeHands()
                try await TLSClient.connect(to: port, version: version) { idle in
                    try await idle.shakeHands()
                    try await slow.ask("/large")
                    #expect(try await slow.read())
                    await shutDown()
                    // Its end shows that the shutdown has come to the connections.
                    try await idle.readToEnd()
                }
                try await slow.readToEnd()
                #expect(slow.contentCount == Self.large.readableBytes)
                #expect(slow.isEndTold)
            }
        }
    }

    @Test func `a client that asks for new keys again and again, and reads none, is closed`() async throws {
        let server = try await ScriptedServer(tls: TLSIdentity().server, sendBuffer: 4096) { try await $1.answer() }
        try await TLSClient.connect(to: server.port) { client in
            try await client.shakeHands()
            // A write to a connection that is closed fails.
            try? await client.changeKeys(20_000, isAnswerAsked: true)
            try? await client.ask("/")
            await expectEventually { server.closedCount == 1 || !server.requests.isEmpty }
        }
        #expect(server.requests.isEmpty)
    }

    /// Messages of the handshake stand before the request, so that one call reads nothing for the service.
    @Test(arguments: [false, true])
    func `a client may change its keys often, and is answered, as others are`(isAnswerAsked: Bool) async throws {
        let server = try await ScriptedServer(tls: TLSIdentity().server) { request, line in
            try await line.answer()
            return request.path == "/kept"
        }
        try await TLSClient.connect(to: server.port) { client in
            try await client.shakeHands()
            for _ in 0..<4 {
                try await client.changeKeys(500, isAnswerAsked: isAnswerAsked)
                let answer = try await TLSClient.answer(to: "/", from: server.port)
                #expect(answer.hasSuffix("\r\n\r\nok"))
                try await client.ask("/kept")
                #expect(try await client.read())
            }
            try await client.ask("/")
            try await client.readToEnd()
            #expect(String(decoding: client.plain, as: UTF8.self).components(separatedBy: "\r\n\r\nok").count == 6)
        }
    }

    @Test func `renegotiation is refused`() async throws {
        let server = try await ScriptedServer(tls: TLSIdentity().server) { try await $1.answer() }
        try await TLSClient.connect(to: server.port, version: TLS1_2_VERSION) { client in
            try await client.shakeHands()
            let failure = await #expect(throws: TLSClient.Failure.self) { try await client.renegotiate() }
            #expect(failure?.reason == SSL_R_NO_RENEGOTIATION)
        }
    }

    /// HTTP's lengths say whether a request is whole (RFC 9112 section 9.8).
    @Test(arguments: [false, true])
    func `a whole request is answered whole after the end of its client's side`(inTLS: Bool) async throws {
        try await withService { port, _ in
            try await TLSClient.connect(to: port) { client in
                try await client.shakeHands()
                try await client.ask("/large")
                try await client.end(inTLS: inTLS)
                try await client.readToEnd()
                #expect(client.contentCount == Self.large.readableBytes)
                #expect(client.isEndTold)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a body that ends before its length is none, and ends its connection`(inTLS: Bool) async throws {
        let counts = Counts()
        try await withService(counts) { port, _ in
            try await TLSClient.connect(to: port) { client in
                try await client.shakeHands()
                try await client.write("POST /notes HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbuy 1")
                try await client.end(inTLS: inTLS)
                // Ends with the connection: no limit closes it.
                try await client.readToEnd()
                #expect(!String(decoding: client.plain, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
            }
        }
        #expect(counts.notes.load(ordering: .relaxed) == 0)
    }

    @Test func `an end within the handshake ends the connection`() async throws {
        try await withService { port, _ in
            try await TLSClient.connect(to: port) { client in
                try await client.send(client.hello().dropLast())
                try await client.end(inTLS: false)
                // Ends with the connection: no limit closes it.
                while await client.receive() {}
            }
        }
    }

    @Test(arguments: [0, 1, 2])
    func `a handshake that does not end has the time of a head`(halves: Int) async throws {
        try await withService {
            $0.headTime = .milliseconds(50)
        } _: { port, _ in
            try await TLSClient.connect(to: port) { client in
                let hello = client.hello()
                // The connection may be closed already.
                if halves > 0 { try? await client.send(hello.prefix(hello.count * halves / 2)) }
                // Ends with the connection: no other limit closes it.
                while await client.receive() {}
            }
        }
    }
}
