import NIOCore

/// Listens to a stream of events, and closes the connection if the service refuses the stream.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer
    private var isAccepted = false

    init(_ request: ByteBuffer) {
        self.request = request
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isAccepted { return }
        isAccepted = unwrapInboundIn(data).readableBytesView.starts(with: "HTTP/1.1 200".utf8)
        if !isAccepted { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
