import AppStore
import HTTPSupport
import Ledger
import Logging
import NIOCore
import Service
import Synchronization
import Testing

@Suite struct ConnectionTableTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let closed = Closed()

    /// The names of the connections that were closed, in their order.
    private final class Closed: Sendable {
        let names = Mutex<[String]>([])
    }

    private func table(total: Int, perAddress: Int? = nil) -> ConnectionTable {
        var configuration = ServerConfiguration()
        configuration.maximumConnections = total
        configuration.maximumConnectionsPerAddress = perAddress
        return ConnectionTable(configuration, logger: ServiceFixture.logger)
    }

    private func connection(_ name: String, from address: String, second: Int64) -> ConnectionTable.Connection {
        ConnectionTable.Connection(from: ClientNetwork(forwarded: address), at: start + .seconds(second)) { [closed] in
            closed.names.withLock { $0.append(name) }
        }
    }

    @Test func `a full table evicts the oldest connection without a request`() throws {
        let table = table(total: 3)
        let asking = connection("asking", from: "192.0.2.1", second: 0)
        #expect(table.admit(asking, at: start))
        asking.requestBegan(at: start)
        asking.requestRead()
        for (second, name) in [(2, "second"), (1, "first")] {
            #expect(table.admit(connection(name, from: "192.0.2.1", second: Int64(second)), at: start))
        }
        #expect(table.admit(connection("third", from: "198.51.100.1", second: 3), at: start))
        #expect(closed.names.withLock { $0 } == ["first"])
        #expect(table.admit(connection("fourth", from: "198.51.100.1", second: 4), at: start))
        #expect(closed.names.withLock { $0 } == ["first", "second"])
        #expect(table.count == 3)
    }

    @Test func `without a silent connection the one that waits longest for its next request is evicted`() throws {
        let table = table(total: 2)
        let (early, late) = (
            connection("early", from: "192.0.2.1", second: 0), connection("late", from: "198.51.100.1", second: 1)
        )
        for connection in [early, late] {
            #expect(table.admit(connection, at: start))
            connection.requestBegan(at: start)
            connection.requestRead()
        }
        late.requestsEnded(at: start + .seconds(5))
        early.requestsEnded(at: start + .seconds(6))
        #expect(table.admit(connection("new", from: "203.0.113.1", second: 7), at: start))
        #expect(closed.names.withLock { $0 } == ["late"])
    }

    @Test func `a connection whose client has closed its side is evicted first, with or without a request under way`()
        throws
    {
        let table = table(total: 2)
        let silent = connection("silent", from: "192.0.2.1", second: 0)
        let abandoned = connection("abandoned", from: "192.0.2.1", second: 1)
        for connection in [silent, abandoned] { #expect(table.admit(connection, at: start)) }
        abandoned.requestBegan(at: start)
        abandoned.requestRead()
        abandoned.clientClosed()
        #expect(table.admit(connection("new", from: "192.0.2.1", second: 2), at: start))
        #expect(closed.names.withLock { $0 } == ["abandoned"])
    }

    @Test func `connections with half-sent bodies are evicted before those with whole requests, the oldest first`()
        throws
    {
        let table = table(total: 3)
        let names = ["whole", "late", "early"]
        let connections = names.map { connection($0, from: "192.0.2.1", second: 0) }
        for connection in connections { #expect(table.admit(connection, at: start)) }
        for (index, connection) in connections.enumerated() {
            connection.requestBegan(at: start + .seconds(Int64(9 - index)))
        }
        connections[0].requestRead()
        #expect(table.admit(connection("new", from: "198.51.100.1", second: 20), at: start))
        #expect(closed.names.withLock { $0 } == ["early"])
    }

    @Test func `connections with a whole request under way are safe`() throws {
        let table = table(total: 2)
        for name in ["a", "b"] {
            let connection = connection(name, from: "192.0.2.1", second: 0)
            #expect(table.admit(connection, at: start))
            connection.requestBegan(at: start)
            connection.requestRead()
        }
        #expect(!table.admit(connection("new", from: "203.0.113.1", second: 1), at: start))
        #expect(closed.names.withLock { $0 } == [])
        #expect(table.count == 2)
    }

    @Test func `an address at its limit evicts only its own connections`() throws {
        let table = table(total: 10, perAddress: 2)
        #expect(table.admit(connection("other", from: "198.51.100.1", second: 0), at: start))
        for second in 1...3 {
            #expect(table.admit(connection("\(second)", from: "192.0.2.1", second: Int64(second)), at: start))
        }
        #expect(closed.names.withLock { $0 } == ["1"])
        #expect(table.count == 3)
    }

    /// A site has a quarter of all connections, or as many as one address.
    @Test(arguments: [
        (100, 10, (0..<256).map { "192.0.2.\($0)" }, 25),
        (100, 10, (0..<256).map { "2001:db8:1:\(String($0 * 256, radix: 16))::1" }, 25),
        (100, 10, (0..<256).map { "2001:db8:1:\(String($0, radix: 16))::1" }, 12),
        (100, 50, (0..<256).map { "192.0.2.\($0)" }, 50),
    ])
    func `the addresses of one site evict only their own connections`(
        total: Int, perAddress: Int, addresses: [String], limit: Int
    ) {
        let table = table(total: total, perAddress: perAddress)
        let other = connection("other", from: "198.51.100.1", second: 0)
        #expect(table.admit(other, at: start))
        for (number, address) in addresses.enumerated() {
            #expect(table.admit(connection("\(number)", from: address, second: Int64(number) + 1), at: start))
        }
        #expect(table.count == limit + 1)
        #expect(closed.names.withLock { $0 } == (0..<256 - limit).map { "\($0)" })
    }

    @Test func `a site with requests under way leaves room for others`() {
        let table = table(total: 8, perAddress: 1)
        func ask(_ address: String) -> Bool {
            let connection = connection(address, from: address, second: 0)
            guard table.admit(connection, at: start) else { return false }
            connection.requestBegan(at: start)
            connection.requestRead()
            return true
        }
        #expect((1...20).count { ask("192.0.2.\($0)") } == 2)
        #expect((1...6).count { ask("198.51.\($0).1") } == 6)
    }

    @Test func `a connection that was closed leaves room`() throws {
        let table = table(total: 1)
        let first = connection("first", from: "192.0.2.1", second: 0)
        #expect(table.admit(first, at: start))
        first.requestBegan(at: start)
        first.requestRead()
        #expect(!table.admit(connection("second", from: "192.0.2.1", second: 1), at: start))
        table.remove(first)
        table.remove(first)
        #expect(table.count == 0)
        #expect(table.admit(connection("third", from: "192.0.2.1", second: 2), at: start))
    }
}
