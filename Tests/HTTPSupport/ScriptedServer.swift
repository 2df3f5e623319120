import Foundation
import HTTPSupport
import NIOCore
import NIOPosix
import Synchronization

/// A server on a free port of this machine that answers with the bytes of a script.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        /// The lines of its head, the request line first.
        let head: [String]
        let body: [UInt8]
        /// The number of its connection, from 1.
        let connection: Int

        /// The path with its query.
        var path: String { String(head[0].split(separator: " ")[1]) }

        /// The value of a header; nil without it.
        func header(_ name: String) -> String? {
            let start = name.lowercased() + ": "
            return head.first { $0.lowercased().hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
        }
    }

    /// The way back to the client.
    struct Line: Sendable {
        fileprivate let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

        /// Writes an answer with a body of known size.
        ///
        /// - Returns: True.
        @discardableResult func answer(
            _ status: Int = 200, _ headers: String = "", _ body: String = "ok"
        ) async throws -> Bool {
            try await write("HTTP/1.1 \(status) X\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            return true
        }
    }

    /// Answers a request, and returns false to close the connection.
    typealias Script = @Sendable (Request, Line) async throws -> Bool

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let opened = Atomic(0)
        let closed = Atomic(0)
    }

    struct NotListening: Error {}

    let port: Int
    private let scheme: String
    private let log: Log
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - tls: Nil for a server without TLS.
    ///   - sendBuffer: The bytes of a connection that the system keeps until its client reads them; nil for the system's own number.
    init(tls: TLSContext? = nil, sendBuffer: Int? = nil, _ script: @escaping Script) async throws {
        var bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        if let sendBuffer {
            bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: .init(sendBuffer))
        }
        let server =
            try await bootstrap
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(tls, lingerTime: .seconds(5)))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = server.channel.localAddress?.port else { throw NotListening() }
        self.port = port
        scheme = tls == nil ? "http" : "https"
        let log = Log()
        self.log = log
        task = Task {
            try? await server.executeThenClose { connections in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await connection in connections {
                        let number = log.opened.add(1, ordering: .relaxed).newValue
                        connection.channel.closeFuture.whenComplete { _ in log.closed.add(1, ordering: .relaxed) }
                        group.addTask { try? await ScriptedServer.serve(connection, number, log, script) }
                    }
                }
            }
        }
    }

    deinit { task.cancel() }

    /// All requests that have come.
    var requests: [Request] { log.requests.withLock(\.self) }
    /// The number of connections that were made.
    var openedCount: Int { log.opened.load(ordering: .relaxed) }
    /// The number of connections that have ended.
    var closedCount: Int { log.closed.load(ordering: .relaxed) }

    func url(_ path: String = "/", host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(port)\(path)" }

    private static func serve(
        _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ number: Int, _ log: Log, _ script: Script
    ) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var (bytes, parts) = ([UInt8](), inbound.makeAsyncIterator())
            while true {
                var request: Request?
                while request == nil {
                    request = Self.request(&bytes, number)
                    guard request == nil else { break }
                    guard let part = try await parts.next() else { return }
                    bytes += part.readableBytesView
                }
                guard let request else { return }
                log.requests.withLock { $0.append(request) }
                guard try await script(request, Line(outbound: outbound)) else { return }
            }
        }
    }

    /// Takes a request from the beginning of bytes; nil if it has not come whole.
    private static func request(_ bytes: inout [UInt8], _ connection: Int) -> Request? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let request = Request(head: head, body: [], connection: connection)
        let size = request.header("Content-Length").flatMap { Int($0) } ?? 0
        guard bytes.count >= end.upperBound + size else { return nil }
        let body = Array(bytes[end.upperBound..<end.upperBound + size])
        bytes.removeFirst(end.upperBound + size)
        return Request(head: head, body: body, connection: connection)
    }
}
