import Foundation
import TestSupport
import Testing

/// Commands of a user without permission for the data directory.
@Suite struct PermissionTests {
    private static let setpriv = "/usr/bin/setpriv"
    private static let isRoot = geteuid() == 0
    /// True if the tests can run the binary as another user.
    private static let canChangeUser = isRoot && FileManager.default.isExecutableFile(atPath: setpriv)
    /// The user `nobody` of Linux.
    private static let launcher = [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"]

    let till: TillProcess

    init() async throws {
        till = try TillProcess(hasKeys: false)
        #expect(try await till.run("keys", "make", "shop").status == 0)
    }

    private var data: URL { till.folder.folder("data") }

    private func setMode(_ mode: Int, of names: String...) throws {
        for name in names {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: till.folder.file(name).path)
        }
    }

    @Test(
        .enabled(if: canChangeUser, "only root can run a command as another user"),
        arguments: [
            ["ledger", "check"], ["ledger", "backup", "/tmp/never.sqlite"], ["ledger", "restore", "/etc/passwd"],
            ["owned", "alice"], ["audit", "alice"], ["keys", "list"], ["keys", "make", "other"], ["store", "queue"],
            ["receipt", "export", "--user", "alice"], ["trust", "list"], ["resume", "--user", "alice"],
            ["serve", "--port", "0"],
        ])
    func `a closed data directory names its owner, and the command to run as that user`(
        arguments: [String]
    ) async throws {
        var nobody = till
        nobody.launcher = Self.launcher
        let result = try await nobody.run(arguments: arguments)
        #expect(result.status == 1)
        let command = (["till"] + arguments + ["--data", data.path]).joined(separator: " ")
        #expect(
            result.error.contains(
                "till: Permission denied: \"\(data.path)\" belongs to \"root\". Run the command as that user: "
                    + "sudo -u root \(command).\n"))
    }

    @Test(.enabled(if: canChangeUser, "only root can run a command as another user"))
    func `a closed ledger is named itself`() async throws {
        try setMode(0o755, of: "data", "data/service")
        var nobody = till
        nobody.launcher = Self.launcher
        let named = try await nobody.run("ledger", "check", "--data", data.path, "--json")
        #expect(named.status == 1)
        #expect(named.code == "permissionDenied")
        #expect(
            named.error.contains(
                "\"\(data.path)/service/ledger.sqlite\" belongs to \"root\". Run the command as that user: sudo -u root "
                    + "till ledger check --data \(data.path) --json."))
        // The password of a database is not repeated.
        try setMode(0o700, of: "data")
        let secret = try await nobody.run(
            "serve", "--port", "0", "--ledger", "postgres://till:secret@localhost:1/till")
        #expect(secret.error.contains("sudo -u root till …."))
        #expect(!secret.error.contains("secret"))
    }

    @Test(.enabled(if: !isRoot, "root may use everything"))
    func `an owner is told to change the mode`() async throws {
        try setMode(0o000, of: "data/service")
        let result = try await till.run("ledger", "check")
        try setMode(0o700, of: "data/service")
        #expect(result.status == 1)
        #expect(
            result.error.contains(
                "Permission denied: \"\(data.path)/service\" belongs to you, and its mode forbids it. Run chmod u+rwX"))
    }
}
