import HTTPSupport
import Ledger
import Testing

@Suite struct FairQueueTests {
    /// Waiting callers, each named by the number of its arrival.
    private struct Waiting {
        private var queue: FairQueue<String>
        private var arrivals = 0
        var refused: [String] = []

        init(places: Int) {
            queue = FairQueue(maximum: places)
        }

        var count: Int { queue.count }

        mutating func add(_ count: Int = 1, from address: String, isPreferred: Bool = false) {
            for _ in 0..<count {
                arrivals += 1
                let name = "\(address) \(arrivals)"
                switch queue.add(name, from: ClientNetwork(forwarded: address), isPreferred: isPreferred) {
                case .admitted: break
                case .replacing(let other): refused.append(other)
                case .refused: refused.append(name)
                }
            }
        }

        /// The addresses in the order of their turns.
        mutating func turns(_ count: Int = .max) -> [String] {
            var turns: [String] = []
            while turns.count < count, let next = queue.next() { turns.append(String(next.prefix { $0 != " " })) }
            return turns
        }
    }

    @Test func `sites take turns, however many wait of one`() {
        var waiting = Waiting(places: 100)
        waiting.add(5, from: "192.0.2.1")
        waiting.add(2, from: "198.51.100.1")
        waiting.add(from: "2001:db8::1")
        #expect(
            waiting.turns() == [
                "192.0.2.1", "198.51.100.1", "2001:db8::1", "192.0.2.1", "198.51.100.1", "192.0.2.1", "192.0.2.1",
                "192.0.2.1",
            ])
        #expect(waiting.count == 0)
    }

    @Test(arguments: [
        ["192.0.2.1", "192.0.2.2", "198.51.100.1"],
        ["2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:2::1"],
        ["2001:db8:1:1::1", "2001:db8:1:101::1", "2001:db8:2::1"],
    ])
    func `the networks of one site share its turns`(addresses: [String]) {
        let (first, second, other) = (addresses[0], addresses[1], addresses[2])
        var waiting = Waiting(places: 100)
        waiting.add(4, from: first)
        waiting.add(2, from: second)
        waiting.add(3, from: other)
        #expect(waiting.turns() == [first, other, second, other, first, other, second, first, first])
    }

    @Test func `callers of one host keep their order`() {
        var queue = FairQueue<Int>(maximum: 100)
        for number in 0..<10 { _ = queue.add(number, from: .unknown) }
        #expect((0..<11).map { _ in queue.next() } == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, nil])
    }

    @Test(arguments: [
        ["192.0.2.1"], (0..<256).map { "192.0.2.\($0)" }, (0..<256).map { "2001:db8:1:\(String($0, radix: 16))::1" },
        (0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" },
    ])
    func `one site waits in a quarter of the places`(addresses: [String]) {
        var waiting = Waiting(places: 40)
        for number in 0..<300 { waiting.add(from: addresses[number % addresses.count]) }
        #expect(waiting.count == 10)
        #expect(waiting.refused.count == 290)
        waiting.add(from: "198.51.100.1")
        #expect(waiting.count == 11)
        #expect(waiting.turns(2).last == "198.51.100.1")
    }

    @Test func `a full queue takes the last place of the site with the most`() {
        var waiting = Waiting(places: 8)
        for (site, count) in [(1, 2), (2, 2), (3, 2), (4, 2)] { waiting.add(count, from: "192.0.\(site).1") }
        #expect(waiting.refused == [])
        waiting.add(from: "198.51.100.1")
        #expect(waiting.count == 8)
        #expect(waiting.refused.count == 1)
        // The site with two has not fewer than the others.
        waiting.add(from: "198.51.100.1")
        #expect(waiting.refused.last == "198.51.100.1 10")
        for number in 1...3 { waiting.add(from: "203.0.\(number).1") }
        #expect(waiting.refused.count == 5)
        // Each of the eight sites has one place, and none takes another's.
        waiting.add(from: "203.0.113.1")
        #expect(waiting.refused.last == "203.0.113.1 14")
        #expect(Set(waiting.turns()).count == 8)
    }

    @Test func `a host in a full site gets a place of the host with the most`() {
        var waiting = Waiting(places: 16)
        waiting.add(4, from: "192.0.2.1")
        waiting.add(from: "192.0.2.2")
        #expect(waiting.refused == ["192.0.2.1 4"])
        waiting.add(from: "192.0.2.3")
        #expect(waiting.refused == ["192.0.2.1 4", "192.0.2.1 3"])
        waiting.add(from: "192.0.2.2")
        #expect(waiting.refused.last == "192.0.2.2 7")
        #expect(waiting.turns() == ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.1"])
    }

    @Test func `a network whose last place was taken loses its turn`() {
        var waiting = Waiting(places: 12)
        for host in 1...3 { waiting.add(from: "192.0.2.\(host)") }
        for site in 1...9 { waiting.add(from: "198.51.\(site).1") }
        waiting.add(from: "203.0.113.1")
        #expect(waiting.refused.count == 1)
        #expect(waiting.refused.allSatisfy { $0.hasPrefix("192.0.2.") })
        #expect(waiting.turns().count == 12)
        #expect(waiting.count == 0)
    }

    @Test func `preferred callers go first, and others have one of four turns`() {
        var waiting = Waiting(places: 100)
        waiting.add(3, from: "192.0.2.1")
        waiting.add(7, from: "198.51.100.1", isPreferred: true)
        let (known, other) = ("198.51.100.1", "192.0.2.1")
        #expect(
            waiting.turns() == [known, known, known, other, known, known, known, other, known, other])
    }

    @Test func `strangers take no places of preferred callers`() {
        var waiting = Waiting(places: 4)
        for site in 1...9 { waiting.add(from: "192.0.\(site).1") }
        #expect(waiting.refused.count == 5)
        for site in 1...4 { waiting.add(from: "198.51.\(site).1", isPreferred: true) }
        #expect(waiting.refused.count == 5)
        #expect(waiting.count == 8)
    }
}
