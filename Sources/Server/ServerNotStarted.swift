import Commerce

/// The service could not listen on the loopback interface.
public struct ServerNotStarted: CodedError {
    public var code: String { "serverNotStarted" }
    public var message: String { "The service could not listen on 127.0.0.1: check that this machine allows it." }
}
