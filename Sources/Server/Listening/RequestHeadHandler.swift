import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Applies the rules of `RequestHead` to each request of a connection, in front of the router.
///
/// A refused request goes on without its target and its fields, so that it is answered in its turn. `RequestMiddleware` answers
/// it with the refusal.
final class RequestHeadHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            switch RequestHead.checked(head) {
            case .success(let checked): context.fireChannelRead(wrapInboundOut(.head(checked)))
            case .failure(let refusal):
                var refused = HTTPRequest(method: head.method, scheme: head.scheme, authority: nil, path: "/")
                if let name = HTTPField.Name.refusal { refused.headerFields[name] = refusal.rawValue }
                refused.headerFields[.connection] = "close"
                context.fireChannelRead(wrapInboundOut(.head(refused)))
            }
        case .body: context.fireChannelRead(data)
        // Nothing reads trailers.
        case .end: context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }
}
