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

/// The OpenSSL library that this process has loaded.
public enum OpenSSLLibrary {
    /// The version: "3.5.4".
    public static var version: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
    }
}

/// Memory that OpenSSL reads and writes.
enum OpenSSLMemory {
    /// The bytes that OpenSSL writes to memory of its own.
    ///
    /// - Parameter write: Stores the address of the memory, and returns the number of bytes; a negative one if it fails.
    static func bytes(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8]? {
        var start: UnsafeMutablePointer<UInt8>?
        let length = write(&start)
        guard length >= 0, let start else { return nil }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    /// The text that OpenSSL writes with a NUL at its end, at most 127 bytes.
    ///
    /// - Parameter write: Writes to memory of a size, and returns false if it fails.
    static func text(_ write: (_ start: UnsafeMutablePointer<CChar>, _ size: Int) -> Bool) -> String? {
        var buffer = [CChar](repeating: 0, count: 128)
        guard write(&buffer, buffer.count) else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The object that OpenSSL reads at the beginning of bytes in DER. The caller owns it.
    ///
    /// - Returns: The object, and true if no bytes follow it.
    static func object(
        in der: [UInt8],
        _ read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> (pointer: OpaquePointer, isWhole: Bool)? {
        der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return read(&next, bytes.count).map { ($0, next == bytes.baseAddress.map { $0 + bytes.count }) }
        }
    }
}
