import Ledger
import Proofs

/// The changes of the team. Each is recorded (`TeamChange`).
extension TeamService {
    /// Adds a member without a password.
    ///
    /// - Returns: The secret of an invitation, which sets the first password.
    /// - Throws: `TeamError`, `nameInvalid` or `nameTaken`.
    package func add(_ name: String, role: TeamRole, by actor: TeamActor = .commandLine) async throws -> String {
        guard TeamMember.isName(name) else { throw TeamError.nameInvalid(name) }
        let secret = TeamSecret(randomness)
        let now = clock.now()
        try await ledger.write { transaction in
            let records = TeamRecords(database: transaction.database)
            guard try records.member(name) == nil else { throw TeamError.nameTaken(name) }
            try records.insert(TeamMember(name: name, role: role, createdAt: now))
            try invite(name, secret, now, records)
            try records.changes.append(.added, of: name, role: role, by: actor, at: now)
        }
        return secret.text
    }

    /// Invites a member again. The invitation sets another password; until it is used, the old one is valid.
    ///
    /// - Returns: The secret of the invitation. Earlier invitations of the member are invalid.
    /// - Throws: `TeamError`, `memberNotFound`.
    package func invite(_ name: String, by actor: TeamActor = .commandLine) async throws -> String {
        let secret = TeamSecret(randomness)
        let now = clock.now()
        try await change(name) { records, _ in
            try records.deleteInvitations(of: name)
            try invite(name, secret, now, records)
            try records.changes.append(.invited, of: name, by: actor, at: now)
        }
        return secret.text
    }

    /// - Throws: `TeamError`, `memberNotFound` or `lastAdministrator`.
    package func setRole(_ role: TeamRole, of name: String, by actor: TeamActor = .commandLine) async throws {
        let now = clock.now()
        try await change(name) { records, member in
            guard role != member.role else { return }
            try checkLoss(of: member, records)
            try records.setRole(role, of: name)
            try records.changes.append(.roleChanged, of: name, role: role, by: actor, at: now)
        }
    }

    /// Removes a member, and ends the member's sessions.
    ///
    /// - Throws: `TeamError`, `memberNotFound`, `lastAdministrator` or `ownRemoval`.
    package func remove(_ name: String, by actor: TeamActor = .commandLine) async throws {
        if case .member(let own) = actor, own.hasSameBytes(as: name) { throw TeamError.ownRemoval }
        let now = clock.now()
        try await change(name) { records, member in
            try checkLoss(of: member, records)
            try records.remove(name, at: now)
            try records.changes.append(.removed, of: name, by: actor, at: now)
        }
    }

    /// The changes of the team, newest first.
    ///
    /// - Parameter number: The number of the change after the first one to return; nil for the newest.
    package func changes(before number: Int64? = nil, limit: Int) async throws -> [TeamChange] {
        try await ledger.read { transaction in
            guard try transaction.database.has("team_change") else { return [] }
            return try TeamChangeRecords(database: transaction.database)
                .changes(before: number ?? .max, limit: limit)
        }
    }

    private func invite(_ name: String, _ secret: TeamSecret, _ now: Timestamp, _ records: TeamRecords) throws {
        try records.insert(
            invitation: secret.digest, of: name, from: now,
            until: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Self.invitationTime))
    }

    /// Checks that the team keeps an administrator who can log in, if it has one and loses this member as one.
    ///
    /// - Throws: `TeamError`, `lastAdministrator`.
    private func checkLoss(of member: TeamMember, _ records: TeamRecords) throws {
        guard member.role == .admin else { return }
        let others = try records.members().filter {
            $0.role == .admin && $0.removedAt == nil && !$0.name.hasSameBytes(as: member.name)
        }
        let isReplaced = member.passwordHash == nil ? !others.isEmpty : others.contains { $0.passwordHash != nil }
        guard isReplaced else { throw TeamError.lastAdministrator(member.name) }
    }
}
