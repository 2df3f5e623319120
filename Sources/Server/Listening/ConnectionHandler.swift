import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Guards one connection: keeps it in the table of open connections, closes it when a head or a request is not over in time,
/// and applies the rules of `RequestHead`.
///
/// It is one handler, since each handler costs every part of every request a turn. A refused request goes on without its target
/// and its fields, so that it is answered in its turn. `RequestMiddleware` answers it with the refusal.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Streams of events end before it, unless their client does not read.
    private static let streamLimit = TimeAmount.minutes(20)

    private let table: ConnectionTable
    private var connection: ConnectionTable.Connection?
    private var requestsUnderWay = 0
    private var deadlines: RequestDeadlines
    private var timer: Scheduled<Void>?

    /// - Parameter requestTime: The limit on the time of one request.
    init(_ table: ConnectionTable, requestTime: TimeAmount) {
        self.table = table
        deadlines = RequestDeadlines(limit: requestTime)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let firstBytes = FirstBytesHandler {
            let (handler, context) = bound.value
            handler.awaitHead(context)
        }
        // In front of TLS and HTTP, since neither tells of a head that does not end.
        try? context.pipeline.syncOperations.addHandler(firstBytes, position: .first)
        awaitHead(context)
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
        case .head(let head):
            let now = NIODeadline.now()
            requestsUnderWay += 1
            if requestsUnderWay == 1 { connection?.requestBegan(at: now) }
            perform(deadlines.requestBegan(at: now), context)
            context.fireChannelRead(wrapInboundOut(.head(Self.checked(head))))
        case .body:
            context.fireChannelRead(data)
        case .end(let trailers):
            if requestsUnderWay > 0 { connection?.requestRead() }
            deadlines.requestRead()
            // Nothing reads trailers.
            context.fireChannelRead(trailers == nil ? data : wrapInboundOut(.end(nil)))
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { connection?.clientClosed() }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.headerFields[.contentType] == EventRoutes.contentType {
                deadlines.answerStreams(until: .now() + Self.streamLimit)
            }
            context.write(data, promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            written.futureResult.whenComplete { _ in bound.value.answerWritten() }
            context.write(data, promise: written)
        }
    }

    private func answerWritten() {
        deadlines.answerWritten()
        requestsUnderWay -= 1
        if requestsUnderWay == 0 { connection?.requestsEnded(at: .now()) }
    }

    private static func checked(_ head: HTTPRequest) -> HTTPRequest {
        switch RequestHead.checked(head) {
        case .success(let checked): return checked
        case .failure(let refusal):
            var refused = HTTPRequest(method: head.method, scheme: head.scheme, authority: nil, path: "/")
            if let name = HTTPField.Name.refusal { refused.headerFields[name] = refusal.rawValue }
            refused.headerFields[.connection] = "close"
            return refused
        }
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
        timer?.cancel()
        timer = nil
    }

    private func awaitHead(_ context: ChannelHandlerContext) {
        guard deadlines.mayAwaitHead else { return }
        perform(deadlines.headAwaited(at: .now()), context)
    }

    private func perform(_ action: RequestDeadlines.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .schedule(let deadline):
            timer?.cancel()
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            timer = context.eventLoop.scheduleTask(deadline: deadline) {
                let (handler, context) = bound.value
                handler.perform(handler.deadlines.timerFired(at: .now()), context)
            }
        case .close: context.close(promise: nil)
        case .none: break
        }
    }
}
