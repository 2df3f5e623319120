import ArgumentParser
import Foundation
import Proofs

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
