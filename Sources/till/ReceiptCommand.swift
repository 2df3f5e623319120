import AppStore
import ArgumentParser
import Catalog
import Foundation
import Proofs

struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Export, validate and redeem proofs of purchase.",
        subcommands: [ReceiptExport.self, ReceiptValidate.self, ReceiptRedeem.self])
}

struct ReceiptExport: Command {
    static let configuration = CommandConfiguration(
        "export", "Write a user's app receipt, in base64 as an app sends it.",
        examples: """
            till receipt export --user alice --out alice.receipt
            till receipt export --user alice --transaction 1 --out alice.jws
            till receipt export --user alice | till receipt validate -
            """)

    @Option(help: "The user of the receipt.")
    var user: User

    @Option(
        help: ArgumentHelp("The signed form (JWS) of this transaction instead, by its number.", valueName: "number"))
    var transaction: Int64?

    @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"))
    var out: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        let proof: String
        if let transaction {
            proof = try store.read { books in
                _ = try books.queued(transaction, account: user.name)
                return try books.signedTransaction(transaction)
            }
        } else {
            proof = try store.read { try $0.receipt(account: user.name) }
        }
        guard let out, out != "-" else {
            terminal.line(proof)
            return try terminal.json([transaction == nil ? "receipt" : "signedTransaction": proof])
        }
        do {
            try write(Data((proof + "\n").utf8), to: URL(filePath: out).resolvingSymlinksInPath())
        } catch {
            try terminal.fail(
                code: "fileUnwritable",
                message: "\"\(out)\" cannot be written. Check its folder, its disk and its owner."
            )
        }
        terminal.line("The \(transaction == nil ? "app receipt" : "signed transaction") of \(user) is in \(out).")
        try terminal.json(["file": out])
    }

    /// Replaces a file completely or not at all. Writes directly into a device or a pipe.
    private func write(_ data: Data, to url: URL) throws {
        let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
        guard let type, type != .typeRegular else { return try data.write(to: url, options: .atomic) }
        let handle = try FileHandle(forWritingTo: url)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}

struct ReceiptRedeem: Command {
    static let configuration = CommandConfiguration(
        "redeem", "Redeem a proof of purchase for a user.", examples: "till receipt redeem alice.receipt --user alice")

    @Argument(
        help: ArgumentHelp(
            "An app receipt (base64 or DER), a signed transaction (JWS), or a JSON object with the purchase and the signature of Google "
                + "Play, or with a purchase token; - reads standard input."))
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
        // The key may redeem, and not read balances.
        terminal.owned(
            try Catalog(folder: common.dataDirectory.catalogFolder).named(redemption.items), nil,
            by: service.named(user))
        try terminal.json(redemption)
    }
}
