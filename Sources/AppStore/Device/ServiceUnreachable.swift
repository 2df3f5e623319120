import Proofs

/// A request without a usable answer of the service. The request may have arrived.
public struct ServiceUnreachable: CodedError, Equatable {
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }

    public var code: String { "serviceUnreachable" }

    public var message: String {
        "The service gave no usable answer: \(reason). Nothing is lost. Try again."
    }
}
