import ArgumentParser
import Proofs

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
