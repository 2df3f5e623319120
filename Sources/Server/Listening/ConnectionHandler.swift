import NIOCore
import NIOHTTPTypes

/// Keeps a connection in the table of open connections, and notes when it has a request under way.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let table: ConnectionTable
    private var connection: ConnectionTable.Connection?
    private var requestsUnderWay = 0

    init(_ table: ConnectionTable) {
        self.table = table
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { admit(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        admit(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            requestsUnderWay += 1
            if requestsUnderWay == 1 { connection?.requestBegan(at: .now()) }
        case .body: break
        case .end: if requestsUnderWay > 0 { connection?.requestRead() }
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { connection?.clientClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            requestsUnderWay -= 1
            if requestsUnderWay == 0 { connection?.requestsEnded(at: .now()) }
        }
        context.write(data, promise: promise)
    }

    private func admit(_ context: ChannelHandlerContext) {
        guard connection == nil else { return }
        let channel = context.channel
        let address = ClientAddresses.network(channel.remoteAddress)
        let connection = ConnectionTable.Connection(address: address, at: .now()) { channel.close(promise: nil) }
        guard table.admit(connection, at: .now()) else {
            context.close(promise: nil)
            return
        }
        self.connection = connection
    }

    private func leave() {
        if let connection { table.remove(connection) }
        connection = nil
    }
}
