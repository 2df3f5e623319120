import Ledger
import Proofs
import Vocabulary

package enum TeamRole: String, Sendable, CaseIterable, SQLConvertible {
    /// Sees customers, figures, products and messages, and changes nothing.
    case viewer
    /// Helps customers: gives items, revokes purchases, adds to balances, assigns purchases.
    case support
    /// Creates, edits and withdraws products.
    case catalog
    /// May do everything.
    case admin

    package var permissions: Set<TeamPermission> {
        switch self {
        case .viewer: [.view]
        case .support: [.view, .support, .store]
        case .catalog: [.view, .catalog, .store]
        case .admin: Set(TeamPermission.allCases)
        }
    }
}

package enum TeamPermission: Sendable, CaseIterable {
    /// Allows reading every page but those of other permissions.
    case view
    /// Allows giving, revoking and assigning, adding to balances, asking the stores about one purchase, sending messages again, and
    /// exporting one customer.
    case support
    /// Allows creating, editing and withdrawing products.
    case catalog
    /// Allows controlling the local App Store.
    case store
    /// Allows erasing customers, moving the charges of all subscribers, migrating subscriptions, managing webhooks and their secrets,
    /// reconciling, exporting all customers and verifying the audit log.
    case administer
}

/// The person or the program that changes the team.
package enum TeamActor: Hashable, Sendable, SQLConvertible {
    /// A member, by name.
    case member(String)
    /// A person at a shell.
    case commandLine

    private static let memberPrefix = "member "
    private static let commandLineText = "command line"

    package var sqlValue: SQLValue {
        switch self {
        case .member(let name): .text(Self.memberPrefix + name)
        case .commandLine: .text(Self.commandLineText)
        }
    }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        if text == Self.commandLineText {
            self = .commandLine
        } else if text.hasPrefix(Self.memberPrefix) {
            self = .member(String(text.dropFirst(Self.memberPrefix.count)))
        } else {
            return nil
        }
    }
}

/// A change of the team: the record of an action on a member. The audit logs are those of users, and have none of these.
package struct TeamChange: Hashable, Sendable {
    package enum Event: String, Sendable, CaseIterable, SQLConvertible {
        case added
        case invited
        case roleChanged
        case removed
        /// A member set a password.
        case passwordSet
        case codesTurnedOn
        case codesTurnedOff

        /// The change, after the name of the member.
        package var title: ChangeTitle {
            switch self {
            case .added: ChangeTitle("added", korean: "추가됨")
            case .invited: ChangeTitle("invited again", korean: "다시 초대됨")
            case .roleChanged: ChangeTitle("role changed", korean: "역할 변경됨")
            case .removed: ChangeTitle("removed", korean: "삭제됨")
            case .passwordSet: ChangeTitle("password set", korean: "비밀번호 설정됨")
            case .codesTurnedOn: ChangeTitle("codes turned on", korean: "코드 사용 시작")
            case .codesTurnedOff: ChangeTitle("codes turned off", korean: "코드 사용 중지")
            }
        }
    }

    /// The number of the change; 1 for the first.
    package let number: Int64
    package let happenedAt: Timestamp
    package let event: Event
    package let actor: TeamActor
    package let member: String
    /// The new role; nil if the change is none of the role.
    package var role: TeamRole?
}

/// A person who may log in to the console.
package struct TeamMember: Hashable, Sendable {
    /// The maximum length of a name, in bytes of UTF-8.
    package static let maximumNameLength = 64

    /// The name, which the audit log shows. It is never used again for another person.
    package let name: String
    package internal(set) var role: TeamRole
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
