import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A datagram socket with a name, as a service manager has one.
package final class MessageSocket: Sendable {
    private let line: Int32

    struct Failure: Error {}

    /// - Parameter name: Its path; for an abstract socket, an at sign and the name.
    package init(_ name: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = name.hasPrefix("@")
        let bytes = isAbstract ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure() }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let size = socklen_t(offset + bytes.count + (isAbstract ? 0 : 1))
        #if canImport(Glibc)
            let line = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
            let line = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        self.line = line
        _ = fcntl(line, F_SETFL, O_NONBLOCK)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(line, $0, size) == 0 }
        }
        guard isBound else { throw Failure() }
    }

    deinit { close(line) }

    /// The next message; nil if none comes in time.
    package func next(within time: Duration = .seconds(300)) async -> String? {
        let end = ContinuousClock.now + time
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(line, &bytes, bytes.count, 0)
            if count >= 0 { return String(decoding: bytes.prefix(count), as: UTF8.self) }
            guard ContinuousClock.now < end else { return nil }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
