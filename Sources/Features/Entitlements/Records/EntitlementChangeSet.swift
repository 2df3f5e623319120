import Ledger
import Proofs

/// The rows that a decision changes, each once, regardless of the number of changes.
struct EntitlementChangeSet {
    /// An entry of a user's audit log.
    enum Event {
        case entry(AuditEntry)
        /// A refusal, written once for each user, transaction and result, because an app retries at every launch.
        case refusal(Redemption.Result, Claim, AuditActor)
    }

    private(set) var newPurchases: [TransactionKey] = []
    private(set) var newTransactions: [Claim] = []
    private(set) var changedTransactions: [TransactionKey] = []
    /// Transactions that were already redeemed, whose facts change.
    private(set) var changedFacts: Set<TransactionKey> = []
    private(set) var changedRenewals: Set<TransactionKey> = []
    private(set) var recordedStates: Set<TransactionKey> = []
    private(set) var newlyNamed: [TransactionKey] = []
    /// The former owners of the transferred purchases that had an owner before the decision.
    private(set) var transfers: [(original: TransactionKey, former: Int64)] = []
    private(set) var parkedOrUnparked: Set<TransactionKey> = []
    private(set) var events: [(event: Event, user: Int64)] = []
    private(set) var newEnds: [(productIdentifier: String, user: Int64)] = []

    init(_ changes: [EntitlementChange]) {
        var known: (purchases: Set<TransactionKey>, transactions: Set<TransactionKey>) = ([], [])
        var new: Set<TransactionKey> = []
        var newKeys: Set<TransactionKey> = []
        for change in changes {
            switch change {
            case .refused(let result, let claim, let user, let actor):
                events.append((.refusal(result, claim, actor), user))
            case .purchase(let original, _, _):
                known.purchases.insert(original)
                new.insert(original)
                newPurchases.append(original)
            case .transaction(let claim, _, _):
                known.transactions.insert(claim.key)
                newKeys.insert(claim.key)
                newTransactions.append(claim)
            case .status(let key, _), .statements(let key, _), .grace(let key, _):
                if known.transactions.insert(key).inserted { changedTransactions.append(key) }
            case .facts(let key, _):
                if !newKeys.contains(key) { changedFacts.insert(key) }
            case .renewal(let original, _): changedRenewals.insert(original)
            case .naming(let original, _):
                if known.purchases.insert(original).inserted { newlyNamed.append(original) }
            case .transfer(let original, let former, _), .merge(let original, let former, _):
                if new.insert(original).inserted { transfers.append((original, former)) }
            case .parked(let claim, _): parkedOrUnparked.insert(claim.key)
            case .unparked(let key): parkedOrUnparked.insert(key)
            case .audit(let entry, let user): events.append((.entry(entry), user))
            case .mergedTokens: break
            case .recordedState(let original, _): recordedStates.insert(original)
            case .endChanged(let product, let user): newEnds.append((product, user))
            }
        }
    }
}
