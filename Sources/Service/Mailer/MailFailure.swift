/// A message that a mail server has not accepted.
package struct MailFailure: Error, Hashable, Sendable {
    /// The cause, in one of a few codes.
    package enum Cause: String, Sendable {
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

    package let cause: Cause

    /// True if another attempt would fail, too.
    package var isPermanent: Bool { cause == .refused }

    package init(_ cause: Cause) {
        self.cause = cause
    }
}
