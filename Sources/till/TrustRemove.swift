import ArgumentParser
import Receipts

/// `till trust remove`
struct TrustRemove: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Trust a root certificate no longer.",
        discussion: """
            Of those in the data directory; what lies in Keys/ was put there by hand, and goes the same way.

            Example:
              till trust remove 63343abf
            """)

    @Argument(help: "Its SHA-256 in hexadecimal, or the first eight digits or more, as till trust list shows it.")
    var sha256: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        try data.requireTrustFolder()
        let report = AnchorReport(try TrustFolder(data.trustFolder).remove(fingerprint: sha256), file: nil)
        console.line("Trusted no longer: \(report.name)")
        console.note("A service that runs trusts it until it is started again.")
        try console.json(["removed": report])
    }
}
