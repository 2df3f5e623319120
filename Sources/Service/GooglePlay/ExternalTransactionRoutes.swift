import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

extension APIOperation {
    static let listExternalTransactions = APIOperation(
        .get, "/v1/google/external-transactions", for: .backEnd(.read), isPerApp: true,
        "listExternalTransactions", "The reported external transactions and refunds, newest first",
        parameters: [
            .query("state", "Only those in this state.", .one(of: ExternalTransactionReport.State.self))
        ],
        answers: [.page("A page of reports, newest first.", of: ExternalTransactionReport.self)])

    static let reportExternalTransaction = APIOperation(
        .post, "/v1/google/external-transactions", for: .backEnd(.redeem), isPerApp: true,
        "reportExternalTransaction",
        "Reports a sale outside Google's billing, which the service passes on to Google Play",
        details: "Nothing is granted. The same report again has the same answer. The names of the fields are Google's.",
        body: .json([
            "packageName": .packageName,
            "externalTransactionId": .externalIdentifier(
                "The identifier of the transaction, which the back end makes."),
            "transactionTime": .anyTime("When the transaction was completed. RFC 3339."),
            "originalPreTaxAmount": .amount("The amount before tax; 0 for a free trial or the download of an app."),
            "originalTaxAmount": .amount("The tax."),
            "userTaxAddress": .object("The customer's tax region.").fields([
                "regionCode": .text("The country in two capital letters (ISO 3166-1).", length: 2...2),
                "administrativeArea": .text("The state, for India alone.", length: 1...256).optional,
            ]).closed,
            "oneTimeTransaction": .object("A transaction without successors.").fields([
                "externalTransactionToken": .externalToken
            ]).closed.example(.object(["externalTransactionToken": "AUJTfg"])).optional,
            "recurringTransaction": .object("A transaction of a series.").fields([
                "externalTransactionToken": .externalToken.optional,
                "initialExternalTransactionId": .externalIdentifier("The first transaction of the series.").optional,
                "migratedTransactionProgram": .one(
                    of: ExternalTransactionRoutes.migratedPrograms,
                    "The program of a series that began before the reports."
                ).optional,
                "externalSubscription": .object("A subscription.").fields([
                    "subscriptionType": .one(of: ExternalTransactionRoutes.subscriptionTypes, "How it is paid.")
                ]).closed.optional,
                "otherRecurringProduct": .object("Another product that is paid again and again.").fields([]).closed
                    .optional,
            ]).closed.optional,
            "transactionProgramCode": .integer(
                "The code of a partner program, as Google tells its members; not for external offers.",
                in: 0...Int(Int32.max)
            ).optional,
            "externalOfferDetails": ProgramDetails.externalOffers.schema.optional,
            "externalContentLinkDetails": ProgramDetails.externalContentLinks.schema.optional,
        ]).described("A sale; either `oneTimeTransaction` or `recurringTransaction`."),
        answers: [.json("The report is recorded.", ExternalTransactionReport.self, status: 201)],
        or: [.conflict, .refused])

    static let refundExternalTransaction = APIOperation(
        .post, "/v1/google/external-transactions/{transaction}/refunds", for: .backEnd(.redeem), isPerApp: true,
        "refundExternalTransaction", "Reports the refund of an external transaction, which the service passes on",
        parameters: [.path("transaction", "The identifier of the transaction.", example: "sale-1")],
        body: .json([
            "packageName": .packageName,
            "refundTime": .anyTime("When the customer was refunded. RFC 3339."),
            "refundId": .externalIdentifier("The identifier of a partial refund; absent to refund all that is left.")
                .optional,
            "refundPreTaxAmount": .amount("The amount before tax of a partial refund.").optional,
        ]).described("A refund."),
        answers: [.json("The report is recorded.", ExternalTransactionReport.self, status: 201)],
        or: [.conflict, .refused])
}

extension Schema {
    fileprivate static let packageName = Schema.text(
        "The app on Google Play; absent if the service has a service account for one.", length: 1...155
    ).optional
    fileprivate static let externalToken = Schema.text(
        "The token that the Play Billing Library gave to the app.",
        length: 1...ExternalTransactionRoutes.maximumTokenSize)

    fileprivate static func externalIdentifier(_ description: String) -> Schema {
        .text(description, length: 1...ExternalTransactionRoutes.maximumIdentifierSize).with([
            "pattern": "^[a-zA-Z0-9_-]+$"
        ])
    }

    fileprivate static func amount(_ description: String) -> Schema {
        .object(description).fields([
            "currency": .text("ISO 4217, such as `USD`.", length: 3...3),
            "priceMicros": .text("Millionths of a unit, such as `\"1990000\"` for 1.99.", length: 1...18),
        ]).closed
    }
}

/// The routes by which back ends report external transactions. They answer once the ledger has the report.
struct ExternalTransactionRoutes: OperationGroup {
    /// The longest identifier that Google takes, in bytes.
    static let maximumIdentifierSize = 63
    static let maximumTokenSize = 2048

    static let tag = OperationTag(
        "External transactions", "Sales outside Google's billing, reported to Google Play.",
        [
            .listExternalTransactions, .reportExternalTransaction, .refundExternalTransaction,
        ])
    static let errors: [any RuledError] = [ExternalTransactionError.unknown]
    let parts: ServiceParts

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.listExternalTransactions) { request, context in
            let app = context.caller?.limitingApp
            let state = try request.query("state", as: ExternalTransactionReport.State.self)
            let keys = try await service.ledger.apiKeyNames()
            return try await RequestedPage(request).answer(naming: keys, at: \.position) { position, limit in
                try await service.externalTransactions(of: app, in: state, after: position, limit: limit)
            }
        }
        group.on(.reportExternalTransaction) { request, context in
            let body = try await JSONBody(request, context, of: .reportExternalTransaction)
            let app = try app(named: body, context)
            let identifier = try body.externalIdentifier("externalTransactionId")
            let content = try body.externalSale(before: service.clock.now())
            let earlier = [
                ("recurringTransaction", "initialExternalTransactionId"),
                ("externalOfferDetails", "appDownloadEventExternalTransactionId"),
            ].lazy.compactMap { member, field in
                if case .object(let object)? = content[member] { object.text(field) } else { nil }
            }.first
            return try await record(identifier, .sale, content, continuing: earlier, of: app, by: context)
        }
        group.on(.refundExternalTransaction) { request, context in
            let identifier = try context.parameters.text("transaction")
            guard ExternalTransactionRoutes.isIdentifier(identifier) else { throw ExternalTransactionError.unknown }
            let body = try await JSONBody(request, context, of: .refundExternalTransaction)
            let app = try app(named: body, context)
            let (part, content) = try body.externalRefund(before: service.clock.now())
            return try await record(identifier, part, content, continuing: nil, of: app, by: context)
        }
    }

    /// Google's words for how a subscription is paid, and for the programs that were reported by hand.
    static let subscriptionTypes = ["RECURRING", "PREPAID"]
    static let migratedPrograms = ["USER_CHOICE_BILLING", "ALTERNATIVE_BILLING_ONLY"]

    private func app(named body: JSONBody, _ context: ServiceContext) throws -> GooglePlayApp {
        guard !googlePlay.isEmpty else { throw ExternalTransactionError.accountMissing }
        let name = body.object["packageName"] == nil ? nil : try body.text("packageName")
        return try googlePlay.app(named: name, among: context.caller?.limitingApp)
    }

    private func record(
        _ identifier: String, _ part: ExternalTransactionReport.Part, _ content: JSONObject,
        continuing initial: String?, of app: GooglePlayApp, by context: ServiceContext
    ) async throws -> Response {
        let time = content.text("transactionTime") ?? content.text("refundTime")
        guard let occurredAt = time.flatMap(Timestamp.init(internetDateTime:)) else {
            throw BrokenInvariant("a report of an external transaction has its time", identifier)
        }
        let report = ExternalTransactionReport(
            app.purchases.key(ofExternalTransaction: identifier, part, in: app.client.realm),
            of: app.purchases.app.bundleIdentifier, content, continuing: initial, occurredAt: occurredAt,
            reportedAt: service.clock.now(), by: try context.requiredCaller.name)
        let recorded = try await service.record(report)
        return try recorded.answer(naming: try await service.ledger.apiKeyNames(), status: .created)
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...maximumIdentifierSize).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }
}

extension ExternalTransactionReport: AnswerObject, Listed {
    package static let listName = "externalTransactions"
    package static let answerFields = AnswerFields<ExternalTransactionReport>(
        "A reported external transaction, or a refund of one.", named: "ExternalTransactionReport"
    ) {
        $0.field("externalTransactionId", "The identifier of the transaction.", \.key.transactionIdentifier)
        $0.field("kind", .one(of: ["sale", "partialRefund", "fullRefund"], "The kind of the report."), \.kind)
        $0.field("refundId", "The identifier of a partial refund; absent otherwise.", \.refundIdentifier)
        $0.field("packageName", "The app on Google Play.", \.key.packageName)
        $0.field("program", "Google's program of a sale; absent for a refund.", \.program)
        $0.field("linkType", "The content of the link that has led to the sale; absent for none.", \.linkType)
        $0.field("content", "The report with Google's names, without the token.") {
            JSONContent(json: JSONValue.object($0.shownContent).compactText)
        }
        $0.field("state", "The state at Google Play.", \.state)
        $0.field("reportedAt", "When the back end has reported it.", \.reportedAt)
        $0.field("reportedBy", "The identifier of the API key, or `member` and a name.", \.reportedBy)
        $0.keyName("reportedByName", \.reportedBy)
        $0.field("attempts", "The number of attempts to pass it on.", \.attempts)
        $0.field("nextAttemptAt", "The time of the next attempt; absent if it does not wait.", \.nextAttemptAt)
        $0.field("passedOnAt", "When Google Play had it; absent before.", \.passedOnAt)
        $0.field("lastError", "The error of the last attempt, with Google's reason; absent if none.", \.lastError)
    }

    private var kind: String {
        switch key.part {
        case .sale: "sale"
        case .partialRefund: "partialRefund"
        case .fullRefund: "fullRefund"
        }
    }

    private var refundIdentifier: String? {
        if case .partialRefund(let identifier) = key.part { identifier } else { nil }
    }
}

extension ExternalTransactionReport.State: AnswerValue {}

extension ExternalTransactionReport.Program: AnswerValue {}

extension ExternalTransactionReport.LinkType: AnswerValue {}

/// The details of a sale in a program of Google's (`ExternalOfferDetails`, `ExternalContentLinkDetails`), which Google checks.
private struct ProgramDetails {
    private struct Field {
        let name: String
        /// The values; nil for another text.
        var values: [String]?
        let note: String
        var isRequired = false

        var schema: Schema {
            let schema: Schema = values.map { .one(of: $0, note) } ?? .text(note, length: 1...JSONBody.maximumLength)
            return isRequired ? schema : schema.optional
        }
    }

    /// The categories of apps in the Play Console.
    private static let categories = ["APP", "GAME"]

    let name: String
    private let note: String
    private let fields: [Field]
    /// The field of a downloaded app with its category.
    private let category: String

    private static let linkTypes = [ExternalTransactionReport.LinkType.digitalContentOffer, .appDownload].map(
        \.rawValue)
    private static let package = Field(name: "installedAppPackage", note: "The package name of the downloaded app.")
    private static let categoryNote = "The category of the downloaded app, as the Play Console has it."

    static let externalOffers = ProgramDetails(
        name: "externalOfferDetails", note: "The details of the external offers program (EEA).",
        fields: [
            Field(
                name: "linkType", values: linkTypes,
                note: "What is reported; absent for a sale in an app that was downloaded through a link."),
            package,
            Field(name: "installedAppCategory", values: categories, note: categoryNote),
            Field(
                name: "appDownloadEventExternalTransactionId",
                note: "The reported download of the app in which the sale was made."),
        ], category: "installedAppCategory")

    static let externalContentLinks = ProgramDetails(
        name: "externalContentLinkDetails", note: "The details of the external content links program (US).",
        fields: [
            Field(name: "linkType", values: linkTypes, note: "What is reported.", isRequired: true), package,
            Field(name: "externalAppCategory", values: categories, note: categoryNote),
        ], category: "externalAppCategory")

    var schema: Schema { .object(note).fields(fields.map { ($0.name, $0.schema) }).closed }

    /// The details of a body in Google's form; nil if it has none.
    func read(_ body: JSONBody) throws(Problem) -> JSONObject? {
        guard body.object[name] != nil else { return nil }
        let details = try body.object(name, fields: fields.map(\.name))
        var content = JSONObject()
        for field in fields where field.isRequired || details.object[field.name] != nil {
            let text = try details.text(field.name)
            guard !text.isEmpty, field.values?.contains(where: { $0.hasSameBytes(as: text) }) ?? true else {
                throw JSONBody.invalid(
                    "The field \(details.path)/\(field.name) must be \(field.values?.joined(separator: " or ") ?? "not empty")."
                )
            }
            _ = content.add(field.name, .string(text))
        }
        guard content.text("linkType") == ExternalTransactionReport.LinkType.appDownload.rawValue else {
            return content
        }
        // "Required when link_type is LINK_TO_APP_DOWNLOAD", "Only required for app downloads" (`ExternalOfferDetails`).
        for field in [Self.package.name, category] where content[field] == nil {
            throw JSONBody.invalid("The field \(details.path)/\(field) is missing: the download of an app has it.")
        }
        return content
    }
}

/// The fields of reports, in Google's form. The order of the members is always the same, so that equal reports have equal content.
extension JSONBody {
    fileprivate func externalSale(before now: Timestamp) throws(Problem) -> JSONObject {
        var content: JSONObject = ["transactionTime": .string(try past("transactionTime", now))]
        // "$0 transactions resulting from free trial purchases and app installs" are reported, too
        // (developer.android.com/google/play/billing/outside-gpb-backend).
        let amount = try amount("originalPreTaxAmount", from: 0)
        let tax = try self.amount("originalTaxAmount", from: 0)
        guard amount["currency"] == tax["currency"] else {
            throw Self.invalid("The field /originalTaxAmount must have the currency of /originalPreTaxAmount.")
        }
        _ = content.add("originalPreTaxAmount", .object(amount))
        _ = content.add("originalTaxAmount", .object(tax))
        let address = try object("userTaxAddress", fields: ["regionCode", "administrativeArea"])
        let region = try address.text("regionCode")
        guard region.utf8.count == 2, region.utf8.allSatisfy(Self.isCapital) else {
            throw Self.invalid("The field /userTaxAddress/regionCode must be two capital letters, such as US.")
        }
        var place: JSONObject = ["regionCode": .string(region)]
        try address.copy("administrativeArea", upTo: Self.maximumLength, to: &place)
        _ = content.add("userTaxAddress", .object(place))
        switch (self.object["oneTimeTransaction"], self.object["recurringTransaction"]) {
        case (_?, nil):
            let once = try object("oneTimeTransaction", fields: ["externalTransactionToken"])
            let token = try once.token("externalTransactionToken")
            _ = content.add("oneTimeTransaction", .object(["externalTransactionToken": .string(token)]))
        case (nil, _?): _ = content.add("recurringTransaction", .object(try externalSeries()))
        default: throw Self.invalid("The body must have either /oneTimeTransaction or /recurringTransaction.")
        }
        if object["transactionProgramCode"] != nil {
            let code = try integer("transactionProgramCode")
            guard (0...Int(Int32.max)).contains(code), object[ProgramDetails.externalOffers.name] == nil else {
                throw Self.invalid(
                    "The field /transactionProgramCode must be 0 to \(Int32.max), and not beside externalOfferDetails.")
            }
            _ = content.add("transactionProgramCode", .integer(code))
        }
        try addDetails(to: &content)
        return content
    }

    private func addDetails(to content: inout JSONObject) throws(Problem) {
        let (offers, links) = (ProgramDetails.externalOffers, ProgramDetails.externalContentLinks)
        guard object[offers.name] == nil || object[links.name] == nil else {
            throw Self.invalid("The body must have either /\(offers.name) or /\(links.name).")
        }
        for program in [offers, links] {
            guard let details = try program.read(self) else { continue }
            _ = content.add(program.name, .object(details))
        }
    }

    /// One of Google's words.
    private func word(_ field: String, of words: [String]) throws(Problem) -> String {
        let text = try text(field)
        guard words.contains(where: { $0.hasSameBytes(as: text) }) else {
            throw Self.invalid("The field \(path)/\(field) must be \(words.joined(separator: " or ")).")
        }
        return text
    }

    private func externalSeries() throws(Problem) -> JSONObject {
        let series = try object(
            "recurringTransaction",
            fields: [
                "externalTransactionToken", "initialExternalTransactionId", "migratedTransactionProgram",
                "externalSubscription", "otherRecurringProduct",
            ])
        var content = JSONObject()
        if series.object["externalTransactionToken"] != nil {
            _ = content.add("externalTransactionToken", .string(try series.token("externalTransactionToken")))
        }
        if series.object["initialExternalTransactionId"] != nil {
            let first = try series.externalIdentifier("initialExternalTransactionId")
            _ = content.add("initialExternalTransactionId", .string(first))
        }
        if series.object["migratedTransactionProgram"] != nil {
            let program = try series.word(
                "migratedTransactionProgram", of: ExternalTransactionRoutes.migratedPrograms)
            _ = content.add("migratedTransactionProgram", .string(program))
        }
        guard !content.members.isEmpty else {
            throw Self.invalid(
                "The field /recurringTransaction must have externalTransactionToken, initialExternalTransactionId or "
                    + "migratedTransactionProgram.")
        }
        switch (series.object["externalSubscription"], series.object["otherRecurringProduct"]) {
        case (_?, nil):
            let subscription = try series.object("externalSubscription", fields: ["subscriptionType"])
            let type = try subscription.word("subscriptionType", of: ExternalTransactionRoutes.subscriptionTypes)
            _ = content.add("externalSubscription", .object(["subscriptionType": .string(type)]))
        case (nil, _?):
            _ = try series.object("otherRecurringProduct", fields: [])
            _ = content.add("otherRecurringProduct", .object([:]))
        default:
            throw Self.invalid(
                "The field /recurringTransaction must have either externalSubscription or otherRecurringProduct.")
        }
        return content
    }

    fileprivate func externalRefund(
        before now: Timestamp
    ) throws(Problem) -> (ExternalTransactionReport.Part, JSONObject) {
        var content: JSONObject = ["refundTime": .string(try past("refundTime", now))]
        guard object["refundId"] != nil || object["refundPreTaxAmount"] != nil else {
            _ = content.add("fullRefund", .object([:]))
            return (.fullRefund, content)
        }
        let identifier = try externalIdentifier("refundId")
        let amount = try amount("refundPreTaxAmount", from: 1)
        _ = content.add(
            "partialRefund", .object(["refundId": .string(identifier), "refundPreTaxAmount": .object(amount)]))
        return (.partialRefund(identifier: identifier), content)
    }

    fileprivate func externalIdentifier(_ field: String) throws(Problem) -> String {
        let text = try text(field)
        guard ExternalTransactionRoutes.isIdentifier(text) else {
            throw Self.invalid(
                "The field \(path)/\(field) must have 1 to \(ExternalTransactionRoutes.maximumIdentifierSize) letters, digits, "
                    + "underscores and hyphens.")
        }
        return text
    }

    private func token(_ field: String) throws(Problem) -> String {
        let token = try text(field, upTo: ExternalTransactionRoutes.maximumTokenSize)
        guard !token.isEmpty else { throw Self.invalid("The field \(path)/\(field) is empty.") }
        return token
    }

    private func copy(_ field: String, upTo size: Int, to content: inout JSONObject) throws(Problem) {
        guard object[field] != nil else { return }
        _ = content.add(field, .string(try text(field, upTo: size)))
    }

    /// A date that is not in the future, in RFC 3339.
    private func past(_ field: String, _ now: Timestamp) throws(Problem) -> String {
        // A year before 1 has no RFC 3339 form.
        guard let date = try optionalDate(field), date <= now, Timestamp(internetDateTime: date.rfc3339) != nil else {
            throw Self.invalid("The field \(path)/\(field) must be an RFC 3339 date that is not in the future.")
        }
        return date.rfc3339
    }

    /// An amount of money (`Price`).
    private func amount(_ field: String, from minimum: Int64) throws(Problem) -> JSONObject {
        let amount = try object(field, fields: ["currency", "priceMicros"])
        let (currency, micros) = (try amount.text("currency"), try amount.text("priceMicros"))
        guard currency.utf8.count == 3, currency.utf8.allSatisfy(Self.isCapital) else {
            throw Self.invalid("The field \(amount.path)/currency must be a currency of ISO 4217, such as USD.")
        }
        guard micros.utf8.count <= 18, micros.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(micros), number >= minimum
        else {
            throw Self.invalid(
                "The field \(amount.path)/priceMicros must be a text of at most 18 digits, of at least \(minimum).")
        }
        return ["currency": .string(currency), "priceMicros": .string(String(number))]
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
}
