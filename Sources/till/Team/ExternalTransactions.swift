import AppStore
import ArgumentParser
import Entitlements
import Foundation
import HTTPSupport
import Proofs
import Vocabulary

struct ExternalTransactionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "external-transactions",
        abstract: "List and report sales outside Google's billing, and refunds of them.",
        subcommands: [
            ExternalTransactionsList.self, ExternalTransactionsReport.self, ExternalTransactionsRefund.self,
        ],
        defaultSubcommand: ExternalTransactionsList.self)
}

extension ExternalTransactionReport.State: ExpressibleByArgument {}

/// The shown part of a report.
private struct ShownExternalTransaction: Decodable, Listed, Sendable {
    static let listName = "externalTransactions"

    let externalTransactionId: String
    let kind: String
    let refundId: String?
    let program: String?
    let linkType: String?
    let packageName: String
    let state: String
    let reportedAt: String
    let lastError: String?

    /// The kind of the sale or the refund, with what is particular to it.
    var title: String { [kind, refundId, program, linkType].compactMap(\.self).joined(separator: " ") }
}

extension Terminal {
    fileprivate func result(_ report: Answered<ShownExternalTransaction>) throws {
        line("\(report.externalTransactionId): \(report.title), \(report.state).")
        try result(report.lastError ?? "The service passes it on to Google Play.", report)
    }
}

struct ExternalTransactionsList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "list", "List the reported sales outside Google's billing and their refunds, newest first.",
        "A report is waiting, passedOn (Google Play has it) or refused.",
        examples: """
            till external-transactions
            till external-transactions --state refused
            """)

    @Option(help: "Only those in this state.")
    var state: ExternalTransactionReport.State?

    @OptionGroup var list: ListLimit

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let reports: [Answered<ShownExternalTransaction>] = try await elements(
            of: "/v1/google/external-transactions", [("state", state?.rawValue)], upTo: list)
        try terminal.list(
            ["TRANSACTION", "REPORT", "APP", "REPORTED", "STATE", "REASON"], reports, orElse: "No reports."
        ) {
            [$0.externalTransactionId, $0.title, $0.packageName, $0.reportedAt, $0.state, $0.lastError]
        }
    }
}

struct ExternalTransactionsReport: ServiceCaller {
    static let configuration = CommandConfiguration(
        "report", "Report a sale outside Google's billing, or the download of an app.",
        """
        The file has the JSON of POST /v1/google/external-transactions: Google's ExternalTransaction with its externalTransactionId. The \
        same report again has the same answer.
        """,
        examples: "till external-transactions report sale.json")

    @Argument(help: .value("file", "The JSON of the report."))
    var report: String

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let reported: Answered<ShownExternalTransaction> = try await post(
            "/v1/google/external-transactions", try JSONContent(requestIn: report))
        try terminal.result(reported)
    }
}

struct ExternalTransactionsRefund: ServiceCaller {
    static let configuration = CommandConfiguration(
        "refund", "Report the refund of a sale outside Google's billing: all that is left, or a part.",
        """
        A part has an identifier and an amount before tax, in millionths of the currency. Repeat a report with the same --time: another \
        one is other content.
        """,
        examples: """
            till external-transactions refund sale-1
            till external-transactions refund sale-1 --refund-id r1 --micros 4990000 \\
              --currency USD
            """)

    @Argument(help: "The identifier of the sale.")
    var transaction: String

    @Option(help: "The identifier of a partial refund.")
    var refundId: String?

    @Option(help: "The amount of a partial refund before tax, in millionths of the currency.")
    var micros: Int64?

    @Option(help: .value("code", "The currency of the amounts."))
    var currency: String?

    @Option(help: .value("date", "When the customer was refunded (RFC 3339; default: now)."))
    var time: String?

    @Option(name: .customLong("package"), help: .package("if the service has several on Google Play"))
    var packageName: String?

    @OptionGroup var call: CallOptions

    private struct Body: Encodable, Sendable {
        struct Amount: Encodable, Sendable {
            let currency: String
            let priceMicros: String
        }

        let packageName: String?
        let refundTime: String
        let refundId: String?
        let refundPreTaxAmount: Amount?
    }

    func validate() throws {
        let isPart = [refundId != nil, micros != nil, currency != nil]
        try require(
            Set(isPart).count == 1,
            "A partial refund has --refund-id, --micros and --currency, and a full one none of them.")
    }

    func perform() async throws {
        var amount: Body.Amount?
        if let currency, let micros { amount = Body.Amount(currency: currency, priceMicros: String(micros)) }
        let body = Body(
            packageName: packageName, refundTime: time ?? SystemClock().now().rfc3339, refundId: refundId,
            refundPreTaxAmount: amount)
        let path = "/v1/google/external-transactions/\(HTTPServiceConnection.segment(transaction))/refunds"
        try terminal.result(try await post(path, body))
    }
}

extension JSONContent {
    /// The JSON of a request in a file.
    ///
    /// - Throws: `ValidationError` for another content, or more than a service reads.
    init(requestIn file: String, upTo maximumSize: Int = JSONBody.standardSize) throws {
        let bytes = try FileHandle.bytes(of: file, upTo: maximumSize)
        guard let content = try? JSONDecoder().decode(JSONContent.self, from: Data(bytes)) else {
            throw ValidationError("The file of the request must be a JSON object of at most \(maximumSize) bytes.")
        }
        self = content
    }
}
