import Ledger
import Proofs

/// The SQL of external transactions, inside the caller's transaction.
private struct ExternalTransactionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    private static let columns = [
        "transaction_id", "refund_id", "package", "realm", "app", "content", "initial_id", "reported_at", "due_at",
        "reported_by", "attempts", "next_attempt_at", "passed_on_at", "last_error",
    ]

    /// - Parameter clauses: The SQL after the table.
    private func reports(
        _ clauses: String, _ arguments: [any SQLConvertible]
    ) throws -> [ExternalTransactionReport] {
        try database.rows(
            "SELECT \(Self.columns.joined(separator: ", ")) FROM external_transaction \(clauses)", arguments, report)
    }

    private func report(_ row: inout ResultRow) throws -> ExternalTransactionReport {
        let (transaction, refund): (String, String) = (try row.next(), try row.next())
        let (package, realm): (String, String) = (try row.next(), try row.next())
        let (app, content): (Int64, String) = (try row.next(), try row.next())
        guard let realm = Realm(rawValue: realm), case .object(let content) = try JSONParser.parse(Array(content.utf8))
        else { throw ColumnMismatch.column("realm, content") }
        return ExternalTransactionReport(
            .init(
                realm: realm, packageName: package, transactionIdentifier: transaction, part: .init(column: refund)),
            of: try apps.bundleIdentifier(of: app), content, continuing: try row.next(), reportedAt: try row.next(),
            dueAt: try row.next(), by: try row.next(), attempts: try row.next(), nextAttemptAt: try row.next(),
            passedOnAt: try row.next(), lastError: try row.next())
    }

    private func values(of key: ExternalTransactionReport.Key) -> [any SQLConvertible] {
        [key.transactionIdentifier, key.part.column, key.packageName, key.realm.rawValue]
    }

    func report(_ key: ExternalTransactionReport.Key) throws -> ExternalTransactionReport? {
        try reports(
            "WHERE transaction_id = $1 AND refund_id = $2 AND package = $3 AND realm = $4", values(of: key)
        ).first
    }

    /// The reports about a transaction: the sale, then the refunds.
    func reports(
        about identifier: String, of package: String, in realm: Realm, limit: Int
    ) throws -> [ExternalTransactionReport] {
        try reports(
            """
            WHERE transaction_id = $1 AND package = $2 AND realm = $3 ORDER BY reported_at, refund_id LIMIT $4
            """,
            [identifier, package, realm.rawValue, limit])
    }

    /// Writes a report, unless there is one with its key.
    func add(_ report: ExternalTransactionReport) throws {
        try database.insert(
            into: "external_transaction", Self.columns,
            [
                values(of: report.key) + [
                    apps[report.app], JSONValue.object(report.content).compactText, report.initialIdentifier,
                    report.reportedAt, report.dueAt, report.reportedBy, report.attempts, report.nextAttemptAt,
                    report.passedOnAt, report.lastError,
                ]
            ], isNew: false)
    }

    /// Writes the correction of a refused report. Its deadline stays.
    func correct(_ report: ExternalTransactionReport) throws {
        try database.execute(
            """
            UPDATE external_transaction SET content = $1, initial_id = $2, reported_by = $3, attempts = 0,
                next_attempt_at = $4, last_error = NULL
            WHERE transaction_id = $5 AND refund_id = $6 AND package = $7 AND realm = $8
            """,
            [
                JSONValue.object(report.content).compactText, report.initialIdentifier, report.reportedBy,
                report.nextAttemptAt,
            ] + values(of: report.key))
    }

    /// The reports that wait for an attempt, the longest waiting first.
    func due(at moment: Timestamp, _ realm: Realm, _ package: String, limit: Int) throws -> [ExternalTransactionReport]
    {
        try reports(
            """
            WHERE next_attempt_at <= $1 AND realm = $2 AND package = $3
            ORDER BY next_attempt_at, reported_at, transaction_id, refund_id LIMIT $4
            """,
            [moment, realm.rawValue, package, limit])
    }

    /// The reports about some transactions that wait.
    func waiting(
        _ realm: Realm, _ package: String, about transactions: [String]
    ) throws -> [ExternalTransactionReport.Waiting] {
        guard !transactions.isEmpty else { return [] }
        return try database.rows(
            """
            SELECT transaction_id, refund_id, reported_at, next_attempt_at FROM external_transaction
            WHERE transaction_id \(database.isIn("$1")) AND realm = $2 AND package = $3 AND next_attempt_at IS NOT NULL
            """,
            [database.list(eachOf: transactions), realm.rawValue, package]
        ) { row in
            .init(
                transactionIdentifier: try row.next(), part: .init(column: try row.next()), reportedAt: try row.next(),
                nextAttemptAt: try row.next())
        }
    }

    /// The partial refunds of a transaction that Google Play has.
    func passedOnRefunds(of key: ExternalTransactionReport.Key) throws -> [ExternalTransactionReport] {
        try reports(
            "WHERE transaction_id = $1 AND package = $2 AND realm = $3 AND passed_on_at IS NOT NULL",
            [key.transactionIdentifier, key.packageName, key.realm.rawValue]
        ).filter { $0.key.part != .sale }
    }

    /// The reports, the newest first.
    ///
    /// - Parameters:
    ///   - app: The number of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    func list(
        of app: Int64?, in state: ExternalTransactionReport.State?, after position: ExternalTransactionReport.Position?,
        limit: Int
    ) throws -> [ExternalTransactionReport] {
        var filter = Filter()
        if let app { filter.add("app =", app) }
        switch state {
        case .waiting?: filter.add("next_attempt_at IS NOT NULL")
        case .passedOn?: filter.add("passed_on_at IS NOT NULL")
        case .refused?: filter.add("next_attempt_at IS NULL AND passed_on_at IS NULL")
        case nil: break
        }
        if let position {
            filter.addPosition(
                "reported_at, transaction_id, refund_id", [position.first, position.second, position.third])
        }
        return try reports(
            """
            \(filter.clause) ORDER BY reported_at DESC, transaction_id DESC, refund_id DESC
            LIMIT \(filter.next(limit))
            """, filter.arguments)
    }

    /// Puts the next attempt of a report off.
    ///
    /// - Returns: False if another process has begun an attempt.
    func replace(_ known: Timestamp, with next: Timestamp, attempts: Int, of key: ExternalTransactionReport.Key) throws
        -> Bool
    {
        try database.execute(
            """
            UPDATE external_transaction SET attempts = $1, next_attempt_at = $2
            WHERE transaction_id = $3 AND refund_id = $4 AND package = $5 AND realm = $6 AND next_attempt_at = $7
            """,
            [attempts, next] + values(of: key) + [known]) > 0
    }

    /// Ends what waits.
    ///
    /// - Parameter passedOnAt: Nil if Google Play refuses the report for good.
    func settle(_ key: ExternalTransactionReport.Key, passedOnAt: Timestamp?, _ error: String?) throws {
        try database.execute(
            """
            UPDATE external_transaction SET next_attempt_at = NULL, passed_on_at = $1, last_error = $2
            WHERE transaction_id = $3 AND refund_id = $4 AND package = $5 AND realm = $6
            """,
            [passedOnAt, error] + values(of: key))
    }

    func write(_ error: String, of key: ExternalTransactionReport.Key) throws {
        try database.execute(
            """
            UPDATE external_transaction SET last_error = $1
            WHERE transaction_id = $2 AND refund_id = $3 AND package = $4 AND realm = $5
            """,
            [error] + values(of: key))
    }
}

/// The use cases of external transactions.
extension GooglePurchaseService {
    package func key(
        ofExternalTransaction identifier: String, _ part: ExternalTransactionReport.Part, in realm: Realm
    ) -> ExternalTransactionReport.Key {
        .init(realm: realm, packageName: packageName, transactionIdentifier: identifier, part: part)
    }

    /// The reports to pass on now, those that no other report holds up. The others are looked at after those.
    package func externalTransactionsToPassOn(
        in realm: Realm, limit: Int
    ) async throws -> (due: [ExternalTransactionReport], mayBeMore: Bool) {
        let (now, package) = (entitlements.clock.now(), packageName)
        let (found, waiting) = try await entitlements.ledger.read { transaction in
            let records = try transaction.externalTransactions
            let found = try records.due(at: now, realm, package, limit: limit)
            let named = Set(found.flatMap { [$0.key.transactionIdentifier, $0.initialIdentifier].compactMap(\.self) })
            return (found, try records.waiting(realm, package, about: named.sorted()))
        }
        var (due, later): ([ExternalTransactionReport], [(ExternalTransactionReport, Timestamp)]) = ([], [])
        for report in found {
            let blockers = waiting.filter(report.follows).map(\.nextAttemptAt)
            if let latest = blockers.max() {
                later.append((report, max(latest, now).adding(seconds: 1)))
            } else {
                due.append(report)
            }
        }
        if !later.isEmpty {
            try await entitlements.ledger.writeInBackground { [later] transaction in
                let records = try transaction.externalTransactions
                for (report, next) in later {
                    guard let known = report.nextAttemptAt else { continue }
                    _ = try records.replace(known, with: next, attempts: report.attempts, of: report.key)
                }
            }
        }
        return (due, found.count == limit)
    }

    /// Begins an attempt, after whose failure the next one follows a pause. A service that ends before the result tries again, too.
    ///
    /// - Returns: False if another service has begun one.
    package func beginAttempt(of report: ExternalTransactionReport) async throws -> Bool {
        guard let retry = report.retry else { return false }
        let next = retry.attempted(at: entitlements.clock.now())
        return try await entitlements.ledger.writeInBackground {
            try $0.externalTransactions.replace(
                retry.nextAttemptAt, with: next.nextAttemptAt, attempts: next.attempts, of: report.key)
        }
    }

    package func passedOn(_ report: ExternalTransactionReport) async throws {
        let now = entitlements.clock.now()
        try await entitlements.ledger.writeInBackground {
            try $0.externalTransactions.settle(report.key, passedOnAt: now, nil)
            try $0.storeDuties.note(done: report.duty, at: now)
        }
    }

    /// Records the error of an attempt.
    ///
    /// - Parameter isFinal: True if Google Play refuses the report for good.
    package func failed(_ report: ExternalTransactionReport, _ error: String, isFinal: Bool) async throws {
        let now = entitlements.clock.now()
        try await entitlements.ledger.writeInBackground { transaction in
            let records = try transaction.externalTransactions
            if isFinal {
                try records.settle(report.key, passedOnAt: nil, error)
                var duty = report.duty
                duty.isRefused = true
                try transaction.storeDuties.note(duty, at: now)
            } else {
                try records.write(error, of: report.key)
            }
        }
    }

    /// The amount before tax that is left at Google Play after a partial refund, in millionths; nil for another report, and for a sale that
    /// states no amount.
    ///
    /// - Throws: `BrokenInvariant` for a refund without its sale.
    package func preTaxMicros(after refund: ExternalTransactionReport) async throws -> Int64? {
        guard case .partialRefund = refund.key.part, let amount = refund.preTaxMicros else { return nil }
        return try await entitlements.ledger.read { transaction in
            let records = try transaction.externalTransactions
            guard let sale = try records.report(refund.key.with(.sale)) else {
                throw BrokenInvariant(
                    "a refund of an external transaction has its sale", refund.key.transactionIdentifier)
            }
            let earlier = try records.passedOnRefunds(of: refund.key).compactMap(\.preTaxMicros)
            return sale.preTaxMicros.map { earlier.reduce($0 - amount, -) }
        }
    }
}

extension EntitlementService {
    /// Records a report, which then waits to be passed on, in place of a refused one with its key.
    ///
    /// - Returns: The recorded report: the earlier one, if it has the same content and was not refused.
    /// - Throws: `ExternalTransactionError`, `StorageFault`.
    package func record(_ report: ExternalTransactionReport) async throws -> ExternalTransactionReport {
        let key = report.key
        return try await ledger.write { transaction in
            try transaction.register(app: report.app)
            let records = try transaction.externalTransactions
            if key.part != .sale, try records.report(key.with(.sale)) == nil { throw ExternalTransactionError.unknown }
            if let known = try records.report(key), known.state == .refused {
                try records.correct(report)
                try transaction.storeDuties.forgetRefused(
                    .externalTransaction, about: key.transactionIdentifier, of: report.app, due: known.duty.deadline)
            }
            try records.add(report)
            guard let recorded = try records.report(key), recorded.content == report.content else {
                throw ExternalTransactionError.differs
            }
            return recorded
        }
    }

    /// The reports about one transaction of an app on Google Play: the sale, then its refunds in their order. Empty if there is no sale.
    package func externalTransaction(
        _ identifier: String, of packageName: String, in realm: Realm, limit: Int
    ) async throws -> [ExternalTransactionReport] {
        try await ledger.read {
            try $0.externalTransactions.reports(about: identifier, of: packageName, in: realm, limit: limit)
        }
    }

    /// The reports about external transactions, the newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the only app; nil for all apps.
    ///   - state: The only state; nil for all states.
    package func externalTransactions(
        of app: String?, in state: ExternalTransactionReport.State?,
        after position: ExternalTransactionReport.Position?,
        limit: Int
    ) async throws -> [ExternalTransactionReport] {
        try await ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app) else { return [] }
            return try transaction.externalTransactions.list(
                of: app.number, in: state, after: position, limit: limit)
        }
    }
}

extension LedgerTransaction {
    fileprivate var externalTransactions: ExternalTransactionRecords {
        get throws { ExternalTransactionRecords(database: database, apps: try apps) }
    }

    /// True if a back end has reported a sale for a Google Play.
    func hasExternalTransactions(of realm: Realm) throws -> Bool {
        guard try database.has("external_transaction") else { return false }
        return try database.hasRow("SELECT 1 FROM external_transaction WHERE realm = $1 LIMIT 1", [realm.rawValue])
    }
}

extension Table {
    /// The sales outside Google's billing, and refunds of them, that back ends have reported. `refund_id`: empty for the sale, `~` for
    /// the refund of all that is left, else the identifier of a partial refund; `content`: the body of the request to Google Play;
    /// `initial_id`: the transaction that Google Play has to know before a sale; `due_at`: the deadline; `next_attempt_at`: null once
    /// Google Play has the report (`passed_on_at`), or refuses it for good (`last_error`).
    static let externalTransaction = Table(
        name: "external_transaction", family: .globalKey,
        columns: [
            .text("transaction_id"), .text("refund_id"), .text("package"), .text("realm"), .integer("app"),
            .text("content"), .text("initial_id").optional, .integer("reported_at"), .integer("due_at"),
            .text("reported_by"), .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("passed_on_at").optional, .text("last_error").optional,
        ],
        key: ["transaction_id", "refund_id", "package", "realm"],
        checks: ["next_attempt_at IS NULL OR passed_on_at IS NULL"]
    )
    .indexed("external_transaction_waiting", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("external_transaction_by_time", by: ["reported_at", "transaction_id", "refund_id"])
    .takingBack("next_attempt_at", within: GooglePurchase.Acknowledgement.longestPause)
}
