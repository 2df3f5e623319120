import NIOCore

/// Sends some bytes at once, then further ones at intervals, and never closes the connection.
final class DrippingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let interval = TimeAmount.milliseconds(500)

    private let opening: ByteBuffer
    private var drip: ByteBuffer
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - opening: The bytes sent at once.
    ///   - drip: The bytes sent one every 500 ms.
    init(opening: ByteBuffer = ByteBuffer(), drip: ByteBuffer = ByteBuffer()) {
        self.opening = opening
        self.drip = drip
    }

    func channelActive(context: ChannelHandlerContext) {
        if opening.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(opening), promise: nil) }
        scheduleDrop(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func scheduleDrop(_ context: ChannelHandlerContext) {
        guard drip.readableBytes > 0 else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) {
            guard let byte = self.drip.readSlice(length: 1) else { return }
            context.writeAndFlush(self.wrapOutboundOut(byte), promise: nil)
            self.scheduleDrop(context)
        }
    }
}
