import ArgumentParser
import Foundation
import Proofs

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list and remove the root certificates whose proofs are trusted.",
        subcommands: [TrustAdd.self, TrustList.self, TrustRemove.self])
}

struct TrustAdd: Command {
    static let configuration = CommandConfiguration(
        "add", "Trust the root certificates of a file.",
        """
        Apple publishes its roots at https://www.apple.com/certificateauthority/. The command refuses a certificate with \
        Apple's name and another SHA-256 than the published one.
        """,
        examples: "till trust add AppleRootCA-G3.cer")

    @Argument(help: "A certificate in DER or PEM.")
    var file: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.prepare()
        let anchors = try TrustFolder(data.trustFolder).add(file: URL(filePath: file))
        for anchor in anchors { terminal.line("Trusted as \(anchor.realm.rawValue): \(anchor.name)") }
        terminal.note("Restart the service to apply this.")
        try terminal.json(["added": anchors.map { $0.report() }])
    }
}

struct TrustList: Command {
    static let configuration = CommandConfiguration(
        "list", "List the root certificates whose proofs are trusted.",
        """
        The certificates are in the data directory, and in the folder Keys/ of the project or installation (share/till/Keys).
        """,
        examples: "till trust list")

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let entries = try common.dataDirectory.trustedFolders.flatMap { try TrustFolder($0).entries() }
        terminal.table(
            ["REALM", "NAME", "UNTIL", "SHA-256"],
            entries.map(\.anchor).map {
                [
                    $0.realm.rawValue, $0.name, String($0.notAfter.rfc3339.prefix(10)),
                    $0.certificate.fingerprint.hexadecimal,
                ]
            })
        try terminal.json(["trusted": entries.map { $0.anchor.report(in: $0.file) }])
    }
}

extension TrustAnchor {
    fileprivate var name: String { certificate.commonName ?? "(no name)" }

    fileprivate var notAfter: Timestamp { Timestamp(secondsSince1970: certificate.notAfter) }

    /// The trusted root in the output of commands.
    fileprivate func report(in file: URL? = nil) -> Report {
        [
            "realm": realm.rawValue, "name": name, "until": notAfter.rfc3339,
            "sha256": certificate.fingerprint.hexadecimal, "file": file?.path,
        ]
    }
}

struct TrustRemove: Command {
    static let configuration = CommandConfiguration(
        "remove", "Remove a trusted root certificate.",
        "The command removes certificates from the data directory. Remove files in Keys/ by hand.",
        examples: "till trust remove 63343abf")

    @Argument(help: "The certificate's SHA-256 in hexadecimal, or at least its first 8 digits, from `till trust list`.")
    var sha256: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.requireTrustFolder()
        let anchor = try TrustFolder(data.trustFolder).remove(fingerprint: sha256)
        terminal.line("Removed: \(anchor.name)")
        terminal.note("Restart the service to apply this.")
        try terminal.json(["removed": anchor.report()])
    }
}
