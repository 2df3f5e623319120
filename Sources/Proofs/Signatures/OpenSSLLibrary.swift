import COpenSSL

/// The OpenSSL library that this process has loaded.
public enum OpenSSLLibrary {
    /// The version: "3.5.4".
    public static var version: String {
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
    }
}
