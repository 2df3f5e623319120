import Ledger
import Proofs

/// The people who may log in to the console: members, invitations, passwords and sessions.
///
/// Hashing a password uses the processor, not the ledger, so the caller hashes on threads that block nothing else.
package struct TeamService: Sendable {
    /// The lifetime of an invitation, in milliseconds.
    package static let invitationTime: Int64 = 3 * 86_400_000
    /// The lifetime of a session, in milliseconds.
    package static let sessionTime: Int64 = 12 * 3_600_000

    let ledger: Ledger
    let clock: any WallClock
    let randomness: Randomness
    private let cost: PasswordHash.Cost
    /// The hash of no password. It is compared for unknown names, so that they take as long.
    private let decoy: PasswordHash

    /// - Parameter cost: The cost of one hash.
    package init(ledger: Ledger, clock: any WallClock, randomness: Randomness, cost: PasswordHash.Cost = .standard) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
        self.cost = cost
        decoy = PasswordHash(decoyFrom: randomness.bytes(32), cost: cost)
    }

    /// All members, removed ones included, oldest first.
    package func members() async throws -> [TeamMember] {
        try await ledger.read { try $0.hasTeam() ? TeamRecords(database: $0.database).members() : [] }
    }

    /// The member that an invitation is for.
    ///
    /// - Throws: `TeamError`, `invitationInvalid`.
    package func member(invited secret: String) async throws -> TeamMember {
        guard let digest = TeamSecret.digest(of: secret) else { throw TeamError.invitationInvalid }
        let now = clock.now()
        let member = try await ledger.read {
            try TeamRecords(database: $0.database).member(invitation: digest, at: now)
        }
        guard let member else { throw TeamError.invitationInvalid }
        return member
    }

    /// Sets the password of an invited member, and ends the member's sessions. The invitation is used up, and one-time codes
    /// are off, because a lost phone is a reason to be invited again.
    ///
    /// - Parameter hash: The hash of the new password.
    /// - Throws: `TeamError`, `invitationInvalid`.
    package func accept(invitation secret: String, passwordHash hash: String) async throws {
        guard let digest = TeamSecret.digest(of: secret) else { throw TeamError.invitationInvalid }
        let now = clock.now()
        try await ledger.write { transaction in
            let records = TeamRecords(database: transaction.database)
            guard let member = try records.member(invitation: digest, at: now) else {
                throw TeamError.invitationInvalid
            }
            try records.setPasswordHash(hash, of: member.name)
            try records.setCodeSecret(nil, lastStep: nil, of: member.name)
            try records.deleteSessions(of: member.name)
            try records.deleteInvitations(of: member.name)
            try records.changes.append(.passwordSet, of: member.name, by: .member(member.name), at: now)
        }
    }

    /// The member of a name that a person typed; nil if there is none.
    package func member(named name: String) async throws -> TeamMember? {
        guard TeamMember.isName(name) else { return nil }
        let member = try await ledger.read { try TeamRecords(database: $0.database).member(name) }
        return member?.removedAt == nil ? member : nil
    }

    /// True if a password is the member's. This takes as long as a hash, with or without a member.
    package func isPassword(_ password: String, of member: TeamMember?) throws(TeamError) -> Bool {
        let isShort = password.utf8.count <= Password.maximumLength
        let text = isShort ? Password.composed(password) : ""
        let hash = member?.passwordHash.flatMap { PasswordHash($0) }
        do { return try (hash ?? decoy).matches(text) && isShort && hash != nil } catch { throw .passwordNotHashed }
    }

    /// The hash of a new password. This is slow by design.
    package func hash(_ password: Password) throws(TeamError) -> String {
        do {
            return try PasswordHash(password.text, salt: randomness.bytes(16), cost: cost).description
        } catch {
            throw .passwordNotHashed
        }
    }

    /// Begins a session after the password was confirmed, and ends the presented one.
    ///
    /// - Parameters:
    ///   - code: The one-time code that the person typed. It is ignored if the member has none.
    ///   - cookie: The cookie that the browser presented; nil for none.
    /// - Returns: The cookie of the session.
    /// - Throws: `TeamError`, `credentialsWrong` also if the member was changed meanwhile.
    package func logIn(_ member: TeamMember, code: String, ending cookie: String?) async throws -> String {
        let now = clock.now()
        let session = TeamSecret(randomness)
        try await ledger.write { transaction in
            let records = TeamRecords(database: transaction.database)
            guard let current = try records.member(member.name), current.removedAt == nil,
                current.passwordHash == member.passwordHash
            else { throw TeamError.credentialsWrong }
            if let secret = current.codeSecret {
                guard let step = OneTimeCode.step(of: code, secret: secret, at: now, after: current.lastCodeStep) else {
                    throw TeamError.credentialsWrong
                }
                try records.setLastCodeStep(step, of: member.name)
            }
            if let digest = cookie.flatMap(TeamSecret.digest) { try records.deleteSession(digest) }
            try records.insert(
                session: session.digest, of: member.name, from: now,
                until: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Self.sessionTime))
        }
        return session.text
    }

    /// The member whose session a cookie presents; nil if the session has ended.
    package func member(presenting cookie: String) async throws -> TeamMember? {
        guard let digest = TeamSecret.digest(of: cookie) else { return nil }
        let now = clock.now()
        return try await ledger.read(.statement) {
            try TeamRecords(database: $0.database).member(session: digest, at: now)
        }
    }

    package func logOut(_ cookie: String) async throws {
        guard let digest = TeamSecret.digest(of: cookie) else { return }
        try await ledger.write { try TeamRecords(database: $0.database).deleteSession(digest) }
    }

    /// Sets another password after the old one was confirmed, and ends all sessions of the member.
    ///
    /// - Throws: `TeamError`, `passwordWrong` if the member was changed meanwhile.
    package func setPasswordHash(_ hash: String, of member: TeamMember) async throws {
        let now = clock.now()
        try await change(member.name) { records, current in
            guard current.passwordHash == member.passwordHash else { throw TeamError.passwordWrong }
            try records.setPasswordHash(hash, of: member.name)
            try records.deleteSessions(of: member.name)
            try records.deleteInvitations(of: member.name)
            try records.changes.append(.passwordSet, of: member.name, by: .member(member.name), at: now)
        }
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
        let now = clock.now()
        try await change(member.name) { records, current in
            // A password alone must not replace the second factor.
            guard secret == nil || current.codeSecret == nil else { throw TeamError.codesAreOn }
            guard let tested = secret ?? current.codeSecret else { return }
            let last = secret == nil ? current.lastCodeStep : nil
            guard let step = OneTimeCode.step(of: code, secret: tested, at: now, after: last) else {
                throw TeamError.codeWrong
            }
            try records.setCodeSecret(secret, lastStep: secret == nil ? nil : step, of: member.name)
            try records.changes.append(
                secret == nil ? .codesTurnedOff : .codesTurnedOn, of: member.name, by: .member(member.name), at: now)
        }
    }

    /// Changes a current member.
    func change(
        _ name: String,
        _ body: @escaping @Sendable (TeamRecords, TeamMember) throws -> Void
    ) async throws {
        try await ledger.write { transaction in
            guard try transaction.hasTeam() else { throw TeamError.memberNotFound(name) }
            let records = TeamRecords(database: transaction.database)
            guard TeamMember.isName(name), let member = try records.member(name), member.removedAt == nil else {
                throw TeamError.memberNotFound(name)
            }
            try body(records, member)
        }
    }
}

extension LedgerTransaction {
    /// True if the ledger has the tables of the team. A service without a console does not create them.
    fileprivate func hasTeam() throws -> Bool { try database.has("team_member") }
}

/// A time-based one-time code of six digits (RFC 6238, with HMAC-SHA-1 and steps of 30 seconds, as authenticator apps
/// expect).
package enum OneTimeCode {
    /// The length of a new secret, in bytes: the output of SHA-1 (RFC 4226 section 4, R6).
    package static let secretLength = 20
    private static let stepLength: Int64 = 30
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The step of an accepted code; nil for a wrong or used one.
    ///
    /// - Parameters:
    ///   - text: The code as a person typed it. Spaces do not matter.
    ///   - last: The step of the last accepted code. Codes up to it are refused.
    package static func step(of text: String, secret: [UInt8], at moment: Timestamp, after last: Int64?) -> Int64? {
        guard text.utf8.count <= 16 else { return nil }
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: " ") })
        let now = moment.secondsSince1970 / stepLength
        // Clocks differ, and a code takes some seconds to type (RFC 6238 section 5.2).
        return (now - 1...now + 1).first { step in
            step > last ?? -1 && ConstantTime.areEqual(Array(code(at: step, secret: secret).utf8), digits)
        }
    }

    /// The code of a time step.
    package static func code(at step: Int64, secret: [UInt8]) -> String {
        let counter = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let hash = MessageAuthentication.hmac(.sha1, of: counter, secret: secret)
        let offset = Int(hash[hash.count - 1] & 0xF)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(number % 1_000_000)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// The secret in base32 (RFC 4648 section 6), for a person to type.
    package static func text(of secret: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in secret {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count)) & 31])
            }
            bits &= (1 << UInt32(count)) - 1
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count)) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }
}
