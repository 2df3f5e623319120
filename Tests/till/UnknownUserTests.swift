import TestSupport
import Testing

/// Commands about users whom the service does not know.
@Suite struct UnknownUserTests {
    /// Commands that refuse an unknown user.
    private static let refusing = [["export-user"], ["erase-user"]]

    @Test func `the commands about a user are found by their arguments`() async throws {
        let commands = Set(try await HelpCommand.aboutUsers(of: try TillProcess(hasKeys: false)))
        let some = [["owned"], ["story"], ["grants", "list"], ["attributes", "list"], ["audit"]]
        #expect(commands.isSuperset(of: some + Self.refusing), "\(commands)")
    }

    @Test func `a command names an unknown user, and an issuer that was forgotten`() async throws {
        let till = try TillProcess()
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        let given = try await till.run("give", "mint", "sprout", "3", "--issuer", "customer", "--reason", "Sorry")
        #expect(given.status == 0, "\(given.error)")
        let missing = "No user \"mint\" is known; did you forget --issuer customer?"
        for command in try await HelpCommand.aboutUsers(of: till) where !Self.refusing.contains(command) {
            let forgotten = try await till.run(arguments: command + ["mint"])
            #expect(forgotten.status == 0 && forgotten.error.contains(missing), "\(command): \(forgotten.error)")
            let misspelt = try await till.run(arguments: command + ["mnt"])
            #expect(misspelt.error.contains("No user \"mnt\" is known; did you forget --issuer?"), "\(command)")
            let known = try await till.run(arguments: command + ["mint", "--issuer", "customer"])
            #expect(known.status == 0 && !known.error.contains("is known"), "\(command): \(known.error)")
            let other = try await till.run(arguments: command + ["mint", "--issuer", "https://accounts.example.com"])
            #expect(
                other.error.contains("No user \"mint\" of this issuer is known; did you mean --issuer customer?"),
                "\(command): \(other.error)")
        }
        let why = try await till.run("why", "mint", "sprout", "3")
        #expect(why.output.contains(missing + "\n"))
        #expect(try await till.run("why", "mint", "sprout", "3", "--issuer", "customer").output.hasPrefix("mint has"))
        let json = try await till.run("owned", "mint", "--json").output
        #expect(json.contains("\"isUserUnknown\" : true") && json.contains("\"customer\""))
        for command in Self.refusing {
            let arguments = command + ["mint"] + (command == ["erase-user"] ? ["--confirm", "mint"] : [])
            let refused = try await till.run(arguments: arguments)
            #expect(refused.status == 1 && refused.error.contains("did you forget the issuer customer?"))
        }
    }

    @Test func `every command about a user works for a user of an issuer`() async throws {
        let till = try TillProcess()
        let issuer = ["--issuer", "https://accounts.example.com"]
        func run(_ arguments: String...) async throws {
            let result = try await till.run(arguments: arguments + issuer)
            #expect(result.status == 0, "\(arguments): \(result.error)")
            #expect(!result.error.contains("is known"), "\(arguments)")
        }
        #expect(try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice").status == 0)
        try await run("give", "zoe", "sprout", "3", "--reason", "a gift")
        try await run("attributes", "set", "zoe", "level", "9")
        for command in try await HelpCommand.aboutUsers(of: till) where command != ["erase-user"] {
            let result = try await till.run(arguments: command + ["zoe"] + issuer)
            #expect(result.status == 0 && !result.error.contains("is known"), "\(command): \(result.error)")
        }
        try await run("why", "zoe", "sprout", "3")
        try await run("attributes", "remove", "zoe", "level")
        try await run("erase-user", "zoe", "--confirm", "zoe")
        // The names of tombstones belong to nobody.
        let tombstone = try await till.run("give", "zoe", "sprout", "3", "--reason", "x", "--issuer", "erased")
        #expect(tombstone.status == 64)
    }
}
