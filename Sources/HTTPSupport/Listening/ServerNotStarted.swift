import Proofs

/// A failure to listen.
package struct ServerNotStarted: CodedError {
    private let reason: String

    package init(reason: String = "The service cannot listen on 127.0.0.1. Check the system's network permissions.") {
        self.reason = reason
    }

    package var code: String { "serverNotStarted" }
    package var message: String { reason }
}
