import Foundation
import Ledger
import Proofs

/// A person who may log in to the console.
package struct TeamMember: Hashable, Sendable {
    /// The maximum length of a name, in bytes of UTF-8.
    package static let maximumNameLength = 64

    /// The name, which the audit log shows. It is never used again for another person.
    package let name: String
    package let role: TeamRole
    /// The hash of the password (see `PasswordHash`); nil until the invitation is used.
    package var passwordHash: String?
    /// The secret of one-time codes; nil if log-in needs none.
    package var codeSecret: [UInt8]?
    /// The time step of the last accepted code. A code is accepted once.
    var lastCodeStep: Int64?
    package let createdAt: Timestamp
    /// The time of the removal; nil for a current member.
    package var removedAt: Timestamp?

    /// The member as the caller of use cases, for the audit log.
    package var caller: String { AuditActor.caller(member: name) }

    /// The member as the actor of an erasure.
    package var actor: AuditActor { .member(name) }

    /// True if a text can be the name of a member: 1 to 64 bytes without spaces at its ends or control characters. Browsers resolve
    /// `.` and `..` in addresses.
    package static func isName(_ text: String) -> Bool {
        guard (1...maximumNameLength).contains(text.utf8.count), text.first != " ", text.last != " ",
            ![".", ".."].contains(text)
        else { return false }
        let joined = text.replacing(" ", with: "_")
        return User(name: joined).map { ByteKey($0.name) == ByteKey(joined) } ?? false
    }
}
