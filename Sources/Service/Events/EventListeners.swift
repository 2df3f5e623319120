import HTTPSupport

/// The open event streams, limited in total, for each client address and for each user.
///
/// A stream above the limit of its user ends the user's oldest stream. A stream above the limit of its address ends the
/// address's oldest stream, once half of all places are taken. A stream above the total ends the oldest stream of the address
/// with the most.
package struct EventListeners {
    private struct Listener {
        let user: Int64
        let address: String
        let continuation: AsyncStream<Void>.Continuation
    }

    private let limits: EventHub.Limits
    /// The listeners by number; a lower number is older.
    private var listeners: [Int: Listener] = [:]
    private var numbersByUser: [Int64: Set<Int>] = [:]
    private var numbersByAddress: [String: Set<Int>] = [:]
    private var last = 0
    private var isClosed = false

    package init(limits: EventHub.Limits) {
        self.limits = limits
    }

    package var count: Int { listeners.count }

    /// Adds a stream.
    ///
    /// - Returns: Its number.
    package mutating func add(_ continuation: AsyncStream<Void>.Continuation, of user: Int64, from address: String)
        -> Int
    {
        if let own = numbersByUser[user], own.count >= limits.perUser { end(own.min()) }
        // Many users of a school or an office share an address, so the limit applies only once places are scarce.
        if listeners.count >= limits.total / 2, let own = numbersByAddress[address], own.count >= limits.perAddress {
            end(own.min())
        }
        if listeners.count >= limits.total {
            end(numbersByAddress.values.max { $0.count < $1.count }?.min())
        }
        if isClosed { continuation.finish() }
        last += 1
        listeners[last] = Listener(user: user, address: address, continuation: continuation)
        numbersByUser[user, default: []].insert(last)
        numbersByAddress[address, default: []].insert(last)
        return last
    }

    package mutating func remove(_ number: Int) {
        guard let listener = listeners.removeValue(forKey: number) else { return }
        numbersByUser[listener.user]?.remove(number)
        if numbersByUser[listener.user]?.isEmpty == true { numbersByUser[listener.user] = nil }
        numbersByAddress[listener.address]?.remove(number)
        if numbersByAddress[listener.address]?.isEmpty == true { numbersByAddress[listener.address] = nil }
    }

    func wake(_ user: Int64) {
        for number in numbersByUser[user] ?? [] { listeners[number]?.continuation.yield() }
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
