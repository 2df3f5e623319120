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
            "bundleId": .text("The app; only needed if several have a token with this identifier.", length: 1...155)
                .optional,
            "lineItems": .array(
                of: .lineItem, "The transactions and corrections; only with `LINE_ITEM`.",
                count: 1...LineItemField.maximumCount
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

extension LineItemField {
    fileprivate var schema: Schema {
        switch form {
        case .text: .text(note, length: 1...Self.maximumTextLength)
        case .one(let values): .one(of: values, note)
        case .integer: .integer(note)
        case .number: Schema.number.described(note)
        case .flag: .flag(note)
        }
    }
}

/// The routes by which back ends report purchases outside the App Store. They answer once the ledger has the report.
struct ExternalPurchaseRoutes: OperationGroup {
    /// The largest text of a token, in bytes. Apple's have some 300.
    static let maximumTokenSize = 2048
    /// The bytes of a report besides its line items.
    private static let maximumReportSize = LineItemField.maximumSize + 1024
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
            let status = try body.externalPurchaseStatus()
            let items = try LineItemField.lineItems(in: body.object["lineItems"], of: status)
            let report = try await service.report(
                status, items, about: purchase, as: identifier, of: context.caller?.limitingApp,
                named: body.object["bundleId"] == nil ? nil : try body.text("bundleId"),
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
    fileprivate func externalPurchaseStatus() throws(Problem) -> ExternalPurchaseReport.Status {
        let text = try text("status")
        guard let status = ExternalPurchaseReport.Status.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) })
        else {
            let names = ExternalPurchaseReport.Status.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.invalid("The field /status must be one of \(names).")
        }
        return status
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
        $0.field(
            "tokenType", "`ACQUISITION`, `SERVICES`, `IN_APP` or `LINK_OUT`; absent for another token.", \.token.type)
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
        $0.field(
            "reportedBy",
            "The identifier of the API key, or `member` and a name; absent if the service reports by itself.",
            \.reportedBy)
        $0.keyName("reportedByName", \.reportedBy)
        $0.field("dueAt", "The time by which Apple has to have it.", \.dueAt)
        $0.field("attempts", "The number of attempts to send it.", \.attempts)
        $0.field("nextAttemptAt", "The time of the next attempt; absent if it does not wait.", \.nextAttemptAt)
        $0.field("acceptedAt", "When Apple had accepted it; absent before.", \.acceptedAt)
        $0.field("lastError", "The error of the last attempt; absent if none.", \.refusal?.message)
        $0.field("errors", "Apple's mistakes in a refused report; absent if none.", \.mistakes)
    }

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
