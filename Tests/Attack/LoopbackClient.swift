import NIOCore
import NIOPosix

/// A TCP client of the service, with loopback addresses and a thread of its own.
final class LoopbackClient: Sendable {
    struct TimedOut: Error {}

    struct UnexpectedAnswer: Error, CustomStringConvertible {
        let description: String
    }

    /// The longest wait for an answer outside the measurement.
    private static let answerLimit = TimeAmount.seconds(20)
    /// The longest wait for a connection.
    private static let connectLimit = TimeAmount.seconds(2)

    let eventLoop: any EventLoop
    private let group: MultiThreadedEventLoopGroup
    private let sources: [SocketAddress]
    private let server: SocketAddress

    /// - Parameters:
    ///   - addresses: The client's own addresses, in 127.0.0.0/8.
    ///   - port: The port of the service on 127.0.0.1.
    init(from addresses: [String], to port: Int) throws {
        sources = try addresses.map { try SocketAddress(ipAddress: $0, port: 0) }
        server = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        eventLoop = group.next()
    }

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - number: The number of the connection; its address is the next after that of the number before.
    ///   - makeHandler: Returns the connection's only handler.
    func connect(
        _ number: Int = 0,
        _ makeHandler: @escaping @Sendable () -> any ChannelHandler
    ) -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: eventLoop)
            .bind(to: sources[number % sources.count])
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

    /// Sends a request outside the measurement.
    ///
    /// - Throws: `UnexpectedAnswer` if the answer has another status.
    func answer(
        to request: ByteBuffer,
        until extent: Answer.Extent = .whole,
        expecting status: Int = 200
    ) async throws -> Answer {
        let answer = try await exchange(request, until: extent, within: Self.answerLimit).get()
        guard answer.status == status else {
            let line = String(buffer: request).prefix { $0 != "\r\n" }
            throw UnexpectedAnswer(description: "\(line) returned \(answer.status): \(answer.body.prefix(500))")
        }
        return answer
    }

    /// Closes every connection and ends the thread.
    func stop() async throws {
        try await group.shutdownGracefully()
    }
}
