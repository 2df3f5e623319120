import HTTPTypes
import Ledger
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
        /// - Parameter network: The client network for the limit; the same for all streams without such a limit.
        package init(to owner: Owner, from network: ClientNetwork = .unknown, in streams: OpenEventStreams) {
            let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            number = streams.listeners.withLock { $0.add(continuation, of: owner, from: network) }
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

/// The limits on open event streams: in total, for each client network, and for each user or member.
///
/// A stream above the limit of its owner ends the owner's oldest stream. A stream above the limit of its address or site ends the
/// oldest stream there, once half of all places are taken. A stream above the total ends the oldest stream of the site with the
/// most.
package struct EventListeners<Owner: Hashable & Sendable>: Sendable {
    private struct Listener: Sendable {
        let owner: Owner
        let network: ClientNetwork
        let continuation: AsyncStream<Void>.Continuation
    }

    package var total = 512
    package var perAddress = 64
    package var perOwner = 20
    /// The listeners by number; a lower number is older.
    private var listeners: [Int: Listener] = [:]
    private var numbersByOwner: [Owner: Set<Int>] = [:]
    private var numbersBySite: [ClientNetwork: Set<Int>] = [:]
    private var counts = NetworkCounts(ofHost: .max, ofSite: .max)
    private var last = 0
    private var isClosed = false

    package init() {}

    package var count: Int { listeners.count }

    /// Adds a stream.
    ///
    /// - Returns: Its number.
    package mutating func add(
        _ continuation: AsyncStream<Void>.Continuation, of owner: Owner, from network: ClientNetwork
    ) -> Int {
        if let own = numbersByOwner[owner], own.count >= perOwner { end(own.min()) }
        // Many users of a school or an office share an address, so the limit applies only once places are scarce.
        if listeners.count >= total / 2, let full = full(around: network) {
            end(numbersBySite[network.site]?.filter { full.contains(listeners[$0]?.network ?? .unknown) }.min())
        }
        if listeners.count >= total {
            end(numbersBySite.values.max { $0.count < $1.count }?.min())
        }
        if isClosed { continuation.finish() }
        last += 1
        listeners[last] = Listener(owner: owner, network: network, continuation: continuation)
        numbersByOwner[owner, default: []].insert(last)
        numbersBySite[network.site, default: []].insert(last)
        counts.add(of: network)
        return last
    }

    /// The narrowest network around one that is at its limit. A site has a quarter of the total.
    private mutating func full(around network: ClientNetwork) -> ClientNetwork? {
        (counts.ofHost, counts.ofSite) = (perAddress, max(perAddress, total / 4))
        return counts.full(around: network)
    }

    package mutating func remove(_ number: Int) {
        guard let listener = listeners.removeValue(forKey: number) else { return }
        numbersByOwner[listener.owner]?.remove(number)
        if numbersByOwner[listener.owner]?.isEmpty == true { numbersByOwner[listener.owner] = nil }
        counts.remove(of: listener.network)
        let site = listener.network.site
        numbersBySite[site]?.remove(number)
        if numbersBySite[site]?.isEmpty == true { numbersBySite[site] = nil }
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
