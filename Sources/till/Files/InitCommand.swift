import ArgumentParser
import Catalog
import Foundation
import Proofs
import Vocabulary

struct InitCommand: Command {
    static let configuration = CommandConfiguration(
        "init", "Create a catalog from a StoreKit configuration of Xcode, or the one of the demonstration.",
        """
        Copies the file as Till.storekit, and writes an Items.json and an Offerings.json to edit. Without a file, it is the \
        catalog of `till demo`, which has subscriptions.
        """,
        examples: """
            till init --storekit Garden.storekit --bundle-id com.example.garden
            till init Demo
            till products --catalog Catalog
            """)

    @Option(help: .value("file", "The StoreKit configuration."))
    var storekit: String?

    @Option(help: .value("identifier", "The bundle identifier of the app."))
    var bundleId: String?

    @Argument(help: "The folder to create the catalog in.")
    var folder = "Catalog"

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require((storekit == nil) == (bundleId == nil), "Name both --storekit and --bundle-id, or neither.")
        if let bundleId { try requireBundleIdentifier(bundleId) }
    }

    func perform() async throws {
        guard let storekit, let bundleId else {
            return try write(DemoCatalog.files, explaining: nil)
        }
        let configuration = try StoreKitConfiguration(file: storekit)
        let draft = try CatalogDraft(configuration, bundleIdentifier: bundleId)
        try write(
            [
                (Catalog.configurationFile, Array(configuration.text.utf8)),
                (Catalog.itemsFile, Array(draft.itemsText.utf8)),
                (Catalog.offeringsFile, Array(draft.offeringsText.utf8)),
            ], explaining: draft)
    }

    /// - Parameter draft: The files to edit before anything is sold; nil for files that can stay as they are.
    private func write(_ contents: [(name: String, bytes: [UInt8])], explaining draft: CatalogDraft?) throws {
        let target = URL(filePath: folder, directoryHint: .isDirectory)
        let files = contents.map { (url: target.file($0.name), bytes: $0.bytes) }
        if let existing = files.first(where: { FileManager.default.fileExists(atPath: $0.url.path) }) {
            throw CommandError(
                "catalogNotCreated",
                "\"\(existing.url.path)\" already exists, and till init overwrites nothing. Name another folder, or edit the "
                    + "file.")
        }
        do {
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            for file in files { try Data(file.bytes).write(to: file.url, options: .withoutOverwriting) }
        } catch {
            throw CommandError(
                "catalogNotCreated",
                "\"\(target.path)\" cannot be written: check its disk and permissions, or name another folder.")
        }
        files.forEach { terminal.line("Created \($0.url.relativePath)") }
        if let draft { explain(draft, in: target) }
        terminal.line("Documentation/Catalog.md describes the files. Then run:")
        terminal.line("  till products --catalog \(CommonOptions.quoted(folder))")
        try terminal.json(["files": files.map(\.url.path)])
    }

    private func explain(_ draft: CatalogDraft, in target: URL) {
        let itemsFile = target.file(Catalog.itemsFile).relativePath
        let offeringsFile = target.file(Catalog.offeringsFile).relativePath
        let table = TextTable(
            header: ["PRODUCT", "GRANTS"],
            draft.entries.map { [$0.product.productIdentifier, $0.benefit.sentence] })
        ([""] + table.lines + ["", "Edit \(itemsFile) before you sell:"]).forEach(terminal.line)
        terminal.line("- Rename collections and balances, and number items, as your app knows them.")
        terminal.line("- List the items that nobody has to buy in ownedByEverybody.")
        let assumed = draft.entries.filter(\.isAmountAssumed).map(\.product.productIdentifier)
        if !assumed.isEmpty {
            terminal.line("- Set the amount of \(assumed.joined(separator: ", ")): the names have no number.")
        }
        let ambiguous = draft.entries.filter(\.isAmountAmbiguous).map(\.product.productIdentifier)
        if !ambiguous.isEmpty {
            terminal.line("- Check the amount of \(ambiguous.joined(separator: ", ")): the names have several numbers.")
        }
        let timed = draft.entries.filter { $0.product.type == .nonRenewingSubscription }.map(
            \.product.productIdentifier)
        if !timed.isEmpty {
            terminal.line("- Set the duration of \(timed.joined(separator: ", ")): a .storekit file has none.")
        }
        terminal.line("- Name the rights and packages in \(offeringsFile) as your app knows them, or delete the file.")
    }
}

extension Benefit {
    /// A phrase for a person: "gate 1, for good".
    fileprivate var sentence: String {
        switch self {
        case .item(let item): "\(item), for good"
        case .itemWhilePaid(let item): "\(item), while it is paid for"
        case .itemFor(let item, let period):
            "\(item), for \(period.words.first?.isNumber == true ? "" : "a ")\(period.words)"
        case .credit(let credit): "\(credit.amount) of the balance \(credit.balance)"
        }
    }
}
