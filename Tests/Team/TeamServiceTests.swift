import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing

/// Members, their roles, and the record of each change.
@Suite struct TeamServiceTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock(Timestamp(secondsSince1970: 1_790_000_000))
    private let team: TeamService

    init() throws {
        folder = try TemporaryFolder()
        team = TeamService(
            ledger: try Ledger(file: folder.file("ledger.sqlite")), clock: clock, randomness: .system, cost: .minimal)
    }

    /// Adds a member who has set a password.
    private func add(_ name: String, _ role: TeamRole, by actor: TeamActor = .commandLine) async throws {
        let secret = try await team.add(name, role: role, by: actor)
        try await team.accept(
            invitation: secret, passwordHash: try team.passwords.hash(try Password("correct horse battery", unlike: []))
        )
    }

    private func role(of name: String) async throws -> TeamRole? { try await team.member(named: name)?.role }

    @Test func `the last administrator who can log in is neither removed nor demoted`() async throws {
        try await add("ada", .admin)
        // An administrator without a password cannot log in yet.
        _ = try await team.add("jun", role: .admin)
        await #expect(throws: TeamError.lastAdministrator("ada")) { try await team.remove("ada") }
        await #expect(throws: TeamError.lastAdministrator("ada")) {
            try await team.setRole(.viewer, of: "ada", by: .member("ada"))
        }
        #expect(try await role(of: "ada") == .admin)
        try await team.remove("jun")
        try await add("lee", .admin)
        try await team.setRole(.support, of: "ada", by: .member("ada"))
        await #expect(throws: TeamError.lastAdministrator("lee")) { try await team.remove("lee", by: .member("ada")) }
        #expect(try await role(of: "ada") == .support)
    }

    @Test func `an administrator without a password is removed if another is left`() async throws {
        _ = try await team.add("ada", role: .admin)
        await #expect(throws: TeamError.lastAdministrator("ada")) { try await team.remove("ada") }
        _ = try await team.add("jun", role: .admin)
        try await team.remove("ada")
        #expect(try await team.member(named: "ada") == nil)
    }

    @Test func `nobody removes themselves`() async throws {
        try await add("ada", .admin)
        try await add("jun", .admin)
        await #expect(throws: TeamError.ownRemoval) { try await team.remove("ada", by: .member("ada")) }
        try await team.remove("ada", by: .member("jun"))
    }

    @Test func `a secret of codes is replaced only after the present one was turned off`() async throws {
        try await add("ada", .admin)
        let ada = try #require(try await team.member(named: "ada"))
        let (first, second) = (team.newCodeSecret(), team.newCodeSecret())
        func code(_ secret: [UInt8]) -> String {
            OneTimeCode.code(at: clock.now().secondsSince1970 / 30, secret: secret)
        }
        try await team.setCodeSecret(first, of: ada, confirmedBy: code(first))
        await #expect(throws: TeamError.codesAreOn) {
            try await team.setCodeSecret(second, of: ada, confirmedBy: code(second))
        }
        await #expect(throws: TeamError.codeWrong) {
            try await team.setCodeSecret(nil, of: ada, confirmedBy: code(second))
        }
        clock.advance(milliseconds: 30_000)
        try await team.setCodeSecret(nil, of: ada, confirmedBy: code(first))
        try await team.setCodeSecret(second, of: ada, confirmedBy: code(second))
        #expect(try await team.member(named: "ada")?.codeSecret == second)
    }

    @Test func `two log-ins at once accept a code once`() async throws {
        try await add("ada", .admin)
        let ada = try #require(try await team.member(named: "ada"))
        let secret = team.newCodeSecret()
        func code() -> String { OneTimeCode.code(at: clock.now().secondsSince1970 / 30, secret: secret) }
        try await team.setCodeSecret(secret, of: ada, confirmedBy: code())
        clock.advance(milliseconds: 30_000)
        let next = code()
        let sessions = await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { [team] in try? await team.logIn(ada, code: next, ending: nil) } }
            return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        #expect(sessions.count == 1)
    }

    @Test func `each change is recorded with its actor, and a refused one is not`() async throws {
        try await add("ada", .admin)
        clock.advance(milliseconds: 1000)
        _ = try await team.add("jun", role: .viewer, by: .member("ada"))
        await #expect(throws: TeamError.nameTaken("jun")) {
            try await team.add("jun", role: .admin, by: .member("ada"))
        }
        try await team.setRole(.catalog, of: "jun", by: .member("ada"))
        try await team.setRole(.catalog, of: "jun", by: .member("ada"))
        _ = try await team.invite("jun", by: .member("ada"))
        let ada = try #require(try await team.member(named: "ada"))
        let secret = team.newCodeSecret()
        let code = OneTimeCode.code(at: clock.now().secondsSince1970 / 30, secret: secret)
        try await team.setCodeSecret(secret, of: ada, confirmedBy: code)
        try await team.remove("jun", by: .member("ada"))
        await #expect(throws: TeamError.lastAdministrator("ada")) { try await team.remove("ada") }
        let changes = try await team.changes(limit: 20)
        #expect(
            changes.map(\.event) == [.removed, .codesTurnedOn, .invited, .roleChanged, .added, .passwordSet, .added])
        #expect(changes.map(\.member) == ["jun", "ada", "jun", "jun", "jun", "ada", "ada"])
        #expect(
            changes.map(\.actor)
                == Array(repeating: .member("ada"), count: 6) + [TeamActor.commandLine])
        #expect(changes.map(\.role) == [nil, nil, nil, .catalog, .viewer, nil, .admin])
        #expect(changes.first?.happenedAt == clock.now())
        #expect(try await team.changes(before: 3, limit: 1).map(\.number) == [2])
    }
}
