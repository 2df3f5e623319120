/// A message that a mail server has not accepted.
public struct MailFailure: Error, Hashable, Sendable {
    /// The cause, in one of a few codes.
    public enum Cause: String, Sendable {
        case hostUnknown
        case unreachable
        case timedOut
        case tlsFailed
        case authenticationFailed
        /// The server cannot accept the message now.
        case deferred
        /// The server never accepts the message, for example because the mailbox does not exist.
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
