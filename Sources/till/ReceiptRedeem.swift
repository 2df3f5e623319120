import AppStore
import ArgumentParser
import Catalog
import Proofs

/// `till receipt redeem`
struct ReceiptRedeem: Command {
    static let configuration = CommandConfiguration(
        commandName: "redeem",
        abstract: "Redeem a proof of purchase for a user.",
        discussion: """
            Example:
              till receipt redeem alice.receipt --user alice
            """)

    @Argument(
        help: ArgumentHelp("An app receipt (base64 or DER) or a signed transaction (JWS); - reads standard input."))
    var file: String

    @Option(help: "The user who gets the purchased items.")
    var user: User

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let proof = try ProofFile(path: file).proof
        let (data, server) = (common.dataDirectory, service)
        let redemption = try await service.withService(
            for: user, or: { try await Parties(data, server: server).localService }
        ) {
            try await $0.redeem(proof)
        }
        switch redemption.outcome {
        case .granted: terminal.line("Granted.")
        case .revoked: terminal.line("Nothing new: the purchase was revoked.")
        case .unchanged: terminal.line("Nothing changed: it was redeemed before.")
        case .partlyRefused: terminal.line("Nothing new: some purchases were redeemed before, and some were refused.")
        case .nothingToRedeem: terminal.line("The receipt is authentic and holds no purchase.")
        }
        for line in redemption.transactions {
            terminal.line("  \(line.transactionId)  \(line.productId)  \(line.result.rawValue)")
        }
        terminal.owned(
            redemption.items, by: service.named(user),
            names: try Catalog(folder: common.dataDirectory.catalogFolder).name(of:))
        try terminal.json(redemption)
    }
}
