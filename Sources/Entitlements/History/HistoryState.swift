import Ledger
import Proofs
import Vocabulary

/// The state of a purchase with an end in its owner's history.
package struct HistoryState: Hashable, Sendable {
    package let state: PurchaseState
    /// Nil if the store has not stated whether it renews, for a prepaid plan, and for a purchase that has ended.
    package let renews: Bool?
    /// The moment at which time alone changes the state, or at which the store is asked for the period that has replaced this one; nil for
    /// never.
    package fileprivate(set) var changesAt: Timestamp?
    /// The moment at which the coming end of the running period is told, until it is told. Then the end itself, so that a clock that was
    /// ahead does not tell it twice. Nil if no end is to be told.
    package fileprivate(set) var endNotice: Timestamp?

    package init(state: PurchaseState, renews: Bool?, changesAt: Timestamp?, endNotice: Timestamp? = nil) {
        self.state = state
        self.renews = renews
        self.changesAt = changesAt
        self.endNotice = endNotice
    }

    /// The state of the purchase in a new period. A plan that has replaced another one at once renews, whatever was chosen for that one.
    fileprivate func reopened(by status: PurchaseStatus) -> HistoryState {
        HistoryState(state: .active, renews: status.replacesAtOnce ? nil : renews, changesAt: changesAt)
    }

    /// - Parameter recorded: The state in the history; nil if it has none.
    init(_ status: PurchaseStatus, after recorded: HistoryState?, at moment: Timestamp) {
        let isEnded = [.expired, .revoked, .refunded, .upgraded].contains(status.state)
        let endNotice = status.endNotice(after: recorded, at: moment)
        let ends = [endNotice, status.paidUntil, status.graceEndsAt, status.retryEndsAt]
        // Only a statement ends a pause.
        let isSettled = isEnded || status.state == .paused
        self.init(
            state: status.state,
            renews: isEnded || status.next == .prepaid || status.isRenewalOfReplaced ? nil : status.renews,
            changesAt: isSettled ? nil : ends.compactMap(\.self).filter { $0 > moment }.min(), endNotice: endNotice)
    }
}

/// The purchases of which a statement of the store is awaited, by their original transactions.
package struct AwaitedStatements: Hashable, Sendable {
    /// The due subscriptions whose statement about the renewal is awaited: those that may have renewed, and those whose renewal may
    /// have been turned on again before their coming end is told.
    package fileprivate(set) var renewals: Set<TransactionKey> = []
    /// The subscriptions of which the store has stated that another period replaces the last one, which the ledger does not have.
    package fileprivate(set) var successors: Set<TransactionKey> = []

    /// The shortest and the longest pause between two questions about a successor, in seconds.
    private static let pause: ClosedRange<Int64> = 60...86400

    fileprivate mutating func formUnion(_ other: AwaitedStatements) {
        renewals.formUnion(other.renewals)
        successors.formUnion(other.successors)
    }

    /// The moment of the next question about a successor. Each pause is as long as the time since the statement.
    fileprivate static func nextQuestion(of statedAt: Timestamp, at moment: Timestamp) -> Timestamp {
        let passed = moment.secondsSince1970 - statedAt.secondsSince1970
        return moment.adding(seconds: min(max(passed, pause.lowerBound), pause.upperBound))
    }
}

/// The rules of histories: changes of states by statements or by time.
extension EntitlementDecision {
    /// Records the effects of the changes so far on purchases with an end in the histories of their owners.
    ///
    /// A statement may be late, and the next one may follow it. So the end of its period is left to the next
    /// `LedgerTransaction.recordDueStates`.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    package mutating func recordStates(type: (String) -> ProductType?) {
        recordStates(of: changes.stated, holding: moment, asksAtOnce: true, type: type)
    }

    /// Records the current states of purchases with an end in the histories of their owners.
    ///
    /// - Parameters:
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew, and no
    ///     coming end.
    ///   - asksAtOnce: True if the next `LedgerTransaction.recordDueStates` has a purchase whose successor is unknown, and not a later one.
    /// - Returns: The purchases of which a statement is awaited.
    @discardableResult
    package mutating func recordStates(
        of originals: Set<TransactionKey>,
        holding hold: Timestamp? = nil,
        asksAtOnce: Bool = false,
        type: (String) -> ProductType?
    ) -> AwaitedStatements {
        var awaiting = AwaitedStatements()
        let granted = grantedTransactions
        for original in originals.sorted() {
            guard let purchase = facts.purchases[original], let status = status(of: original, type: type),
                status.paidUntil != nil || facts.recordedStates[original] != nil
            else { continue }
            var recorded = facts.recordedStates[original]
            // A period that is granted now may have ended in the state of the one before it. It has its own events.
            if granted.contains(
                TransactionKey(
                    app: original.app, origin: original.origin, identifier: status.transactionIdentifier))
            {
                recorded = recorded?.reopened(by: status)
            }
            let awaited = recorded?.state == status.state ? nil : status.awaitsStatement(at: moment, holding: hold)
            let heldNotice = status.awaitsStatement(beforeNoticeAfter: recorded, at: moment, holding: hold)
            if awaited != nil || heldNotice != nil { awaiting.renewals.insert(original) }
            var new =
                awaited.map {
                    HistoryState(
                        state: recorded?.state ?? .active, renews: recorded?.renews, changesAt: $0,
                        endNotice: recorded?.endNotice)
                } ?? HistoryState(status, after: recorded, at: moment)
            if let heldNotice { (new.changesAt, new.endNotice) = (heldNotice, recorded?.endNotice) }
            if let since = status.awaitsSuccessorSince {
                awaiting.successors.insert(original)
                new.changesAt = asksAtOnce ? moment : AwaitedStatements.nextQuestion(of: since, at: moment)
            }
            guard recorded != new || facts.recordedStates[original] != new else { continue }
            // Purchases from origins that are not accepted for the owner cause no events.
            let isReported =
                awaited == nil && isAccepted(original.origin, for: purchase.owner) && !facts.goesOn(after: original)
            for event in !isReported ? [] : status.events(since: recorded, at: moment)
            where !(event.event == .expired && isContinued(original) || event.event == .endsSoon && heldNotice != nil) {
                let entry = AuditEntry(
                    happenedAt: event.happenedAt, event: event.event, actor: .store(original.origin.store),
                    origin: original.origin, app: original.app, reference: status.transactionIdentifier,
                    subject: status.productIdentifier,
                    reason: event.reason)
                changes.events.append(.audit(entry, user: purchase.owner))
            }
            facts.recordedStates[original] = new
            changes.recordedStates.insert(original)
        }
        return awaiting
    }

    /// The status of a purchase; nil if nobody owns it.
    func status(of original: TransactionKey, type: (String) -> ProductType?) -> PurchaseStatus? {
        let isRevokedByTeam = facts.revokedByTeam.contains(original)
        let renewal = facts.purchases[original]?.renewal
        let periods = facts.transactions(of: original).map { key, transaction in
            PurchasePeriod(key, transaction, isRevokedByTeam: isRevokedByTeam)
        }
        // Only a subscription has a statement about its renewal.
        let kind =
            periods.lazy.compactMap(\.terms.type).first ?? periods.last.flatMap { type($0.productIdentifier) }
            ?? renewal.map { _ in .autoRenewableSubscription }
        return PurchaseStatus(
            of: original.identifier, from: original.origin, periods, kind, renewal, at: moment)
    }

    /// The transactions that the changes so far grant.
    private var grantedTransactions: Set<TransactionKey> {
        Set(
            changes.events.compactMap { event in
                guard case .audit(let entry, _) = event, entry.event == .granted, let origin = entry.origin else {
                    return nil
                }
                return TransactionKey(app: entry.app ?? "", origin: origin, identifier: entry.reference)
            })
    }
}

/// The rules of a user's history: the events of a purchase between two moments.
extension PurchaseStatus {
    /// An event of a purchase, caused by a statement or by time.
    struct HistoryEvent: Hashable, Sendable {
        let event: AuditEntry.Event
        /// The time at which the event took effect.
        let happenedAt: Timestamp
        var reason: String?
    }

    /// The events between the state in the history and this one, in their order.
    ///
    /// - Parameter recorded: The state in the history; nil if it has none.
    func events(since recorded: HistoryState?, at moment: Timestamp) -> [HistoryEvent] {
        let change = state == recorded?.state ? nil : stateEvent(after: recorded, at: moment)
        return renewalEvents(since: recorded) + [noticeEvent(after: recorded, at: moment), change].compactMap(\.self)
    }

    /// The number of days before the end of a subscription that does not renew, at which its end is told.
    private static let endNoticeDays: Int64 = 3

    /// The moment at which the coming end is told; nil if no end is to be told.
    ///
    /// The periods of a commitment follow, also if the customer lets it end. A plan that another one replaces at its end goes on as that
    /// one. A renewal that was turned off before an upgrade says nothing of the plan that has taken its place.
    var endNoticeAt: Timestamp? {
        guard state.isOwned, !mayRenew, !isRenewalOfReplaced, let paidUntil else { return nil }
        switch next {
        case .prepaid: break
        case .ends(let reason):
            // Other purchases with an end are owned in another state.
            guard [.trial, .introductory, .willNotRenew].contains(state), reason != .replaced else { return nil }
        case .renews, .grace, .onHold, .paused, .unknown: return nil
        }
        return paidUntil.adding(days: -Self.endNoticeDays)
    }

    /// The event of a coming end whose moment was in the history. So it is told once, by one process, and of no renewal that was turned off
    /// in the last days: `autoRenewDisabled` has just told of that end.
    private func noticeEvent(after recorded: HistoryState?, at moment: Timestamp) -> HistoryEvent? {
        guard let endNoticeAt, let paidUntil, endNoticeAt <= moment, recorded?.endNotice == endNoticeAt else {
            return nil
        }
        return HistoryEvent(event: .endsSoon, happenedAt: endNoticeAt, reason: paidUntil.rfc3339)
    }

    /// The end of which the history tells once this state is in it (`HistoryState.endNotice`).
    fileprivate func endNotice(after recorded: HistoryState?, at moment: Timestamp) -> Timestamp? {
        let isTold = paidUntil != nil && recorded?.endNotice == paidUntil
        guard let endNoticeAt else { return isTold ? paidUntil : nil }
        return isTold || endNoticeAt <= moment ? paidUntil : endNoticeAt
    }

    /// The moment until which the store may still state that another period follows, before the coming end is told; nil if it is not due,
    /// or the store has stated anything since.
    ///
    /// - Parameter hold: The last moment at which no coming end is reported; nil if there is none.
    func awaitsStatement(
        beforeNoticeAfter recorded: HistoryState?, at moment: Timestamp, holding hold: Timestamp?
    ) -> Timestamp? {
        guard let hold, moment <= hold, let notice = noticeEvent(after: recorded, at: moment), let paidUntil,
            renewalStatedAt.map({ $0 < notice.happenedAt }) ?? true
        else { return nil }
        return min(hold, paidUntil)
    }

    /// The moment until which a statement about the renewal is awaited; nil if none is.
    ///
    /// - Parameter hold: The last moment at which no silent end is reported; nil if there is none.
    func awaitsStatement(at moment: Timestamp, holding hold: Timestamp?) -> Timestamp? {
        guard let silentEnd else { return nil }
        let end =
            switch state {
            // The attempts to charge are over.
            case .expired where isRetried: silentEnd
            case .expired: silentEnd.adding(seconds: origin.store.silentEndSeconds)
            case _ where origin.store.statesEndOfGracePeriod: silentEnd.adding(seconds: origin.store.silentEndSeconds)
            default: silentEnd
            }
        let isHeld = hold.map { moment <= $0 } ?? false
        return moment < end || isHeld ? max(end, hold ?? end) : nil
    }

    /// The end that time alone has brought to a subscription that may renew. Nil if the store has stated anything since.
    private var silentEnd: Timestamp? {
        guard mayRenew, let paidUntil else { return nil }
        let end: Timestamp? =
            switch state {
            case .billingRetry: graceEndsAt
            case .expired: isRetried ? retryEndsAt : max(paidUntil, graceEndsAt ?? paidUntil)
            default: nil
            }
        return end.flatMap { end in renewalStatedAt.map { $0 < end } ?? true ? end : nil }
    }

    private func renewalEvents(since recorded: HistoryState?) -> [HistoryEvent] {
        guard next != .prepaid, !isRenewalOfReplaced, let renewalStatedAt, let renews else { return [] }
        // A statement of before the end may come after it: the App Store repeats a notification for three days ("Responding to App Store
        // Server Notifications").
        let isOfBefore =
            state == .expired && ending != nil && !renews && recorded?.state.isOwned ?? true
            && paidUntil.map { renewalStatedAt < $0 } ?? false
        guard state.isOwned || state.mayReturn || isOfBefore else { return [] }
        switch (recorded?.renews, renews) {
        case (true, false), (nil, false):
            let canceler = origin.store.statesCanceler ? ending?.canceler : nil
            return [HistoryEvent(event: .autoRenewDisabled, happenedAt: renewalStatedAt, reason: canceler)]
        case (false, true): return [HistoryEvent(event: .autoRenewEnabled, happenedAt: renewalStatedAt)]
        case (true, true), (nil, true), (false, false): return []
        }
    }

    /// The end of the attempts to charge. The statement about the end may leave out the commitment that the ones before it have stated.
    private func retryEnd(after recorded: HistoryState?) -> Timestamp? {
        guard let retryEndsAt, let paidUntil, let changesAt = recorded?.changesAt else { return retryEndsAt }
        let ofCommitment = paidUntil.adding(days: StatedRenewal.commitmentBillingRetryDays)
        return recorded?.state == .billingRetry && changesAt >= ofCommitment ? ofCommitment : retryEndsAt
    }

    private func stateEvent(after recorded: HistoryState?, at moment: Timestamp) -> HistoryEvent? {
        guard let paidUntil, let retryEndsAt = retryEnd(after: recorded) else { return nil }
        switch state {
        case .gracePeriod: return HistoryEvent(event: .gracePeriodBegan, happenedAt: paidUntil)
        case .billingRetry:
            // A hold may follow a pause, at whose end the charge has failed.
            let end = recorded?.state == .paused ? renewalStatedAt : graceEndsAt
            return HistoryEvent(event: .renewalFailed, happenedAt: end ?? paidUntil)
        case .paused: return HistoryEvent(event: .paused, happenedAt: paidUntil, reason: pausedUntil?.rfc3339)
        case .expired, .upgraded:
            let end = [paidUntil, graceEndsAt].compactMap(\.self).max() ?? paidUntil
            // The store stops retrying at its limit, or states that it has stopped earlier.
            let stated = renewalStatedAt ?? retryEndsAt
            let givenUp = isRetried ? retryEndsAt : origin.store.retriesWithinLimit ? min(stated, retryEndsAt) : stated
            return HistoryEvent(
                event: .expired, happenedAt: recorded?.state.mayReturn == true ? max(end, givenUp) : end,
                reason: ending?.rawValue)
        default: return nil
        }
    }
}

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases in one commit.
    private static let pageSize = 100

    /// Records the changes that time has caused: ends, grace periods and billing retries.
    ///
    /// - Parameters:
    ///   - moment: The moment until which they are due; nil for now.
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew, and no
    ///     coming end; nil if there is none.
    ///   - customer: The customer with an own clock whose purchases are meant; nil for those of all others.
    /// - Returns: The due purchases of which a statement is awaited.
    @discardableResult
    package func recordDueStates(
        at moment: Timestamp? = nil,
        holding hold: Timestamp? = nil,
        of customer: CustomerTime? = nil
    ) async throws -> AwaitedStatements {
        let catalogs = catalogs
        let view = Viewpoint(accepting: accepted, at: moment ?? customer?.now ?? clock.now()) { catalogs.type(of: $0) }
        let others = customer == nil ? customers.flatMap(\.originalTransactionIdentifiers) : []
        let purchases: ClockPurchases =
            customer.map { .only($0.originalTransactionIdentifiers) } ?? (others.isEmpty ? .all : .except(others))
        if customer != nil {
            // A customer's clock is asked every few seconds, and a write makes others wait.
            let isDue = try await ledger.read { try !$0.dueStates(from: view, of: purchases, limit: 1).isEmpty }
            guard isDue else { return AwaitedStatements() }
        }
        var awaiting = AwaitedStatements()
        var changed = 1
        // The loop ends at a page that changes nothing, which would repeat forever.
        while changed > 0, !Task.isCancelled {
            let page = try await ledger.writeInBackground {
                try $0.recordDueStates(from: view, holding: hold, of: purchases, limit: Self.pageSize)
            }
            changed = page.changed
            awaiting.formUnion(page.awaiting)
        }
        return awaiting
    }
}

/// The correction of times that a clock ahead has left in the ledger.
extension EntitlementService {
    /// Takes back the times that a wrong clock has written, and records anew the states of purchases that only it has ended.
    ///
    /// Ownership needs no correction: it follows from the stores' statements at each moment. A clock behind the dates that stores have
    /// stated is wrong itself. It ends nothing early, and reopens nothing.
    ///
    /// - Returns: The number of changed rows by `TABLE.COLUMN`, without those of 0.
    package func mendTimes(to now: Timestamp) async throws -> [String: Int] {
        let latest = now.adding(seconds: Coverage.clockToleranceSeconds)
        let isBehind = try await ledger.read { try $0.lastNotificationDate().map { $0 > latest } ?? false }
        var counts = try await ledger.takeBackOwnTimes(to: now, isBehind: isBehind)
        guard !isBehind else { return counts }
        let view = view(at: now)
        // The times of customers with own clocks are right by those.
        let others = Set(customers.flatMap(\.originalTransactionIdentifiers))
        let early = try await ledger.read { try $0.purchasesEndedEarly(from: view) }
            .filter { !others.contains($0.identifier) }
        for start in stride(from: 0, to: early.count, by: Self.pageSize) {
            let page = Set(early[start..<min(start + Self.pageSize, early.count)])
            let changed = try await ledger.writeInBackground {
                try $0.recordStates(of: page, try $0.apps, from: view).changed
            }
            if changed > 0 { counts["purchase_state.changes_at", default: 0] += changed }
        }
        return counts
    }
}

/// The states of purchases in the histories of their owners.
extension LedgerTransaction {
    /// The latest date that a store has stated in one of the notifications that were received last; nil without one.
    fileprivate func lastNotificationDate() throws -> Timestamp? {
        try database.rows(
            "SELECT signed_at FROM notification ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT 100"
        ) { try $0.next() }.max()
    }

    /// The purchases whose end is in the history before it has come. They stay in this list until then.
    fileprivate func purchasesEndedEarly(from view: Viewpoint) throws -> [TransactionKey] {
        let apps = try apps
        let ends: [AuditEntry.Event] = [.expired, .renewalFailed, .gracePeriodBegan]
        return try database.rows(
            """
            SELECT DISTINCT bought.original_transaction_id, bought.origin, bought.app
            FROM audit JOIN redeemed_transaction AS bought ON bought.user_id = audit.user_id
                AND bought.transaction_id = audit.reference AND bought.origin = audit.origin
            WHERE audit.origin IN \(view.accepted.all.sqlList) AND audit.happened_at > $1
                AND audit.event IN \(ends.sqlList)
            """,
            [view.moment]
        ) { try apps.key(&$0) }.sorted()
    }

    /// Records the changes that time has caused until the moment of a viewpoint, the first ones first.
    ///
    /// A purchase of an origin that is not accepted stays due until a process records it that accepts the origin, so that its event
    /// is not lost.
    ///
    /// - Parameters:
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    ///   - purchases: The purchases that have the time of the viewpoint.
    ///   - limit: The maximum number of purchases.
    /// - Returns: The number of purchases whose states have changed, which is 0 if no more are due, and the purchases of which a
    ///   statement is awaited.
    package func recordDueStates(
        from view: Viewpoint,
        holding hold: Timestamp? = nil,
        of purchases: ClockPurchases = .all,
        limit: Int
    ) throws -> (changed: Int, awaiting: AwaitedStatements) {
        let due = try dueStates(from: view, of: purchases, limit: limit)
        return try recordStates(of: Set(due), try apps, holding: hold, from: view)
    }

    /// The purchases whose states time changes until the moment of a viewpoint, the first ones first.
    fileprivate func dueStates(
        from view: Viewpoint,
        of purchases: ClockPurchases,
        limit: Int
    ) throws -> [TransactionKey] {
        let (apps, condition) = (try apps, purchases.condition("$2", database))
        let last = condition.arguments.isEmpty ? "$2" : "$3"
        return try database.rows(
            """
            SELECT original_transaction_id, origin, app FROM purchase_state
            WHERE changes_at <= $1 AND origin IN \(view.accepted.all.sqlList)\(condition.sql)
            ORDER BY changes_at LIMIT \(last)
            """,
            [view.moment] + condition.arguments + [limit]
        ) { try apps.key(&$0) }
    }

    /// Records the current states of purchases. Those of accepted origins have events.
    ///
    /// - Returns: The same as `recordDueStates`.
    func recordStates(
        of originals: Set<TransactionKey>,
        _ apps: AppNumbers,
        holding hold: Timestamp? = nil,
        from view: Viewpoint
    ) throws -> (changed: Int, awaiting: AwaitedStatements) {
        guard !originals.isEmpty else { return (0, AwaitedStatements()) }
        let records = EntitlementRecords(database: database, apps: apps)
        var facts = try records.facts(ofPurchases: originals)
        if facts.haveFixedPeriods {
            try records.readFixedPeriods(of: Set(facts.purchases.values.map(\.owner)), into: &facts)
        }
        for (number, user) in try users.names(of: Set(facts.purchases.values.map(\.owner))) {
            facts.acceptedOriginsByUser[number] = view.accepted.origins(for: user)
        }
        var decision = facts.decision(accepting: view.accepted.origins, at: view.moment)
        let awaiting = decision.recordStates(of: originals, holding: hold, type: view.type)
        try EntitlementChangeRecords(transaction: self, apps: apps, before: facts, decision: decision).write()
        let changed = originals.count { facts.recordedStates[$0] != decision.facts.recordedStates[$0] }
        return (changed, awaiting)
    }
}

/// The purchases whose states are recorded by one clock.
package enum ClockPurchases: Sendable {
    case all
    /// The purchases of a customer with an own clock, by their original transactions.
    case only([String])
    /// The purchases of all others.
    case except([String])

    /// The condition of their rows, with its argument at a place.
    func condition(_ parameter: String, _ database: any LedgerDatabase) -> (
        sql: String, arguments: [any SQLConvertible]
    ) {
        switch self {
        case .all: ("", [])
        case .only(let originals):
            (" AND original_transaction_id \(database.isIn(packed: parameter))", [database.list(packed: originals)])
        case .except(let originals):
            (" AND NOT original_transaction_id \(database.isIn(packed: parameter))", [database.list(packed: originals)])
        }
    }
}
