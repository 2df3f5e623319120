import Commerce

/// The service gave no answer that the device understands; what was sent may or may not have arrived.
public struct ServiceUnreachable: CodedError, Equatable {
    public let reason: String

    public init(reason: String) {
        self.reason = reason
    }

    public var code: String { "serviceUnreachable" }

    public var message: String {
        "The service could not answer (\(reason)); nothing is lost, and trying again is safe."
    }
}
