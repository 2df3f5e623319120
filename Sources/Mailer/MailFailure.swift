/// A message that a mail server has not accepted.
public struct MailFailure: Error, Hashable, Sendable {
    /// One of a few causes, whatever the server says.
    public enum Cause: String, Sendable {
        case hostUnknown
        case unreachable
        case timedOut
        case tlsFailed
        case loginRefused
        /// A server that cannot take the message now.
        case deferred
        /// A server that will never take the message: there is no such mailbox, for example.
        case refused
        case other
    }

    public let cause: Cause

    /// True if another attempt would fail, too.
    public var isPermanent: Bool { cause == .refused }

    public init(_ cause: Cause) {
        self.cause = cause
    }
}
