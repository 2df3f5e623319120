import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// The supervisor that has started the process, such as systemd with `Type=notify`. It gets messages over a socket (sd_notify(3)).
package struct Supervisor: Sendable {
    /// The path of its socket; nil without a supervisor. The name of an abstract socket begins with an at sign.
    private let path: String?
    /// The longest time without a sign of life; nil if none is expected.
    private let watchdogTime: Duration?

    /// - Parameters:
    ///   - environment: The variables that the supervisor has set: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///   - process: The number of this process. Signs of life are expected from it alone.
    package init(
        _ environment: [String: String] = ProcessInfo.processInfo.environment,
        process: Int32 = ProcessInfo.processInfo.processIdentifier
    ) {
        path = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        watchdogTime = microseconds > 0 && isMeant ? .microseconds(microseconds) : nil
    }

    package var isPresent: Bool { path != nil }

    /// Reports that the service listens.
    @discardableResult package func reportReady() -> Bool { send("READY=1\nSTATUS=Answers requests.") }

    /// Reports a start that takes long, and asks for more time.
    @discardableResult package func reportWaiting(_ status: String, atMost time: Duration) -> Bool {
        send("STATUS=\(status)\nEXTEND_TIMEOUT_USEC=\((time.components.seconds + 1) * 1_000_000)")
    }

    /// A sign of life in each third of the watchdog's time, and the report of the shutdown.
    ///
    /// - Parameter loops: The loops that serve requests. Each of them answers before the sign of life: one that hangs holds up the
    ///   requests of its connections, and only a restart helps.
    package func signsOfLife(
        of loops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton, logger: Logger
    ) -> Companion {
        Companion {
            await withGracefulShutdownHandler {
                await sendSigns(of: loops, logger)
            } onGracefulShutdown: {
                send("STOPPING=1\nSTATUS=Stopping.")
            }
        }
    }

    private func sendSigns(of loops: any EventLoopGroup, _ logger: Logger) async {
        var hasFailed = false
        await AsyncStream.ticksUntilShutdown(every: (watchdogTime ?? .seconds(3600)) / 3, beginsAtOnce: true) {
            guard watchdogTime != nil else { return }
            for loop in loops.makeIterator() { try? await loop.submit {}.get() }
            let isSent = send("WATCHDOG=1")
            if !isSent, !hasFailed { logger.error("the supervisor's socket takes no sign of life") }
            hasFailed = !isSent
        }
    }

    /// Sends a message.
    ///
    /// - Returns: False if the socket does not take it.
    @discardableResult private func send(_ text: String) -> Bool {
        guard let path else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The name of an abstract socket begins with a zero byte, and its length is that of the address (unix(7)).
        let name = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let size = socklen_t(offset + name.count + (path.hasPrefix("@") ? 0 : 1))
        #if canImport(Glibc)
            let line = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        #else
            let line = socket(AF_UNIX, SOCK_DGRAM, 0)
            let flags = MSG_DONTWAIT
        #endif
        guard line >= 0 else { return false }
        defer { close(line) }
        _ = fcntl(line, F_SETFD, FD_CLOEXEC)
        let bytes = Array(text.utf8)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(line, bytes, bytes.count, flags, address, size) == bytes.count
            }
        }
    }
}
