import AppStore
import HTTPSupport
import Ledger
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
        return (listeners.add(continuation, of: user, from: ClientNetwork(forwarded: address)), stream)
    }

    @Test mutating func `a user's stream beyond the limit ends the user's oldest`() async {
        let first = add(1, "192.0.2.1")
        _ = add(1, "198.51.100.1")
        _ = add(1, "203.0.113.1")
        #expect(listeners.count == 2)
        for await _ in first.ended {}
    }

    @Test mutating func `an address beyond its limit loses its own oldest stream`() async {
        let other = add(99, "198.51.100.1")
        let first = add(1, "192.0.2.1")
        for user in 2...5 { _ = add(Int64(user), "192.0.2.1") }
        #expect(listeners.count == 5)
        for await _ in first.ended {}
        listeners.remove(other.number)
        #expect(listeners.count == 4)
    }

    @Test mutating func `an address may exceed its limit while half of the places are free`() {
        listeners.total = 20
        for user in 1...10 { _ = add(Int64(user), "192.0.2.1") }
        #expect(listeners.count == 10)
        for user in 11...15 { _ = add(Int64(user), "192.0.2.1") }
        #expect(listeners.count == 10)
    }

    @Test mutating func `a full hub ends the oldest stream of the largest holder`() async {
        _ = add(1, "198.51.100.1")
        let first = add(2, "192.0.2.1")
        for user in 3...5 { _ = add(Int64(user), "192.0.2.1") }
        _ = add(6, "203.0.113.1")
        #expect(listeners.count == 6)
        _ = add(7, "203.0.114.1")
        #expect(listeners.count == 6)
        for await _ in first.ended {}
    }

    /// A site has a quarter of the places, or as many as one address.
    @Test(arguments: [
        (0..<100).map { "192.0.2.\($0)" }, (0..<100).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `the addresses of one site share its places once half of all are taken`(addresses: [String]) {
        var tests = self
        (tests.listeners.total, tests.listeners.perAddress) = (40, 4)
        for user in 1...20 { _ = tests.add(Int64(user), "198.51.\(user).1") }
        for (number, address) in addresses.enumerated() { _ = tests.add(100 + Int64(number), address) }
        #expect(tests.listeners.count == 30)
    }
}
