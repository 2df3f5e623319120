import NIOCore

/// Reports incoming bytes that may begin the head of a request.
package final class FirstBytesHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let onBytes: () -> Void

    package init(onBytes: @escaping () -> Void) {
        self.onBytes = onBytes
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onBytes()
        context.fireChannelRead(data)
    }
}
