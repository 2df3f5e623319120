import Foundation
import HTTPSupport

/// The port of a server of this process.
enum ListeningPort {
    /// Chooses a port before anything else is done.
    ///
    /// - Parameters:
    ///   - port: The wished port; 0 for any free one.
    ///   - option: The option of the port, for errors.
    /// - Throws: `ServerNotStarted` if no server can listen there.
    static func choose(_ port: Int, at host: String, option: String = "--port") throws(ServerNotStarted) -> Int {
        let port = port > 0 ? port : free() ?? port
        if let code = problem(host: host, port: port) {
            throw ServerNotStarted(listeningOn: "\(host):\(port)", code, option: option)
        }
        return port
    }

    /// A port of this machine at which nothing listens.
    private static func free() -> Int? {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    /// The error of an attempt to bind the address; nil if it succeeds.
    static func problem(host: String, port: Int) -> Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { return EADDRNOTAVAIL }
        defer { freeaddrinfo(found) }
        let address = found.pointee
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var reuse: Int32 = 1
        // As the service does: a port that was just released is free.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        return bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 ? nil : errno
    }
}

/// The process that listens on a TCP port of this machine, from Linux's `/proc`.
struct ListeningProcess {
    /// Nil if several processes may be the one.
    let identifier: Int?
    /// The name of the program, of up to 15 bytes.
    let name: String

    /// The number of attempts: the kernel's tables may change while they are read, so that an entry is missed.
    private static let attempts = 5

    /// - Returns: Nil if no process listens, if it belongs to another user, or without `/proc`.
    static func find(port: Int) -> ListeningProcess? {
        for _ in 0..<attempts {
            if let found = search(port: port) { return found }
        }
        return nil
    }

    private static func search(port: Int) -> ListeningProcess? {
        let sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { ListeningSocket.all(port: port, in: $0) }
        let links = Set(sockets.map { "socket:[\($0.inode)]" })
        let files = FileManager.default
        guard !links.isEmpty, let processes = try? files.contentsOfDirectory(atPath: "/proc") else { return nil }
        var hidden: [ListeningProcess] = []
        for identifier in processes.compactMap(Int.init) {
            let folder = "/proc/\(identifier)/fd"
            guard let descriptors = try? files.contentsOfDirectory(atPath: folder), !descriptors.isEmpty,
                let name = try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8)
            else { continue }
            let targets = descriptors.compactMap { try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
            let process = ListeningProcess(identifier: identifier, name: name.trimmingCharacters(in: .newlines))
            if targets.contains(where: links.contains) { return process }
            if targets.isEmpty { hidden.append(process) }
        }
        // A process in a user namespace of its own, as in a unit with PrivateUsers=, hides its files from its own user, too.
        guard sockets.contains(where: { $0.user == geteuid() }) else { return nil }
        let services = hidden.filter { $0.name == "till" }
        return services.count > 1 ? ListeningProcess(identifier: nil, name: "till") : services.first
    }
}

/// A socket in the state LISTEN, from Linux's `/proc/net`.
private struct ListeningSocket {
    let inode: Substring
    let user: UInt32

    static func all(port: Int, in file: String) -> [ListeningSocket] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let hexadecimal = fields[1].split(separator: ":").last,
                Int(hexadecimal, radix: 16) == port, let user = UInt32(fields[7])
            else { return nil }
            return ListeningSocket(inode: fields[9], user: user)
        }
    }
}

/// The limit on open files and connections of this process.
enum OpenFiles {
    /// The files that the service needs besides its connections: the ledger, the log, its listener, and a reserve.
    private static let besidesConnections = 64

    /// Raises the limit as far as the system allows, and checks that it covers the number of connections.
    ///
    /// With too low a limit the service would hang instead of letting further connections wait.
    static func allow(connections: Int) throws(ConfigurationError) {
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, Self.highest)
        _ = setrlimit(Self.resource, &limit)
        let allowed = getrlimit(Self.resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : Int.max
        guard allowed < connections + besidesConnections else { return }
        throw ConfigurationError(
            message:
                "`maximum-connections` must be \(max(1, allowed - besidesConnections)) or less, because this process may "
                + "have \(allowed) files open; it is \"\(connections)\". Lower it, or raise the limit (ulimit -Hn).")
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        private static let highest = rlim_t.max
    #elseif canImport(Darwin)
        private static let resource = RLIMIT_NOFILE
        /// Darwin refuses a higher limit, although its hard limit is infinite (setrlimit(2)).
        private static let highest = rlim_t(OPEN_MAX)
    #endif
}
