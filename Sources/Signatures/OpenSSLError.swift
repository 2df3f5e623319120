import COpenSSL

/// OpenSSL could not do what it was asked: a key it cannot read, memory it does not get.
public struct OpenSSLError: Error, CustomStringConvertible, Sendable {
    public let operation: String
    /// OpenSSL's own reason, without data from its inputs; nil when it gave none.
    public let reason: String?

    /// Takes the reason from this thread's queue of errors and empties it.
    init(_ operation: String) {
        self.operation = operation
        let code = ERR_get_error()
        reason = code == 0 ? nil : ERR_reason_error_string(code).map { String(cString: $0) }
        ERR_clear_error()
    }

    public var description: String {
        "OpenSSL could not \(operation)" + (reason.map { ": \($0)." } ?? ".")
    }
}
