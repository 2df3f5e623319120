import Proofs

/// The last statement about one purchase event under each of its transaction identifiers.
///
/// The event is revoked while the last statement under any identifier revokes it. Only a later statement under the same
/// identifier, such as one of a reversal, takes that back. The end is the one stated last.
package struct EventStatements: Hashable, Sendable, Codable {
    private struct Statement: Hashable, Sendable, Codable {
        let identifier: String
        var status: TransactionStatus
    }

    private var first: Statement
    private var others: [Statement] = []

    /// - Parameter identifier: The only identifier of the event so far.
    init(_ status: TransactionStatus, under identifier: String) {
        first = Statement(identifier: identifier, status: status)
    }

    mutating func add(_ status: TransactionStatus, under identifier: String) {
        var statements = [first] + others
        if let index = statements.firstIndex(where: { $0.identifier.hasSameBytes(as: identifier) }) {
            if status.isLater(than: statements[index].status) { statements[index].status = status }
        } else {
            statements.append(Statement(identifier: identifier, status: status))
            statements.sort { ByteKey($0.identifier) < ByteKey($1.identifier) }
        }
        (first, others) = (statements[0], Array(statements.dropFirst()))
    }

    /// The status of the event.
    var status: TransactionStatus {
        let statuses = [first.status] + others.map(\.status)
        func last(_ last: TransactionStatus, _ next: TransactionStatus) -> TransactionStatus {
            next.isLater(than: last) ? next : last
        }
        var status = statuses.reduce(first.status, last)
        let revoked = statuses.filter(\.isRevoked)
        let revoking = revoked.first.map { revoked.reduce($0, last) }
        (status.revocationDate, status.revocationReason) = (revoking?.revocationDate, revoking?.revocationReason)
        return status
    }
}
