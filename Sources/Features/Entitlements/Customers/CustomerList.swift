import Ledger
import Proofs

/// A customer in a list, with the facts by which people compare customers.
package struct ListedCustomer: Hashable, Sendable {
    package let known: KnownUser
    /// The largest number of transactions of a customer that a list reads.
    package static let maximumTransactions: Int64 = 200

    /// The sums of the paid prices without what was refunded, the largest first.
    package let spent: [Price]
    /// False if the sums are those of the newest transactions only.
    package let isComplete: Bool
    /// Nil without a purchase.
    package let lastPurchase: Timestamp?
    /// The state of the subscription, or other purchase with an end, that matters most; nil without one.
    package let state: PurchaseState?
}

/// A list of customers.
package enum CustomerSelection: String, CaseIterable, Sendable {
    /// All, in the order of their names.
    case all
    /// All, the newest first.
    case newest
    /// Those whose renewal could not be charged, in billing retry or a grace period.
    case notPaid
    /// Those with a subscription, or another purchase with an end, that has ended this month, the last one first.
    case ended
}

/// The lists of customers. Each reads an index.
extension LedgerTransaction {
    /// The number of audit records of an origin that one page reads at most. A page of rare events may need several.
    private static let auditWindow = 2000

    /// A page of a list, except that of all names (`users(matching:)`).
    ///
    /// - Parameters:
    ///   - origins: The origins of the purchases.
    ///   - last: The position at which the previous page ended; nil for the first page.
    /// - Returns: The customers, who may be none before the last page, and the end of the page; nil for the last page.
    package func customers(
        _ selection: CustomerSelection, from origins: Set<Origin>, at moment: Timestamp, after last: RecordPosition?,
        limit: Int
    ) throws -> (customers: [KnownUser], next: RecordPosition?) {
        let found: (positions: [RecordPosition], next: RecordPosition?) =
            switch selection {
            case .all, .newest: try newestUsers(before: last, limit: limit)
            case .notPaid: try usersNotPaying(origins, after: last, limit: limit)
            case .ended: try usersWithEnds(origins, in: CalendarDay(moment).firstOfMonth, before: last)
            }
        var (users, end, next): ([Int64], RecordPosition?, RecordPosition?) = ([], nil, found.next)
        for position in found.positions {
            guard users.count < limit else {
                next = end
                break
            }
            end = position
            if !users.contains(position.second) { users.append(position.second) }
        }
        let (names, tokens) = (try presentNames(of: Set(users)), try accountTokens(of: Set(users)))
        let customers = users.compactMap { number -> KnownUser? in
            guard let user = names[number], let found = tokens[number] else { return nil }
            return KnownUser(user: user, appAccountToken: found.token, firstSeenAt: found.firstSeenAt)
        }
        return (customers, next)
    }

    private func newestUsers(before last: RecordPosition?, limit: Int) throws -> ([RecordPosition], RecordPosition?) {
        let positions = try database.rows(
            """
            SELECT first_seen_at, user_id FROM "user" WHERE (first_seen_at, user_id) < ($1, $2)
            ORDER BY first_seen_at DESC, user_id DESC LIMIT $3
            """,
            [last?.first ?? .max, last?.second ?? .max, limit]
        ) { RecordPosition(try $0.next(), try $0.next(), 0) }
        return (positions, positions.count < limit ? nil : positions.last)
    }

    private func usersNotPaying(
        _ origins: Set<Origin>, after last: RecordPosition?, limit: Int
    ) throws -> ([RecordPosition], RecordPosition?) {
        let positions = try database.rows(
            """
            SELECT DISTINCT user_id FROM purchase_state \(database.indexed(by: "purchase_state_not_paid"))
            WHERE \(Table.isNotPaid) AND user_id > $1 AND origin IN \(origins.sqlList) ORDER BY user_id LIMIT $2
            """,
            [last?.second ?? .min, limit]
        ) { RecordPosition(0, try $0.next(), 0) }
        return (positions, positions.count < limit ? nil : positions.last)
    }

    /// The records of ends in a month, newest first, down to the position until which all origins were read; nil if they were read
    /// to the end.
    private func usersWithEnds(
        _ origins: Set<Origin>, in month: CalendarDay, before last: RecordPosition?
    ) throws -> ([RecordPosition], RecordPosition?) {
        var (ends, oldest): ([RecordPosition], RecordPosition?) = ([], nil)
        for origin in origins {
            let records = try database.rows(
                """
                SELECT happened_at, user_id, number, event FROM audit
                WHERE origin = $1 AND happened_at >= $2 AND (happened_at, user_id, number) < ($3, $4, $5)
                ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $6
                """,
                [
                    origin, month.start, last?.first ?? .max, last?.second ?? .max, last?.third ?? .max,
                    Self.auditWindow,
                ]
            ) { row in
                (
                    position: RecordPosition(try row.next(), try row.next(), try row.next()),
                    event: try row.next() as AuditEntry.Event
                )
            }
            ends += records.filter { $0.event == .expired }.map(\.position)
            if records.count == Self.auditWindow, let end = records.last?.position {
                oldest = oldest.map { max($0, end) } ?? end
            }
        }
        return (ends.filter { end in oldest.map { end >= $0 } ?? true }.sorted(by: >), oldest)
    }

    /// The facts of customers by which people compare them, in the same order.
    ///
    /// - Parameter isSandbox: True for test purchases, false for real ones.
    package func listed(_ customers: [KnownUser], inSandbox isSandbox: Bool) throws -> [ListedCustomer] {
        let numbers = try users.known(among: Set(customers.map(\.user)))
        let found = Set(numbers.values)
        guard !found.isEmpty else { return [] }
        let counts = try users.heads(of: found).mapValues(\.lastTransaction)
        let large = counts.filter { $0.value > ListedCustomer.maximumTransactions }.keys.sorted()
        let reading = ReadingRecords(database: database)
        var transactions = try reading.transactions(
            of: found.subtracting(large),
            stating: PurchasePeriod.Terms.facts + [
                .price, .currency, .multiSeatInfo, .revocationType, .revocationPercentage,
            ])
        for user in large {
            transactions[user] = try reading.transactions(
                of: user, in: nil, before: .max, limit: Int(ListedCustomer.maximumTransactions))
        }
        let origins = Set(Origin.allCases.filter { $0.isSandbox == isSandbox })
        var states: [Int64: [PurchaseState]] = [:]
        try database.forEachRow(
            """
            SELECT user_id, state FROM purchase_state
            WHERE user_id \(database.isIn(numbers: "$1")) AND origin IN \(origins.sqlList)
            """,
            [database.list(found.sorted())]
        ) { row in
            let number: Int64 = try row.next()
            states[number, default: []].append(try row.next())
        }
        return customers.map { customer in
            let number = numbers[customer.user]
            let bought = (number.flatMap { transactions[$0] } ?? []).filter { origins.contains($0.origin) }
            return ListedCustomer(
                known: customer, spent: bought.spent(inSandbox: isSandbox),
                isComplete: number.map { !large.contains($0) } ?? true,
                lastPurchase: bought.map(\.purchaseDate).max(),
                state: number.flatMap { states[$0] }.flatMap(Self.mostImportant))
        }
    }

    /// The state that people look for first: a missing payment, then what is owned.
    private static func mostImportant(_ states: [PurchaseState]) -> PurchaseState? {
        [.billingRetry, .gracePeriod].first(where: states.contains) ?? states.first(where: \.isOwned) ?? states.first
    }
}
