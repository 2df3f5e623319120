#if canImport(Glibc)
    import Glibc

    /// The socket calls that differ between systems.
    enum SystemSocket {
        /// The flag that makes `send` to a closed connection fail without a signal.
        static let noSignal = Int32(MSG_NOSIGNAL)

        /// A TCP socket.
        static func make() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }

        static func connect(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
            Glibc.connect(socket, address, size)
        }
    }
#elseif canImport(Darwin)
    import Darwin

    /// The socket calls that differ between systems.
    enum SystemSocket {
        /// The socket has the option `SO_NOSIGPIPE` instead.
        static let noSignal: Int32 = 0

        /// A TCP socket.
        static func make() -> Int32 {
            let made = socket(AF_INET, SOCK_STREAM, 0)
            var isOn: Int32 = 1
            setsockopt(made, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
            return made
        }

        static func connect(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
            Darwin.connect(socket, address, size)
        }
    }
#endif
