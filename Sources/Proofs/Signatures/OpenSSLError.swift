import COpenSSL

/// A failed OpenSSL operation, such as reading an invalid key or allocating memory.
public struct OpenSSLError: Error, CustomStringConvertible, Sendable {
    public let operation: String
    /// OpenSSL's reason, without data from its inputs. Nil if it gave none.
    public let reason: String?

    /// Takes the reason from the current thread's error queue and empties the queue.
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
