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
        if let code = Examination.listeningProblem(host: host, port: port) {
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
}
