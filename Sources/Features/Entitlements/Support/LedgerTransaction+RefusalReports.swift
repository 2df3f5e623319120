import Ledger
import Proofs

extension LedgerTransaction {
    /// The recorded refusals of all users by their codes, in the order of the codes.
    ///
    /// - Parameters:
    ///   - moment: The beginning of the counted period.
    ///   - latest: The number of the latest refusals of each code.
    func refusalGroups(since moment: Timestamp, latest: Int) throws -> [RefusalGroup] {
        let records = RefusalReportRecords(database: database)
        return try records.codes().map { code in
            RefusalGroup(
                code: code,
                count: try records.count(of: code, since: moment, limit: RefusalGroup.maximumCount),
                latest: try refusals(of: code, before: nil, limit: latest))
        }
    }

    /// The recorded refusals of a code, newest first.
    ///
    /// - Parameter position: The position of the last refusal of the previous page; nil for the first page.
    func refusals(
        of code: String,
        before position: RecordedRefusal.Position?,
        limit: Int
    ) throws -> [RecordedRefusal] {
        let found = try RefusalReportRecords(database: database).refusals(of: code, before: position, limit: limit)
        let names = found.isEmpty ? [:] : try users.names(of: Set(found.map(\.user)))
        return found.map { user, record in
            let (entry, name) = (record.entry, names[user])
            return RecordedRefusal(
                user: name?.issuer == User.erasedIssuer ? nil : name, number: record.number,
                happenedAt: entry.happenedAt, code: code, actor: entry.actor, origin: entry.origin,
                transactionIdentifier: entry.reference, productIdentifier: entry.subject,
                position: .init(happenedAt: entry.happenedAt, user: user, number: record.number))
        }
    }
}
