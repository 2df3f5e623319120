import ArgumentParser
import Foundation
import Proofs

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
        var table = TextTable(header: ["REALM", "NAME", "UNTIL", "SHA-256"])
        for report in reports {
            table.add([report.realm, report.name, String(report.until.prefix(10)), report.sha256])
        }
        table.lines.forEach(terminal.line)
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
