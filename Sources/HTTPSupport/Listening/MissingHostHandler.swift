import NIOCore
import NIOHTTP1

/// Gives a request of HTTP/1.0 without `Host` a host. Later versions require one, and `HTTPRequest` keeps no version.
///
/// Load balancers check the health of a service with such requests.
final class MissingHostHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0,
            !head.headers.contains(name: "Host")
        else { return context.fireChannelRead(data) }
        head.headers.add(name: "Host", value: "localhost")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
