import Ledger
import Proofs
import Vocabulary

/// A refused claim of a user.
struct Refusal: Hashable {
    let user: Int64
    let key: TransactionKey
    let result: String
}

extension Refusal {
    init(_ user: Int64, _ claim: Claim, _ result: Redemption.Result) {
        self.init(user: user, key: claim.key, result: result.rawValue)
    }
}

/// The SQL of refusals, inside the caller's transaction.
struct RefusalRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// The maximum number of recorded refusals of a user, because a user may send any number of other people's proofs.
    static let maximumOfUser = 1000

    /// The refusals that were recorded before.
    struct Known {
        fileprivate var refusals: Set<Refusal> = []
        /// The counts by the user.
        fileprivate var counts: [Int64: Int] = [:]

        /// Adds a refusal.
        ///
        /// - Returns: True if it is new, and within the limit of the user.
        mutating func insert(_ refusal: Refusal) -> Bool {
            guard counts[refusal.user, default: 0] < maximumOfUser, refusals.insert(refusal).inserted else {
                return false
            }
            counts[refusal.user, default: 0] += 1
            return true
        }
    }

    func known(among refusals: [Refusal]) throws -> Known {
        var known = Known()
        guard !refusals.isEmpty else { return known }
        try database.forEachRow(
            """
            SELECT user_id, 0, transaction_id, origin, app, reason FROM refusal
            WHERE user_id \(database.isIn(numbers: "$1")) AND transaction_id \(database.isIn("$2"))
            UNION ALL
            SELECT user_id, count(*), NULL, NULL, NULL, NULL FROM refusal
            WHERE user_id \(database.isIn(numbers: "$1"))
            GROUP BY user_id
            """,
            [database.list(Set(refusals.map(\.user)).sorted()), database.list(refusals.map(\.key))]
        ) { row in
            let (user, count): (Int64, Int) = (try row.next(), try row.next())
            if count > 0 {
                known.counts[user] = count
            } else {
                known.refusals.insert(Refusal(user: user, key: try apps.key(&row), result: try row.next()))
            }
        }
        return known
    }

    func insert(_ refusals: [Refusal]) throws {
        try database.insert(
            into: "refusal", ["user_id"] + Table.transactionKey + ["reason"],
            refusals.map { [$0.user] + $0.key.sqlValues(apps) + [$0.result] })
    }
}

extension LedgerTransaction {
    /// Records refused purchases of an authentic proof, once for each user, transaction and code, up to the user's limit.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of the service's app. A refused proof of another app has no app in the ledger.
    ///   - named: The apps that the events name. The event of another app's purchase belongs to no app.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    package func recordRefusal(
        _ code: String,
        of claims: [Claim],
        in app: String,
        naming named: [String] = [],
        for user: User,
        by actor: AuditActor,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws {
        let knownNumber = try users.known(user)
        if knownNumber == nil, let newcomers {
            let bytes = NewcomerAllowance.bytes(ofUserNamed: user) + claims.count * NewcomerAllowance.bytesOfRefusal
            guard newcomers.take(bytes) == nil else { return }
        }
        let number = try number(of: user, at: moment)
        func refusal(_ claim: Claim) -> Refusal {
            let key = TransactionKey(app: app, origin: claim.origin, identifier: claim.transactionIdentifier)
            return Refusal(user: number, key: key, result: code)
        }
        let records = RefusalRecords(
            database: database, apps: try database.apps.numbers(of: [app]))
        var known = try records.known(among: claims.map(refusal))
        let new = claims.filter { known.insert(refusal($0)) }
        guard !new.isEmpty else { return }
        if knownNumber != nil {
            do {
                try charge(new.count * NewcomerAllowance.bytesOfRefusal, for: number, to: newcomers)
            } catch LedgerError.newcomersLimited { return }
        }
        try records.insert(new.map(refusal))
        try audit.append(
            new.map { claim in
                let entry = AuditEntry(
                    happenedAt: moment, event: .refused, actor: actor, origin: claim.origin,
                    app: named.first { $0.hasSameBytes(as: claim.app) }, reference: claim.transactionIdentifier,
                    subject: claim.productIdentifier, reason: code)
                return (entry, number)
            })
    }
}

extension EntitlementService {
    /// Records refused purchases of an authentic proof for the user who presents it.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    func recordRefusal(
        _ code: String, of refused: [Claim], for user: User, by actor: AuditActor, newcomers: NewcomerAllowance?
    ) async throws {
        guard !refused.isEmpty else { return }
        let (app, limit) = (apps.first.bundleIdentifier, limit)
        let own = apps.all.map(\.bundleIdentifier).filter { limit?.includes(app: $0) ?? true }
        try await ledger.write {
            try $0.recordRefusal(
                code, of: refused, in: app, naming: own, for: user, by: actor, newcomers: newcomers, at: clock.now())
        }
    }
}
