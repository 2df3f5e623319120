import AppStore
import ArgumentParser
import Entitlements
import HTTPSupport

struct ExternalPurchasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "external-purchases",
        abstract: "List the tokens of purchases outside the App Store, and report them to Apple.",
        subcommands: [
            ExternalPurchasesList.self, ExternalPurchaseReportsList.self, ExternalPurchasesReport.self,
        ],
        defaultSubcommand: ExternalPurchasesList.self)
}

struct ExternalPurchasesList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "list", "List the tokens of purchases outside the App Store, newest first, with the state of their reports.",
        """
        A token is unreported, waiting, reported or refused. The service reports a token by itself, if no back end has reported it a day \
        before it is due.
        """,
        examples: """
            till external-purchases
            till external-purchases --state unreported
            """)

    @Option(help: "Only those in this state.")
    var state: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    private struct Token: Decodable, Listed, Sendable {
        static let listName = "externalPurchases"

        let externalPurchaseId: String
        let bundleId: String
        let tokenType: String?
        let isAnnounced: Bool
        let dueAt: String
        let state: String
    }

    func perform() async throws {
        let tokens: [Answered<Token>] = try await elements(
            of: "/v1/apple/external-purchases", [("state", state)], upTo: list)
        try terminal.list(["TOKEN", "APP", "TYPE", "KNOWN", "DUE", "STATE"], tokens, orElse: "No tokens.") {
            [$0.externalPurchaseId, $0.bundleId, $0.tokenType, $0.isAnnounced ? "yes" : "no", $0.dueAt, $0.state]
        }
    }
}

struct ExternalPurchaseReportsList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "reports", "List the reports about purchases outside the App Store, newest first, with Apple's answers.",
        "A report is waiting, accepted or refused.",
        examples: """
            till external-purchases reports
            till external-purchases reports --state refused
            """)

    @Option(help: "Only those in this state.")
    var state: String?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    private struct Report: Decodable, Listed, Sendable {
        static let listName = "externalPurchaseReports"

        struct Mistake: Decodable, Sendable {
            let errorCode: Int
            let fieldName: String?
        }

        let requestIdentifier: String
        let externalPurchaseId: String
        let status: String
        let dueAt: String
        let state: String
        let lastError: String?
        let errors: [Mistake]?

        /// Apple's numbers with their fields, or the error of the last attempt.
        var reason: String? {
            errors.map { $0.map { "\($0.errorCode) \($0.fieldName ?? "")" }.joined(separator: ", ") } ?? lastError
        }
    }

    func perform() async throws {
        let reports: [Answered<Report>] = try await elements(
            of: "/v1/apple/external-purchase-reports", [("state", state)], upTo: list)
        try terminal.list(
            ["REPORT", "TOKEN", "STATUS", "DUE", "STATE", "REASON"], reports, orElse: "No reports."
        ) {
            [$0.requestIdentifier, $0.externalPurchaseId, $0.status, $0.dueAt, $0.state, $0.reason]
        }
    }
}

struct ExternalPurchasesReport: ServiceCaller {
    static let configuration = CommandConfiguration(
        "report", "Report the transactions, refunds and corrections of a token, or that it has none.",
        """
        The file has the JSON of POST /v1/apple/external-purchases/{externalPurchase}/reports: a requestIdentifier, a status and the \
        lineItems with Apple's names. A report that Apple has refused is sent again, corrected, under its identifier.
        """,
        examples: """
            till external-purchases report \\
              SANDBOX_4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10 report.json
            """)

    @Argument(help: "The token, as `till external-purchases` lists it.")
    var token: String

    @Argument(help: .value("file", "The JSON of the report."))
    var report: String

    @OptionGroup var call: CallOptions

    private struct Reported: Decodable, Sendable {
        let requestIdentifier: String
        let state: String
    }

    func perform() async throws {
        let path = "/v1/apple/external-purchases/\(HTTPServiceConnection.segment(token))/reports"
        let content = try JSONContent(requestIn: report, upTo: LineItemField.maximumSize)
        let reported: Answered<Reported> = try await post(path, content)
        try terminal.result("The report \(reported.requestIdentifier) is \(reported.state).", reported)
    }
}
