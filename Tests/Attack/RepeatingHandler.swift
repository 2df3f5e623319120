import NIOCore

/// Sends requests in turn on one connection, each after the answer to the one before.
final class RepeatingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let requests: [ByteBuffer]
    private let pause: TimeAmount
    private var turn: Int
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - first: The number of the first request.
    ///   - pause: The time between an answer and the next request.
    init(_ requests: [ByteBuffer], first: Int, pause: TimeAmount) {
        self.requests = requests
        self.pause = pause
        turn = first
    }

    func channelActive(context: ChannelHandlerContext) {
        sendNext(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Only the first piece of an answer begins with the version.
        guard unwrapInboundIn(data).readableBytesView.starts(with: "HTTP/1.1 ".utf8) else { return }
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: pause) { self.sendNext(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func sendNext(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(requests[turn % requests.count]), promise: nil)
        turn += 1
    }
}
