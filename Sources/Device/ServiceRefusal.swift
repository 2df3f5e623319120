import Commerce

/// The service answered, and the answer was no.
public struct ServiceRefusal: CodedError, Hashable {
    public let code: String
    public let message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}
