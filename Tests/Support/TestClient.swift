import HTTPSupport
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServiceLifecycle
import Synchronization

/// The way of requests to an application under test.
package enum TestingSetup: Sendable {
    /// The router answers in this process, without a connection.
    case router
    /// The application listens on a free port of this machine.
    case live
}

extension Application {
    /// Runs a test against the application.
    ///
    /// It is called like the function of HummingbirdTesting, which needs AsyncHTTPClient and with it HTTP/2 and SOCKS.
    package func test<Value>(
        _ setup: TestingSetup, _ test: @Sendable (TestClient) async throws -> Value
    ) async throws -> Value {
        switch setup {
        case .router: try await test(TestClient(of: responder, logger: logger))
        case .live: try await listening { try await test(TestClient(port: $0)) }
        }
    }

    /// Runs a test while the application listens.
    private func listening<Value>(_ test: @Sendable (_ port: Int) async throws -> Value) async throws -> Value {
        let (ports, found) = AsyncStream<Int>.makeStream()
        let application = Application(
            responder: responder, server: server,
            configuration: configuration.with(address: .hostname("127.0.0.1", port: 0)), services: services,
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { found.yield(port) }
            }, eventLoopGroupProvider: .shared(eventLoopGroup), logger: logger)
        let services = ServiceGroup(configuration: .init(services: [application], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                // An application that cannot listen must not keep the test waiting.
                defer { found.finish() }
                try await services.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await tasks.next()
                throw NotListening()
            }
            do {
                let value = try await test(port)
                await services.triggerGracefulShutdown()
                return value
            } catch {
                await services.triggerGracefulShutdown()
                throw error
            }
        }
    }
}

private struct NotListening: Error {}

/// The answer to a request of a test.
package struct TestResponse: Sendable {
    package let status: HTTPResponse.Status
    package let headers: HTTPFields
    package let body: ByteBuffer
}

/// A client of an application under test.
package struct TestClient: Sendable {
    /// The port on which the application listens; nil if its router answers in this process.
    package let port: Int?
    private let answer: @Sendable (HTTPRequest, ByteBuffer?) async throws -> TestResponse

    /// A client whose requests are answered in this process, each with a context of its own.
    fileprivate init<Responder: HTTPResponder>(of responder: Responder, logger: Logger)
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        port = nil
        answer = { head, body in
            var (head, logger) = (head, logger)
            if let body { head.headerFields[.contentLength] = String(body.readableBytes) }
            logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
            let context = Responder.Context(source: .init(channel: NIOAsyncTestingChannel(), logger: logger))
            let request = Request(head: head, body: RequestBody(asyncSequence: RequestParts(body ?? ByteBuffer())))
            let response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch {
                // As `Application` answers an error that no middleware has caught.
                response = Response(status: .internalServerError)
            }
            let content = ResponseContent()
            try await response.body.write(content)
            return TestResponse(status: response.status, headers: response.headers, body: content.bytes)
        }
    }

    /// A client whose requests go over connections of its own to a port of this machine.
    fileprivate init(port: Int) {
        self.port = port
        let connections = OutgoingClient(idleTime: .seconds(1))
        answer = { head, body in
            guard let method = OutgoingRequest.Method(rawValue: head.method.rawValue) else {
                throw OutgoingFailure.requestInvalid
            }
            var request = OutgoingRequest(
                method, "http://127.0.0.1:\(port)\(head.path ?? "/")", body: body.map { Array($0.readableBytesView) })
            for field in head.headerFields { request.add(field.name.rawName, field.value) }
            let answer = try await connections.send(
                request, OutgoingLimits(answer: .seconds(300), body: .whole(upTo: 1 << 30)))
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
            }
            return TestResponse(
                status: .init(code: answer.status), headers: headers, body: ByteBuffer(bytes: answer.body))
        }
    }

    package func executeRequest(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields, body: ByteBuffer?
    ) async throws -> TestResponse {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: uri, headerFields: headers)
        return try await answer(head, body)
    }

    /// Sends a request, and passes on the answer.
    @discardableResult
    package func execute<Value>(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil,
        testCallback: (TestResponse) async throws -> Value
    ) async throws -> Value {
        try await testCallback(try await executeRequest(uri: uri, method: method, headers: headers, body: body))
    }
}

/// The body of a request, in parts as a connection has them. It can be read once.
private final class RequestParts: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private static let maximumSize = 32 << 10

    private let rest: Mutex<ByteBuffer>

    init(_ body: ByteBuffer) { rest = Mutex(body) }

    func makeAsyncIterator() -> RequestParts { self }

    func next() async throws -> ByteBuffer? {
        // A connection's body also ends with an error in a cancelled task.
        try Task.checkCancellation()
        return rest.withLock { rest in
            rest.readableBytes == 0 ? nil : rest.readSlice(length: Swift.min(Self.maximumSize, rest.readableBytes))
        }
    }
}

/// The body of an answer, as it is written.
private final class ResponseContent: ResponseBodyWriter, Sendable {
    private let written = Mutex(ByteBuffer())

    var bytes: ByteBuffer { written.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        written.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailers: HTTPFields?) async throws {}
}
