import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The people who may log in to the console: members, invitations, passwords and sessions. Each change is recorded
/// (`TeamChange`).
///
/// `passwords` uses the processor, not the ledger. The rest of a use case is one call of the ledger.
package struct TeamService: Sendable {
    /// The lifetime of an invitation, in milliseconds.
    package static let invitationTime: Int64 = 3 * 86_400_000
    /// The lifetime of a session, in milliseconds.
    package static let sessionTime: Int64 = 12 * 3_600_000

    package let passwords: Passwords
    let ledger: Ledger
    private let clock: any WallClock
    private let randomness: Randomness

    package init(
        ledger: Ledger, clock: any WallClock, randomness: Randomness = .system, cost: PasswordHash.Cost = .standard
    ) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
        passwords = Passwords(randomness: randomness, cost: cost)
    }

    /// All members, removed ones included, oldest first.
    package func members() async throws -> [TeamMember] {
        try await ledger.read { try $0.hasTeam() ? $0.teamMembers() : [] }
    }

    /// The member of a name that a person typed; nil if there is none.
    package func member(named name: String) async throws -> TeamMember? {
        guard TeamMember.isName(name) else { return nil }
        let member = try await ledger.read { try $0.teamMember(name) }
        return member?.removedAt == nil ? member : nil
    }

    /// The member that an invitation is for.
    ///
    /// - Throws: `TeamError.invitationInvalid`.
    package func member(invited secret: String) async throws -> TeamMember {
        guard let member = try await member(presenting: secret, in: .invitations) else {
            throw TeamError.invitationInvalid
        }
        return member
    }

    /// The member whose session a cookie presents; nil if the session has ended.
    package func member(presenting cookie: String) async throws -> TeamMember? {
        try await member(presenting: cookie, in: .sessions)
    }

    private func member(presenting text: String, in table: TeamSecretTable) async throws -> TeamMember? {
        guard let secret = Secret(presented: text) else { return nil }
        let now = clock.now()
        return try await ledger.read(.statement) { try $0.teamMember(of: secret, in: table, at: now) }
    }

    /// Sets the password of an invited member, and ends the member's sessions. The invitation is used up, and one-time codes
    /// are off, because a lost phone is a reason to be invited again.
    ///
    /// - Throws: `TeamError.invitationInvalid`.
    package func accept(invitation text: String, passwordHash hash: String) async throws {
        guard let secret = Secret(presented: text) else { throw TeamError.invitationInvalid }
        let now = clock.now()
        try await ledger.write { transaction in
            guard var member = try transaction.teamMember(of: secret, in: .invitations, at: now) else {
                throw TeamError.invitationInvalid
            }
            (member.codeSecret, member.lastCodeStep) = (nil, nil)
            try transaction.set(hash, of: &member, at: now)
            try transaction.save(member)
        }
    }

    /// Sets another password after the old one was confirmed, and ends all sessions of the member.
    ///
    /// - Throws: `CredentialError.passwordWrong` if the member was changed meanwhile.
    package func setPasswordHash(_ hash: String, of member: TeamMember) async throws {
        try await change(member.name) { transaction, current, now in
            guard current.passwordHash == member.passwordHash else { throw CredentialError.passwordWrong }
            try transaction.set(hash, of: &current, at: now)
        }
    }

    /// Begins a session after the password was confirmed, and ends the presented one.
    ///
    /// - Parameters:
    ///   - code: The one-time code that the person typed. It is ignored if the member has none.
    ///   - cookie: The cookie that the browser presented; nil for none.
    /// - Returns: The cookie of the session.
    /// - Throws: `TeamError.credentialsWrong`, also if the member was changed meanwhile.
    package func logIn(_ member: TeamMember, code: String, ending cookie: String?) async throws -> String {
        let now = clock.now()
        return try await ledger.write { transaction in
            guard var current = try transaction.teamMember(member.name), current.removedAt == nil,
                current.passwordHash == member.passwordHash
            else { throw TeamError.credentialsWrong }
            if let secret = current.codeSecret {
                current.lastCodeStep = OneTimeCode.step(of: code, secret: secret, at: now, after: current.lastCodeStep)
                guard current.lastCodeStep != nil else { throw TeamError.credentialsWrong }
                try transaction.save(current)
            }
            if let presented = cookie.flatMap({ Secret(presented: $0) }) { try transaction.endTeamSession(presented) }
            try transaction.database.execute("DELETE FROM team_session WHERE ends_at <= $1", [now])
            return try transaction.addSecret(to: .sessions, of: member.name, at: now).text
        }
    }

    package func logOut(_ cookie: String) async throws {
        guard let secret = Secret(presented: cookie) else { return }
        try await ledger.write { try $0.endTeamSession(secret) }
    }

    /// A new secret of one-time codes. It is stored when the first code was confirmed.
    package func newCodeSecret() -> [UInt8] { randomness.bytes(OneTimeCode.secretLength) }

    /// Requires one-time codes from now on, or no more.
    ///
    /// - Parameters:
    ///   - secret: The secret; nil to require no codes.
    ///   - code: A code of the new secret, or of the old one if codes are turned off.
    /// - Throws: `TeamError`, `codeWrong`, `codesAreOn`.
    package func setCodeSecret(_ secret: [UInt8]?, of member: TeamMember, confirmedBy code: String) async throws {
        try await change(member.name) { transaction, current, now in
            // A password alone must not replace the second factor.
            guard secret == nil || current.codeSecret == nil else { throw TeamError.codesAreOn }
            guard let tested = secret ?? current.codeSecret else { return }
            let last = secret == nil ? current.lastCodeStep : nil
            guard let step = OneTimeCode.step(of: code, secret: tested, at: now, after: last) else {
                throw TeamError.codeWrong
            }
            (current.codeSecret, current.lastCodeStep) = (secret, secret == nil ? nil : step)
            try transaction.record(
                secret == nil ? .codesTurnedOff : .codesTurnedOn, of: member.name, by: .member(member.name), at: now)
        }
    }

    /// Adds a member without a password.
    ///
    /// - Returns: The secret of an invitation, which sets the first password.
    /// - Throws: `TeamError`, `nameInvalid` or `nameTaken`.
    package func add(_ name: String, role: TeamRole, by actor: TeamActor = .commandLine) async throws -> String {
        guard TeamMember.isName(name) else { throw TeamError.nameInvalid(name) }
        let now = clock.now()
        return try await ledger.write { transaction in
            guard try transaction.teamMember(name) == nil else { throw TeamError.nameTaken(name) }
            try transaction.database.insert(into: "team_member", ["name", "role", "created_at"], [[name, role, now]])
            try transaction.record(.added, of: name, role: role, by: actor, at: now)
            return try transaction.addSecret(to: .invitations, of: name, at: now).text
        }
    }

    /// Invites a member again. The invitation sets another password; until it is used, the old one is valid.
    ///
    /// - Returns: The secret of the invitation. Earlier invitations of the member are invalid.
    /// - Throws: `TeamError.memberNotFound`.
    package func invite(_ name: String, by actor: TeamActor = .commandLine) async throws -> String {
        try await change(name) { transaction, _, now in
            try transaction.database.execute("DELETE FROM team_invitation WHERE name = $1", [name])
            try transaction.record(.invited, of: name, by: actor, at: now)
            return try transaction.addSecret(to: .invitations, of: name, at: now).text
        }
    }

    /// - Throws: `TeamError`, `memberNotFound` or `lastAdministrator`.
    package func setRole(_ role: TeamRole, of name: String, by actor: TeamActor = .commandLine) async throws {
        try await change(name) { transaction, member, now in
            guard role != member.role else { return }
            try transaction.checkLoss(of: member)
            member.role = role
            try transaction.record(.roleChanged, of: name, role: role, by: actor, at: now)
        }
    }

    /// Removes a member, and ends the member's sessions.
    ///
    /// - Throws: `TeamError`, `memberNotFound`, `lastAdministrator` or `ownRemoval`.
    package func remove(_ name: String, by actor: TeamActor = .commandLine) async throws {
        if case .member(let own) = actor, own.hasSameBytes(as: name) { throw TeamError.ownRemoval }
        try await change(name) { transaction, member, now in
            try transaction.checkLoss(of: member)
            (member.removedAt, member.passwordHash, member.codeSecret, member.lastCodeStep) = (now, nil, nil, nil)
            try transaction.deleteSecrets(of: name)
            try transaction.record(.removed, of: name, by: actor, at: now)
        }
    }

    /// The changes of the team, newest first.
    ///
    /// - Parameter number: The number of the change after the first one to return; nil for the newest.
    package func changes(before number: Int64? = nil, limit: Int) async throws -> [TeamChange] {
        try await ledger.read { try $0.hasTeam() ? $0.teamChanges(before: number ?? .max, limit: limit) : [] }
    }

    /// Changes a current member.
    ///
    /// - Throws: `TeamError.memberNotFound`; the errors of `body`.
    private func change<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable (LedgerTransaction, inout TeamMember, Timestamp) throws -> Value
    ) async throws -> Value {
        let now = clock.now()
        return try await ledger.write { transaction in
            guard try transaction.hasTeam(), TeamMember.isName(name), var member = try transaction.teamMember(name),
                member.removedAt == nil
            else { throw TeamError.memberNotFound(name) }
            let value = try body(transaction, &member, now)
            try transaction.save(member)
            return value
        }
    }
}

extension LedgerTransaction {
    /// True if the ledger has the tables of the team. A service without a console does not create them.
    fileprivate func hasTeam() throws -> Bool { try database.has("team_member") }

    /// Sets the password of a member, and ends the sessions and invitations.
    fileprivate func set(_ hash: String, of member: inout TeamMember, at moment: Timestamp) throws {
        member.passwordHash = hash
        try deleteSecrets(of: member.name)
        try record(.passwordSet, of: member.name, by: .member(member.name), at: moment)
    }

    /// Checks that the team keeps an administrator who can log in, if it has one and loses this member as one.
    ///
    /// - Throws: `TeamError.lastAdministrator`.
    fileprivate func checkLoss(of member: TeamMember) throws {
        guard member.role == .admin else { return }
        let others = try teamMembers().filter {
            $0.role == .admin && $0.removedAt == nil && !$0.name.hasSameBytes(as: member.name)
        }
        let isReplaced = member.passwordHash == nil ? !others.isEmpty : others.contains { $0.passwordHash != nil }
        guard isReplaced else { throw TeamError.lastAdministrator(member.name) }
    }
}

/// The actions of the members on users.
extension TeamService {
    /// The largest number of entries that one page searches for those of a member or an event.
    package static let searchedEntries = 5000

    /// The actions of the members on all users, newest first. A page with a filter may have fewer actions than the limit and
    /// still have a next page.
    ///
    /// - Parameters:
    ///   - member: The name of a member, also a removed one; nil for all.
    ///   - event: Nil for all events.
    ///   - position: The place after which the page begins; nil for the first page.
    ///   - searched: The largest number of entries that the page searches.
    /// - Returns: A page, and the place after which the next one begins; nil for the last page.
    package func actions(
        of member: String? = nil,
        event: AuditEntry.Event? = nil,
        after position: RecordPosition? = nil,
        limit: Int,
        searching searched: Int = searchedEntries
    ) async throws -> (actions: [ActivityEntry], end: RecordPosition?) {
        let start = position ?? RecordPosition(.max, .max, .max)
        return try await ledger.read { transaction in
            let database = transaction.database
            // The condition of the index `audit_of_members`.
            var sql = """
                FROM audit WHERE substr(actor, 1, 7) = 'member ' AND (happened_at, user_id, number) < ($1, $2, $3)
                """
            let order = "ORDER BY happened_at DESC, user_id DESC, number DESC"
            var arguments: [any SQLConvertible] = [start.first, start.second, start.third]
            var end: RecordPosition?
            if member != nil || event != nil {
                end = try database.row(
                    "SELECT happened_at, user_id, number \(sql) \(order) LIMIT 1 OFFSET $4", arguments + [searched - 1]
                ) { RecordPosition(try $0.next(), try $0.next(), try $0.next()) }
            }
            if let end {
                sql += " AND (happened_at, user_id, number) >= ($4, $5, $6)"
                arguments += [end.first, end.second, end.third] as [any SQLConvertible]
            }
            let filters: [(String, (any SQLConvertible)?)] = [
                ("actor", member.map { AuditActor.member($0) }), ("event", event),
            ]
            for case (let column, let value?) in filters {
                arguments.append(value)
                sql += " AND \(column) = $\(arguments.count)"
            }
            arguments.append(limit + 1)
            let found = try database.rows(
                "SELECT \(ActivityEntry.columns) \(sql) \(order) LIMIT $\(arguments.count)", arguments,
                ActivityEntry.init)
            let actions = try transaction.activity(Array(found.prefix(limit)))
            return (actions, found.count > limit ? actions.last?.position : end)
        }
    }
}

package enum TeamError: RuledError, Equatable {
    case nameInvalid(String)
    case nameTaken(String)
    case memberNotFound(String)
    /// The name, the password or the one-time code is wrong. The error does not say which, for security.
    case credentialsWrong
    /// The one-time code is wrong or was used before.
    case codeWrong
    /// A secret of one-time codes would replace another.
    case codesAreOn
    /// The link is unknown, used or has expired.
    case invitationInvalid
    /// The change would leave the team without an administrator who can log in.
    case lastAdministrator(String)
    /// A member would remove themselves.
    case ownRemoval

    package var rule: ErrorRule {
        switch self {
        case .nameInvalid(let name):
            ErrorRule(
                "nameInvalid", .unprocessable,
                "\"\(name.prefix(TeamMember.maximumNameLength))\" cannot be a name. Use 1 to "
                    + "\(TeamMember.maximumNameLength) bytes, without control characters.",
                korean: "쓸 수 없는 이름입니다. 제어 문자 없이 1~\(TeamMember.maximumNameLength)바이트로 입력하세요.")
        case .nameTaken(let name):
            ErrorRule(
                "nameTaken", .conflict,
                "The name \"\(name)\" is or was in use. Choose another: the audit log tells people apart by their names.",
                korean: "이미 쓰고 있거나 쓴 적이 있는 이름입니다. 감사 기록이 이름으로 사람을 구분하므로 다른 이름을 고르세요.")
        case .memberNotFound(let name):
            ErrorRule(
                "memberNotFound", .notFound,
                "The team has no member \"\(name)\". `till console list-users` lists them.",
                korean: "팀에 이 이름의 구성원이 없습니다.")
        case .credentialsWrong:
            ErrorRule(
                "credentialsWrong", .unauthorized, "The name, the password or the code is wrong.",
                korean: "이름이나 비밀번호, 코드가 올바르지 않습니다.")
        case .codeWrong:
            ErrorRule(
                "codeWrong", .forbidden,
                "The code is wrong or was used before. Wait for the next one. Nothing was changed.",
                korean: "코드가 올바르지 않거나 이미 사용되었습니다. 다음 코드를 기다리세요. 아무것도 바꾸지 않았습니다.")
        case .codesAreOn:
            ErrorRule(
                "codesAreOn", .conflict, "One-time codes are on already. Turn them off first, with a present code.",
                korean: "일회용 코드를 이미 사용하고 있습니다. 먼저 현재 코드로 끄세요.")
        case .invitationInvalid:
            ErrorRule(
                "invitationInvalid", .notFound,
                "The link is unknown, was used, or has expired. Ask an administrator for a new one: "
                    + "`till console invite NAME`.",
                korean: "알 수 없거나 이미 사용했거나 만료된 링크입니다. 관리자에게 새 링크를 요청하세요.")
        case .lastAdministrator(let name):
            ErrorRule(
                "lastAdministrator", .conflict,
                "\"\(name)\" is the last administrator who can log in. Make another member an administrator first, and let "
                    + "that person set a password.",
                korean: "로그인할 수 있는 마지막 관리자입니다. 먼저 다른 구성원을 관리자로 지정하고, 그 사람이 비밀번호를 설정하게 하세요.")
        case .ownRemoval:
            ErrorRule(
                "ownRemoval", .conflict, "You cannot remove yourself. Ask another administrator.",
                korean: "자기 자신은 삭제할 수 없습니다. 다른 관리자에게 요청하세요.")
        }
    }
}
