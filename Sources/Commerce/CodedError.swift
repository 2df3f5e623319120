/// An error a program can tell by its code and a person can act on by its message.
///
/// The code never changes once released; neither code nor message holds a secret, a token or a receipt.
public protocol CodedError: Error, CustomStringConvertible, Sendable {
    /// Stable, in camel case, such as `signatureInvalid`.
    var code: String { get }
    /// One sentence that says what was wrong and what to do.
    var message: String { get }
}

extension CodedError {
    public var description: String { message }
}
