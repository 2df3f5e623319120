import ArgumentParser
import Commerce
import Foundation

/// `till receipt export`
struct ReceiptExport: Command {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a user's app receipt, in base64 as an app sends it.",
        discussion: """
            Examples:
              till receipt export --user alice --out alice.receipt
              till receipt export --user alice | till receipt validate -
            """)

    @Option(help: "Whose receipt.")
    var user: User

    @Option(help: ArgumentHelp("The file to write (default: standard output).", valueName: "file"))
    var out: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let receipt = try Parties(common.dataDirectory).store.receipt(account: user.name)
        guard let out else {
            console.line(receipt)
            return try console.json(["receipt": receipt])
        }
        do {
            try Data((receipt + "\n").utf8).write(to: URL(filePath: out), options: .atomic)
        } catch {
            try console.fail(
                code: "fileUnwritable", message: "\(out) cannot be written: check its folder, its disk and who owns it."
            )
        }
        console.line("The app receipt of \(user) is in \(out).")
        try console.json(["file": out])
    }
}
