import ArgumentParser
import Catalog
import Features
import Foundation
import Proofs

struct RefundsCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "refunds", "Show the answers of the refund rules to the App Store's latest questions. Nothing is sent.",
        """
        The rules are in RefundRules.json in the folder of the catalog. A question that the service has answered is shown with \
        the answer that the present rules would give.
        """,
        examples: """
            till refunds
            till refunds --limit 500 --refund-preference DECLINE
            """)

    @Option(help: ArgumentHelp("The number of questions: 1 to 1000 (default: 100).", valueName: "n"))
    var limit = 100

    @Option(
        help: ArgumentHelp(
            "The preference where no rule matches: \(RefundPreference.allCases.map(\.rawValue).joined(separator: ", ")) "
                + "(default: none).", valueName: "preference"))
    var refundPreference: RefundPreference?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws {
        try ListLimit.validate(limit)
    }

    fileprivate struct Row: Sendable {
        let request: OpenConsumptionRequest
        let facts: RefundFacts
        /// Nil without rules.
        let answer: RefundAnswer?
    }

    func perform() async throws {
        // The command neither creates a ledger nor converts one of another version.
        let ledger = try ledger.place().open(migrates: false)
        let files = try Catalog(folder: common.dataDirectory.catalogFolder)
        let apps = try await CatalogService(apps: Apps(App(files)), ledger: ledger, clock: SystemClock()).apps
        let (limit, preference) = (limit, refundPreference)
        let rows = try await ledger.read(.longSnapshot) { transaction in
            let catalog = apps.first.catalog
            return try transaction.latestConsumptionRequests(in: catalog.bundleIdentifier, limit: limit).map {
                request in
                Row(
                    request: request, facts: try transaction.refundFacts(about: request, in: catalog).facts,
                    answer: try RefundDecision(
                        about: request, by: catalog, otherwise: preference, in: transaction)?.answer)
            }
        }
        if files.refundRules == nil {
            terminal.note("The catalog has no \(Catalog.refundRulesFile), so no rule answers.")
        }
        terminal.table(
            ["ASKED", "TRANSACTION", "PRODUCT", "REASON", "FACTS", "ANSWER"],
            rows.map {
                [
                    $0.request.signedAt.rfc3339, $0.request.transactionIdentifier, $0.facts.productIdentifier,
                    $0.facts.reason, $0.facts.text, $0.answer?.text,
                ]
            }, orElse: "The App Store has asked nothing.")
        try terminal.json(["questions": rows.map(\.report)])
    }
}

extension RefundsCommand.Row {
    fileprivate var report: Report {
        [
            "askedAt": request.signedAt.rfc3339, "transactionId": request.transactionIdentifier,
            "productId": facts.productIdentifier, "reason": facts.reason, "isDelivered": facts.isDelivered,
            "consumed": facts.consumed, "ageSeconds": facts.age, "refunds": facts.refunds, "rule": answer?.rule,
            "refundPreference": answer?.preference?.rawValue, "consumptionPercentage": answer?.percentage,
        ]
    }
}

extension RefundPreference: ExpressibleByArgument {}
