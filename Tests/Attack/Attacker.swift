import NIOCore
import Synchronization

/// A load generator with loopback addresses, each in an IPv4 /24 of its own, and with a thread of its own.
final class Attacker: Sendable {
    /// The longest life of a connection that sends one request.
    private static let requestLimit = TimeAmount.seconds(1)

    let client: LoopbackClient
    /// The requests with the app's public key, which anybody can read in the app.
    let door: DoorRequests
    private let isStopped = Atomic(false)
    private let opened = Atomic(0)

    /// - Parameters:
    ///   - port: The port of the service.
    ///   - addressCount: The number of its addresses.
    ///   - door: The requests with the app's public key.
    init(port: Int, addressCount: Int, door: DoorRequests) throws {
        self.door = door
        client = try LoopbackClient(from: (0..<addressCount).map { "127.0.\($0 + 1).1" }, to: port)
    }

    /// The number of connections opened so far.
    var connections: Int { opened.load(ordering: .relaxed) }

    /// Sends requests in turn, each on a connection of its own.
    func send(_ requests: [ByteBuffer], every interval: TimeAmount, closing: OneShotHandler.Closing) {
        let turn = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: client.eventLoop)
        client.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { task in
            guard !self.isStopped.load(ordering: .relaxed) else { return task.cancel() }
            let request = requests[turn.value % requests.count]
            turn.value += 1
            self.client.connect { OneShotHandler(request, closing: closing) }.whenSuccess { channel in
                self.opened.add(1, ordering: .relaxed)
                channel.eventLoop.scheduleTask(in: Self.requestLimit) { channel.close(promise: nil) }
            }
        }
    }

    /// Keeps connections open, and replaces each one that closes.
    ///
    /// - Parameters:
    ///   - spacing: The time between one connection and the next.
    ///   - pause: The time before a connection is replaced.
    ///   - makeHandler: Returns the handler of a connection, given the connection's number.
    func hold(
        _ count: Int,
        openedEvery spacing: TimeAmount,
        replacedAfter pause: TimeAmount,
        _ makeHandler: @escaping @Sendable (Int) -> any ChannelHandler
    ) {
        for number in 0..<count {
            client.eventLoop.scheduleTask(in: spacing * number) {
                self.holdOne(number, replacedAfter: pause, makeHandler)
            }
        }
    }

    private func holdOne(
        _ number: Int,
        replacedAfter pause: TimeAmount,
        _ makeHandler: @escaping @Sendable (Int) -> any ChannelHandler
    ) {
        guard !isStopped.load(ordering: .relaxed) else { return }
        @Sendable func replace() {
            client.eventLoop.scheduleTask(in: pause) { self.holdOne(number, replacedAfter: pause, makeHandler) }
        }
        client.connect(number, { makeHandler(number) }).whenComplete { result in
            switch result {
            case .success(let channel):
                self.opened.add(1, ordering: .relaxed)
                channel.closeFuture.whenComplete { _ in replace() }
            case .failure: replace()
            }
        }
    }

    /// Ends the load and closes every connection.
    func stop() async throws {
        isStopped.store(true, ordering: .relaxed)
        try await client.stop()
    }
}
