import Proofs

/// A failure to listen.
public struct ServerNotStarted: CodedError {
    private let reason: String

    package init(reason: String = "The service cannot listen on 127.0.0.1. Check the system's network permissions.") {
        self.reason = reason
    }

    public var code: String { "serverNotStarted" }
    public var message: String { reason }
}
