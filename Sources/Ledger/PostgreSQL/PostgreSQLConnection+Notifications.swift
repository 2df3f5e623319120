import CPostgreSQL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension PostgreSQLConnection {
    /// Waits for notifications on the channels of `LISTEN`.
    ///
    /// - Parameter milliseconds: The timeout.
    /// - Returns: The texts of the notifications; none after the timeout.
    func notifications(within milliseconds: Int32) throws(PostgreSQLFailure) -> [String] {
        var line = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        poll(&line, 1, milliseconds)
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw failure(nil) }
        var texts: [String] = []
        while let notification = PQnotifies(handle) {
            texts.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return texts
    }
}
