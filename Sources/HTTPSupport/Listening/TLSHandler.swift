import COpenSSL
import NIOCore

/// The server's side of TLS on one connection. OpenSSL reads and writes two buffers in memory, whose bytes this handler moves.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case open
        /// The channel is closed, or about to be.
        case closed
    }

    /// The maximum content of a record (RFC 8446 section 5.1).
    private static let recordLimit = 16_384

    private let lingerTime: TimeAmount
    private let session: OpaquePointer
    /// The bytes from the network that OpenSSL has not read. The session owns both buffers.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var state = State.handshaking
    private var isInputClosed = false
    private var isOutputClosed = false
    /// True once the channel closes by itself: when the client ends its side, or after `lingerTime`.
    private var isLingering = false
    /// The writes before the end of the handshake.
    private var early: [(data: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

    /// - Parameter lingerTime: The time in which a client may read the rest of a response, and end its side, before the channel is
    ///   closed.
    package init(_ context: TLSContext, lingerTime: TimeAmount) throws {
        self.lingerTime = lingerTime
        guard let session = SSL_new(context.pointer) else { throw ChannelError.inappropriateOperationForState }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(session)
            throw ChannelError.inappropriateOperationForState
        }
        SSL_set_bio(session, incoming, outgoing)
        SSL_set_accept_state(session)
        (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    }

    deinit { SSL_free(session) }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .closed, !isInputClosed else { return }
        let bytes = unwrapInboundIn(data)
        let count = bytes.withUnsafeReadableBytes { BIO_write(incoming, $0.baseAddress, Int32($0.count)) }
        guard count == bytes.readableBytes else { return fail(context) }
        if state == .handshaking { shakeHands(context) }
        if state == .open { decrypt(context) }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let closed = event as? ChannelEvent, closed == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Clients may end without telling so in TLS (RFC 9112 section 9.8): HTTP's own lengths say whether a request is whole.
        state == .handshaking ? fail(context) : closeInput(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let data = unwrapOutboundIn(data)
        switch state {
        case .handshaking: early.append((data, promise))
        case .open where !isOutputClosed: encrypt(data, promise, context)
        case .open: promise?.fail(ChannelError.outputClosed)
        case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        if state == .open { closeOutput(context) }
        // Of a connection without input and output, nothing is left.
        guard mode == .all || isInputClosed || state != .open else {
            return context.close(mode: mode, promise: promise)
        }
        guard state == .open || isLingering else {
            end()
            return context.close(promise: promise)
        }
        context.channel.closeFuture.cascade(to: promise)
        if !isLingering { linger(context) }
    }

    /// Closes the channel after what is written, such as a response at the end of the service: NIO drops it otherwise.
    private func linger(_ context: ChannelHandlerContext) {
        isLingering = true
        end()
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let timer = context.eventLoop.scheduleTask(in: lingerTime) { bound.value.close(promise: nil) }
        context.channel.closeFuture.whenComplete { _ in timer.cancel() }
        // After all that is written: NIO closes both sides at once if the client has ended its own.
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in bound.value.close(mode: .output, promise: nil) }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
    }

    private func shakeHands(_ context: ChannelHandlerContext) {
        ERR_clear_error()
        let error = SSL_get_error(session, SSL_do_handshake(session))
        send(context)
        guard error == SSL_ERROR_NONE else {
            if error != SSL_ERROR_WANT_READ { fail(context) }
            return
        }
        // A write that fails reads what is left, and closes the channel.
        guard state == .handshaking else { return }
        state = .open
        let writes = early
        early = []
        for (data, promise) in writes { write(context: context, data: wrapOutboundOut(data), promise: promise) }
        context.flush()
    }

    /// Passes on what the records that have come whole say.
    private func decrypt(_ context: ChannelHandlerContext) {
        var plain = context.channel.allocator.buffer(capacity: 0)
        var error = SSL_ERROR_NONE
        ERR_clear_error()
        while error == SSL_ERROR_NONE {
            plain.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordLimit) { space in
                var count = 0
                error = SSL_get_error(session, SSL_read_ex(session, space.baseAddress, space.count, &count))
                return count
            }
        }
        if plain.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plain)) }
        // The answer to a change of keys, or the refusal to renegotiate. A client that reads none of them could fill the memory.
        guard BIO_ctrl_pending(outgoing) == 0 || context.channel.isWritable else { return fail(context) }
        send(context)
        switch error {
        case SSL_ERROR_WANT_READ: break
        case SSL_ERROR_ZERO_RETURN: closeInput(context)
        default: fail(context)
        }
    }

    private func encrypt(_ data: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        ERR_clear_error()
        let isWritten = data.withUnsafeReadableBytes { bytes in
            var count = 0
            return bytes.isEmpty || SSL_write_ex(session, bytes.baseAddress, bytes.count, &count) == 1
        }
        guard isWritten else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return fail(context)
        }
        context.write(wrapOutboundOut(encrypted(context)), promise: promise)
    }

    /// The bytes that OpenSSL has for the network.
    private func encrypted(_ context: ChannelHandlerContext) -> ByteBuffer {
        let count = BIO_ctrl_pending(outgoing)
        var bytes = context.channel.allocator.buffer(capacity: count)
        guard count > 0 else { return bytes }
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { space in
            Int(max(0, BIO_read(outgoing, space.baseAddress, Int32(clamping: space.count))))
        }
        return bytes
    }

    private func send(_ context: ChannelHandlerContext) {
        guard BIO_ctrl_pending(outgoing) > 0 else { return }
        context.writeAndFlush(wrapOutboundOut(encrypted(context)), promise: nil)
    }

    private func closeInput(_ context: ChannelHandlerContext) {
        guard state == .open, !isInputClosed else { return }
        isInputClosed = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    /// Tells the client that nothing follows, so that it can tell an end from a cut (RFC 8446 section 6.1).
    private func closeOutput(_ context: ChannelHandlerContext) {
        guard !isOutputClosed else { return }
        isOutputClosed = true
        ERR_clear_error()
        _ = SSL_shutdown(session)
        send(context)
    }

    /// Closes a connection that broke TLS.
    private func fail(_ context: ChannelHandlerContext) {
        guard state != .closed else { return }
        // Its alert.
        send(context)
        end()
        context.close(promise: nil)
    }

    private func end() {
        state = .closed
        for (_, promise) in early { promise?.fail(ChannelError.ioOnClosedChannel) }
        early = []
    }
}
