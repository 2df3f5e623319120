import NIOCore
import NIOHTTPTypes

/// Closes a connection whose head or request is not over in time.
final class RequestTimeLimit: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Streams of events end before it, unless their client does not read.
    private static let streamLimit = TimeAmount.minutes(20)

    private var deadlines: RequestDeadlines
    private var timer: Scheduled<Void>?

    init(limit: TimeAmount) {
        deadlines = RequestDeadlines(limit: limit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let firstBytes = FirstBytesHandler {
            let (handler, context) = bound.value
            handler.perform(handler.deadlines.headAwaited(at: .now()), context)
        }
        // In front of TLS and HTTP, since neither tells of a head that does not end.
        try? context.pipeline.syncOperations.addHandler(firstBytes, position: .first)
        perform(deadlines.headAwaited(at: .now()), context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: perform(deadlines.requestBegan(at: .now()), context)
        case .end: deadlines.requestRead()
        case .body: break
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .head(let head) = part, head.headerFields[.contentType] == EventRoutes.contentType {
            deadlines.answerStreams(until: .now() + Self.streamLimit)
        }
        guard case .end = part else {
            context.write(data, promise: promise)
            return
        }
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            bound.value.deadlines.answerWritten()
        }
        context.write(data, promise: written)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        context.fireChannelInactive()
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
