import AppStore
import HTTPSupport
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
        ConnectionTable.Connection(address: address, at: start + .seconds(second)) { [closed] in
            closed.names.withLock { $0.append(name) }
        }
    }

    @Test func `a full table evicts the oldest connection without a request`() throws {
        let table = table(total: 3)
        let asking = connection("asking", from: "a", second: 0)
        #expect(table.admit(asking, at: start))
        asking.requestBegan(at: start)
        asking.requestRead()
        for (second, name) in [(2, "second"), (1, "first")] {
            #expect(table.admit(connection(name, from: "a", second: Int64(second)), at: start))
        }
        #expect(table.admit(connection("third", from: "b", second: 3), at: start))
        #expect(closed.names.withLock { $0 } == ["first"])
        #expect(table.admit(connection("fourth", from: "b", second: 4), at: start))
        #expect(closed.names.withLock { $0 } == ["first", "second"])
        #expect(table.count == 3)
    }

    @Test func `without a silent connection the one that waits longest for its next request is evicted`() throws {
        let table = table(total: 2)
        let (early, late) = (connection("early", from: "a", second: 0), connection("late", from: "b", second: 1))
        for connection in [early, late] {
            #expect(table.admit(connection, at: start))
            connection.requestBegan(at: start)
            connection.requestRead()
        }
        late.requestsEnded(at: start + .seconds(5))
        early.requestsEnded(at: start + .seconds(6))
        #expect(table.admit(connection("new", from: "c", second: 7), at: start))
        #expect(closed.names.withLock { $0 } == ["late"])
    }

    @Test func `a connection whose client has closed its side is evicted first, with or without a request under way`()
        throws
    {
        let table = table(total: 2)
        let silent = connection("silent", from: "a", second: 0)
        let abandoned = connection("abandoned", from: "a", second: 1)
        for connection in [silent, abandoned] { #expect(table.admit(connection, at: start)) }
        abandoned.requestBegan(at: start)
        abandoned.requestRead()
        abandoned.clientClosed()
        #expect(table.admit(connection("new", from: "a", second: 2), at: start))
        #expect(closed.names.withLock { $0 } == ["abandoned"])
    }

    @Test func `connections with half-sent bodies are evicted before those with whole requests, the oldest first`()
        throws
    {
        let table = table(total: 3)
        let names = ["whole", "late", "early"]
        let connections = names.map { connection($0, from: "a", second: 0) }
        for connection in connections { #expect(table.admit(connection, at: start)) }
        for (index, connection) in connections.enumerated() {
            connection.requestBegan(at: start + .seconds(Int64(9 - index)))
        }
        connections[0].requestRead()
        #expect(table.admit(connection("new", from: "b", second: 20), at: start))
        #expect(closed.names.withLock { $0 } == ["early"])
    }

    @Test func `connections with a whole request under way are safe`() throws {
        let table = table(total: 2)
        for name in ["a", "b"] {
            let connection = connection(name, from: name, second: 0)
            #expect(table.admit(connection, at: start))
            connection.requestBegan(at: start)
            connection.requestRead()
        }
        #expect(!table.admit(connection("new", from: "c", second: 1), at: start))
        #expect(closed.names.withLock { $0 } == [])
        #expect(table.count == 2)
    }

    @Test func `an address at its limit evicts only its own connections`() throws {
        let table = table(total: 10, perAddress: 2)
        #expect(table.admit(connection("other", from: "b", second: 0), at: start))
        for second in 1...3 {
            #expect(table.admit(connection("\(second)", from: "a", second: Int64(second)), at: start))
        }
        #expect(closed.names.withLock { $0 } == ["1"])
        #expect(table.count == 3)
    }

    @Test func `a connection that was closed leaves room`() throws {
        let table = table(total: 1)
        let first = connection("first", from: "a", second: 0)
        #expect(table.admit(first, at: start))
        first.requestBegan(at: start)
        first.requestRead()
        #expect(!table.admit(connection("second", from: "a", second: 1), at: start))
        table.remove(first)
        table.remove(first)
        #expect(table.count == 0)
        #expect(table.admit(connection("third", from: "a", second: 2), at: start))
    }
}
