import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Examination {
    /// The files that only their owner may use: the ledger and files with secrets.
    var permissions: [Finding] {
        let ledger = ["", "-wal", "-shm"].map { (data.ledgerFile.path + $0, UInt16(0o077), "600") }
        let secrets = ["tls-key", "app-store-key", "mail-password-file", "mail-webhook-secret-file"]
            .compactMap { configuration.settings.text($0) }.map { ($0, UInt16(0o007), "640") }
        let files = (ledger + secrets).filter { FileManager.default.fileExists(atPath: $0.0) }
        let open = files.compactMap { path, forbidden, mode -> Finding? in
            var status = stat()
            guard stat(path, &status) == 0, UInt16(status.st_mode & 0o777) & forbidden != 0 else { return nil }
            return .problem(
                "permissions", "\"\(path)\" has the mode \(String(status.st_mode & 0o777, radix: 8))",
                remedy: "Run: chmod \(mode) \(CommonOptions.quoted(path))")
        }
        return open.isEmpty ? [.passed("permissions", "files closed to others: \(files.count)")] : open
    }

    /// The port that the service listens on.
    var port: Finding {
        let (host, port) = (configuration.server.host, configuration.server.port)
        guard port > 0 else { return .passed("port", "any free one") }
        let problem = Self.listeningProblem(host: host, port: port)
        switch problem {
        case nil: return .passed("port", "\(host):\(port) is free")
        case EADDRINUSE:
            let holder = ListeningProcess.find(port: port)
            if let holder, holder.name == "till" {
                return .passed("port", "\(host):\(port) is in use by till, process \(holder.identifier)")
            }
            let name = holder.map { "\"\($0.name)\", process \($0.identifier)" } ?? "another program"
            return .problem(
                "port", "\(host):\(port) is in use by \(name)", remedy: "End it, or choose another port with --port.")
        case EACCES:
            return .problem(
                "port", "\(host):\(port) needs a privilege that this user lacks",
                remedy: "Choose a port from 1024 on, or give the service CAP_NET_BIND_SERVICE.")
        case let code?:
            return .problem(
                "port", "\(host):\(port) cannot be listened on: \(String(cString: strerror(code)))",
                remedy: "Name an address of this machine with --host.")
        }
    }

    /// The error of an attempt to bind the address; nil if it succeeds.
    private static func listeningProblem(host: String, port: Int) -> Int32? {
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
