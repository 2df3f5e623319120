import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// The pages of sales outside Google Play, with their reports to Google.
struct ExternalTransactionRoutes: Sendable {
    private static let path = ["app-store", "external-transactions"]
    /// The reports of a transaction that its page shows.
    private static let shownReports = 100
    private static let refund = "refund"
    private static let package = "package"
    private static let realm = "realm"
    private static let time = Field.moment("time", "Paid back")

    let services: any ConsoleServices

    private var entitlements: EntitlementService { services.entitlements }

    func add(to pages: ConsolePages) {
        pages.get("app-store/external-transactions") { request, _ in try await list(request) }
        pages.get("app-store/external-transactions/:transaction") { request, context in
            let (package, realm) = (try request.query(Self.package) ?? "", try request.query(Self.realm) ?? "")
            return try await transaction(package, realm, context)
        }
        pages.post("app-store/external-transactions/:transaction/refunds", .support) { _, context in
            try await refund(context)
        }
    }

    private static func path(
        _ key: ExternalTransactionReport.Key, _ segments: String..., done notice: Notice? = nil
    ) -> ConsolePath {
        ConsolePath(
            path + [key.transactionIdentifier] + segments,
            query: [(package, key.packageName), (realm, key.realm.rawValue)], done: notice)
    }

    /// The reports about a transaction, the sale first.
    private func found(_ package: String, _ realm: String, _ context: ConsoleContext) async throws
        -> (sale: ExternalTransactionReport, refunds: [ExternalTransactionReport])
    {
        let identifier = try context.parameters.text("transaction")
        guard let realm = Realm(rawValue: realm) else { throw ExternalTransactionError.unknown }
        let reports = try await entitlements.externalTransaction(
            identifier, of: package, in: realm, limit: Self.shownReports)
        guard let sale = reports.first(where: { $0.key.part == .sale }) else { throw ExternalTransactionError.unknown }
        return (sale, reports.filter { $0.key.part != .sale })
    }

    private func refund(_ context: ConsoleContext) async throws -> ConsolePath {
        let form = context.form
        let (sale, _) = try await found(
            try form.requiredText(Self.package), try form.requiredText(Self.realm), context)
        let (now, time) = (entitlements.clock.now(), try form[Self.time])
        guard time <= now else { throw ConsoleForm.invalid("time", "a moment that is not in the future") }
        guard let identifier = UUID(uuidString: try form.requiredText(Self.refund)) else {
            throw ConsoleForm.invalid(Self.refund, "the key that the page contains")
        }
        var (part, content): (ExternalTransactionReport.Part, JSONObject) = (
            .fullRefund, ["refundTime": .string(time.rfc3339)]
        )
        let amount = try form.text("amount")
        if amount.isEmpty {
            _ = content.add("fullRefund", .object([:]))
        } else {
            guard let price = Price(majorUnits: amount, currency: sale.amount?.currency ?? ""), price.milliunits > 0
            else { throw ConsoleForm.invalid("amount", "an amount such as 2.50") }
            part = .partialRefund(identifier: identifier.lowercasedString)
            _ = content.add(
                "partialRefund",
                .object([
                    "refundId": .string(identifier.lowercasedString),
                    "refundPreTaxAmount": .object([
                        "currency": .string(price.currency), "priceMicros": .string(String(price.milliunits * 1000)),
                    ]),
                ]))
        }
        let member = try context.requiredMember.name
        _ = try await entitlements.record(
            ExternalTransactionReport(
                sale.key.with(part), of: sale.app, content, occurredAt: time, reportedAt: now, by: try context.caller))
        // The audit logs are those of users, and a sale names none. The report itself names the member.
        context.logger.notice(
            "external transaction refunded",
            metadata: [
                "member": "\(member)", "app": "\(sale.app)",
                "transaction": "\(sale.key.transactionIdentifier)",
            ])
        return Self.path(sale.key, done: .requested)
    }

    // MARK: Pages

    private func list(_ request: Request) async throws -> Page {
        let page = try RequestedPage(request)
        let state = try request.query("state").flatMap(ExternalTransactionReport.State.init(rawValue:))
        let (shown, next) = try await page.list(at: \.position) {
            try await entitlements.externalTransactions(of: nil, in: state, after: $0, limit: $1)
        }
        return AppStoreTab.page("Sales outside Google Play", AppStoreTab.externalTransactions) {
            note(
                "Google wants a report of each sale and download in its programs for billing and links outside Google Play."
            )
            Tabs.choices("State", [nil] + ExternalTransactionReport.State.allCases, present: state) {
                $0?.title ?? "All"
            } path: {
                ConsolePath(Self.path, query: [("state", $0?.rawValue)])
            }
            Listing.table(
                "Reports, newest first", of: shown, empty: "No back end has reported a sale.",
                next: next.map { ConsolePath(Self.path, query: [("state", state?.rawValue), ("cursor", $0)]) }
            ) {
                column("Transaction") { report in
                    Shown.lines(
                        a(.href(Self.path(report.key)), Shown.identifier(report.key.transactionIdentifier)),
                        data(report.key.packageName))
                }
                column("Report") { report in Shown.lines(HTML { report.title }, HTML { report.program?.title }) }
                column("Amount without tax") { Shown.money($0.amount) }
                column("Received") { Shown.moment($0.reportedAt) }
                column("State") { report in
                    Shown.lines(Shown.badge(report.state.word), report.lastError.map { data($0) })
                }
            }
        }
    }

    private func transaction(_ package: String, _ realm: String, _ context: ConsoleContext) async throws -> Page {
        let (sale, refunds) = try await found(package, realm, context)
        let keys = try await services.ledger.apiKeyNames()
        return AppStoreTab.page("Sale outside Google Play", nil) {
            Facts.card {
                fact("Transaction") { Shown.identifier(sale.key.transactionIdentifier) }
                fact("App") { Shown.identifier(sale.key.packageName) }
                fact("Program") { sale.program?.title }
                fact("Link") { sale.linkType?.title }
                fact("Amount without tax") { Shown.money(sale.amount) }
                fact("Received") {
                    spaced(by: " · ", Shown.moment(sale.reportedAt), ActorWords.html(caller: sale.reportedBy, keys))
                }
                fact("At Google Play since") { Shown.moment(sale.passedOnAt) }
                fact("State") { spaced(Shown.badge(sale.state.word), sale.lastError.map { data($0) }) }
            }
            part("Report in Google's words") {
                ContentTree.html(ofJSON: JSONValue.object(sale.shownContent).compactText)
            }
            part("Refunds") {
                Listing.table("Refunds", of: refunds, empty: "No back end has reported a refund.") {
                    column("Refund") { report in report.title }
                    column("Amount without tax") { Shown.money($0.amount) }
                    column(Phrase("By", context: "event")) {
                        Shown.lines(ActorWords.html(caller: $0.reportedBy, keys), Shown.moment($0.reportedAt))
                    }
                    column("State") { report in
                        Shown.lines(Shown.badge(report.state.word), report.lastError.map { data($0) })
                    }
                }
            }
            let isRefunded = refunds.contains { $0.key.part == .fullRefund && $0.state != .refused }
            if context.may(.support), !isRefunded, sale.state != .refused {
                context.action(
                    "Report a refund", to: Self.path(sale.key, "refunds"), submit: "Report to Google", .danger
                ) {
                    note("You pay the money back yourself. The report only tells Google of it.")
                    hidden(Self.refund, UUID(randomness: services.randomness).lowercasedString)
                    hidden(Self.package, sale.key.packageName)
                    hidden(Self.realm, sale.key.realm.rawValue)
                    Field.text("amount", "Amount without tax", note: "Empty for all that is left.")
                    Self.time.html(entitlements.clock.now())
                }
            }
        }
    }
}

extension ExternalTransactionReport {
    /// The amount before tax of a sale or of a partial refund, to the thousandth of a unit; nil for a full refund.
    var amount: Price? {
        guard let micros = preTaxMicros, let currency else { return nil }
        return Price(milliunits: micros / 1000, currency: currency)
    }

    var title: Phrase {
        switch key.part {
        case .sale: linkType == .appDownload ? "Download of an app" : "Sale"
        case .partialRefund: "Partial refund"
        case .fullRefund: "Refund of all that is left"
        }
    }
}

extension ExternalTransactionReport.State {
    var title: Phrase { word.title }

    var word: Shown.Word {
        switch self {
        case .waiting: ("Waits for Google Play", .neutral)
        case .passedOn: ("Google Play has it", .good)
        case .refused: ("Refused by Google Play", .bad)
        }
    }
}

extension ExternalTransactionReport.Program {
    var title: Phrase {
        switch self {
        case .alternativeBilling: "Alternative billing"
        case .externalOffers: "External offers (EEA)"
        case .externalContentLinks: "External content links (US)"
        }
    }
}

extension ExternalTransactionReport.LinkType {
    var title: Phrase {
        switch self {
        case .digitalContentOffer: "Digital content"
        case .appDownload: "Download of an app"
        }
    }
}
