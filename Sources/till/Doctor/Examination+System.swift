import Console
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Examination {
    /// The files that only their owner may use: the ledger and files with secrets.
    var permissions: [HealthCheck] {
        let ledger = ["", "-wal", "-shm"].map { (data.ledgerFile.path + $0, UInt16(0o077), "600") }
        let secrets = ["tls-key", "app-store-key", "mail-password-file", "mail-webhook-secret-file"]
            .compactMap { configuration.settings.text($0) }.map { ($0, UInt16(0o007), "640") }
        let files = (ledger + secrets).filter { FileManager.default.fileExists(atPath: $0.0) }
        let open = files.compactMap { path, forbidden, mode -> HealthCheck? in
            var status = stat()
            guard stat(path, &status) == 0, UInt16(status.st_mode & 0o777) & forbidden != 0 else { return nil }
            return .problem(
                .permissions,
                Phrase(
                    "\"\(path)\" has the mode \(String(status.st_mode & 0o777, radix: 8))",
                    "\"\(path)\"의 모드는 \(String(status.st_mode & 0o777, radix: 8))입니다"),
                remedy: Phrase(
                    "Run: chmod \(mode) \(CommonOptions.quoted(path))",
                    "실행하세요: chmod \(mode) \(CommonOptions.quoted(path))"))
        }
        let closed = Phrase(
            "files closed to others: \(files.count)", "다른 사용자에게 닫힌 파일: \(files.count)개")
        return open.isEmpty ? [.passed(.permissions, closed)] : open
    }

    /// The port that the service listens on.
    var port: HealthCheck {
        let (host, port) = (configuration.server.host, configuration.server.port)
        guard port > 0 else { return .passed(.port, Phrase("any free one", "비어 있는 아무 포트")) }
        let problem = Self.listeningProblem(host: host, port: port)
        switch problem {
        case nil: return .passed(.port, Phrase("\(host):\(port) is free", "\(host):\(port)이(가) 비어 있습니다"))
        case EADDRINUSE:
            let holder = ListeningProcess.find(port: port)
            if let holder, holder.name == "till" {
                return .passed(
                    .port,
                    Phrase(
                        "\(host):\(port) is in use by till, process \(holder.identifier)",
                        "till의 프로세스 \(holder.identifier)이(가) \(host):\(port)을(를) 사용합니다"))
            }
            let name = holder.map { "\"\($0.name)\", process \($0.identifier)" } ?? "another program"
            return .problem(
                .port,
                Phrase("\(host):\(port) is in use by \(name)", "\(host):\(port)을(를) 사용하는 프로그램: \(name)"),
                remedy: Phrase(
                    "End it, or choose another port with --port.", "끝내거나 --port로 다른 포트를 고르세요."))
        case EACCES:
            return .problem(
                .port,
                Phrase(
                    "\(host):\(port) needs a privilege that this user lacks",
                    "\(host):\(port)에 필요한 권한이 이 사용자에게 없습니다"),
                remedy: Phrase(
                    "Choose a port from 1024 on, or give the service CAP_NET_BIND_SERVICE.",
                    "1024 이상의 포트를 고르거나 서비스에 CAP_NET_BIND_SERVICE를 주세요."))
        case let code?:
            return .problem(
                .port,
                Phrase(
                    "\(host):\(port) cannot be listened on: \(String(cString: strerror(code)))",
                    "\(host):\(port)에서 연결을 받을 수 없습니다: \(String(cString: strerror(code)))"),
                remedy: Phrase(
                    "Name an address of this machine with --host.", "--host로 이 컴퓨터의 주소를 지정하세요."))
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
