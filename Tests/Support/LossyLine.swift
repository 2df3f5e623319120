import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A proxy of a server that cuts the connection at the worst moments: just before a COMMIT reaches the server, or after the
/// server has committed and before the client gets the answer.
package final class LossyLine: Sendable {
    package enum Cut: Sendable {
        case beforeCommit
        case afterCommit
    }

    struct Failure: Error {}

    package let port: Int
    private let server: UInt16
    private let listener: Int32
    /// The next cuts, one for each COMMIT.
    private let cuts = Mutex<[Cut]>([])
    private let isAway = Atomic(false)
    private let isGone = Atomic(false)
    private let refusals = Atomic(0)
    private let roundTrips = Atomic(0)

    /// - Parameter server: A port on this machine.
    package init(to server: Int) throws {
        self.server = UInt16(server)
        let listener = SystemSocket.make()
        var address = Self.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isOpen else { throw Failure() }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 { self?.connect(client) }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    package func cut(_ cuts: Cut...) {
        self.cuts.withLock { $0 += cuts }
    }

    /// Closes each connection at its next bytes, and refuses new ones, until the line is restored.
    package func goAway() { isAway.store(true, ordering: .sequentiallyConsistent) }

    /// Passes nothing on, closes no connection, and listens no more, like a machine without power.
    package func vanish() {
        isGone.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package func mend() { isAway.store(false, ordering: .sequentiallyConsistent) }

    /// The number of connections that were refused.
    package var refusalCount: Int { refusals.load(ordering: .sequentiallyConsistent) }

    /// The times that a client has sent more after an answer of the server, which it has waited for.
    package var roundTripCount: Int { roundTrips.load(ordering: .sequentiallyConsistent) }

    /// True if every cut was made.
    package var isDone: Bool { cuts.withLock { $0.isEmpty } }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func connect(_ client: Int32) {
        guard !isAway.load(ordering: .sequentiallyConsistent) else {
            refusals.add(1, ordering: .sequentiallyConsistent)
            return _ = close(client)
        }
        let server = SystemSocket.make()
        var address = Self.address(port: self.server)
        let isConnected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SystemSocket.connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return _ = close(client) }
        let connection = Connection(client: client, server: server)
        Thread.detachNewThread { [self] in
            pump(from: connection.client, to: connection.server) { bytes in
                guard !isAway.load(ordering: .sequentiallyConsistent) else { return false }
                if connection.hasAnswered.exchange(false, ordering: .sequentiallyConsistent) {
                    roundTrips.add(1, ordering: .sequentiallyConsistent)
                }
                guard bytes.contains(Self.commit) else { return true }
                switch cuts.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                case nil: return true
                case .beforeCommit: return false
                case .afterCommit:
                    connection.isSilent.store(true, ordering: .sequentiallyConsistent)
                    return true
                }
            }
        }
        Thread.detachNewThread { [self] in
            pump(from: connection.server, to: connection.client) { _ in
                connection.hasAnswered.store(true, ordering: .sequentiallyConsistent)
                return !connection.isSilent.load(ordering: .sequentiallyConsistent)
            }
        }
    }

    /// The state that both directions of a connection share.
    private final class Connection: Sendable {
        let client: Int32
        let server: Int32
        /// True if the server's next bytes are dropped.
        let isSilent = Atomic(false)
        /// True if the server has sent bytes since the client's last ones.
        let hasAnswered = Atomic(false)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        /// Closes the sockets after both directions have ended, because their numbers may then be reused.
        deinit {
            close(client)
            close(server)
        }
    }

    /// The statement as it is transmitted.
    private static let commit = Data("COMMIT\0".utf8)

    /// Forwards bytes until one side ends or `isHandedOn` returns false, then ends both.
    private func pump(from source: Int32, to target: Int32, _ isHandedOn: (Data) -> Bool) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(source, &bytes, bytes.count, 0), count > 0 {
            if isGone.load(ordering: .sequentiallyConsistent) { continue }
            guard isHandedOn(Data(bytes.prefix(count))) else { break }
            var sent = 0
            while sent < count {
                let written = send(target, Array(bytes[sent..<count]), count - sent, SystemSocket.noSignal)
                guard written > 0 else { break }
                sent += written
            }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}
