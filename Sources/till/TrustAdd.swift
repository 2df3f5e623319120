import ArgumentParser
import Foundation
import Receipts

/// `till trust add`
struct TrustAdd: Command {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trust the root certificates of a file.",
        discussion: """
            Apple publishes its roots at https://www.apple.com/certificateauthority/; a certificate that calls itself \
            Apple's and does not have the SHA-256 published there is refused.

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
        for report in reports { console.line("Trusted as \(report.realm): \(report.name)") }
        console.note("A service that runs takes it up when it is started again.")
        try console.json(["added": reports])
    }
}
