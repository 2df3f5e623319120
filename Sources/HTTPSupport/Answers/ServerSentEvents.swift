import HTTPTypes
import Synchronization

/// Streams of server-sent events, which end when the client disconnects (WHATWG HTML section 9.2).
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"

    package static var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: contentType, .cacheControl: "no-store"]
        // Some proxies buffer responses. This header turns that off.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return headers
    }
}

/// The open event streams of users or members.
///
/// A woken stream reads what it sends. No event waits in memory for a slow stream, and an extra wake-up does no harm.
package final class OpenEventStreams<Owner: Hashable & Sendable>: Sendable {
    private let listeners: Mutex<EventListeners<Owner>>

    /// - Parameter listeners: No listeners, with the limits on them.
    package init(_ listeners: EventListeners<Owner>) {
        self.listeners = Mutex(listeners)
    }

    package var count: Int { listeners.withLock { $0.count } }

    /// A listener's registration, which ends with the answer, or without one if none was written.
    package final class Listener: Sendable {
        package let wakes: AsyncStream<Void>
        /// The number of the stream; a lower number is older.
        package let number: Int
        private let streams: OpenEventStreams

        /// Opens a stream, and ends another one if a limit is reached. After the end of all streams, it has ended already.
        ///
        /// - Parameter address: The client address for the limit; the same for all streams without such a limit.
        package init(to owner: Owner, from address: String = "", in streams: OpenEventStreams) {
            let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            number = streams.listeners.withLock { $0.add(continuation, of: owner, from: address) }
            self.wakes = wakes
            self.streams = streams
        }

        package func leave() {
            streams.listeners.withLock { $0.remove(number) }
        }

        deinit { leave() }
    }

    package func wake(_ owners: Set<Owner>) {
        listeners.withLock { listeners in
            for owner in owners { listeners.wake(owner) }
        }
    }

    /// - Parameter isTurn: Returns true for the numbers of the streams to wake.
    package func wake(where isTurn: @Sendable (Int) -> Bool = { _ in true }) {
        listeners.withLock { $0.wake(where: isTurn) }
    }

    /// Ends all streams, and those that are opened later.
    package func close() {
        listeners.withLock { $0.close() }
    }
}

/// The limits on open event streams: in total, for each client address, and for each user or member.
///
/// A stream above the limit of its owner ends the owner's oldest stream. A stream above the limit of its address ends the
/// address's oldest stream, once half of all places are taken. A stream above the total ends the oldest stream of the address
/// with the most.
package struct EventListeners<Owner: Hashable & Sendable>: Sendable {
    private struct Listener: Sendable {
        let owner: Owner
        let address: String
        let continuation: AsyncStream<Void>.Continuation
    }

    package var total = 512
    package var perAddress = 64
    package var perOwner = 20
    /// The listeners by number; a lower number is older.
    private var listeners: [Int: Listener] = [:]
    private var numbersByOwner: [Owner: Set<Int>] = [:]
    private var numbersByAddress: [String: Set<Int>] = [:]
    private var last = 0
    private var isClosed = false

    package init() {}

    package var count: Int { listeners.count }

    /// Adds a stream.
    ///
    /// - Returns: Its number.
    package mutating func add(_ continuation: AsyncStream<Void>.Continuation, of owner: Owner, from address: String)
        -> Int
    {
        if let own = numbersByOwner[owner], own.count >= perOwner { end(own.min()) }
        // Many users of a school or an office share an address, so the limit applies only once places are scarce.
        if listeners.count >= total / 2, let own = numbersByAddress[address], own.count >= perAddress {
            end(own.min())
        }
        if listeners.count >= total {
            end(numbersByAddress.values.max { $0.count < $1.count }?.min())
        }
        if isClosed { continuation.finish() }
        last += 1
        listeners[last] = Listener(owner: owner, address: address, continuation: continuation)
        numbersByOwner[owner, default: []].insert(last)
        numbersByAddress[address, default: []].insert(last)
        return last
    }

    package mutating func remove(_ number: Int) {
        guard let listener = listeners.removeValue(forKey: number) else { return }
        numbersByOwner[listener.owner]?.remove(number)
        if numbersByOwner[listener.owner]?.isEmpty == true { numbersByOwner[listener.owner] = nil }
        numbersByAddress[listener.address]?.remove(number)
        if numbersByAddress[listener.address]?.isEmpty == true { numbersByAddress[listener.address] = nil }
    }

    func wake(_ owner: Owner) {
        for number in numbersByOwner[owner] ?? [] { listeners[number]?.continuation.yield() }
    }

    func wake(where isTurn: (Int) -> Bool) {
        for (number, listener) in listeners where isTurn(number) { listener.continuation.yield() }
    }

    mutating func close() {
        isClosed = true
        for listener in listeners.values { listener.continuation.finish() }
    }

    private mutating func end(_ number: Int?) {
        guard let number else { return }
        listeners[number]?.continuation.finish()
        remove(number)
    }
}
