import Commerce

/// The service could not listen.
public struct ServerNotStarted: CodedError {
    private let reason: String

    package init(reason: String = "The service could not listen on 127.0.0.1: check that this machine allows it.") {
        self.reason = reason
    }

    public var code: String { "serverNotStarted" }
    public var message: String { reason }
}
