import ArgumentParser
import Foundation
import Proofs

/// `till trust`
struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list and remove the root certificates whose proofs are trusted.",
        subcommands: [TrustAdd.self, TrustList.self, TrustRemove.self])
}

/// `till trust add`
struct TrustAdd: Command {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trust the root certificates of a file.",
        discussion: """
            Apple publishes its roots at https://www.apple.com/certificateauthority/. The command refuses a certificate with \
            Apple's name and another SHA-256 than the published one.

            Example:
              till trust add AppleRootCA-G3.cer
            """)

    @Argument(help: "A certificate in DER or PEM.")
    var file: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.prepare()
        let anchors = try TrustFolder(data.trustFolder).add(file: URL(filePath: file))
        let reports = anchors.map { AnchorReport($0, file: nil) }
        for report in reports { terminal.line("Trusted as \(report.realm): \(report.name)") }
        terminal.note("Restart the service to apply this.")
        try terminal.json(["added": reports])
    }
}

/// `till trust list`
struct TrustList: Command {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the root certificates whose proofs are trusted.",
        discussion: """
            The certificates are in the data directory, and in the folder Keys/ of the project or installation (share/till/Keys).

            Example:
              till trust list
            """)

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        var reports: [AnchorReport] = []
        for folder in try common.dataDirectory.trustedFolders {
            reports += try TrustFolder(folder).entries().map { AnchorReport($0.anchor, file: $0.file) }
        }
        terminal.table(
            ["REALM", "NAME", "UNTIL", "SHA-256"],
            reports.map { [$0.realm, $0.name, String($0.until.prefix(10)), $0.sha256] })
        try terminal.json(["trusted": reports])
    }
}

/// A trusted root in the output of commands.
struct AnchorReport: Encodable {
    let realm: String
    let name: String
    /// The end of its validity; RFC 3339, UTC.
    let until: String
    /// In hexadecimal.
    let sha256: String
    let file: String?

    init(_ anchor: TrustAnchor, file: URL?) {
        realm = anchor.realm.rawValue
        name = anchor.certificate.commonName ?? "(no name)"
        until = Timestamp(secondsSince1970: anchor.certificate.notAfter).rfc3339
        sha256 = anchor.certificate.fingerprint.hexadecimal
        self.file = file?.path
    }
}

/// `till trust remove`
struct TrustRemove: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a trusted root certificate.",
        discussion: """
            The command removes certificates from the data directory. Remove files in Keys/ by hand.

            Example:
              till trust remove 63343abf
            """)

    @Argument(help: "The certificate's SHA-256 in hexadecimal, or at least its first 8 digits, from `till trust list`.")
    var sha256: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.requireTrustFolder()
        let report = AnchorReport(try TrustFolder(data.trustFolder).remove(fingerprint: sha256), file: nil)
        terminal.line("Removed: \(report.name)")
        terminal.note("Restart the service to apply this.")
        try terminal.json(["removed": report])
    }
}
