import Foundation
import TestSupport
import Testing

/// The versions of other people's packages: those that Till was tested with are listed, and others are named.
@Suite struct TestedVersionsTests {
    private static let scripts = HouseTests.root.appending(path: "Scripts", directoryHint: .isDirectory)

    /// A project that has the script, the list and the resolved versions alone.
    private func check(
        resolved: [(identity: String, version: String?)],
        tested: String,
        _ arguments: [String] = []
    ) async throws -> (result: ShellCommand.Result, list: String) {
        let folder = try TemporaryFolder()
        let scripts = folder.folder("Scripts")
        try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: Self.scripts.appending(path: "check-versions.sh"), to: scripts.appending(path: "check-versions.sh"))
        let list = scripts.appending(path: "tested-versions.txt")
        try Data(tested.utf8).write(to: list)
        let pins = resolved.map { identity, version in
            """
                {
                  "identity" : "\(identity)",
                  "kind" : "remoteSourceControl",
                  "state" : {
                    "revision" : "3665dee56525b865b786d538c567648b76899fc7"\(version.map { ",\n        \"version\" : \"\($0)\"" } ?? "")
                  }
                }
            """
        }
        try Data("{\n  \"pins\" : [\n\(pins.joined(separator: ",\n"))\n  ],\n  \"version\" : 3\n}\n".utf8)
            .write(to: folder.file("Package.resolved"))
        let result = try await ShellCommand.run(
            ["bash", scripts.appending(path: "check-versions.sh").path] + arguments)
        return (result, try String(contentsOf: list, encoding: .utf8))
    }

    @Test func `packages resolved to other versions are named, and fail nothing`() async throws {
        let (result, _) = try await check(
            resolved: [("grdb.swift", "7.10.0"), ("swift-nio", "2.99.1"), ("stranger", "1.0.0"), ("fork", nil)],
            tested: "# tested\ngrdb.swift 7.10.0\nswift-nio 2.90.0\nfork 1.2.3\n")
        #expect(result.status == 0)
        #expect(
            result.errors == """
                fork unversioned is resolved; Till was tested with 1.2.3.
                stranger 1.0.0 is resolved; Till was tested without this package.
                swift-nio 2.99.1 is resolved; Till was tested with 2.90.0.

                """)
    }

    @Test func `the list is what was resolved when it was last updated`() async throws {
        let (result, list) = try await check(
            resolved: [("swift-nio", "2.99.1"), ("grdb.swift", "7.10.0")], tested: "", ["--update"])
        #expect(result.status == 0)
        #expect(list.split(separator: "\n").filter { !$0.hasPrefix("#") } == ["grdb.swift 7.10.0", "swift-nio 2.99.1"])
    }

    /// Revisions differ between mirrors of a package.
    @Test func `the repository's list has names and versions, also of packages that packages need`() throws {
        let list = try String(contentsOf: Self.scripts.appending(path: "tested-versions.txt"), encoding: .utf8)
        let lines = list.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.allSatisfy { $0.wholeMatch(of: /[a-z0-9._-]+ \d+\.\d+\.\d+/) != nil })
        for name in ["hummingbird", "swift-nio", "swift-crypto"] {
            #expect(lines.contains { $0.hasPrefix("\(name) ") }, "\(name)")
        }
    }

    @Test(arguments: ["bench-service", "mail-server", "test-api", "test-apple", "test-google", "test-postgres"])
    func `each Python package is pinned with its hashes`(script: String) throws {
        let requirements = try String(
            contentsOf: Self.scripts.appending(path: "requirements/\(script).txt"), encoding: .utf8)
        let entries = requirements.split(separator: "\n").filter { $0.first?.isLetter == true }
        #expect(!entries.isEmpty)
        #expect(entries.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9._-]+(\[[a-z,]+\])?==[^ ]+ \\/) != nil })
        let hashed = requirements.matches(of: /==[^ ]+ \\\n    --hash=sha256:[0-9a-f]{64}/)
        #expect(hashed.count == entries.count)
        let text = try String(contentsOf: Self.scripts.appending(path: "\(script).sh"), encoding: .utf8)
        let installations = text.split(separator: "\n").filter { $0.contains(" install ") && $0.contains("pip\"") }
        #expect(installations.count == 1)
        #expect(installations.allSatisfy { $0.contains("--require-hashes -r") && $0.contains("/\(script).txt") })
    }
}
