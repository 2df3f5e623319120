import Ledger
import Proofs
import Synchronization

/// The counters of the service's work since its start.
///
/// Every label has a small set of values that the service defines. Clients cannot increase the memory.
package final class ServiceMetrics: Sendable {
    private struct Request: Hashable {
        let method: String
        /// The route with the names of its parameters, without their values.
        let route: String
        let status: Int
    }

    /// The kinds of work whose outcomes are counted.
    package enum Work: String, CaseIterable {
        case redemptions, notifications, reconciliations
        case consumptionAnswers = "consumption_answers"
        case refundReviews = "refund_reviews"
        case retentionAnswers = "retention_answers"
        case acknowledgements
        case externalTransactions = "external_transactions"
        case externalPurchaseReports = "external_purchase_reports"
        case storeActions = "store_actions"
        case webhookAttempts = "webhook_attempts"
        case notificationForwards = "notification_forwards"
        case mailAttempts = "mail_attempts"

        fileprivate var help: String {
            switch self {
            case .redemptions: "Redemptions of proofs."
            case .notifications: "Notifications of the App Store and of Google Play."
            case .reconciliations: "Reconciliations with the App Store and with Google Play."
            case .consumptionAnswers: "Consumption information sent to the App Store for refund requests."
            case .refundReviews: "Answers to Google Play about payments that banks dispute."
            case .retentionAnswers:
                "Answers to the App Store about customers who may cancel. The outcome none leaves its default message."
            case .acknowledgements: "Acknowledgements of purchases at Google Play."
            case .externalTransactions: "Reports about external transactions that are passed on to Google Play."
            case .externalPurchaseReports:
                "Reports about external purchases that are sent to the App Store. The outcome late means that one was accepted after its deadline."
            case .storeActions: "Attempts of actions that the team has asked stores for, such as refunds."
            case .webhookAttempts: "Webhook attempts. The outcome failed means that the message is given up."
            case .notificationForwards:
                "Attempts to forward App Store notifications. The outcome failed means that the notification is given up."
            case .mailAttempts: "Mail attempts. The outcome failed means that the mail is given up."
            }
        }
    }

    private struct Outcome: Hashable {
        let outcome: String
        /// The code of the problem. Empty if there was none.
        let code: String
    }

    private struct Counts {
        var requests: [Request: Int] = [:]
        var requestTimes: [String: Histogram] = [:]
        var outcomes: [Work: [Outcome: Int]] = [:]
        var verifications = Histogram()
        /// The accepted statements with a field that was read as absent, by the field.
        var unreadableFields: [String: Int] = [:]
        var commits = Histogram()
    }

    /// The times of the commits of the last minutes.
    package let recentCommits = RecentDurations()
    /// The times from a request's head to its answer, of the last minutes.
    package let recentRequests = RecentDurations()

    private let counts = Mutex(Counts())
    private let requestsInFlight = Atomic(0)
    private let isReloaded = Atomic(true)

    package init() {}

    package var requestsInFlightCount: Int { requestsInFlight.load(ordering: .relaxed) }

    package func requestBegan() {
        requestsInFlight.add(1, ordering: .relaxed)
    }

    func requestEnded() {
        requestsInFlight.subtract(1, ordering: .relaxed)
    }

    package func countRequest(
        method: String, route: String, status: Int, duration: Duration, at moment: ContinuousClock.Instant = .now
    ) {
        recentRequests.record(duration, at: moment)
        counts.withLock { counts in
            counts.requests[Request(method: method, route: route, status: status), default: 0] += 1
            counts.requestTimes[route, default: Histogram()].record(duration)
        }
    }

    /// - Parameter code: The code of the problem; empty without one.
    package func count(_ work: Work, _ outcome: String, code: String = "") {
        counts.withLock { $0.outcomes[work, default: [:]][Outcome(outcome: outcome, code: code), default: 0] += 1 }
    }

    /// The refused redemptions and notifications of one code since the start.
    package struct Refusals: Sendable {
        package let code: String
        package let redemptions: Int
        package let notifications: Int
    }

    /// The refused redemptions and notifications since the start, in the order of their codes.
    package var refusals: [Refusals] {
        let outcomes = counts.withLock(\.outcomes)
        let (redemptions, notifications) = (outcomes[.redemptions] ?? [:], outcomes[.notifications] ?? [:])
        let codes = Set((Array(redemptions.keys) + notifications.keys).filter { $0.outcome == "refused" }.map(\.code))
        return codes.sorted().map { code in
            let outcome = Outcome(outcome: "refused", code: code)
            return Refusals(
                code: code, redemptions: redemptions[outcome] ?? 0, notifications: notifications[outcome] ?? 0)
        }
    }

    /// Records a verification. `EntitlementService` reports it.
    ///
    /// - Parameter unreadable: Names of fields that Till reads, never names from a statement.
    package func recordVerification(_ duration: Duration, unreadable: [String]) {
        counts.withLock { counts in
            counts.verifications.record(duration)
            for field in unreadable { counts.unreadableFields[field, default: 0] += 1 }
        }
    }

    package func recordCommit(_ duration: Duration) {
        recentCommits.record(duration)
        counts.withLock { $0.commits.record(duration) }
    }

    /// Records the outcome of a reload of certificates, roots and catalogs.
    package func recordReload(isComplete: Bool) { isReloaded.store(isComplete, ordering: .relaxed) }

    /// The work of one kind that a store awaits by a deadline.
    package typealias Duty = (name: String, open: Int, missed: Int, secondsLeft: Int64?)

    /// - Parameters:
    ///   - isLedgerUp: False if the ledger does not answer.
    ///   - certificateEndsAt: The end of the TLS certificate; nil without one.
    ///   - queueDepth: The number of jobs that wait for a thread or a commit.
    ///   - listeners: The number of event listeners, or nil if events are off.
    ///   - isStorageAlmostFull: True if only the reserve of free space is left.
    ///   - duties: The duties to stores, by their kinds; none while the ledger does not answer.
    ///   - replicas: The standbys that may answer reads; nil if the service uses none.
    package func text(
        isLedgerUp: Bool = true, certificateEndsAt: Timestamp? = nil, queueDepth: Int, listeners: Int? = nil,
        isStorageAlmostFull: Bool = false, duties: [Duty] = [], replicas: ReplicaState? = nil
    ) -> String {
        let counts = counts.withLock { $0 }
        var text = PrometheusText()
        text.begin("till_ledger_up", .gauge, "1 if the ledger answers, else 0.")
        text.add("till_ledger_up", [], isLedgerUp ? 1 : 0)
        if let certificateEndsAt {
            text.begin("till_tls_certificate_end_seconds", .gauge, "End of the TLS certificate, in seconds since 1970.")
            text.add("till_tls_certificate_end_seconds", [], certificateEndsAt.secondsSince1970)
        }
        text.begin("till_last_reload_successful", .gauge, "0 if the last reload (SIGHUP) has left out a part, else 1.")
        text.add("till_last_reload_successful", [], isReloaded.load(ordering: .relaxed) ? 1 : 0)
        text.begin("till_http_requests_total", .counter, "Requests answered.")
        for (request, count) in counts.requests.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let labels = [("method", request.method), ("route", request.route), ("status", String(request.status))]
            text.add("till_http_requests_total", labels, count)
        }
        text.begin("till_http_request_seconds", .histogram, "Time from a request's head to its answer.")
        for (route, times) in counts.requestTimes.sorted(by: { $0.key < $1.key }) {
            text.add("till_http_request_seconds", [("route", route)], times)
        }
        text.begin("till_http_requests_in_flight", .gauge, "Requests being answered, this one included.")
        text.add("till_http_requests_in_flight", [], requestsInFlight.load(ordering: .relaxed))
        for work in Work.allCases {
            let name = "till_\(work.rawValue)_total"
            text.begin(name, .counter, work.help)
            let outcomes = (counts.outcomes[work] ?? [:]).sorted {
                ($0.key.outcome, $0.key.code) < ($1.key.outcome, $1.key.code)
            }
            for (outcome, count) in outcomes {
                text.add(name, [("outcome", outcome.outcome), ("code", outcome.code)], count)
            }
        }
        text.begin("till_verify_seconds", .histogram, "Time to verify a proof.")
        text.add("till_verify_seconds", [], counts.verifications)
        text.begin("till_unreadable_fields_total", .counter, "Fields of accepted statements that have an unknown form.")
        for (field, count) in counts.unreadableFields.sorted(by: { $0.key < $1.key }) {
            text.add("till_unreadable_fields_total", [("field", field)], count)
        }
        text.begin("till_commit_seconds", .histogram, "Time of a commit to the ledger. Several requests may share it.")
        text.add("till_commit_seconds", [], counts.commits)
        text.begin("till_queue_depth", .gauge, "Jobs that wait for a thread or a commit.")
        text.add("till_queue_depth", [], queueDepth)
        if let listeners {
            text.begin("till_event_listeners", .gauge, "Listeners to users' events.")
            text.add("till_event_listeners", [], listeners)
        }
        text.begin(
            "till_storage_almost_full", .gauge, "1 if only purchases, notifications and back ends write, else 0.")
        text.add("till_storage_almost_full", [], isStorageAlmostFull ? 1 : 0)
        if let replicas {
            text.begin("till_replica_up", .gauge, "1 if a standby follows and may answer reads, else 0.")
            text.add("till_replica_up", [], replicas.isUp == true ? 1 : 0)
            text.begin("till_replica_reads_total", .counter, "Reads that a standby might answer, by who answered.")
            for (server, count) in [("standby", replicas.answered), ("primary", replicas.passedOn)] {
                text.add("till_replica_reads_total", [("server", server)], count)
            }
        }
        text.begin("till_duties_open", .gauge, "Work that a store awaits by a deadline.")
        for duty in duties { text.add("till_duties_open", [("duty", duty.name)], duty.open) }
        text.begin("till_duty_seconds_left", .gauge, "Time until the first deadline of such work.")
        for duty in duties {
            if let seconds = duty.secondsLeft { text.add("till_duty_seconds_left", [("duty", duty.name)], seconds) }
        }
        text.begin("till_duties_missed", .gauge, "Such work that was not done in time, of the last day or waiting.")
        for duty in duties { text.add("till_duties_missed", [("duty", duty.name)], duty.missed) }
        return text.text
    }
}

package struct Histogram: Sendable {
    /// The inclusive upper bounds in seconds. They range from the time of a signature to that of an abandoned request.
    package static let bounds = [
        0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// The number of durations for each bound that exceed the previous bound but not this one. The last number is for
    /// those above all bounds.
    private var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    /// The sum of the durations in seconds.
    private(set) var sum = 0.0

    package mutating func record(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    /// The number of durations up to each bound. The last number is for all durations.
    var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}

/// Metrics in Prometheus's text format, version 0.0.4.
package struct PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    package enum Kind: String {
        case counter, gauge, histogram
    }

    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    package mutating func add(_ name: String, _ labels: [(String, String)] = [], _ value: some CustomStringConvertible)
    {
        text += name + Self.text(labels) + " \(value)\n"
    }

    package mutating func add(_ name: String, _ labels: [(String, String)] = [], _ histogram: Histogram) {
        let counts = histogram.cumulativeCounts
        for (bound, count) in zip(Histogram.bounds.map(\.description) + ["+Inf"], counts) {
            add(name + "_bucket", labels + [("le", bound)], count)
        }
        add(name + "_sum", labels, histogram.sum)
        add(name + "_count", labels, counts.last ?? 0)
    }

    private static func text(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { name, value in
            let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            return "\(name)=\"\(escaped)\""
        }
        return "{\(pairs.joined(separator: ","))}"
    }
}

/// The durations of the last minutes, for people who look at a running service. `Histogram` counts since the start.
///
/// Its memory is fixed: a count for each step of each minute. A step is an eighth of a power of two, so a quantile is at most an
/// eighth too high.
package final class RecentDurations: Sendable {
    /// The numbers of a period.
    package struct Summary: Hashable, Sendable {
        package let count: Int
        /// The duration that half of the durations do not exceed; nil without durations.
        package let median: Duration?
        /// The duration that 99 % of the durations do not exceed; nil without durations.
        package let percentile99: Duration?
        package let maximum: Duration?
    }

    /// The number of past minutes.
    package static let minutes = 15
    private static let stepsOfDoubling = 8
    /// The largest distinguished duration is 2^26 µs, about a minute.
    private static let steps = 26 * stepsOfDoubling

    private struct Minute {
        /// The number of the minute since the start.
        var number: Int64
        var counts = [UInt32](repeating: 0, count: steps + 1)
        var maximum = Duration.zero
    }

    private let start = ContinuousClock.now
    private let ring: Mutex<[Minute]>

    package init() {
        ring = Mutex((0...Int64(Self.minutes)).map { _ in Minute(number: -1) })
    }

    package func record(_ duration: Duration, at moment: ContinuousClock.Instant = .now) {
        let number = minute(of: moment)
        let step = Self.step(of: duration)
        ring.withLock { ring in
            let index = Int(number) % ring.count
            if ring[index].number != number { ring[index] = Minute(number: number) }
            ring[index].counts[step] &+= 1
            ring[index].maximum = max(ring[index].maximum, duration)
        }
    }

    /// The durations of this minute and of the full minutes before it.
    ///
    /// - Parameter count: The number of full minutes; at most `minutes`.
    package func summary(ofMinutes count: Int, at moment: ContinuousClock.Instant = .now) -> Summary {
        let now = minute(of: moment)
        let recent = ring.withLock { ring in
            ring.filter { $0.number >= 0 && (now - Int64(count)...now).contains($0.number) }
        }
        var counts = [Int](repeating: 0, count: Self.steps + 1)
        for minute in recent {
            for (step, count) in minute.counts.enumerated() { counts[step] += Int(count) }
        }
        let total = counts.reduce(0, +)
        let maximum = recent.map(\.maximum).max()
        func quantile(_ share: Double) -> Duration? {
            guard total > 0, let maximum else { return nil }
            let wanted = Int((share * Double(total)).rounded(.up))
            var sum = 0
            let step = counts.firstIndex { count in
                sum += count
                return sum >= wanted
            }
            return step.map { min(Self.upperBound(of: $0), maximum) }
        }
        return Summary(
            count: total, median: quantile(0.5), percentile99: quantile(0.99), maximum: total > 0 ? maximum : nil)
    }

    private func minute(of moment: ContinuousClock.Instant) -> Int64 {
        max(0, (moment - start).components.seconds / 60)
    }

    /// The step of a duration: the floor of its binary logarithm in microseconds, in eighths.
    private static func step(of duration: Duration) -> Int {
        let microseconds = duration / .microseconds(1)
        guard microseconds >= 1 else { return 0 }
        let exponent = Int(microseconds.exponent)
        let fraction = Int((microseconds.significand - 1) * Double(stepsOfDoubling))
        return min(steps, exponent * stepsOfDoubling + fraction + 1)
    }

    /// The exclusive upper bound of a step.
    private static func upperBound(of step: Int) -> Duration {
        guard step < steps else { return .seconds(Int64.max) }
        let (exponent, fraction) = (step / stepsOfDoubling, step % stepsOfDoubling)
        return .microseconds(Double(1 << exponent) * (1 + Double(fraction) / Double(stepsOfDoubling)))
    }
}
