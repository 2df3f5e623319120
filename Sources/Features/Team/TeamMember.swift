import Foundation
import Ledger
import Proofs

/// A person who may log in to the console.
public struct TeamMember: Hashable, Sendable {
    /// The maximum length of a name, in bytes of UTF-8.
    public static let maximumNameLength = 64

    /// The name, which the audit log shows. It is never used again for another person.
    public let name: String
    public let role: TeamRole
    /// The hash of the password (see `PasswordHash`); nil until the invitation is used.
    public let passwordHash: String?
    /// The secret of one-time codes; nil if log-in needs none.
    public let codeSecret: [UInt8]?
    /// The time step of the last accepted code. A code is accepted once.
    public let lastCodeStep: Int64?
    public let createdAt: Timestamp
    /// The time of the removal; nil for a current member.
    public let removedAt: Timestamp?

    package init(
        name: String,
        role: TeamRole,
        passwordHash: String? = nil,
        codeSecret: [UInt8]? = nil,
        lastCodeStep: Int64? = nil,
        createdAt: Timestamp,
        removedAt: Timestamp? = nil
    ) {
        self.name = name
        self.role = role
        self.passwordHash = passwordHash
        self.codeSecret = codeSecret
        self.lastCodeStep = lastCodeStep
        self.createdAt = createdAt
        self.removedAt = removedAt
    }

    /// The member as the caller of use cases, for the audit log.
    public var caller: String { AuditActor.caller(member: name) }

    /// The member as the actor of an erasure.
    public var actor: AuditActor { .member(name) }

    /// True if a text can be the name of a member: 1 to 64 bytes without spaces at its ends or control characters. Browsers resolve
    /// `.` and `..` in addresses.
    public static func isName(_ text: String) -> Bool {
        guard (1...maximumNameLength).contains(text.utf8.count), text.first != " ", text.last != " ",
            ![".", ".."].contains(text)
        else { return false }
        let joined = text.replacing(" ", with: "_")
        return User(name: joined).map { ByteKey($0.name) == ByteKey(joined) } ?? false
    }
}
