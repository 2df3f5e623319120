import Ledger
import Proofs

/// Work that a store awaits by a deadline, and that is not done.
///
/// It is a view of the rows in which the work itself waits. Another kind is a case with its deadline, its words and its query.
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
        /// The report of a sale outside Google's billing, or of its refund, within 24 hours
        /// (developer.android.com/google/play/billing/outside-gpb-backend). They count from the report of the back end.
        case externalTransaction

        /// The kinds of each service that asks Google Play.
        package static let ofGooglePlay: [Kind] = [.acknowledgement, .externalTransaction]
    }

    package let kind: Kind
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The transaction, or the order, that the duty is about. The back end has named an external one.
    package let subject: String
    package let deadline: Timestamp

    package func isMissed(at moment: Timestamp) -> Bool { deadline <= moment }
}

/// The kinds of duties that a service has taken on, each with the origins of its purchases.
package typealias StoreDuties = [StoreDuty.Kind: Set<Origin>]

/// The duties that are not done, the earliest deadline first.
package struct OpenDuties: Sendable {
    /// The time for which a missed duty is shown, in days.
    package static let shownDays: Int64 = 7
    /// The largest number of duties of one kind that are read.
    static let limit = 1000
    /// The time before a deadline from which on something is wrong, in seconds. A service does each duty within seconds.
    package static let warningTime: Int64 = 6 * 3600

    package let all: [StoreDuty]
    /// The time at which they were read.
    package let moment: Timestamp

    /// Those whose deadline has passed in the last days, the latest first.
    package func missed(inDays days: Int64 = shownDays) -> [StoreDuty] {
        all.filter { $0.isMissed(at: moment) && $0.deadline > moment.adding(days: -days) }.reversed()
    }

    /// Those that can still be done in time.
    package var due: [StoreDuty] { all.filter { !$0.isMissed(at: moment) } }

    /// True if a duty has waited for so long that it may be missed. The time of some is shorter.
    package var isUrgent: Bool {
        due.first.map { $0.deadline <= moment.adding(seconds: Self.warningTime) } ?? false
    }
}

extension EntitlementService {
    package func openDuties(_ duties: StoreDuties) async throws -> OpenDuties {
        let now = clock.now()
        return try await ledger.read { try $0.openDuties(duties, at: now) }
    }
}

extension LedgerTransaction {
    /// The duties that are not done and whose deadline has not passed for long, the earliest deadline first.
    package func openDuties(_ duties: StoreDuties, at moment: Timestamp) throws -> OpenDuties {
        let since = moment.adding(days: -OpenDuties.shownDays)
        let open = try duties.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { kind, origins in
            switch kind {
            case .consumptionAnswer: try consumptionAnswers(from: origins, since: since)
            case .refundReview: try refundReviews(from: origins, since: since)
            case .acknowledgement: try acknowledgements(from: origins, since: since)
            case .externalTransaction: try externalTransactions(from: origins, since: since)
            }
        }
        return OpenDuties(
            all: open.sorted {
                ($0.deadline, $0.kind.rawValue, $0.subject) < ($1.deadline, $1.kind.rawValue, $1.subject)
            }, moment: moment)
    }

    /// The duties of a kind in the rows of a query: the app, the origin, the subject and a time.
    private func duties(
        _ kind: StoreDuty.Kind, within seconds: Int64 = 0, _ sql: String, _ arguments: [any SQLConvertible]
    ) throws -> [StoreDuty] {
        let apps = try apps
        return try database.rows(sql, arguments) { row in
            StoreDuty(
                kind: kind, app: try apps.bundleIdentifier(of: try row.next()), origin: try row.next(),
                subject: try row.next(), deadline: (try row.next() as Timestamp).adding(seconds: seconds))
        }
    }

    private func consumptionAnswers(from origins: Set<Origin>, since moment: Timestamp) throws -> [StoreDuty] {
        let time = ReceivedNotification.answerTime
        return try duties(
            .consumptionAnswer, within: time,
            """
            SELECT app, origin, transaction_id, signed_at
            FROM notification \(database.indexed(by: "notification_that_asks"))
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL
                AND signed_at >= $1 AND origin IN \(origins.sqlList)
            ORDER BY signed_at, notification_uuid LIMIT $2
            """,
            [moment.adding(seconds: -time), OpenDuties.limit])
    }

    /// An answer that came late was missed, whatever Google Play has made of it.
    private func refundReviews(from origins: Set<Origin>, since moment: Timestamp) throws -> [StoreDuty] {
        guard try database.has("google_refund_review") else { return [] }
        let time = PendingRefundReview.answerTime
        return try duties(
            .refundReview, within: time,
            """
            SELECT app, origin, order_id, asked_at FROM google_refund_review
            WHERE (settled_at IS NULL OR settled_at > asked_at + \(time * 1000)) AND asked_at >= $1
                AND origin IN \(origins.sqlList)
            ORDER BY asked_at, notification_uuid LIMIT $2
            """,
            [moment.adding(seconds: -time), OpenDuties.limit])
    }

    /// A purchase that nobody has redeemed is not acknowledged, so it is no duty.
    private func acknowledgements(from origins: Set<Origin>, since moment: Timestamp) throws -> [StoreDuty] {
        guard try database.has("google_missed_acknowledgement") else { return [] }
        let waiting = try duties(
            .acknowledgement,
            """
            SELECT app, origin, transaction_id, acknowledge_by FROM google_purchase
            WHERE next_attempt_at IS NOT NULL AND acknowledge_by >= $1 AND origin IN \(origins.sqlList)
            ORDER BY acknowledge_by, purchase_token LIMIT $2
            """,
            [moment, OpenDuties.limit])
        let redeemed = try redeemed(among: waiting)
        let missed = try duties(
            .acknowledgement,
            """
            SELECT app, origin, transaction_id, acknowledge_by FROM google_missed_acknowledgement
            WHERE acknowledge_by >= $1 AND origin IN \(origins.sqlList) ORDER BY acknowledge_by, transaction_id LIMIT $2
            """,
            [moment, OpenDuties.limit])
        return missed + waiting.filter { redeemed.contains($0.key) }
    }

    /// A report that came late was missed. One that Google Play refuses is not: the back end makes another one.
    private func externalTransactions(from origins: Set<Origin>, since moment: Timestamp) throws -> [StoreDuty] {
        guard try database.has("external_transaction") else { return [] }
        let (apps, time) = (try apps, ExternalTransactionReport.passingTime)
        return try [Realm.google, .localPlay].flatMap { realm -> [StoreDuty] in
            let origin = Origin(googlePlay: realm, isTest: false)
            guard origins.contains(origin) else { return [] }
            return try database.rows(
                """
                SELECT app, transaction_id, reported_at FROM external_transaction
                WHERE (next_attempt_at IS NOT NULL OR passed_on_at > reported_at + \(time * 1000)) AND reported_at >= $1
                    AND realm = $2
                ORDER BY reported_at, transaction_id, refund_id LIMIT $3
                """,
                [moment.adding(seconds: -time), realm.rawValue, OpenDuties.limit]
            ) { row in
                StoreDuty(
                    kind: .externalTransaction, app: try apps.bundleIdentifier(of: try row.next()), origin: origin,
                    subject: try row.next(), deadline: (try row.next() as Timestamp).adding(seconds: time))
            }
        }
    }

    private func redeemed(among duties: [StoreDuty]) throws -> Set<TransactionKey> {
        guard !duties.isEmpty else { return [] }
        let apps = try apps
        return Set(
            try database.rows(
                Table.redeemed(among: "$1", in: database), [database.list(duties.map(\.key))]
            ) { try apps.key(&$0) })
    }

    /// Keeps the acknowledgement of a redeemed purchase that Google Play has not got in time, for as long as it is shown.
    func note(missed purchase: GooglePurchase, at moment: Timestamp) throws {
        guard let acknowledgement = purchase.acknowledgement, acknowledgement.deadline <= moment,
            let key = purchase.transactionKey
        else { return }
        let duty = StoreDuty(
            kind: .acknowledgement, app: key.app, origin: key.origin, subject: key.identifier,
            deadline: acknowledgement.deadline)
        guard try redeemed(among: [duty]).contains(key) else { return }
        try database.write(
            "DELETE FROM google_missed_acknowledgement WHERE acknowledge_by < $1",
            [moment.adding(days: -OpenDuties.shownDays)])
        try database.insert(
            into: "google_missed_acknowledgement", ["transaction_id", "origin", "app", "acknowledge_by"],
            [key.sqlValues(try apps) + [duty.deadline]], isNew: false)
    }
}

extension StoreDuty {
    fileprivate var key: TransactionKey { TransactionKey(app: app, origin: origin, identifier: subject) }
}

extension Table {
    /// The redeemed purchases that Google Play has taken back because it got no acknowledgement in time, for some days.
    static let googleMissedAcknowledgement = Table(
        name: "google_missed_acknowledgement", family: .globalKey,
        columns: [.packed("transaction_id"), .origin("origin"), .integer("app"), .integer("acknowledge_by")],
        key: transactionKey
    )
    .indexed("google_missed_acknowledgement_by_time", by: ["acknowledge_by"])
}
