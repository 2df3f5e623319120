import Hummingbird

extension Request {
    /// The default maximum length of a query parameter, in bytes of UTF-8.
    package static let maximumParameterLength = 256

    /// Returns the value of a query parameter, or nil if it is missing.
    ///
    /// - Parameter maximumLength: The maximum length in bytes of UTF-8.
    /// - Throws: `Problem` with the code `parameterInvalid` if the value is too long or contains NUL.
    package func query(_ name: String, upTo maximumLength: Int = maximumParameterLength) throws(Problem) -> String? {
        guard let value = uri.queryParameters[Substring(name)] else { return nil }
        guard value.utf8.count <= maximumLength, !value.utf8.contains(0) else {
            throw .parameter(name, "at most \(maximumLength) bytes, without NUL")
        }
        return String(value)
    }
}
