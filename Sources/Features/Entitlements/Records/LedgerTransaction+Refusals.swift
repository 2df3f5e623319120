import Ledger
import Proofs

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
            database: database, apps: try AppRecords(database: database).numbers(of: [app]))
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
