import Entitlements
import Features
import Ledger
import Proofs

/// A back end that knows a customer's purchases only by webhook messages, in Till's format and in RevenueCat's, beside the ledger
/// that writes them.
struct MessageFollower {
    /// The end of a purchase as the last message says it.
    private struct Known {
        let transaction: TransactionKey
        let purchaseDate: Timestamp
        var isOwned: Bool
    }

    /// The end of access as the last event of RevenueCat's format says it.
    private struct Access {
        let purchaseDate: Timestamp
        /// Nil for no end.
        let endsAt: Timestamp?
    }

    private(set) var facts = EntitlementFacts()
    /// The entries of the audit log, of which messages tell.
    private(set) var log: [AuditEntry] = []
    /// The statements and the recorded changes by time so far; nil for a change by time.
    private(set) var steps: [(moment: Timestamp, claim: Claim?)] = []
    /// The messages that contradict earlier ones.
    private(set) var faults: [String] = []
    private var known: [TransactionKey: Known] = [:]
    private var access: [TransactionKey: Access] = [:]
    private var granted: Set<TransactionKey> = []

    /// True if the last messages say that the customer owns a purchase.
    func isOwned(_ original: TransactionKey) -> Bool { known[original]?.isOwned ?? false }

    /// True if the last event of RevenueCat's format says that the customer has access to a purchase at a moment.
    func hasAccess(_ original: TransactionKey, at moment: Timestamp) -> Bool {
        access[original].map { $0.endsAt.map { $0 > moment } ?? true } ?? false
    }

    /// Records a statement at the time of its arrival.
    mutating func record(_ claim: Claim, for user: Int64, at moment: Timestamp) {
        recordDueStates(until: moment)
        steps.append((moment, claim))
        var decision = decision(at: moment)
        _ = decision.redeem(claim, for: user, by: .user)
        decision.recordStates { GeneratedLife.types[$0] }
        follow(decision)
    }

    /// Records what time alone has changed.
    mutating func recordDueStates(until moment: Timestamp) {
        while let (original, due) = facts.recordedStates.compactMap({ original, state in
            state.changesAt.map { (original, $0) }
        }).filter({ $0.1 <= moment }).min(by: { $0.1 < $1.1 }) {
            steps.append((due, nil))
            var decision = decision(at: due)
            decision.recordStates(of: [original]) { GeneratedLife.types[$0] }
            guard decision.facts.recordedStates[original]?.changesAt != due else {
                faults.append("\(original.identifier) stays due at \(due.rfc3339)")
                return
            }
            follow(decision)
        }
    }

    private func decision(at moment: Timestamp) -> EntitlementDecision {
        facts.decision(accepting: [.appleProduction], at: moment)
    }

    private mutating func follow(_ decision: EntitlementDecision) {
        facts = decision.facts
        for case .audit(let entry, _) in decision.changes.events { follow(entry) }
    }

    private mutating func follow(_ entry: AuditEntry) {
        let key = TransactionKey(app: GeneratedLife.app, origin: .appleProduction, identifier: entry.reference)
        guard let transaction = facts.transactions[key] else {
            faults.append("\(entry.event) of the unknown transaction \(entry.reference)")
            return
        }
        log.append(entry)
        followEvent(of: entry, about: transaction)
        let isOwned: Bool
        switch entry.event {
        case .granted:
            isOwned = true
            if !granted.insert(key).inserted { faults.append("\(entry.reference) is granted twice") }
        case .gracePeriodBegan: isOwned = true
        case .revoked, .productChanged, .expired:
            isOwned = false
            granted.remove(key)
        case .renewalFailed, .paused: isOwned = false
        default: return
        }
        // A message about an earlier transaction does not change what the last one gives.
        let new = Known(transaction: key, purchaseDate: transaction.purchaseDate, isOwned: isOwned)
        guard let last = known[transaction.originalKey], last.purchaseDate > new.purchaseDate else {
            known[transaction.originalKey] = new
            return
        }
    }

    private mutating func followEvent(of entry: AuditEntry, about transaction: EntitlementFacts.Transaction) {
        let original = transaction.originalKey
        var event = RevenueCatFacts(entry, messageIdentifier: "msg", customer: ["alice"])
        event.transactions = SurfaceAnswers.transactions(facts, original).sorted {
            ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence)
        }
        let earlier = log.dropLast().filter { $0.reference.hasSameBytes(as: entry.reference) }
        let occasion = RevenueCatOccasion(
            earlier: Set(earlier.map(\.event)), event.transaction.map { .init($0) },
            beside: event.transactions.filter { $0 != event.transaction }.map { .init($0) })
        for companion in RevenueCatEvent.messages(about: entry, on: occasion) {
            event.companion = companion
            followMessage(event, about: transaction)
        }
    }

    private mutating func followMessage(
        _ event: RevenueCatFacts, about transaction: EntitlementFacts.Transaction
    ) {
        let (entry, original) = (event.entry, transaction.originalKey)
        guard let made = RevenueCatEvent(event),
            let members = (try? JSONParser.parse(Array(made.text.utf8)))?.at("event")
        else {
            faults.append("\(entry.event) of \(entry.reference) has no event")
            return
        }
        func date(_ name: String) -> Timestamp? {
            guard case .number(let number)? = members.at(name) else { return nil }
            return number.int64.map { Timestamp(millisecondsSince1970: $0) }
        }
        let end = date("grace_period_expiration_at_ms") ?? date("expiration_at_ms")
        let new = Access(
            purchaseDate: transaction.purchaseDate,
            endsAt: made.kind == .expiration ? min(entry.happenedAt, end ?? entry.happenedAt) : end)
        if access[original].map({ $0.purchaseDate <= new.purchaseDate }) ?? true { access[original] = new }
    }
}
