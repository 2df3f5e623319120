import NIOCore

/// Sends a request and reads the answer to it.
final class ExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct ConnectionClosed: Error {}

    private let request: ByteBuffer
    private let extent: Answer.Extent
    private let startedAt: NIODeadline
    /// The promise of the answer; nil once it is fulfilled.
    private var promise: EventLoopPromise<Answer>?
    private var received = ByteBuffer()

    /// - Parameter startedAt: The moment from which the latency is measured.
    init(_ request: ByteBuffer, until extent: Answer.Extent, startedAt: NIODeadline, promise: EventLoopPromise<Answer>)
    {
        self.request = request
        self.extent = extent
        self.startedAt = startedAt
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        guard let answer = Answer(received, until: extent, latency: .now() - startedAt) else { return }
        promise?.succeed(answer)
        promise = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise?.fail(error)
        promise = nil
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise?.fail(ConnectionClosed())
        promise = nil
    }
}
