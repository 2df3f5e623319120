import NIOCore
import NIOPosix

/// A TCP client of the service, with a loopback address and a thread of its own.
final class LoopbackClient: Sendable {
    struct TimedOut: Error {}

    /// The longest wait for a connection.
    private static let connectLimit = TimeAmount.seconds(2)

    let eventLoop: any EventLoop
    private let group: MultiThreadedEventLoopGroup
    private let source: SocketAddress
    private let server: SocketAddress

    /// - Parameters:
    ///   - address: The client's own address, in 127.0.0.0/8.
    ///   - port: The port of the service on 127.0.0.1.
    init(from address: String, to port: Int) throws {
        source = try SocketAddress(ipAddress: address, port: 0)
        server = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        eventLoop = group.next()
    }

    /// Opens a connection.
    ///
    /// - Parameter makeHandler: Returns the connection's only handler.
    func connect(_ makeHandler: @escaping @Sendable () -> any ChannelHandler) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: eventLoop)
            .bind(to: source)
            .connectTimeout(Self.connectLimit)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(makeHandler())
                }
            }
            .connect(to: server)
    }

    /// Sends a request on a connection of its own, and closes the connection after the answer.
    ///
    /// The latency includes the time to connect.
    func exchange(
        _ request: ByteBuffer,
        until extent: Answer.Extent = .whole,
        within limit: TimeAmount
    ) -> EventLoopFuture<Answer> {
        let promise = eventLoop.makePromise(of: Answer.self)
        let startedAt = NIODeadline.now()
        let timer = eventLoop.scheduleTask(deadline: startedAt + limit) { promise.fail(TimedOut()) }
        let connection = connect {
            ExchangeHandler(request, until: extent, startedAt: startedAt, promise: promise)
        }
        connection.whenFailure { promise.fail($0) }
        promise.futureResult.whenComplete { _ in
            timer.cancel()
            connection.whenSuccess { $0.close(promise: nil) }
        }
        return promise.futureResult
    }

    /// Closes every connection and ends the thread.
    func stop() async throws {
        try await group.shutdownGracefully()
    }
}
