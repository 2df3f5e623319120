import ArgumentParser
import Foundation
import Proofs

/// `till receipt export`
struct ReceiptExport: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a user's app receipt, in base64 as an app sends it.",
        discussion: """
            Examples:
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
            _ = try store.transaction(transaction, account: user.name)
            proof = try store.signedTransaction(transaction)
        } else {
            proof = try store.receipt(account: user.name)
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
