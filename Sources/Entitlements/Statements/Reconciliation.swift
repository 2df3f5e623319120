import Foundation
import Ledger
import Proofs
import Synchronization
import Vocabulary

/// The last complete reconciliation of a subject with the App Store.
package struct ReconciliationCheckpoint: Hashable, Sendable {
    /// The moment until which the statements of the App Store were fetched.
    package let until: Timestamp
    /// The number of each outcome of the run: `granted`, `duplicate`, …, or the code of a refusal.
    package let findings: [String: Int]
}

/// The use cases of the reconciliation with the App Store.
extension EntitlementService {
    /// Applies a transaction that the App Store has returned, like a notification. It goes to the user of its account token, or
    /// to the owner of the purchase. A statement for nobody is parked until a user presents the transaction.
    ///
    /// - Parameter renewalInfo: The signed renewal information of the same subscription; nil without one.
    package func receive(statement proof: [UInt8], renewalInfo: [UInt8]? = nil) async throws -> NotificationOutcome {
        let verified = try verify(proof)
        guard let purchases = verified.purchases, let purchase = purchases.first, purchases.count == 1 else {
            throw RedemptionError.notRedeemable
        }
        let renewal = try renewalInfo.map { try self.renewal(in: $0, of: purchase, from: verified.origin) }
        return try await outcome(of: .state(try claims(verified, proof).claim(purchase, renewal: renewal)))
    }

    private func renewal(
        in proof: [UInt8],
        of purchase: ProvenPurchase,
        from origin: Origin
    ) throws(RedemptionError) -> StatedRenewal {
        let verified = try verify(proof)
        guard case .renewalInfo(let content) = verified.content, let renewal = verified.renewal,
            verified.origin == origin,
            content.originalTransactionId.hasSameBytes(as: purchase.originalTransactionIdentifier)
        else { throw .notRedeemable }
        return renewal
    }
}

extension LedgerTransaction {
    /// The checkpoint of a reconciliation; nil if there was none.
    package func checkpoint(ofReconciliation subject: String) throws -> ReconciliationCheckpoint? {
        try database.row("SELECT findings, reconciled_until FROM reconciliation WHERE subject = $1", [subject]) { row in
            let text: String = try row.next()
            guard let findings = try? JSONDecoder().decode([String: Int].self, from: Data(text.utf8)) else {
                throw ColumnMismatch.column("findings")
            }
            return ReconciliationCheckpoint(until: try row.next(), findings: findings)
        }
    }

    /// Stores the checkpoint of a reconciliation, unless a later one is stored.
    package func setReconciled(_ subject: String, until moment: Timestamp, findings: [String: Int]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        _ = try database.execute(
            """
            INSERT INTO reconciliation (subject, reconciled_until, findings) VALUES ($1, $2, $3)
            ON CONFLICT (subject) DO UPDATE
            SET reconciled_until = excluded.reconciled_until, findings = excluded.findings
            WHERE excluded.reconciled_until > reconciliation.reconciled_until
            """,
            [subject, moment, String(decoding: try encoder.encode(findings), as: UTF8.self)])
    }
}

/// The runs of a reconciler in this process: the present and the last one of each subject, and requests to run now.
///
/// The schedule makes all runs, one after the other, so that a requested run never overlaps with a regular one.
package final class ReconciliationRuns: Sendable {
    package enum Subject: String, Sendable, CaseIterable {
        /// The notifications since the last run.
        case notifications
        /// The histories of all customers.
        case histories
    }

    /// A run that has ended.
    package struct Run: Hashable, Sendable {
        package let startedAt: Timestamp
        package let endedAt: Timestamp
        /// The number of each outcome; empty for a failed run.
        package let findings: [String: Int]
        /// The code of the error; nil for a complete run.
        package let errorCode: String?
    }

    package struct State: Hashable, Sendable {
        /// The start of the run under way; nil if there is none.
        package fileprivate(set) var runningSince: Timestamp?
        /// The last run of this process; nil if there was none.
        package fileprivate(set) var last: Run?
        /// True if a run was requested and has not started.
        package fileprivate(set) var isRequested = false

        /// True if a run is under way or requested.
        package var isRunning: Bool { runningSince != nil || isRequested }
    }

    private struct Entry {
        var state = State()
        var wake: AsyncStream<Void>.Continuation?
    }

    private let entries = Mutex<[Subject: Entry]>([:])

    package init() {}

    private func entry<Value>(_ subject: Subject, _ body: (inout Entry) -> Value) -> Value {
        entries.withLock { body(&$0[subject, default: Entry()]) }
    }

    package func state(of subject: Subject) -> State { entry(subject) { $0.state } }

    /// Requests a run, which the schedule starts at once.
    ///
    /// - Returns: False if a run is under way or already requested.
    package func request(_ subject: Subject) -> Bool {
        entry(subject) { entry in
            guard !entry.state.isRunning else { return false }
            entry.state.isRequested = true
            entry.wake?.finish()
            return true
        }
    }

    /// Waits until a run is requested, or the time has passed.
    ///
    /// - Parameter seconds: The longest time; nil for no limit.
    package func wait(for subject: Subject, upTo seconds: Int64?) async {
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        entry(subject) { entry in
            entry.wake = wake
            if entry.state.isRequested { wake.finish() }
        }
        await withTaskGroup { group in
            group.addTask { for await _ in wakes {} }
            if let seconds { group.addTask { try? await Task.sleep(for: .seconds(seconds)) } }
            await group.next()
            group.cancelAll()
        }
    }

    package func begin(_ subject: Subject, at moment: Timestamp) {
        entry(subject) { entry in
            entry.state.runningSince = moment
            entry.state.isRequested = false
        }
    }

    /// Records the end of a run.
    ///
    /// - Parameter errorCode: The code of the error; nil for a complete run.
    package func end(_ subject: Subject, _ findings: [String: Int], errorCode: String?, at moment: Timestamp) {
        entry(subject) { entry in
            guard let startedAt = entry.state.runningSince else { return }
            entry.state.runningSince = nil
            entry.state.last = Run(
                startedAt: startedAt, endedAt: moment, findings: findings, errorCode: errorCode)
        }
    }
}

/// An error of a request to the App Store Server API. Changes that were applied before stay. A retry changes nothing twice.
package enum ReconciliationError: RuledError, Equatable {
    case keyInvalid
    case unreachable(host: String)
    /// - Parameter code: Apple's number; nil if the answer has none.
    case refused(status: Int, code: Int64?)
    /// The App Store refuses tokens because of this machine's clock. Negative seconds are behind the App Store's clock.
    case clockWrong(secondsAhead: Int64)
    case answerInvalid
    /// The service refused an answer of the App Store, for a cause that the operator can remove.
    case refusedByService(code: String)
    case cancelled

    package var rule: ErrorRule {
        switch self {
        case .keyInvalid:
            ErrorRule(
                "appStoreKeyInvalid", .badGateway,
                "The private key is not a key for the App Store Server API. Use the EC key in PEM (.p8) from App Store "
                    + "Connect.",
                korean: "App Store Server API의 키가 아닙니다. App Store Connect의 EC 키(PEM, .p8)를 사용하세요.")
        case .unreachable(let host):
            ErrorRule(
                "appStoreUnreachable", .unavailable, mayRetry: true,
                "The App Store Server API at \"\(host)\" does not answer. Try again later.",
                korean: "App Store Server API(\"\(host)\")가 응답하지 않습니다. 나중에 다시 시도하세요.")
        case .refused(let status, let code):
            refusal(status, code)
        case .clockWrong(let seconds):
            ErrorRule(
                "appStoreRefused", .badGateway,
                "The App Store Server API refuses tokens: this machine's clock is \(abs(seconds)) seconds "
                    + "\(seconds < 0 ? "behind" : "ahead"). Set the clock.",
                korean:
                    "컴퓨터의 시계가 \(abs(seconds))초 \(seconds < 0 ? "느려" : "빨라") App Store Server API가 토큰을 거절합니다. 시계를 맞추세요.")
        case .answerInvalid:
            ErrorRule(
                "appStoreAnswerInvalid", .badGateway, mayRetry: true,
                "The answer of the App Store Server API does not have Apple's form. Check the address.",
                korean: "App Store Server API의 응답이 Apple의 형식이 아닙니다. 주소를 확인하세요.")
        case .refusedByService(let code):
            ErrorRule(
                code, .badGateway,
                "The service refuses the answer of the App Store (\(code)). Remove the cause, and the service asks again.",
                korean: "서비스가 App Store의 응답을 거절합니다(\(code)). 원인을 없애면 서비스가 다시 요청합니다.")
        case .cancelled:
            ErrorRule(
                "appStoreCancelled", .unavailable, mayRetry: true,
                "The request to the App Store Server API was cancelled.",
                korean: "App Store Server API에 보낸 요청이 취소되었습니다.")
        }
    }

    private func refusal(_ status: Int, _ code: Int64?) -> ErrorRule {
        let mayRetry = status == 429 || status >= 500
        let number = code.map { " (\($0))" } ?? ""
        let isOfKey = status == 401
        return ErrorRule(
            "appStoreRefused", mayRetry ? .unavailable : .badGateway, mayRetry: mayRetry,
            isOfKey
                ? "The App Store Server API does not accept the key. Check the key, its identifier, the issuer's identifier, "
                    + "and the app."
                : "The App Store Server API answered with \(status)\(number).",
            korean: isOfKey
                ? "App Store Server API가 키를 받아들이지 않습니다. 키와 키의 식별자, 발급자의 식별자, 앱을 확인하세요."
                : "App Store Server API가 \(status)\(number)로 응답했습니다.")
    }

    /// Apple's numbers for errors that a retry may solve.
    private static let retryableCodes: Set<Int64> = [4_040_002, 4_040_004, 4_040_006]

    /// True if the App Store refused the request and would refuse a retry.
    package var isFinal: Bool {
        guard case .refused(let status, let code?) = self else { return false }
        return (400...499).contains(status) && ![401, 403, 408, 429].contains(status)
            && !Self.retryableCodes.contains(code)
    }

    /// True if the error concerns one request, and others may succeed.
    package var concernsOneRequest: Bool {
        switch self {
        case .answerInvalid, .refusedByService: true
        case .refused(let status, let code): isFinal || status >= 500 || code.map(Self.retryableCodes.contains) == true
        case .keyInvalid, .unreachable, .clockWrong, .cancelled: false
        }
    }
}

/// A user with redeemed transactions, and one of them, by which the App Store finds the customer.
package struct Customer: Hashable, Sendable {
    /// The number of the user in the ledger. Newer users have greater numbers.
    package let number: Int64
    package let user: User
    package let transactionIdentifier: String
}

/// The customers whose purchases are reconciled with the App Store.
extension LedgerTransaction {
    /// Users with redeemed transactions, once for each of their origins, in a stable order.
    ///
    /// - Parameters:
    ///   - number: The number of the last user of the previous page; 0 for the first page.
    ///   - origins: The origins of the purchases.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - limit: The maximum number of users.
    package func customers(
        after number: Int64,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [Customer] {
        guard let app = try self.number(ofApp: app) else { return [] }
        // The query uses the user's index, not the origin's, because nearly all rows have the same origin.
        let isOfOrigins =
            "coalesce(bought.origin, 99) IN \(origins.sqlList) \(database.isIn(app.number, of: "bought"))"
        return try database.rows(
            """
            SELECT user_id, issuer, name, transaction_id FROM (
                SELECT customer.user_id, issuer, name, transaction_id, row_number() OVER (
                    PARTITION BY customer.user_id, origin ORDER BY sequence DESC) AS age
                FROM (SELECT user_id, issuer, name FROM "user" WHERE user_id > $1 AND (
                        -- No EXISTS, for which PostgreSQL may read all transactions.
                        SELECT sequence FROM redeemed_transaction AS bought
                        WHERE bought.user_id = "user".user_id AND \(isOfOrigins) LIMIT 1) IS NOT NULL
                    ORDER BY user_id LIMIT $2) AS customer
                JOIN redeemed_transaction AS bought ON bought.user_id = customer.user_id AND \(isOfOrigins)) AS bought
            WHERE age = 1 ORDER BY user_id
            """,
            [number, limit], Customer.init
        ).compactMap(\.self)
    }

    /// The customers for whom imports expect purchases, one for each purchase, in the order of the original transactions.
    ///
    /// A transaction's identifier is unique in an environment of the App Store, so a page never ends between two origins or
    /// apps of one identifier there.
    ///
    /// - Parameters:
    ///   - last: The original transaction of the last customer of the previous page; empty for the first page.
    ///   - origins: The origins of the purchases.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    package func expectedCustomers(
        after last: String,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [Customer] {
        guard let app = try number(ofApp: app) else { return [] }
        let expected = try database.rows(
            """
            SELECT user_id, original_transaction_id FROM expected_transaction
            WHERE original_transaction_id > $1 AND origin IN \(origins.sqlList) \(database.isIn(app.number))
            ORDER BY original_transaction_id LIMIT $2
            """,
            [SQLValue.packed(last), limit]
        ) { (user: try $0.next() as Int64, original: try $0.next() as String) }
        let names = try users.names(of: Set(expected.map(\.user)))
        return expected.compactMap { number, original in
            names[number].map { Customer(number: number, user: $0, transactionIdentifier: original) }
        }
    }
}

extension Customer {
    /// The customer in the next columns: the number, the issuer and the name of the user, and the transaction.
    ///
    /// - Returns: Nil for a name that is no user's.
    init?(_ row: inout ResultRow) throws {
        let number: Int64 = try row.next()
        guard let user = User(issuer: try row.next(), name: try row.next()) else { return nil }
        self.init(number: number, user: user, transactionIdentifier: try row.next())
    }
}

extension Table {
    /// The checkpoints of the reconciliation: the time until which transactions and notifications were fetched from the App
    /// Store. `findings`: the number of each outcome of that run, as JSON.
    static let reconciliation = Table(
        name: "reconciliation", family: .everywhere,
        columns: [.text("subject"), .integer("reconciled_until"), .text("findings")], key: ["subject"],
        // Behind a checkpoint nothing would be fetched of the store's, although the reset has deleted it.
        staysAtReset: false
    )
    // Nobody knows until when a run of a wrong clock has fetched. The next one fetches all that the store keeps.
    .forgettingFuture("reconciled_until")
}
