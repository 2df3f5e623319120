import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

extension APIOperation {
    static let listExternalPurchases = APIOperation(
        .get, "/v1/apple/external-purchases", for: .backEnd(.read), isPerApp: true,
        "listExternalPurchases",
        "The tokens of purchases outside the App Store with the state of their reports, newest first",
        parameters: [.query("state", "Only those in this state.", .one(of: ExternalPurchase.State.self))],
        answers: [.page("A page of tokens, newest first.", of: ExternalPurchase.self)])

    static let announceExternalPurchase = APIOperation(
        .post, "/v1/apple/external-purchases", for: .backEnd(.redeem), isPerApp: true,
        "announceExternalPurchase",
        "Makes the token known that StoreKit gave to the app before a purchase outside the App Store",
        details: "The service also learns of tokens from the App Store, and reports in time those that nobody reports.",
        body: .json([
            "token": .text(
                "The token as the app got it: JSON in Base64URL.",
                length: 1...ExternalPurchaseRoutes.maximumTokenSize
            ).example(.string(ExternalPurchaseRoutes.exampleToken))
        ]).described("A token."),
        answers: [.json("The token is known.", ExternalPurchase.self, status: 201)], or: [.refused])

    static let reportExternalPurchase = APIOperation(
        .post, "/v1/apple/external-purchases/{externalPurchase}/reports", for: .backEnd(.redeem), isPerApp: true,
        "reportExternalPurchase",
        "Reports the transactions of a token, corrections, or that it has none; the service sends the report to Apple",
        details: "Nothing is granted. The same report again has the same answer. The names of the fields are Apple's.",
        parameters: [
            .path(
                "externalPurchase", "The `externalPurchaseId` of the token.",
                example: "SANDBOX_4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")
        ],
        body: .json([
            "requestIdentifier": .uuid(
                "The identifier of the report, which the back end makes. A report that Apple has refused is sent again, corrected, under its identifier."
            ),
            "status": .one(of: ExternalPurchaseReport.Status.self, "The content of the report.")
                .example("NO_LINE_ITEM"),
            "lineItems": .array(
                of: .lineItem, "The transactions and corrections; only with `LINE_ITEM`.",
                count: 1...ExternalPurchaseRoutes.maximumLineItems
            ).optional,
        ]).described("A report."),
        answers: [.json("The report is recorded.", ExternalPurchaseReport.self, status: 201)],
        or: [.conflict, .refused])

    static let listExternalPurchaseReports = APIOperation(
        .get, "/v1/apple/external-purchase-reports", for: .backEnd(.read), isPerApp: true,
        "listExternalPurchaseReports",
        "The reports about purchases outside the App Store with Apple's answers, newest first",
        parameters: [.query("state", "Only those in this state.", .one(of: ExternalPurchaseReport.State.self))],
        answers: [.page("A page of reports, newest first.", of: ExternalPurchaseReport.self)])
}

extension Schema {
    /// A line item (External Purchase Server API, "Line item fields").
    fileprivate static let lineItem = Schema.object(
        "A transaction, or a correction.", named: "ExternalPurchaseLineItem"
    )
    .fields(LineItemField.all.map { ($0.name, $0.isRequired ? $0.schema : $0.schema.optional) }).closed
}

/// A field of a line item, with its form. Apple checks what it means, and its answer is kept with the report.
private struct LineItemField {
    enum Form {
        case text
        case one([String])
        case integer
        case number
        case flag
    }

    let name: String
    let form: Form
    let isRequired: Bool
    let note: String

    private init(_ name: String, _ form: Form, isRequired: Bool = false, _ note: String) {
        (self.name, self.form, self.isRequired, self.note) = (name, form, isRequired, note)
    }

    /// In the order of the report.
    static let all = [
        LineItemField(
            "lineItemId", .text, isRequired: true, "The identifier of the line item, which the back end makes."),
        LineItemField("creationDate", .integer, isRequired: true, "When the customer authorized it, in milliseconds."),
        LineItemField("eventType", .one(["BUY", "REFUND"]), isRequired: true, "A purchase, or a refund."),
        LineItemField("referenceLineItemId", .text, "The purchase that is refunded, or the subscription's start."),
        LineItemField("restatement", .flag, "True for a correction of an accepted line item."),
        LineItemField("erroneouslySubmitted", .flag, "True to retract a line item; with `restatement`."),
        LineItemField("productIdentifier", .text, "The product; not of a refund."),
        LineItemField("productType", .one(["ONE_TIME_BUY", "SUBSCRIPTION"]), "Its type; not of a refund."),
        LineItemField("quantity", .integer, "The number of units; not of a refund."),
        LineItemField("pricingCurrency", .text, isRequired: true, "ISO 4217, in which the customer was charged."),
        LineItemField("reportingCurrency", .text, isRequired: true, "ISO 4217, of the amounts."),
        LineItemField("exchangeRate", .number, "The rate between both, if Apple does not support the first."),
        LineItemField("amountTaxExclusive", .integer, isRequired: true, "Milliunits without tax."),
        LineItemField("amountTaxInclusive", .integer, isRequired: true, "Milliunits with tax."),
        LineItemField(
            "netAmountTaxExclusive", .integer, isRequired: true, "Milliunits without tax, after all refunds."),
        LineItemField("taxAmount", .integer, isRequired: true, "Milliunits of tax."),
        LineItemField("taxCountry", .text, isRequired: true, "The country of the tax in three letters (ISO 3166-1)."),
        LineItemField(
            "subscriptionEvent",
            .one(["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"]),
            "The event of a subscription."),
        LineItemField("subscriptionStartDate", .integer, "The beginning of its period, in milliseconds."),
        LineItemField("subscriptionEndDate", .integer, "The end of its period, in milliseconds."),
        LineItemField("subscriptionDaysOfPaidService", .integer, "All days that were paid before."),
    ]

    var schema: Schema {
        switch form {
        case .text: .text(note, length: 1...ExternalPurchaseRoutes.maximumTextLength)
        case .one(let values): .one(of: values, note)
        case .integer: .integer(note)
        case .number: Schema.number.described(note)
        case .flag: .flag(note)
        }
    }

    /// The value in the report; nil for one of another form.
    func checked(_ value: JSONValue) -> JSONValue? {
        switch (form, value) {
        case (.text, .string(let text)):
            (1...ExternalPurchaseRoutes.maximumTextLength).contains(text.utf8.count) && !text.hasNUL ? value : nil
        case (.one(let values), .string(let text)): values.contains { $0.hasSameBytes(as: text) } ? value : nil
        case (.integer, .number(let number)): number.int64.map { .integer($0) }
        case (.number, .number), (.flag, .bool): value
        default: nil
        }
    }

    var expected: String {
        switch form {
        case .text: "a string of 1 to \(ExternalPurchaseRoutes.maximumTextLength) bytes, without NUL"
        case .one(let values): values.joined(separator: ", ")
        case .integer: "an integer"
        case .number: "a number"
        case .flag: "true or false"
        }
    }
}

/// The routes by which back ends report purchases outside the App Store. They answer once the ledger has the report.
struct ExternalPurchaseRoutes: OperationGroup {
    /// The largest text of a token, in bytes. Apple's have some 300.
    static let maximumTokenSize = 2048
    /// The longest text of a line item, in bytes (`lineItemId`).
    static let maximumTextLength = 128
    /// The largest number of line items in a report, and the largest report in bytes, in which they have room.
    static let maximumLineItems = 100
    private static let maximumReportSize = 256 * 1024
    static let exampleToken = Base64.encode(
        JSONValue.object([
            "appAppleId": .integer(1_234_567_890), "bundleId": "com.memolease.sesac1",
            "tokenCreationDate": .integer(1_801_396_800_000),
            "externalPurchaseId": "SANDBOX_4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10",
        ]).compactText.utf8, .urlSafe)

    static let tag = OperationTag(
        "External purchases", "Purchases outside the App Store, reported to Apple.",
        [
            .listExternalPurchases, .announceExternalPurchase, .reportExternalPurchase, .listExternalPurchaseReports,
        ])
    static let errors: [any RuledError] = [ExternalPurchaseError.unknown]
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listExternalPurchases) { request, context in
            let app = context.caller?.limitingApp
            let state = try request.query("state", as: ExternalPurchase.State.self)
            return try await RequestedPage(request).answer(at: \.position) { position, limit in
                try await service.externalPurchases(of: app, in: state, after: position, limit: limit)
            }
        }
        group.on(.announceExternalPurchase) { request, context in
            let body = try await JSONBody(request, context, of: .announceExternalPurchase)
            let (token, app) = try token(in: body, of: context.caller?.limitingApp)
            return try await service.announce(token, of: app).answer(status: .created)
        }
        group.on(.reportExternalPurchase) { request, context in
            let purchase = try context.parameters.text("externalPurchase")
            let body = try await JSONBody(
                request, context, of: .reportExternalPurchase, upTo: Self.maximumReportSize)
            let identifier = try body.text("requestIdentifier")
            guard let identifier = UUID(uuidString: identifier)?.uuidString.lowercased() else {
                throw JSONBody.invalid("The field /requestIdentifier must be a UUID.")
            }
            let (status, items) = try body.externalPurchaseReport()
            let report = try await service.report(
                status, items, about: purchase, as: identifier, of: context.caller?.limitingApp,
                by: try context.requiredCaller.name
            ) { [stores] purchase in
                guard stores.offerSigners[ByteKey(purchase.app)] != nil else { throw ExternalPurchaseError.keyMissing }
            }
            return try report.answer(naming: try await service.ledger.apiKeyNames(), status: .created)
        }
        group.on(.listExternalPurchaseReports) { request, context in
            let app = context.caller?.limitingApp
            let state = try request.query("state", as: ExternalPurchaseReport.State.self)
            let keys = try await service.ledger.apiKeyNames()
            return try await RequestedPage(request).answer(naming: keys, at: \.position) { position, limit in
                try await service.externalPurchaseReports(of: app, in: state, after: position, limit: limit)
            }
        }
    }

    /// The token of a body and the bundle identifier of its app, which the token names.
    private func token(in body: JSONBody, of limit: String?) throws -> (ExternalPurchase.Token, app: String) {
        let text = try body.text("token", upTo: Self.maximumTokenSize)
        // Apple's examples have padding.
        let symbols = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard let bytes = Base64.decode(symbols, .urlSafe), case .object(let object)? = try? JSONParser.parse(bytes),
            let token = ExternalPurchase.Token(object, statedAt: nil), let app = object.text("bundleId")
        else {
            throw JSONBody.invalid(
                "The field /token must be a token of StoreKit: an object in Base64URL, with Apple's fields.")
        }
        guard let known = service.apps[app], limit?.hasSameBytes(as: app) ?? true else {
            throw RedemptionError.refused(
                ProofRefusal(.bundleIdentifierMismatch, "The token is of the app \"\(app.prefix(155))\"."))
        }
        return (token, known.bundleIdentifier)
    }
}

extension JSONBody {
    /// The status and the line items of a report. The members always have the same order, so that equal reports have equal content.
    fileprivate func externalPurchaseReport() throws(Problem) -> (ExternalPurchaseReport.Status, [JSONObject]) {
        let text = try text("status")
        guard let status = ExternalPurchaseReport.Status.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) })
        else {
            let names = ExternalPurchaseReport.Status.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.invalid("The field /status must be one of \(names).")
        }
        let items = try optionalObjects("lineItems", fields: LineItemField.all.map(\.name))
        let counts = status == .lineItem ? 1...ExternalPurchaseRoutes.maximumLineItems : 0...0
        guard counts.contains(items.count) else {
            throw Self.invalid(
                "A report of the status \(status.rawValue) has \(counts.lowerBound) to \(counts.upperBound) lineItems.")
        }
        var objects: [JSONObject] = []
        for item in items {
            var object = JSONObject()
            for field in LineItemField.all {
                guard let value = item.object[field.name] else {
                    guard !field.isRequired else {
                        throw Self.invalid(
                            "The field \(item.path)/\(field.name) is missing: it must be \(field.expected).")
                    }
                    continue
                }
                guard let checked = field.checked(value) else {
                    throw Self.invalid("The field \(item.path)/\(field.name) must be \(field.expected).")
                }
                _ = object.add(field.name, checked)
            }
            guard object.moment("creationDate") != nil else {
                throw Self.invalid("The field \(item.path)/creationDate must be a date in milliseconds since 1970.")
            }
            objects.append(object)
        }
        return (status, objects)
    }
}

extension ExternalPurchase: AnswerObject, Listed {
    package static let listName = "externalPurchases"
    package static let answerFields = AnswerFields<ExternalPurchase>(
        "The token of a purchase outside the App Store.", named: "ExternalPurchase"
    ) {
        $0.field("externalPurchaseId", "Apple's identifier of the token.", \.token.identifier)
        $0.field("bundleId", "The app.", \.app)
        $0.field("origin", "Who vouches for it, and the environment.", \.origin)
        $0.field("tokenType", "`ACQUISITION` or `SERVICES`; absent for another token.", \.token.type)
        $0.field("tokenCreationDate", "When Apple made it.", \.token.createdAt)
        $0.field("tokenExpirationDate", "The end of its active period; absent without one.", \.token.expiresAt)
        $0.field("isAnnounced", "True if a back end has sent it, false if only Apple has told of it.", \.isAnnounced)
        $0.field("learnedAt", "When the service has learned of it.", \.learnedAt)
        $0.field("dueAt", "The time by which it has to be reported.", \.token.dueAt)
        $0.field("state", "The state of its reports.", \.state)
    }
}

extension ExternalPurchase.State: AnswerValue {}

extension ExternalPurchaseReport: AnswerObject, Listed {
    package static let listName = "externalPurchaseReports"
    package static let answerFields = AnswerFields<ExternalPurchaseReport>(
        "A report about a token of a purchase outside the App Store.", named: "ExternalPurchaseReport"
    ) {
        $0.field("requestIdentifier", .uuid("The identifier of the report."), \.key.requestIdentifier)
        $0.field("externalPurchaseId", "Apple's identifier of the token.", \.key.externalPurchaseIdentifier)
        $0.field("bundleId", "The app.", \.key.app)
        $0.field("status", "The content of the report.", \.status)
        $0.field("lineItemIds", "The identifiers of the line items.", \.lineItemIdentifiers)
        $0.field("state", "The state at Apple.", \.state)
        $0.field("reportedAt", "When the back end, or the service, has made it.", \.reportedAt)
        $0.field("reportedBy", "The identifier of the API key; absent if the service reports by itself.", \.reportedBy)
        $0.keyName("reportedByName", \.reportedBy)
        $0.field("dueAt", "The time by which Apple has to have it.", \.dueAt)
        $0.field("attempts", "The number of attempts to send it.", \.attempts)
        $0.field("nextAttemptAt", "The time of the next attempt; absent if it does not wait.", \.nextAttemptAt)
        $0.field("acceptedAt", "When Apple had accepted it; absent before.", \.acceptedAt)
        $0.field("lastError", "The error of the last attempt; absent if none.", \.refusal?.message)
        $0.field("errors", "Apple's mistakes in a refused report; absent if none.", \.mistakes)
    }

    private var lineItemIdentifiers: [String] { lineItems.compactMap { $0.text("lineItemId") } }

    private var mistakes: [Refusal.Mistake]? { refusal?.mistakes.nonEmpty }
}

extension ExternalPurchaseReport.State: AnswerValue {}

extension ExternalPurchaseReport.Status: AnswerValue {}

extension ExternalPurchaseReport.Refusal.Mistake: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A mistake that Apple has found.") {
        $0.field("errorCode", "Apple's number.", \.errorCode)
        $0.field("errorMessage", "Apple's message.", \.errorMessage)
        $0.field("fieldName", "The field; absent if Apple names none.", \.fieldName)
        $0.field("lineItemId", "The line item; absent for a mistake of the whole report.", \.lineItemId)
    }
}
