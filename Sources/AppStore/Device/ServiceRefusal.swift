import Proofs

/// A refusal by the service.
public struct ServiceRefusal: CodedError, Hashable {
    public let code: String
    public let message: String

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}
