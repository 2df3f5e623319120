import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// The pages of sales outside the App Store, with their reports to Apple.
struct ExternalPurchaseRoutes: Sendable {
    private static let path = ["app-store", "external-purchases"]
    /// The reports of a token that its page shows. Few tokens have more than one.
    private static let shownReports = 100
    private static let request = "request"
    private static let app = "app"
    private static let lineItems = "line-items"
    private static let sale = "sale"
    private static let status = Field.choice(
        "status", "Content", ExternalPurchaseReport.Status.allCases, expected: "a content of the page",
        text: \.rawValue, shown: \.title)

    let services: any ConsoleServices

    private var entitlements: EntitlementService { services.entitlements }

    func add(to pages: ConsolePages) {
        pages.get("app-store/external-purchases") { request, _ in try await list(request) }
        pages.get("app-store/external-purchases/:token") { request, context in try await token(request, context) }
        pages.post("app-store/external-purchases/:token/reports", .support) { _, context in
            let form = context.form
            let items = try form.text(Self.lineItems, upTo: LineItemField.maximumSize)
            return try await report(form[Self.status], try Self.lineItems(in: items), context)
        }
        pages.post("app-store/external-purchases/:token/refunds", .support) { _, context in
            let (identifier, app) = (try context.parameters.text("token"), try context.form.requiredText(Self.app))
            let form = context.form
            let found = try await found(identifier, of: app)
            func amount(_ name: String) throws(Problem) -> Int64 {
                guard let price = Price(majorUnits: try form.requiredText(name), currency: "") else {
                    throw ConsoleForm.invalid(name, "an amount such as 2.50")
                }
                return price.milliunits
            }
            let refund = try ReportedLineItems(found.reports).refund(
                of: try form.requiredText(Self.sale, upTo: LineItemField.maximumTextLength), try amount("amount"),
                tax: try amount("tax"), as: try Self.identifier(in: form), at: entitlements.clock.now())
            return try await report(.lineItem, [refund], context)
        }
    }

    private static func path(
        _ token: String, _ segments: String..., app: String, correcting request: String? = nil,
        done notice: Notice? = nil
    ) -> ConsolePath {
        ConsolePath(path + [token] + segments, query: [(Self.app, app), ("correct", request)], done: notice)
    }

    private static func lineItems(in text: String) throws -> JSONValue? {
        guard !text.isEmpty else { return nil }
        guard let value = try? JSONParser.parse(Array(text.utf8)) else {
            throw ConsoleForm.invalid(lineItems, "JSON: an array of line items")
        }
        return value
    }

    /// The identifier of a report, which the page has made, so that a form that is sent twice is one report.
    private static func identifier(in form: ConsoleForm) throws -> String {
        guard let identifier = UUID(uuidString: try form.requiredText(request)) else {
            throw ConsoleForm.invalid(request, "the key that the page contains")
        }
        return identifier.lowercasedString
    }

    private func report(
        _ status: ExternalPurchaseReport.Status, _ items: [JSONObject], _ context: ConsoleContext
    ) async throws -> ConsolePath {
        let (token, app) = (try context.parameters.text("token"), try context.form.requiredText(Self.app))
        let member = try context.requiredMember.name
        let hasKey = services.reconciliations.contains { $0.bundleIdentifier.hasSameBytes(as: app) }
        let report = try await entitlements.report(
            status, items, about: token, as: try Self.identifier(in: context.form), of: nil, named: app,
            by: try context.caller
        ) { _ in
            guard hasKey else { throw ExternalPurchaseError.keyMissing }
        }
        // The audit logs are those of users, and a token names none. The report itself names the member.
        context.logger.notice(
            "external purchase reported",
            metadata: [
                "member": "\(member)", "app": "\(app)",
                "requestIdentifier": "\(report.key.requestIdentifier)",
            ])
        return Self.path(token, app: app, done: .requested)
    }

    private func report(
        _ status: ExternalPurchaseReport.Status, _ items: JSONValue?, _ context: ConsoleContext
    ) async throws -> ConsolePath {
        try await report(status, try LineItemField.lineItems(in: items, of: status), context)
    }

    private func found(
        _ token: String, of app: String
    ) async throws -> (purchase: ExternalPurchase, reports: [ExternalPurchaseReport]) {
        guard let found = try await entitlements.externalPurchase(token, of: app, limit: Self.shownReports) else {
            throw ExternalPurchaseError.unknown
        }
        return found
    }

    // MARK: Pages

    private func list(_ request: Request) async throws -> Page {
        let page = try RequestedPage(request)
        let state = try request.query("state").flatMap(ExternalPurchase.State.init(rawValue:))
        let (shown, next) = try await page.list(at: \.position) {
            try await entitlements.externalPurchases(of: nil, in: state, after: $0, limit: $1)
        }
        return AppStoreTab.page("Sales outside the App Store", AppStoreTab.externalPurchases) {
            note(
                "Apple wants a report of each token that StoreKit has given to an app for a purchase elsewhere, also if nothing was bought."
            )
            Tabs.choices("State", [nil] + ExternalPurchase.State.allCases, present: state) {
                $0?.title ?? "All"
            } path: {
                ConsolePath(Self.path, query: [("state", $0?.rawValue)])
            }
            Listing.table(
                "Tokens, newest first", of: shown, empty: "There are no tokens.",
                next: next.map { ConsolePath(Self.path, query: [("state", state?.rawValue), ("cursor", $0)]) }
            ) {
                column("Token") { purchase in
                    Shown.lines(
                        a(
                            .href(Self.path(purchase.token.identifier, app: purchase.app)),
                            Shown.identifier(purchase.token.identifier)),
                        spaced(by: " · ", data(purchase.app), purchase.token.type.map { data($0) }))
                }
                column("Learned of") { Shown.moment($0.learnedAt) }
                column("Due") { Shown.moment($0.token.dueAt) }
                column("State") { Shown.badge($0.state.word) }
            }
        }
    }

    private func token(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let identifier = try context.parameters.text("token")
        let (purchase, reports) = try await found(identifier, of: try request.query(Self.app) ?? "")
        let corrected = try request.query("correct").flatMap { identifier in
            reports.first { $0.key.requestIdentifier.hasSameBytes(as: identifier) }
        }
        let (lineItems, keys) = (try ReportedLineItems(reports), try await services.ledger.apiKeyNames())
        return AppStoreTab.page("Sale outside the App Store", nil) {
            Facts.card {
                fact("Token") { Shown.identifier(identifier) }
                fact("App") { Shown.identifier(purchase.app) }
                fact("Origin") { Shown.origin(purchase.origin) }
                fact("Type") { purchase.token.type.map { data($0) } }
                fact("Created") { Shown.moment(purchase.token.createdAt) }
                fact("Ends") { Shown.moment(purchase.token.expiresAt) }
                fact("Known to a back end") { purchase.isAnnounced ? "Yes" : "No" }
                fact("Due") { Shown.moment(purchase.token.dueAt) }
                fact("State") { Shown.badge(purchase.state.word) }
            }
            part("Reports") { table(of: reports, purchase, keys, context) }
            if !lineItems.items.isEmpty {
                part("Line items") { table(of: lineItems, purchase, context) }
            }
            if context.may(.support) { form(about: purchase, correcting: corrected, context) }
        }
    }

    private func table(
        of reports: [ExternalPurchaseReport], _ purchase: ExternalPurchase, _ keys: [String: String],
        _ context: ConsoleContext
    ) -> HTML {
        Listing.table("Reports, newest first", of: reports, empty: "Nobody has reported this token.") {
            column("Report") { report in
                Shown.lines(HTML { report.status.title }, Shown.identifier(report.key.requestIdentifier))
            }
            column("Line items") { report in
                spaced(by: ", ", report.lineItemIdentifiers.map { data($0) as any HTMLPart })
            }
            column(Phrase("By", context: "event")) { report in
                Shown.lines(
                    report.reportedBy.map { ActorWords.html(caller: $0, keys) } ?? HTML { "Till" },
                    Shown.moment(report.reportedAt))
            }
            column("Due") { Shown.moment($0.dueAt) }
            column("State") { report in
                Shown.lines(
                    Shown.badge(report.state.word),
                    report.refusal.map { refusal in
                        spaced(by: " ", [data(refusal.message)] + refusal.mistakes.map(Self.mistake))
                    })
            }
            if context.may(.support) {
                column("Correction") { report in
                    if report.state != .waiting, !report.lineItems.isEmpty || report.state == .refused {
                        let path = Self.path(
                            purchase.token.identifier, app: purchase.app, correcting: report.key.requestIdentifier)
                        a(.href(path)) { "Correct" }
                    }
                }
            }
        }
    }

    private static func mistake(_ mistake: ExternalPurchaseReport.Refusal.Mistake) -> any HTMLPart {
        let place = [mistake.lineItemId, mistake.fieldName].compactMap(\.self).joined(separator: " ")
        return data("\(mistake.errorCode) \(place): \(mistake.errorMessage)")
    }

    private func table(
        of lineItems: ReportedLineItems, _ purchase: ExternalPurchase, _ context: ConsoleContext
    ) -> HTML {
        Listing.table("Line items", of: lineItems.items, empty: "There are no line items.") {
            column("Line item") { item in
                Shown.lines(
                    data(item.identifier),
                    data(item.object.text(item.isRefund ? "referenceLineItemId" : "productIdentifier") ?? ""))
            }
            column("Event") { item in
                item.isRetracted ? "Retracted" : item.isRefund ? "Refund" : "Sale"
            }
            column("Without tax") { Shown.money($0.amount("amountTaxExclusive")) }
            column("Tax") { Shown.money($0.amount("taxAmount")) }
            column("Left") { item in lineItems.left(of: item).map { Shown.money($0.withoutTax) } }
            column("State") { Shown.badge($0.state.word) }
            if context.may(.support) {
                column("Refund") { item in refund(of: item, lineItems, purchase, context) }
            }
        }
    }

    /// The form that reports a refund; nothing for a sale of which nothing is left.
    @HTMLBuilder private func refund(
        of item: ReportedLineItems.Item, _ lineItems: ReportedLineItems, _ purchase: ExternalPurchase,
        _ context: ConsoleContext
    ) -> HTML {
        if let left = lineItems.left(of: item), left.withoutTax.milliunits > 0, left.tax.milliunits >= 0 {
            context.action(
                "Report a refund", to: Self.path(purchase.token.identifier, "refunds", app: purchase.app),
                submit: "Report to Apple", .danger
            ) {
                note("You pay the money back yourself. The report only tells Apple of it.")
                hidden(Self.request, UUID(randomness: services.randomness).lowercasedString)
                hidden(Self.app, purchase.app)
                hidden(Self.sale, item.identifier)
                Field.text(
                    "amount", "Amount without tax (\(left.withoutTax.currency))", value: left.withoutTax.majorUnits,
                    isRequired: true)
                Field.text("tax", "Tax (\(left.tax.currency))", value: left.tax.majorUnits, isRequired: true)
            }
        }
    }

    /// The form of a report, or of the correction of one.
    private func form(
        about purchase: ExternalPurchase, correcting report: ExternalPurchaseReport?, _ context: ConsoleContext
    ) -> HTML {
        let isRefused = report?.state == .refused
        let request = isRefused ? report?.key.requestIdentifier : nil
        let items = report.map { $0.lineItems.map { isRefused ? $0 : $0.restated } } ?? []
        return context.action(
            report == nil ? "Report" : "Correct the report",
            to: Self.path(purchase.token.identifier, "reports", app: purchase.app), submit: "Report to Apple",
            isOpen: report != nil
        ) {
            note("Line items have Apple's names, amounts in milliunits and dates in milliseconds. Apple checks them.")
            if report != nil, !isRefused {
                note("A correction states the whole line item again, with restatement.")
            }
            hidden(Self.request, request ?? UUID(randomness: services.randomness).lowercasedString)
            hidden(Self.app, purchase.app)
            Self.status.html((report?.status ?? (purchase.isAnnounced ? .noLineItem : .unrecognizedToken)).rawValue)
            Field.area(
                Self.lineItems, "Line items (JSON)",
                value: items.isEmpty ? "" : JSONValue.array(items.map { .object($0) }).prettyText, rows: 12)
        }
    }
}

extension JSONObject {
    /// A line item that overwrites the accepted one.
    fileprivate var restated: JSONObject {
        var item = self
        _ = item.add("restatement", .bool(true))
        return item
    }
}

extension Price {
    /// The amount as a form takes it: `2.50`.
    fileprivate var majorUnits: String {
        let digits = String(milliunits % 1000 + 1000).dropFirst()
        return "\(milliunits / 1000).\(digits.hasSuffix("0") ? String(digits.dropLast()) : String(digits))"
    }
}

extension ExternalPurchase.State {
    var title: Phrase { word.title }

    var word: Shown.Word {
        switch self {
        case .unreported: ("Not reported", .warning)
        case .waiting: ("Waits for Apple", .neutral)
        case .reported: ("Reported", .good)
        case .refused: ("Refused by Apple", .bad)
        }
    }
}

extension ExternalPurchaseReport.State {
    var word: Shown.Word {
        switch self {
        case .waiting: ("Waits for Apple", .neutral)
        case .accepted: ("Accepted by Apple", .good)
        case .refused: ("Refused by Apple", .bad)
        }
    }
}

extension ExternalPurchaseReport.Status {
    var title: Phrase {
        switch self {
        case .lineItem: "Transactions"
        case .noLineItem: "No transactions"
        case .unrecognizedToken: "Unrecognized token"
        case .duplicateToken: "Duplicate token"
        }
    }
}
