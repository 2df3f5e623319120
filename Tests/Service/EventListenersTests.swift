import AppStore
import HTTPSupport
import Service
import Testing

@Suite struct EventListenersTests {
    private var listeners = EventListeners<Int64>()

    init() {
        (listeners.total, listeners.perAddress, listeners.perOwner) = (6, 4, 2)
    }

    /// Adds a stream.
    ///
    /// - Returns: Its number, and a stream that ends with it.
    private mutating func add(_ user: Int64, _ address: String) -> (number: Int, ended: AsyncStream<Void>) {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        return (listeners.add(continuation, of: user, from: address), stream)
    }

    @Test mutating func `a user's stream beyond the limit ends the user's oldest`() async {
        let first = add(1, "a")
        _ = add(1, "b")
        _ = add(1, "c")
        #expect(listeners.count == 2)
        for await _ in first.ended {}
    }

    @Test mutating func `an address beyond its limit loses its own oldest stream`() async {
        let other = add(99, "b")
        let first = add(1, "a")
        for user in 2...5 { _ = add(Int64(user), "a") }
        #expect(listeners.count == 5)
        for await _ in first.ended {}
        listeners.remove(other.number)
        #expect(listeners.count == 4)
    }

    @Test mutating func `an address may exceed its limit while half of the places are free`() {
        listeners.total = 20
        for user in 1...10 { _ = add(Int64(user), "a") }
        #expect(listeners.count == 10)
        for user in 11...15 { _ = add(Int64(user), "a") }
        #expect(listeners.count == 10)
    }

    @Test mutating func `a full hub ends the oldest stream of the largest holder`() async {
        _ = add(1, "b")
        let first = add(2, "a")
        for user in 3...5 { _ = add(Int64(user), "a") }
        _ = add(6, "c")
        #expect(listeners.count == 6)
        _ = add(7, "d")
        #expect(listeners.count == 6)
        for await _ in first.ended {}
    }
}
