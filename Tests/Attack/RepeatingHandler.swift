import NIOCore

/// Sends requests in turn on one connection, each after the answer to the one before.
final class RepeatingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let makeRequest: (Int) -> ByteBuffer
    private let pause: TimeAmount
    private var turn: Int
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - first: The number of the first request.
    ///   - pause: The time between an answer and the next request.
    ///   - makeRequest: Returns a request, given its number.
    init(first: Int = 0, pause: TimeAmount = .zero, _ makeRequest: @escaping (Int) -> ByteBuffer) {
        self.makeRequest = makeRequest
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
        context.writeAndFlush(wrapOutboundOut(makeRequest(turn)), promise: nil)
        turn += 1
    }
}
