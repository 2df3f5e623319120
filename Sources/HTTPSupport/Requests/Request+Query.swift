import Hummingbird

extension Request {
    /// The longest value of a query parameter without a limit of its own, in bytes of UTF-8.
    package static let maximumParameterLength = 256

    /// The value of a query parameter; nil if it is missing.
    ///
    /// - Parameter maximumLength: In bytes of UTF-8.
    /// - Throws: `Problem`, `parameterInvalid`, for a value that is too long or contains a NUL.
    package func query(_ name: String, upTo maximumLength: Int = maximumParameterLength) throws(Problem) -> String? {
        guard let value = uri.queryParameters[Substring(name)] else { return nil }
        guard value.utf8.count <= maximumLength, !value.utf8.contains(0) else {
            throw .parameter(name, "at most \(maximumLength) bytes, without NUL")
        }
        return String(value)
    }
}
