import ArgumentParser
import Commerce
import Foundation
import Receipts

/// `till receipt validate`
struct ReceiptValidate: Command {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check a proof of purchase and say what it holds.",
        discussion: """
            Reads only: makes no keys and no data directory. Trusted are the certificates of --trust; without it, those in \
            Keys/ and the local store's.

            Examples:
              till receipt validate alice.receipt
              till receipt validate transaction.jws --trust apple-roots --environment Production
              pbpaste | till receipt validate - --bundle-id com.memolease.sesac1
            """)

    @Argument(help: ArgumentHelp("An app receipt (base64 or DER) or a JWS of Apple's; - reads standard input."))
    var file: String

    @Option(help: ArgumentHelp("The app it has to be for.", valueName: "id"))
    var bundleId: String?

    @Option(help: "The environment it has to come from: Sandbox, Production or Xcode.")
    var environment: AppStoreEnvironment?

    @Option(help: ArgumentHelp("A folder of root certificates to trust instead of the usual ones.", valueName: "dir"))
    var trust: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let proof = try ProofFile(path: file)
        let verifier = ProofVerifier(anchors: try TrustAnchors(folders: trustedFolders), clock: SystemClock())
        let expectations = ProofExpectations(
            bundleIdentifier: bundleId, environment: environment, origins: Set(Origin.allCases))
        let report: ValidationReport
        do {
            report = ValidationReport(try verifier.verify(proof.bytes, expecting: expectations))
        } catch {
            report = ValidationReport(error)
        }
        report.lines.forEach(console.line)
        try console.json(report)
        if let message = report.message { try console.end(message) }
    }

    private var trustedFolders: [URL] {
        if let trust { return [URL(filePath: trust, directoryHint: .isDirectory)] }
        return common.dataDirectory.trustedFolders
    }
}
