import ArgumentParser

/// `till receipt`
struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Export, validate and redeem proofs of purchase.",
        subcommands: [ReceiptExport.self, ReceiptValidate.self, ReceiptRedeem.self])
}
