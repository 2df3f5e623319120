import Foundation
import Ledger
import Proofs
import Vocabulary

/// The SQL of purchases outside the App Store, inside the caller's transaction.
struct ExternalPurchaseRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let columns = [
        "external_purchase_id", "app", "origin", "token_type", "created_at", "expires_at", "learned_at", "is_announced",
        "state",
    ]
    private static let reportColumns = [
        "external_purchase_id", "request_id", "app", "status", "line_items", "reported_at", "reported_by", "due_at",
        "attempts", "next_attempt_at", "accepted_at", "refusal",
    ]

    // MARK: Tokens

    private func purchases(_ clauses: String, _ arguments: [any SQLConvertible]) throws -> [ExternalPurchase] {
        try database.rows(
            "SELECT \(Self.columns.joined(separator: ", ")) FROM external_purchase \(clauses)", arguments
        ) { row in
            let identifier: String = try row.next()
            let app = try apps.bundleIdentifier(of: try row.next())
            let origin: Origin = try row.next()
            let token = ExternalPurchase.Token(
                identifier: identifier, type: try row.next(), createdAt: try row.next(), expiresAt: try row.next())
            let learnedAt: Timestamp = try row.next()
            let (isAnnounced, state): (Int64, String) = (try row.next(), try row.next())
            guard let state = ExternalPurchase.State(rawValue: state) else { throw ColumnMismatch.column("state") }
            return ExternalPurchase(
                token, of: app, at: origin, learnedAt: learnedAt, isAnnounced: isAnnounced != 0, state: state)
        }
    }

    /// The tokens of an identifier: one, unless two apps have the same.
    fileprivate func purchases(_ identifier: String) throws -> [ExternalPurchase] {
        try purchases("WHERE external_purchase_id = $1 ORDER BY app", [identifier])
    }

    /// Writes a token that the service learns of.
    ///
    /// - Parameters:
    ///   - origin: The origin of the notification, or the likely one of a token that a back end announces.
    ///   - isAnnounced: True if a back end announces it.
    /// - Returns: The token afterwards.
    func learn(
        _ token: ExternalPurchase.Token, of app: String, at origin: Origin, isAnnounced: Bool, at moment: Timestamp
    ) throws -> ExternalPurchase {
        let known = try purchases(token.identifier).first { $0.app.hasSameBytes(as: app) }
        guard let known else {
            let purchase = ExternalPurchase(
                token, of: app, at: origin, learnedAt: moment, isAnnounced: isAnnounced)
            try database.insert(
                into: "external_purchase", Self.columns + ["report_at"],
                [
                    [
                        token.identifier, apps[app], origin, token.type, token.createdAt, token.expiresAt, moment,
                        isAnnounced ? 1 as Int64 : 0, purchase.state.rawValue, token.reportAt,
                    ]
                ])
            return purchase
        }
        // A notification is verified. An announcement is not: the app has the token, and can change its dates.
        let isVerified = !isAnnounced && known.state == .unreported
        let purchase = ExternalPurchase(
            isVerified ? token : known.token, of: app, at: isVerified ? origin : known.origin,
            learnedAt: known.learnedAt, isAnnounced: known.isAnnounced || isAnnounced, state: known.state)
        guard isVerified || purchase.isAnnounced != known.isAnnounced else { return known }
        let stated = purchase.token
        try database.execute(
            """
            UPDATE external_purchase
            SET origin = $1, is_announced = $2, token_type = $3, created_at = $4, expires_at = $5,
                report_at = CASE WHEN report_at IS NULL THEN NULL ELSE CAST($6 AS BIGINT) END
            WHERE external_purchase_id = $7 AND app = $8
            """,
            [
                purchase.origin, purchase.isAnnounced ? 1 as Int64 : 0, stated.type, stated.createdAt, stated.expiresAt,
                stated.reportAt, token.identifier, apps[app],
            ])
        return purchase
    }

    /// The tokens that nobody has reported, and that the service reports now.
    fileprivate func unreported(
        at moment: Timestamp, _ app: Int64, _ origins: Set<Origin>, limit: Int
    ) throws -> [ExternalPurchase] {
        try purchases(
            """
            WHERE report_at <= $1 AND app = $2 AND origin IN \(origins.sqlList)
            ORDER BY report_at, external_purchase_id LIMIT $3
            """,
            [moment, app, limit])
    }

    /// The tokens, the newest first.
    ///
    /// - Parameters:
    ///   - app: The number of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    fileprivate func list(
        of app: Int64?, in state: ExternalPurchase.State?, after position: ExternalPurchase.Position?, limit: Int
    ) throws -> [ExternalPurchase] {
        var filter = Filter()
        if let app { filter.add("app =", app) }
        if let state { filter.add("state =", state.rawValue) }
        if let position {
            // A cursor of another service.
            guard let number = apps[position.third] else { return [] }
            filter.addPosition(
                "learned_at, external_purchase_id, app", [position.first, position.second, number])
        }
        return try purchases(
            "\(filter.clause) ORDER BY learned_at DESC, external_purchase_id DESC, app DESC LIMIT \(filter.next(limit))",
            filter.arguments)
    }

    /// Writes the state that follows from a token's reports. The service does not report it by itself any more. A refused report is a duty
    /// that waits for a person.
    private func setState(of key: ExternalPurchaseReport.Key, at moment: Timestamp) throws {
        let all = try database.rows(
            """
            SELECT CASE WHEN next_attempt_at IS NULL THEN 0 ELSE 1 END, CASE WHEN accepted_at IS NULL THEN 0 ELSE 1 END,
                due_at, origin
            FROM external_purchase_report WHERE external_purchase_id = $1 AND app = $2 ORDER BY reported_at, request_id
            """,
            [key.externalPurchaseIdentifier, apps[key.app]]
        ) {
            (
                isWaiting: try $0.next() as Bool, isAccepted: try $0.next() as Bool, dueAt: try $0.next() as Timestamp,
                origin: try $0.next() as Origin
            )
        }
        let isWaiting = all.contains(where: \.isWaiting)
        let refused = isWaiting ? nil : all.last.flatMap { $0.isAccepted ? nil : $0 }
        let state: ExternalPurchase.State = isWaiting ? .waiting : refused == nil ? .reported : .refused
        try database.execute(
            "UPDATE external_purchase SET state = $1, report_at = NULL WHERE external_purchase_id = $2 AND app = $3",
            [state.rawValue, key.externalPurchaseIdentifier, apps[key.app]])
        let duties = StoreDutyRecords(database: database, apps: apps)
        try duties.forgetRefused(.externalPurchase, about: key.externalPurchaseIdentifier, of: key.app)
        guard let refused else { return }
        try duties.note(
            StoreDuty(
                kind: .externalPurchase, app: key.app, origin: refused.origin, subject: key.externalPurchaseIdentifier,
                deadline: refused.dueAt, isRefused: true), at: moment)
    }

    // MARK: Reports

    private func reports(_ clauses: String, _ arguments: [any SQLConvertible]) throws -> [ExternalPurchaseReport] {
        try database.rows(
            "SELECT \(Self.reportColumns.joined(separator: ", ")) FROM external_purchase_report \(clauses)", arguments,
            report)
    }

    private func report(_ row: inout ResultRow) throws -> ExternalPurchaseReport {
        let (purchase, request): (String, String) = (try row.next(), try row.next())
        let app = try apps.bundleIdentifier(of: try row.next())
        let (status, items): (String, String) = (try row.next(), try row.next())
        guard let status = ExternalPurchaseReport.Status(rawValue: status),
            case .array(let items) = try JSONParser.parse(Array(items.utf8))
        else { throw ColumnMismatch.column("status, line_items") }
        let lineItems = try items.map { item throws(ColumnMismatch) in
            guard case .object(let item) = item else { throw .column("line_items") }
            return item
        }
        let (reportedAt, reportedBy): (Timestamp, String?) = (try row.next(), try row.next())
        let (dueAt, attempts): (Timestamp, Int64) = (try row.next(), try row.next())
        let (nextAttemptAt, acceptedAt): (Timestamp?, Timestamp?) = (try row.next(), try row.next())
        let refusal: String? = try row.next()
        return ExternalPurchaseReport(
            .init(request, of: purchase, in: app), status, lineItems, reportedAt: reportedAt, by: reportedBy,
            dueAt: dueAt, attempts: Int(attempts), nextAttemptAt: nextAttemptAt, acceptedAt: acceptedAt,
            refusal: try refusal.map { text in
                guard case .object(let object) = try JSONParser.parse(Array(text.utf8)),
                    let refusal = ExternalPurchaseReport.Refusal(object)
                else { throw ColumnMismatch.column("refusal") }
                return refusal
            })
    }

    /// The reports about a token, the newest first.
    fileprivate func reports(about identifier: String, of app: String, limit: Int) throws -> [ExternalPurchaseReport] {
        try reports(
            """
            WHERE external_purchase_id = $1 AND app = $2 ORDER BY reported_at DESC, request_id DESC LIMIT $3
            """,
            [identifier, apps[app], limit])
    }

    private func values(of key: ExternalPurchaseReport.Key) -> [any SQLConvertible] {
        [key.externalPurchaseIdentifier, key.requestIdentifier, apps[key.app]]
    }

    fileprivate func report(_ key: ExternalPurchaseReport.Key) throws -> ExternalPurchaseReport? {
        try reports("WHERE external_purchase_id = $1 AND request_id = $2 AND app = $3", values(of: key)).first
    }

    /// Writes a report that is to be sent, in place of a refused one with its key.
    fileprivate func put(_ report: ExternalPurchaseReport, of origin: Origin) throws {
        let items = JSONValue.array(report.lineItems.map { .object($0) }).compactText
        if try self.report(report.key) == nil {
            try database.insert(
                into: "external_purchase_report", Self.reportColumns + ["origin"],
                [
                    values(of: report.key) + [
                        report.status.rawValue, items, report.reportedAt, report.reportedBy, report.dueAt,
                        report.attempts, report.nextAttemptAt, nil as Timestamp?, nil as String?, origin,
                    ]
                ])
        } else {
            try database.execute(
                """
                UPDATE external_purchase_report SET status = $1, line_items = $2, reported_at = $3, reported_by = $4,
                    due_at = $5, attempts = 0, next_attempt_at = $6, refusal = NULL
                WHERE external_purchase_id = $7 AND request_id = $8 AND app = $9
                """,
                [
                    report.status.rawValue, items, report.reportedAt, report.reportedBy, report.dueAt,
                    report.nextAttemptAt,
                ] + values(of: report.key))
        }
        try setState(of: report.key, at: report.reportedAt)
    }

    /// The reports that wait for an attempt, the longest waiting first. A report waits for the earlier ones about its token, to which its
    /// line items may refer.
    fileprivate func due(
        at moment: Timestamp, _ app: Int64, _ origins: Set<Origin>, limit: Int
    ) throws -> [ExternalPurchaseReport] {
        try reports(
            """
            AS report WHERE next_attempt_at <= $1 AND app = $2 AND origin IN \(origins.sqlList) AND NOT EXISTS (
                SELECT 1 FROM external_purchase_report AS earlier
                WHERE earlier.external_purchase_id = report.external_purchase_id AND earlier.app = report.app
                    AND earlier.next_attempt_at IS NOT NULL
                    AND (earlier.reported_at, earlier.request_id) < (report.reported_at, report.request_id))
            ORDER BY next_attempt_at, reported_at, request_id LIMIT $3
            """,
            [moment, app, limit])
    }

    /// The reports, the newest first.
    ///
    /// - Parameters:
    ///   - app: The number of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    fileprivate func list(
        of app: Int64?, in state: ExternalPurchaseReport.State?, after position: ExternalPurchaseReport.Position?,
        limit: Int
    ) throws -> [ExternalPurchaseReport] {
        var filter = Filter()
        if let app { filter.add("app =", app) }
        switch state {
        case .waiting?: filter.add("next_attempt_at IS NOT NULL")
        case .accepted?: filter.add("accepted_at IS NOT NULL")
        case .refused?: filter.add("next_attempt_at IS NULL AND accepted_at IS NULL")
        case nil: break
        }
        if let position {
            filter.addPosition(
                "reported_at, request_id, external_purchase_id", [position.first, position.second, position.third])
        }
        return try reports(
            """
            \(filter.clause) ORDER BY reported_at DESC, request_id DESC, external_purchase_id DESC
            LIMIT \(filter.next(limit))
            """, filter.arguments)
    }

    /// Puts the next attempt of a report off.
    ///
    /// - Returns: False if another process has begun an attempt.
    fileprivate func replace(
        _ known: Timestamp, with next: Timestamp, attempts: Int, of key: ExternalPurchaseReport.Key
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE external_purchase_report SET attempts = $1, next_attempt_at = $2
            WHERE external_purchase_id = $3 AND request_id = $4 AND app = $5 AND next_attempt_at = $6
            """,
            [attempts, next] + values(of: key) + [known]) > 0
    }

    /// Ends what waits. An attempt that was slow does not take back that Apple has accepted the report.
    ///
    /// - Parameter refusal: Apple's refusal; nil if it has accepted the report.
    fileprivate func settle(
        _ report: ExternalPurchaseReport, at moment: Timestamp, _ refusal: ExternalPurchaseReport.Refusal?
    ) throws {
        let isWritten =
            try database.execute(
                """
                UPDATE external_purchase_report SET next_attempt_at = NULL, accepted_at = $1, refusal = $2
                WHERE external_purchase_id = $3 AND request_id = $4 AND app = $5 AND accepted_at IS NULL
                """,
                [refusal == nil ? moment : nil, refusal?.json.compactText] + values(of: report.key)) > 0
        try setState(of: report.key, at: moment)
        guard isWritten, refusal == nil, let origin = try origin(of: report.key) else { return }
        try StoreDutyRecords(database: database, apps: apps).note(done: report.duty(at: origin), at: moment)
    }

    private func origin(of key: ExternalPurchaseReport.Key) throws -> Origin? {
        try database.value(
            """
            SELECT origin FROM external_purchase_report
            WHERE external_purchase_id = $1 AND request_id = $2 AND app = $3
            """, values(of: key))
    }

    fileprivate func write(_ refusal: ExternalPurchaseReport.Refusal, of key: ExternalPurchaseReport.Key) throws {
        try database.execute(
            """
            UPDATE external_purchase_report SET refusal = $1
            WHERE external_purchase_id = $2 AND request_id = $3 AND app = $4 AND accepted_at IS NULL
            """,
            [refusal.json.compactText] + values(of: key))
    }
}

/// The refusal in the column of a row.
extension ExternalPurchaseReport.Refusal {
    fileprivate var json: JSONValue {
        .object([
            "message": .string(message),
            "mistakes": mistakes.isEmpty
                ? nil
                : .array(
                    mistakes.map { mistake in
                        .object([
                            "errorCode": .integer(mistake.errorCode), "errorMessage": .string(mistake.errorMessage),
                            "fieldName": mistake.fieldName.map { .string($0) },
                            "lineItemId": mistake.lineItemId.map { .string($0) },
                        ])
                    }),
        ])
    }

    fileprivate init?(_ object: JSONObject) {
        guard let message = object.text("message") else { return nil }
        self.init(message, mistakes: Mistake.all(in: object["mistakes"]))
    }
}

extension ExternalPurchaseReport.Refusal.Mistake {
    /// The largest length of the texts of a mistake.
    private static let maximumLength = 256

    /// The mistakes in a member of Apple's answer (`SendReportErrorResponse`); empty for another value.
    package static func all(in value: JSONValue?) -> [Self] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { element in
            func text(_ object: JSONObject, _ name: String) -> String? {
                object.text(name).flatMap { $0.hasNUL ? nil : String($0.prefix(maximumLength)) }
            }
            guard case .object(let object) = element, case .number(let number)? = object["errorCode"],
                let code = Int64(number.text)
            else { return nil }
            return Self(
                errorCode: code, errorMessage: text(object, "errorMessage") ?? "",
                fieldName: text(object, "fieldName"), lineItemId: text(object, "lineItemId"))
        }
    }
}

/// The use cases of purchases outside the App Store.
extension EntitlementService {
    /// Records a token that a back end has got from its app. A known one is announced then.
    ///
    /// - Throws: `RedemptionError` for a token of an environment that the service does not accept; `StorageFault`.
    package func announce(_ token: ExternalPurchase.Token, of app: String) async throws -> ExternalPurchase {
        // Only the identifier tells the environment (StoreKit, "Recognize tokens from the testing environment").
        let origins: [Origin] =
            token.identifier.hasPrefix("SANDBOX")
            ? [.appleSandbox, .localSandbox] : [.appleProduction, .localProduction]
        guard let origin = origins.first(where: accepted.all.contains) else {
            throw RedemptionError.refused(ProofRefusal(.originNotAccepted))
        }
        let now = clock.now()
        return try await ledger.write { transaction in
            try transaction.register(app: app)
            return try transaction.externalPurchases.learn(token, of: app, at: origin, isAnnounced: true, at: now)
        }
    }

    /// Records a report, which then waits to be sent. A refused report with the same identifier is replaced, as Apple wants it.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app of the caller; nil for a caller of all apps.
    ///   - named: The bundle identifier that the caller names; nil if the token tells the app.
    ///   - check: Throws if the service cannot report for the app of the token.
    /// - Returns: The recorded report: the earlier one, if it has the same content and was not refused.
    /// - Throws: `ExternalPurchaseError`, `StorageFault`.
    package func report(
        _ status: ExternalPurchaseReport.Status, _ lineItems: [JSONObject], about identifier: String,
        as requestIdentifier: String, of app: String?, named: String? = nil, by key: String?,
        checking check: @escaping @Sendable (ExternalPurchase) throws -> Void
    ) async throws -> ExternalPurchaseReport {
        let now = clock.now()
        return try await ledger.write { transaction in
            let records = try transaction.externalPurchases
            let found = try records.purchases(identifier).filter { purchase in
                [app, named].allSatisfy { $0?.hasSameBytes(as: purchase.app) ?? true }
            }
            guard let purchase = found.first else { throw ExternalPurchaseError.unknown }
            // An app can announce a token that is another app's, so that the first of several is not the one that is meant.
            guard found.count == 1 else { throw ExternalPurchaseError.ambiguous(apps: found.map(\.app)) }
            try check(purchase)
            let report = ExternalPurchaseReport(
                requestIdentifier, about: purchase, status, lineItems, at: now, by: key)
            if let known = try records.report(report.key), known.state != .refused {
                guard known.content == report.content else { throw ExternalPurchaseError.differs }
                return known
            }
            try records.put(report, of: purchase.origin)
            return report
        }
    }

    /// Makes the reports of tokens that no back end has reported in time: as tokens without transactions, or as unrecognized ones, if no
    /// back end has announced them ("Reporting unrecognized and transactionless tokens").
    package func reportUnreportedExternalPurchases(of app: String, at origins: Set<Origin>) async throws {
        let now = clock.now()
        let hasWork = try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app)?.number else { return false }
            return try !transaction.externalPurchases.unreported(at: now, app, origins, limit: 1).isEmpty
        }
        guard hasWork else { return }
        try await ledger.writeInBackground { transaction in
            guard let app = try transaction.number(ofApp: app)?.number else { return }
            let records = try transaction.externalPurchases
            for purchase in try records.unreported(at: now, app, origins, limit: 100) {
                let report = ExternalPurchaseReport(
                    UUID(randomness: randomness).uuidString.lowercased(), about: purchase,
                    purchase.isAnnounced ? .noLineItem : .unrecognizedToken, at: now, by: nil)
                try records.put(report, of: purchase.origin)
            }
        }
    }

    /// The reports to send now.
    package func externalPurchaseReportsToSend(
        of app: String, at origins: Set<Origin>, limit: Int
    ) async throws -> [ExternalPurchaseReport] {
        let now = clock.now()
        return try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app)?.number else { return [] }
            return try transaction.externalPurchases.due(at: now, app, origins, limit: limit)
        }
    }

    /// Begins an attempt, after whose failure the next one follows a pause. A service that ends before the result sends the same report
    /// again, under the same identifier.
    ///
    /// - Returns: False if another service has begun one.
    package func beginAttempt(of report: ExternalPurchaseReport) async throws -> Bool {
        guard let retry = report.retry else { return false }
        let next = retry.attempted(at: clock.now())
        return try await ledger.writeInBackground {
            try $0.externalPurchases.replace(
                retry.nextAttemptAt, with: next.nextAttemptAt, attempts: next.attempts, of: report.key)
        }
    }

    package func recordAcceptance(of report: ExternalPurchaseReport) async throws {
        let now = clock.now()
        try await ledger.writeInBackground { try $0.externalPurchases.settle(report, at: now, nil) }
    }

    /// Records the error of an attempt.
    ///
    /// - Parameter isFinal: True if Apple refuses the report.
    package func failed(
        _ report: ExternalPurchaseReport, _ refusal: ExternalPurchaseReport.Refusal, isFinal: Bool
    ) async throws {
        let now = clock.now()
        try await ledger.writeInBackground { transaction in
            let records = try transaction.externalPurchases
            if isFinal {
                try records.settle(report, at: now, refusal)
            } else {
                try records.write(refusal, of: report.key)
            }
        }
    }

    /// The tokens of purchases outside the App Store, the newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    package func externalPurchases(
        of app: String?, in state: ExternalPurchase.State?, after position: ExternalPurchase.Position?, limit: Int
    ) async throws -> [ExternalPurchase] {
        try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app) else { return [] }
            return try transaction.externalPurchases.list(of: app.number, in: state, after: position, limit: limit)
        }
    }

    /// A token with the reports about it, the newest first; nil if the service does not know it.
    package func externalPurchase(
        _ identifier: String, of app: String, limit: Int
    ) async throws -> (purchase: ExternalPurchase, reports: [ExternalPurchaseReport])? {
        try await ledger.read { transaction in
            let records = try transaction.externalPurchases
            let found = try records.purchases(identifier).first { $0.app.hasSameBytes(as: app) }
            return try found.map { ($0, try records.reports(about: identifier, of: app, limit: limit)) }
        }
    }

    /// The reports about them, the newest first, with the same parameters.
    package func externalPurchaseReports(
        of app: String?, in state: ExternalPurchaseReport.State?, after position: ExternalPurchaseReport.Position?,
        limit: Int
    ) async throws -> [ExternalPurchaseReport] {
        try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app) else { return [] }
            return try transaction.externalPurchases.list(of: app.number, in: state, after: position, limit: limit)
        }
    }
}

extension LedgerTransaction {
    fileprivate var externalPurchases: ExternalPurchaseRecords {
        get throws { ExternalPurchaseRecords(database: database, apps: try apps) }
    }

    /// True if the service knows a token of an origin.
    func hasExternalPurchases(of origin: Origin) throws -> Bool {
        guard try database.has("external_purchase") else { return false }
        return try database.hasRow("SELECT 1 FROM external_purchase WHERE origin = $1 LIMIT 1", [origin])
    }
}

extension LedgerFeature {
    /// The tokens of purchases outside the App Store, and the reports about them.
    package static let externalPurchases = LedgerFeature(tables: [.externalPurchase, .externalPurchaseReport])
}

extension Table {
    /// The tokens of purchases outside the App Store. `created_at` and `expires_at`: Apple's dates; `is_announced`: 1 if a back end knows the
    /// token; `report_at`: the time at which the service reports it by itself, null once there is a report.
    fileprivate static let externalPurchase = Table(
        name: "external_purchase", family: .globalKey,
        columns: [
            .text("external_purchase_id"), .integer("app"), .origin("origin"), .text("token_type").optional,
            .integer("created_at"), .integer("expires_at").optional, .integer("learned_at"),
            .integer("is_announced", check: "is_announced IN (0, 1)"), .text("state"), .integer("report_at").optional,
        ],
        key: ["external_purchase_id", "app"]
    )
    .indexed("external_purchase_to_report", by: ["report_at"], where: "report_at IS NOT NULL")
    .indexed("external_purchase_by_time", by: ["learned_at", "external_purchase_id", "app"])

    /// The reports about the tokens. `request_id`: Apple's `requestIdentifier`; `line_items`: a JSON array with Apple's names; `reported_by`: the
    /// API key, null for the service itself; `next_attempt_at`: null once Apple has accepted the report (`accepted_at`) or refused it;
    /// `refusal`: the error of the last attempt as JSON, with Apple's mistakes.
    fileprivate static let externalPurchaseReport = Table(
        name: "external_purchase_report", family: .globalKey,
        columns: [
            .text("external_purchase_id"), .text("request_id"), .integer("app"), .text("status"), .text("line_items"),
            .integer("reported_at"), .text("reported_by").optional, .integer("due_at"),
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("accepted_at").optional, .text("refusal").optional, .origin("origin"),
        ],
        key: ["external_purchase_id", "request_id", "app"],
        checks: ["next_attempt_at IS NULL OR accepted_at IS NULL"], hasLargeRows: true
    )
    .indexed("external_purchase_report_waiting", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("external_purchase_report_by_time", by: ["reported_at", "request_id", "external_purchase_id"])
    .takingBack("next_attempt_at", within: GooglePurchase.Acknowledgement.longestPause)
}
