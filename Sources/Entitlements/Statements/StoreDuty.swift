import Ledger
import Proofs

/// Work that a store awaits by a deadline, and that is not done.
///
/// It is a view of the rows in which the work itself waits, and of those of `store_duty`. Another kind is a case with its deadline, its
/// words and its queue.
package struct StoreDuty: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// The answer to the App Store about a refund, within 12 hours (App Store Server Notifications, "CONSUMPTION_REQUEST").
        case consumptionAnswer
        /// The answer to Google Play about a disputed payment, within 24 hours
        /// (developer.android.com/google/play/billing/provide-refund-and-chargeback-suggestions).
        case refundReview
        /// The acknowledgement of a redeemed purchase at Google Play, within three days, or half the period of a short prepaid plan
        /// (developer.android.com/google/play/billing/integrate, "acknowledge").
        case acknowledgement
        /// The report of a sale outside Google's billing, or of its refund, within 24 hours of it
        /// (developer.android.com/google/play/billing/outside-gpb-backend). One that the back end tells later is missed from then on.
        case externalTransaction
        /// The report to Apple about a token of a purchase outside the App Store (External Purchase Server API, "Reporting unrecognized
        /// and transactionless tokens"; the agreement of each region has the days, `ExternalPurchase`).
        case externalPurchase

        /// The kinds of each service that asks Google Play.
        package static let ofGooglePlay: [Kind] = [.acknowledgement, .externalTransaction]

        /// False for sales outside the stores, of which the service knows no customer.
        package var isOfCustomer: Bool { self != .externalTransaction && self != .externalPurchase }
    }

    package let kind: Kind
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The transaction, or the order, that the duty is about. The back end has named an external one.
    package let subject: String
    package let deadline: Timestamp
    /// True if the store refuses the work until a person has corrected it.
    package var isRefused = false

    package func isMissed(at moment: Timestamp) -> Bool { deadline <= moment }
}

/// The kinds of duties that a service has taken on, each with the origins of its purchases.
package typealias StoreDuties = [StoreDuty.Kind: Set<Origin>]

/// The duties that are not done.
///
/// A missed duty is shown for some days after its deadline. One that is still worth doing waits, and is shown until it is done.
package struct OpenDuties: Sendable {
    /// The time for which a missed duty is shown, in days.
    package static let shownDays: Int64 = 7
    /// The time in which a missed duty is news, in days.
    fileprivate static let newDays: Int64 = 1
    /// The largest number of duties of one queue that are listed, of those that are due and of those that were missed.
    fileprivate static let limit = 100
    /// The time before a deadline from which on something is wrong, in seconds. A service does each duty within seconds.
    package static let warningTime: Int64 = 6 * 3600

    /// The exact numbers of duties; of acknowledgements, those among the ten thousand purchases around now on each side.
    package struct Counts: Hashable, Sendable {
        package fileprivate(set) var due = 0
        package fileprivate(set) var missed = 0
        /// Those of the missed ones whose deadline has passed in the last day, and those that still wait.
        package fileprivate(set) var newlyMissed = 0
        /// The first deadline of those that are due; nil for none.
        package fileprivate(set) var next: Timestamp?

        package init() {}

        fileprivate init(due: Int, missed: Int, newlyMissed: Int) {
            (self.due, self.missed, self.newlyMissed) = (due, missed, newlyMissed)
        }
    }

    /// The next ones that are due of each kind, the earliest deadline first.
    package private(set) var due: [StoreDuty] = []
    /// The last ones of each kind whose deadline has passed, the latest first.
    package private(set) var missed: [StoreDuty] = []
    package private(set) var counts: [StoreDuty.Kind: Counts] = [:]
    /// The time at which they were read.
    package let moment: Timestamp

    fileprivate init(at moment: Timestamp) { self.moment = moment }

    /// True if a duty has waited for so long that it may be missed. The time of some is shorter.
    package var isUrgent: Bool {
        due.first.map { $0.deadline <= moment.adding(seconds: Self.warningTime) } ?? false
    }

    package var isEmpty: Bool { due.isEmpty && missed.isEmpty }
    package var dueCount: Int { counts.values.reduce(0) { $0 + $1.due } }
    package var missedCount: Int { counts.values.reduce(0) { $0 + $1.missed } }

    fileprivate mutating func add(_ found: Found, of kind: StoreDuty.Kind) {
        let order = { (duty: StoreDuty) in (duty.deadline, duty.kind.rawValue, duty.subject) }
        due = (due + found.due).sorted { order($0) < order($1) }
        missed = (missed + found.missed).sorted { order($0) > order($1) }
        var counts = counts[kind] ?? Counts()
        counts.due += found.counts.due
        counts.missed += found.counts.missed
        counts.newlyMissed += found.counts.newlyMissed
        counts.next = [counts.next, found.due.first?.deadline].compactMap(\.self).min()
        self.counts[kind] = counts
    }

    /// The duties of one queue.
    fileprivate struct Found {
        /// The earliest deadline first.
        var due: [StoreDuty] = []
        /// The latest deadline first.
        var missed: [StoreDuty] = []
        var counts = Counts()
    }
}

extension EntitlementService {
    package func openDuties(_ duties: StoreDuties) async throws -> OpenDuties {
        let now = clock.now()
        return try await ledger.read { try $0.openDuties(duties, at: now) }
    }
}

/// The rows of one table in which the work of a kind waits.
private struct DutyQueue {
    let kind: StoreDuty.Kind
    /// The table, with the index of what waits: SQLite has no statistics, and reads all that was ever done for an order by time.
    let table: String
    let condition: String
    /// The column that names what the duty is about, and that of the time from which the deadline is counted.
    let subject: String
    let time: String
    /// The time from there to the deadline, in seconds.
    var seconds: Int64 = 0
    /// The SQL of the number of the origin.
    var origin = "origin"
    /// The SQL of a flag.
    var isRefused = "0"
    /// The time before the deadline from which on the service does the work by itself, in seconds; nil for work that waits for no one
    /// else.
    var ownSeconds: Int64?
    /// True if the work is done also after its deadline.
    var waitsLonger = true
}

extension LedgerTransaction {
    /// The duties that are not done and whose deadline has not passed for long.
    package func openDuties(_ duties: StoreDuties, at moment: Timestamp) throws -> OpenDuties {
        var open = OpenDuties(at: moment)
        for (kind, origins) in duties.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            open.add(.init(), of: kind)
            if kind == .acknowledgement { open.add(try acknowledgements(from: origins, at: moment), of: kind) }
            for queue in try queues(of: kind, from: origins) { open.add(try found(in: queue, at: moment), of: kind) }
        }
        return open
    }

    private func queues(of kind: StoreDuty.Kind, from origins: Set<Origin>) throws -> [DutyQueue] {
        let isFromThem = "origin IN \(origins.sqlList)"
        func table(_ name: String, _ index: String) -> String { "\(name) \(database.indexed(by: index))" }
        var queues: [DutyQueue] = []
        switch kind {
        case .consumptionAnswer:
            queues.append(
                DutyQueue(
                    kind: kind, table: table("notification", "notification_that_asks"),
                    condition: "type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL "
                        + "AND \(isFromThem)",
                    subject: "transaction_id", time: "signed_at", seconds: ReceivedNotification.answerTime,
                    waitsLonger: false))
        case .refundReview where try database.has("google_refund_review"):
            queues.append(
                DutyQueue(
                    kind: kind, table: table("google_refund_review", "google_refund_review_waiting"),
                    condition: "next_attempt_at IS NOT NULL AND \(isFromThem)",
                    subject: "order_id", time: "asked_at", seconds: PendingRefundReview.answerTime,
                    waitsLonger: false))
        case .externalTransaction where try database.has("external_transaction"):
            for realm in [Realm.google, .localPlay] {
                let origin = Origin(googlePlay: realm, isTest: false)
                guard origins.contains(origin) else { continue }
                queues.append(
                    DutyQueue(
                        kind: kind, table: table("external_transaction", "external_transaction_waiting"),
                        condition: "next_attempt_at IS NOT NULL AND realm = '\(realm.rawValue)'",
                        subject: "transaction_id", time: "due_at", origin: "\(origin.number)"))
            }
        case .externalPurchase where try database.has("external_purchase"):
            queues += [
                // Without a key, nobody does it late either.
                DutyQueue(
                    kind: kind, table: table("external_purchase", "external_purchase_to_report"),
                    condition: "report_at IS NOT NULL AND \(isFromThem)",
                    subject: "external_purchase_id", time: "report_at", seconds: ExternalPurchase.Token.ownReportTime,
                    ownSeconds: ExternalPurchase.Token.ownReportTime, waitsLonger: false),
                DutyQueue(
                    kind: kind, table: table("external_purchase_report", "external_purchase_report_waiting"),
                    condition: "next_attempt_at IS NOT NULL AND \(isFromThem)",
                    subject: "external_purchase_id", time: "due_at"),
            ]
        case .acknowledgement, .refundReview, .externalTransaction, .externalPurchase: break
        }
        guard try database.has("store_duty") else { return queues }
        return queues + [
            DutyQueue(
                kind: kind, table: "store_duty", condition: "kind = '\(kind.rawValue)' AND \(isFromThem)",
                subject: "subject", time: "due_at", isRefused: "is_refused", waitsLonger: false)
        ]
    }

    private func found(in queue: DutyQueue, at moment: Timestamp) throws -> OpenDuties.Found {
        // The deadline of what has this time is now.
        let now = moment.adding(seconds: -queue.seconds)
        let oldest = queue.waitsLonger ? Timestamp(millisecondsSince1970: 0) : now.adding(days: -OpenDuties.shownDays)
        let newest = queue.waitsLonger ? oldest : now.adding(days: -OpenDuties.newDays)
        let latest = queue.ownSeconds.map { now.adding(seconds: $0) } ?? Timestamp(millisecondsSince1970: .max)
        let (time, rows) = (queue.time, "FROM \(queue.table) WHERE \(queue.condition)")
        let columns = "app, \(queue.origin), \(queue.subject), \(time), \(queue.isRefused)"
        var found = OpenDuties.Found()
        found.due = try duties(
            of: queue,
            """
            SELECT \(columns) \(rows) AND \(time) > $1 AND \(time) <= $2 ORDER BY \(time), \(queue.subject) LIMIT $3
            """, [now, latest, OpenDuties.limit])
        found.missed = try duties(
            of: queue,
            """
            SELECT \(columns) \(rows) AND \(time) <= $1 AND \(time) > $2
            ORDER BY \(time) DESC, \(queue.subject) DESC LIMIT $3
            """, [now, oldest, OpenDuties.limit])
        func count(of listed: [StoreDuty], from first: Timestamp, to last: Timestamp) throws -> Int {
            guard listed.count == OpenDuties.limit else { return listed.count }
            return try database.single(
                "SELECT count(*) \(rows) AND \(time) > $1 AND \(time) <= $2", [first, last])
        }
        found.counts.due = try count(of: found.due, from: now, to: latest)
        found.counts.missed = try count(of: found.missed, from: oldest, to: now)
        found.counts.newlyMissed = try count(
            of: found.missed.filter { $0.deadline.adding(seconds: -queue.seconds) > newest }, from: newest, to: now)
        return found
    }

    /// The duties in the rows of a query: the app, the origin, the subject, the time, and the flag of refused ones.
    private func duties(
        of queue: DutyQueue, _ sql: String, _ arguments: [any SQLConvertible]
    ) throws -> [StoreDuty] {
        let apps = try apps
        return try database.rows(sql, arguments) { row in
            StoreDuty(
                kind: queue.kind, app: try apps.bundleIdentifier(of: try row.next()), origin: try row.next(),
                subject: try row.next(), deadline: (try row.next() as Timestamp).adding(seconds: queue.seconds),
                isRefused: try row.next())
        }
    }

    /// The number of purchases that are compared with the redeemed ones at once, and of all that are on each side of a moment:
    /// metrics are read every few seconds, also after days without Google Play.
    private static let (comparedAtOnce, maximumCompared) = (1000, 10_000)

    /// The acknowledgements that wait. A purchase that nobody has redeemed is not acknowledged, so it is no duty. Its table and that of the
    /// redeemed ones are not joined: a distributed database has their rows in different places.
    private func acknowledgements(from origins: Set<Origin>, at moment: Timestamp) throws -> OpenDuties.Found {
        guard try database.has("google_purchase") else { return .init() }
        let queue = DutyQueue(
            kind: .acknowledgement,
            table: "google_purchase \(database.indexed(by: "google_purchase_to_acknowledge"))",
            condition: "next_attempt_at IS NOT NULL AND origin IN \(origins.sqlList)",
            subject: "transaction_id", time: "acknowledge_by")
        let records = GooglePurchaseRecords(database: database, apps: try apps)
        func owed(_ side: String, _ order: String) throws -> (listed: [StoreDuty], count: Int) {
            // One query: each would read and sort all that waits, for which there is no index by time.
            let waiting = try duties(
                of: queue,
                """
                SELECT app, origin, transaction_id, acknowledge_by, 0 FROM \(queue.table)
                WHERE \(queue.condition) AND acknowledge_by \(side) $1
                ORDER BY acknowledge_by \(order), purchase_token LIMIT $2
                """, [moment, Self.maximumCompared])
            var redeemed: Set<TransactionKey> = []
            for first in stride(from: 0, to: waiting.count, by: Self.comparedAtOnce) {
                let page = waiting[first..<min(first + Self.comparedAtOnce, waiting.count)]
                redeemed.formUnion(try records.redeemed(among: page.map(\.key)))
            }
            let owed = waiting.filter { redeemed.contains($0.key) }
            return (Array(owed.prefix(OpenDuties.limit)), owed.count)
        }
        let (due, missed) = (try owed(">", "ASC"), try owed("<=", "DESC"))
        return OpenDuties.Found(
            due: due.listed, missed: missed.listed,
            counts: .init(due: due.count, missed: missed.count, newlyMissed: missed.count))
    }
}

/// The rows of duties of which no other row tells, inside the caller's transaction.
struct StoreDutyRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// Notes a duty that was done late, or not at all, or that the store has refused.
    func note(_ duty: StoreDuty, at moment: Timestamp) throws {
        try database.write(
            "DELETE FROM store_duty WHERE due_at < $1", [moment.adding(days: -OpenDuties.shownDays)])
        try database.insert(
            into: "store_duty", ["subject", "kind", "origin", "app", "due_at", "is_refused"],
            [
                [
                    duty.subject, duty.kind.rawValue, duty.origin, apps[duty.app], duty.deadline,
                    duty.isRefused ? 1 as Int64 : 0,
                ]
            ], isNew: false)
    }

    /// Notes a duty that is done now, if that is late.
    func note(done duty: StoreDuty, at moment: Timestamp) throws {
        if duty.isMissed(at: moment) { try note(duty, at: moment) }
    }

    /// Forgets that the store has refused the work, once a person has corrected it.
    ///
    /// - Parameter deadline: The deadline of the only one; nil for all work about the subject.
    func forgetRefused(
        _ kind: StoreDuty.Kind, about subject: String, of app: String, due deadline: Timestamp? = nil
    ) throws {
        let conditions = "subject = $1 AND kind = $2 AND app = $3 AND is_refused = 1"
        let arguments: [any SQLConvertible] = [subject, kind.rawValue, apps[app]]
        if let deadline {
            try database.write("DELETE FROM store_duty WHERE \(conditions) AND due_at = $4", arguments + [deadline])
        } else {
            try database.write("DELETE FROM store_duty WHERE \(conditions)", arguments)
        }
    }
}

extension LedgerTransaction {
    var storeDuties: StoreDutyRecords {
        get throws { StoreDutyRecords(database: database, apps: try apps) }
    }

    /// Notes the acknowledgement of a redeemed purchase that Google Play has not got in time.
    func note(missed purchase: GooglePurchase, at moment: Timestamp) throws {
        guard let acknowledgement = purchase.acknowledgement, acknowledgement.deadline <= moment,
            let key = purchase.transactionKey
        else { return }
        let records = GooglePurchaseRecords(database: database, apps: try apps)
        guard try records.redeemed(among: [key]).contains(key) else { return }
        try storeDuties.note(
            StoreDuty(
                kind: .acknowledgement, app: key.app, origin: key.origin, subject: key.identifier,
                deadline: acknowledgement.deadline), at: moment)
    }
}

extension StoreDuty {
    fileprivate var key: TransactionKey { TransactionKey(app: app, origin: origin, identifier: subject) }
}

extension Table {
    /// The duties of which no other row tells, for some days after their deadlines: those that were missed, and those that a store has
    /// refused (`is_refused`), which wait for a person.
    static let storeDuty = Table(
        name: "store_duty", family: .globalKey,
        columns: [
            .text("subject"), .text("kind"), .origin("origin"), .integer("app"), .integer("due_at"),
            .integer("is_refused", check: "is_refused IN (0, 1)"),
        ],
        key: ["subject", "kind", "origin", "app", "due_at"]
    )
    .indexed("store_duty_by_time", by: ["kind", "due_at"])
}
