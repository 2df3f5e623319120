/// An error with a code for programs and a message for people.
///
/// A released code never changes. Neither the code nor the message contains a secret, a token or a receipt.
public protocol CodedError: Error, CustomStringConvertible, Sendable {
    /// The stable code in camel case, such as `signatureInvalid`.
    var code: String { get }
    /// The message: what is wrong, then what to do.
    var message: String { get }
}

extension CodedError {
    public var description: String { message }
}
