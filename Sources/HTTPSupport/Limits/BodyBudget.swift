import HTTPTypes
import Hummingbird
import NIOCore
import Proofs
import Synchronization

/// A limit on the bytes of request bodies in memory, in total and per caller.
///
/// The first bytes of each body are free. A signed transaction fits into them, and the connection limit bounds their
/// total. Callers that hold large unfinished bodies therefore cannot block the redemption of one.
package final class BodyBudget: Sendable {
    /// The largest body of any route: a proof in the encoding of forms, which writes some characters as three.
    package static let largestBody = ProofVerifier.maximumTextSize * 9 / 8
    /// The bytes of each body that are not counted.
    package static let freePerBody = 16 * 1024

    private struct Usage {
        var total = 0
        var byCaller: [ByteKey: Int] = [:]
    }

    private let total: Int
    private let perCaller: Int
    private let usage = Mutex(Usage())

    /// - Parameter megabytes: The total in MiB. One app or unauthenticated client gets a quarter, and at least one proof.
    package init(megabytes: Int = 64) {
        total = megabytes << 20
        perCaller = max(megabytes << 18, Self.largestBody)
    }

    /// The counted bytes of all bodies.
    package var bytesInFlight: Int { usage.withLock { $0.total } }

    /// The share of one request. It is returned when the request ends.
    package final class Lease: Sendable {
        private let budget: BodyBudget
        /// The caller. Nil if only the total limits it.
        private let caller: ByteKey?
        private let bytes = Mutex((read: 0, counted: 0))

        /// - Parameter caller: The caller, or nil if only the total limits it, as for a back end.
        package init(_ budget: BodyBudget, for caller: String?) {
            self.budget = budget
            self.caller = caller.map { ByteKey($0) }
        }

        /// Counts bytes that have arrived.
        ///
        /// - Throws: `Problem` with the code `tooBusy`. Then the bytes are not counted.
        package func reserve(_ count: Int) throws {
            let added = bytes.withLock { bytes in
                bytes.read += count
                let added = max(0, bytes.read - BodyBudget.freePerBody) - bytes.counted
                guard added == 0 || budget.add(added, caller) else { return -1 }
                bytes.counted += added
                return added
            }
            if added < 0 { throw Problem.tooBusy }
        }

        deinit {
            let counted = bytes.withLock { $0.counted }
            if counted > 0 { budget.remove(counted, caller) }
        }
    }

    private func add(_ count: Int, _ caller: ByteKey?) -> Bool {
        usage.withLock { usage in
            guard usage.total + count <= total else { return false }
            if let caller {
                let own = usage.byCaller[caller] ?? 0
                guard own + count <= perCaller else { return false }
                usage.byCaller[caller] = own + count
            }
            usage.total += count
            return true
        }
    }

    private func remove(_ count: Int, _ caller: ByteKey?) {
        usage.withLock { usage in
            usage.total -= count
            guard let caller else { return }
            let left = (usage.byCaller[caller] ?? 0) - count
            usage.byCaller[caller] = left > 0 ? left : nil
        }
    }
}

/// The client addresses by which limits apply. The service may be behind the team's own proxies.
package struct ClientAddresses: Sendable {
    /// The number of proxies in front of the service. Each adds the address of its client to `X-Forwarded-For`. Any
    /// client can forge the entries further left.
    let proxies: Int

    /// The address that identifies a client. Empty if there is none, as within the process.
    package func address(of request: Request, _ context: ServiceContext) -> String {
        guard proxies > 0, let name = HTTPField.Name.forwardedFor else {
            return Self.network(context.remoteAddress)
        }
        let forwarded = request.headers[values: name].flatMap { $0.split(separator: ",") }
        guard forwarded.count >= proxies else { return Self.network(context.remoteAddress) }
        return Self.network(Self.address(forwarded[forwarded.count - proxies].filter { !$0.isWhitespace }))
    }

    /// Parses an address as proxies write it, with or without a port. An IPv6 address with a port is in brackets.
    private static func address(_ text: String) -> SocketAddress? {
        let text = text.prefix(64)
        let host =
            if text.hasPrefix("[") {
                text.dropFirst().prefix { $0 != "]" }
            } else if text.count(where: { $0 == ":" }) == 1 {
                text.prefix { $0 != ":" }
            } else {
                text
            }
        return try? SocketAddress(ipAddress: String(host), port: 0)
    }

    /// The network of an address. For IPv6 it is the first 64 bits, because one customer has all their addresses.
    package static func network(_ address: SocketAddress?) -> String {
        guard case .v6(let version6) = address else { return address?.ipAddress ?? "" }
        let bytes = withUnsafeBytes(of: version6.address.sin6_addr) { Array($0) }
        // An IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2) equals the IPv4 address.
        let isVersion4 = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return isVersion4
            ? bytes.suffix(4).map(String.init).joined(separator: ".")
            : bytes.prefix(8).map(String.init).joined(separator: ":")
    }

    /// The IPv6 site of a network, its first 48 bits. Nil for an IPv4 address.
    package static func site(of network: String) -> String? {
        let bytes = network.split(separator: ":")
        return bytes.count == 8 ? bytes.prefix(6).joined(separator: ":") : nil
    }
}
