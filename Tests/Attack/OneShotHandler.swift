import NIOCore

/// Sends one request and closes the connection.
final class OneShotHandler: ChannelInboundHandler {
    /// The moment at which the connection closes.
    enum Closing: Sendable {
        case whenSent
        case whenAnswered
    }

    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer
    private let closing: Closing

    init(_ request: ByteBuffer, closing: Closing) {
        self.request = request
        self.closing = closing
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        let sent = channel.writeAndFlush(request)
        if closing == .whenSent { sent.whenComplete { _ in channel.close(promise: nil) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
