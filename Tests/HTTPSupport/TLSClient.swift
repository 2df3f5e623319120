import COpenSSL
import NIOCore
import NIOPosix

/// The client's side of TLS on one connection. It reads and writes only what a test asks for, and verifies no certificate.
final class TLSClient {
    struct Failure: Error {
        let reason: Int32
    }

    private let session: OpaquePointer
    /// The bytes from the server that OpenSSL has not read. The session owns both buffers.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    /// All that the server has said.
    private(set) var plain: [UInt8] = []
    /// True if the server has said that nothing follows (RFC 8446 section 6.1).
    private(set) var isEndTold = false

    /// Connects to a port of 127.0.0.1, calls `body`, and closes the connection. The system keeps few bytes that are not read.
    static func connect(
        to port: Int, version: Int32 = TLS1_3_VERSION, _ body: (TLSClient) async throws -> Void
    ) async throws {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.socketOption(.so_rcvbuf), value: 4096)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        try await connection.executeThenClose { inbound, outbound in
            try await body(TLSClient(connection.channel, inbound.makeAsyncIterator(), outbound, version))
        }
    }

    /// Connects, asks for a path, and reads to the end.
    ///
    /// - Returns: All that the server has said.
    static func answer(to path: String, from port: Int) async throws -> String {
        var answer = ""
        try await connect(to: port) { client in
            try await client.shakeHands()
            try await client.ask(path, "Connection: close\r\n")
            try await client.readToEnd()
            answer = String(decoding: client.plain, as: UTF8.self)
        }
        return answer
    }

    private init(
        _ channel: any Channel, _ parts: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ version: Int32
    ) throws {
        (self.channel, self.parts, self.outbound) = (channel, parts, outbound)
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Failure(reason: 0) }
        // The session keeps it.
        defer { SSL_CTX_free(context) }
        for end in [SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION] {
            guard SSL_CTX_ctrl(context, end, Int(version), nil) == 1 else { throw Failure(reason: 0) }
        }
        guard let session = SSL_new(context) else { throw Failure(reason: 0) }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            throw Failure(reason: 0)
        }
        SSL_set_bio(session, incoming, outgoing)
        SSL_set_connect_state(session)
        (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    }

    deinit { SSL_free(session) }

    /// The first message of the handshake, which is not sent.
    func hello() -> [UInt8] {
        _ = SSL_do_handshake(session)
        ERR_clear_error()
        return output()
    }

    func shakeHands() async throws {
        while try call({ SSL_do_handshake(session) }) != SSL_ERROR_NONE {
            try await flush()
            guard await receive() else { throw Failure(reason: SSL_ERROR_SYSCALL) }
        }
        try await flush()
    }

    /// Sends bytes, and returns once the system has them. The writer of the channel takes more while the event loop is busy.
    func send(_ bytes: some Sequence<UInt8>) async throws {
        let buffer = ByteBuffer(bytes: bytes)
        try await withTaskCancellationHandler {
            try await channel.writeAndFlush(buffer)
        } onCancel: { [channel] in
            channel.close(promise: nil)
        }
    }

    func write(_ text: String) async throws {
        let bytes = Array(text.utf8)
        var count = 0
        _ = try call { SSL_write_ex(session, bytes, bytes.count, &count) }
        try await flush()
    }

    func ask(_ path: String, _ fields: String = "") async throws {
        try await write("GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    }

    /// Changes the key of what this side sends (RFC 8446 section 4.6.3), many times.
    ///
    /// - Parameter isAnswerAsked: True to ask the server for a change of its key, too, which it answers with a message.
    func changeKeys(_ times: Int, isAnswerAsked: Bool) async throws {
        for number in 1...times {
            let kind = isAnswerAsked ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
            guard SSL_key_update(session, kind) == 1 else { throw Failure(reason: 0) }
            _ = try call { SSL_do_handshake(session) }
            if number % 500 == 0 || number == times { try await flush() }
        }
    }

    /// Asks for another handshake, which TLS 1.2 has.
    func renegotiate() async throws {
        guard SSL_renegotiate(session) == 1 else { throw Failure(reason: 0) }
        try await shakeHands()
    }

    /// Ends this side, in TLS or of the connection alone.
    func end(inTLS: Bool) async throws {
        guard inTLS else { return outbound.finish() }
        _ = SSL_shutdown(session)
        ERR_clear_error()
        try await flush()
    }

    /// Reads the next bytes.
    ///
    /// - Returns: False at the end of the server's side.
    func read() async throws -> Bool {
        while true {
            var bytes = [UInt8](repeating: 0, count: 16_384)
            var count = 0
            switch try call({ SSL_read_ex(session, &bytes, bytes.count, &count) }) {
            case SSL_ERROR_NONE:
                plain += bytes[..<count]
                return true
            case SSL_ERROR_ZERO_RETURN:
                isEndTold = true
                return false
            default: guard await receive() else { return false }
            }
        }
    }

    func readToEnd() async throws {
        while try await read() {}
    }

    /// The number of bytes after the head of the first answer; nil without a head.
    var contentCount: Int? {
        plain.firstRange(of: Array("\r\n\r\n".utf8)).map { plain.count - $0.upperBound }
    }

    /// Takes the next bytes from the network.
    ///
    /// - Returns: False at the end of the connection. A reset is one, too.
    func receive() async -> Bool {
        guard let part = try? await parts.next() else { return false }
        let count = part.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, Int32($0.count)) }
        return count == part.readableBytes
    }

    /// Calls OpenSSL, which has an error for each thread.
    ///
    /// - Returns: `SSL_ERROR_NONE`, `SSL_ERROR_WANT_READ` or `SSL_ERROR_ZERO_RETURN`.
    private func call(_ function: () -> Int32) throws -> Int32 {
        ERR_clear_error()
        let error = SSL_get_error(session, function())
        guard [SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN].contains(error) else {
            throw Failure(reason: ERR_GET_REASON(ERR_peek_last_error()))
        }
        return error
    }

    private func flush() async throws {
        let bytes = output()
        if !bytes.isEmpty { try await send(bytes) }
    }

    private func output() -> [UInt8] {
        let count = BIO_ctrl_pending(outgoing)
        guard count > 0 else { return [] }
        return Array(unsafeUninitializedCapacity: count) { space, read in
            read = Int(max(0, BIO_read(outgoing, space.baseAddress, Int32(clamping: space.count))))
        }
    }
}
