import Commerce
import Ledger

extension LedgerTransaction {
    /// Records that the purchases of an authentic proof were refused: each once for a user, a transaction and a code, and within
    /// the limit of the user.
    public func recordRefusal(
        _ code: String,
        of claims: [Claim],
        for user: User,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws {
        let number = try number(of: user, at: moment)
        let records = RefusalRecords(
            database: database, apps: try AppRecords(database: database).numbers(of: Set(claims.map(\.app))))
        var known = try records.known(
            among: claims.map { Refusal(user: number, key: $0.key, result: code) })
        let new = claims.filter { known.insert(Refusal(user: number, key: $0.key, result: code)) }
        try records.insert(new.map { Refusal(user: number, key: $0.key, result: code) })
        try audit.append(
            new.map { claim in
                let entry = AuditEntry(
                    happenedAt: moment, event: .refused, actor: actor, origin: claim.origin,
                    reference: claim.transactionIdentifier, subject: claim.productIdentifier, reason: code)
                return (entry, number)
            })
    }
}
