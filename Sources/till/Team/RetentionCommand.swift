import ArgumentParser
import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import Vocabulary

struct RetentionCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "retention", "Show the message that the retention rules choose for a customer who may cancel. Nothing is sent.",
        """
        The rules are in RetentionRules.json in the folder of the catalog. Name a subscription by its original transaction, or a product \
        for a customer of whom the ledger knows nothing.
        """,
        examples: """
            till retention 2000000000000001 --locale ko-KR
            till retention --product com.memolease.sesac1.sprout1
            """)

    @Argument(help: .value("transaction", "The original transaction of the subscription."))
    var transaction: String?

    @Option(help: .product("of the subscription; default: that of the transaction"))
    var product: String?

    @Option(help: "The language, such as ko (of the customer; with a country, en-US; default: en-US).")
    var locale = "en-US"

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try require(
            transaction != nil || product != nil, "Name a transaction, or a product with --product.")
    }

    func perform() async throws {
        let ledger = try existingLedger()
        let (apps, now) = (try await administration(of: ledger).apps, try common.dataDirectory.clock.now())
        let (transaction, catalog) = (transaction, apps.first.catalog)
        let ownership = try await ledger.read { ledger in
            try transaction.map {
                try ledger.retentionOwnership(ofTransaction: $0, in: catalog.bundleIdentifier, at: now)
            }
                ?? RetentionFacts.Ownership(isRedeemed: false)
        }
        guard let product = product ?? ownership.productIdentifier else {
            throw CommandError(
                "transactionNotFound",
                "No user has redeemed the transaction \"\((transaction ?? "").prefix(100))\". Name its product with --product."
            )
        }
        let facts = RetentionFacts(product: product, locale: locale, ownership: ownership)
        let decision = catalog.retentionRules?.decision(about: facts, in: catalog)
        if catalog.retentionRules == nil {
            terminal.note("The catalog has no \(Catalog.retentionRulesFile), so no rule answers.")
        }
        terminal.line("Facts: \(facts.text)")
        terminal.line("Answer: \(decision?.text ?? "none")")
        try terminal.report([
            "productId": product, "locale": locale, "isRedeemed": ownership.isRedeemed,
            "storefront": ownership.storefront, "ageSeconds": ownership.age, "isTrial": ownership.isTrial,
            "isFamilyShared": ownership.isFamilyShared, "answer": decision?.choice.name ?? "none",
            "messageIdentifier": decision?.choice.message?.uuidString.lowercased(), "rule": decision?.rule,
        ])
    }
}
