import Entitlements
import Ledger
import Proofs
import Vocabulary

/// A customer in a list, with the facts by which people compare customers.
package struct ListedCustomer: Hashable, Sendable {
    package let known: KnownUser
    /// The sums of the paid prices without what was refunded, the largest first.
    package let spent: [Price]
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
    /// Those who have bought something, the last purchase first.
    case lastPurchase
    /// Those who have paid something in a currency, the largest sum first.
    case spent
    /// Those whose renewal could not be charged, in billing retry or a grace period.
    case notPaid
    /// Those with a subscription, or another purchase with an end, that has ended this month, the last one first.
    case ended
    /// Those who have redeemed a product, the latest redemption first.
    case product
}

/// A list of customers, and what it is about.
package struct CustomerQuery: Sendable {
    /// The largest number of customers that a list counts.
    package static let maximumCount = 10_000

    package let selection: CustomerSelection
    package let environment: FigureQuery.Environment
    /// The currency of the sums that sort `spent`; nil for the other lists, or if nobody has paid anything.
    package let currency: String?
    /// The identifier of the list `product`; nil for the other lists.
    package let product: String?
    /// The moment that decides the month.
    let moment: Timestamp

    package init(
        _ selection: CustomerSelection, in environment: FigureQuery.Environment, currency: String? = nil,
        product: String? = nil, at moment: Timestamp
    ) {
        (self.selection, self.environment, self.moment) = (selection, environment, moment)
        (self.currency, self.product) = (currency, product)
    }
}

package enum CustomerPosition: LosslessStringConvertible, Sendable {
    case name(User)
    /// The value that the list is sorted by, and the number of the user.
    case value(RecordPosition)

    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        if let position = RecordPosition(text) {
            self = .value(position)
        } else if let position = KnownUser.Position(text) {
            self = .name(position.user)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .name(let user): KnownUser.Position(user: user).description
        case .value(let position): position.description
        }
    }
}

/// The rows of a list: a part of a table, in the order of an index, backwards.
private struct CustomerRows {
    /// The table and the condition.
    let source: String
    let arguments: [any SQLConvertible]
    /// The columns of the order. The last one is the number of the user.
    let order: [String]
    /// True if a user may have several rows.
    var hasRepetitions = false

    init(_ query: CustomerQuery, in database: any LedgerDatabase) {
        let isOfOrigin = query.environment.isOfOrigin
        let isSandbox = query.environment == .sandbox
        // Nearly all issuers are the same, from which PostgreSQL would conclude that hardly any other one is left.
        let isPresent = "coalesce(issuer, '') <> $1"
        switch query.selection {
        case .all, .newest:
            (source, arguments) = (#""user" WHERE \#(isPresent)"#, [User.erasedIssuer])
            order = ["first_seen_at", "user_id"]
        case .lastPurchase:
            (source, arguments) = ("customer_activity WHERE is_sandbox = $1", [isSandbox])
            order = ["last_purchase_at", "user_id"]
        case .spent:
            source = "customer_spending WHERE is_sandbox = $1 AND currency = $2 AND amount > 0"
            arguments = [isSandbox, query.currency ?? ""]
            order = ["amount", "user_id"]
        case .notPaid:
            let index = database.indexed(by: "purchase_state_not_paid")
            source = "purchase_state \(index) WHERE \(Table.isNotPaid) AND \(isOfOrigin)"
            (arguments, order, hasRepetitions) = ([], ["user_id"], true)
        case .ended:
            // The order of the tables is that of the reads in SQLite.
            source = """
                audit \(database.indexed(by: "audit_of_ends")) CROSS JOIN "user"
                WHERE \(isPresent) AND "user".user_id = audit.user_id AND event = 'expired' AND happened_at >= $2
                    AND \(isOfOrigin)
                """
            arguments = [User.erasedIssuer, CalendarDay(query.moment).firstOfMonth.start]
            (order, hasRepetitions) = (["happened_at", "audit.user_id"], true)
        case .product:
            (source, arguments) = (
                "redeemed_transaction WHERE product = \(ProductRecords.number(of: "$1"))", [query.product ?? ""]
            )
            (order, hasRepetitions) = (["redeemed_at", "user_id"], true)
        }
    }

    /// The query for a page: the values of the order.
    func page(after last: RecordPosition?, limit: Int) -> SQLQuery {
        let columns = order.joined(separator: ", ")
        let values = Array([last?.first ?? .max, last?.second ?? .max].suffix(order.count))
        let parameters = values.indices.map { "$\(arguments.count + 1 + $0)" }
        return SQLQuery(
            """
            SELECT \(hasRepetitions ? "DISTINCT " : "")\(columns) FROM \(source)
                AND (\(columns)) < (\(parameters.joined(separator: ", ")))
            ORDER BY \(order.map { "\($0) DESC" }.joined(separator: ", ")) LIMIT $\(arguments.count + values.count + 1)
            """,
            arguments + values.map(\.self) + [limit])
    }

    /// The query for the number of users, up to a limit.
    func count(upTo limit: Int) -> SQLQuery {
        SQLQuery(
            """
            SELECT count(*) FROM (SELECT \(hasRepetitions ? "DISTINCT " : "")\(order.last ?? "") FROM \(source)
                LIMIT $\(arguments.count + 1)) AS counted
            """,
            arguments + [limit])
    }
}

/// The lists of customers. Each reads an index.
extension LedgerTransaction {
    /// A page of a list.
    ///
    /// - Parameter last: The position at which the previous page ended; nil for the first page.
    /// - Returns: The customers, who may be none before the last page, and the end of the page; nil for the last page.
    package func customers(
        _ query: CustomerQuery, after last: CustomerPosition?, limit: Int
    ) throws -> (customers: [KnownUser], next: CustomerPosition?) {
        if query.selection == .product { return try buyers(of: query.product ?? "", after: last, limit) }
        let rows = query.selection == .all ? try named(after: last, limit) : try sorted(query, after: last, limit)
        let users = try known(try presentNames(of: Set(rows.map(\.user))))
        var listed: Set<Int64> = []
        let customers = rows.compactMap { row -> KnownUser? in
            // An alias is not listed, because its customer is.
            if case .name(let name) = row.position, name != users[row.user]?.user { return nil }
            return listed.insert(row.user).inserted ? users[row.user] : nil
        }
        return (customers, rows.count < limit ? nil : rows.last?.position)
    }

    private typealias Row = (position: CustomerPosition, user: Int64)

    private func named(after last: CustomerPosition?, _ limit: Int) throws -> [Row] {
        var name: User?
        if case .name(let user) = last { name = user }
        return try database.rows(
            """
            SELECT issuer, name, user_id FROM user_name WHERE coalesce(issuer, '') <> $1 AND (name, issuer) > ($2, $3)
            ORDER BY name, issuer LIMIT $4
            """,
            [User.erasedIssuer, name?.name ?? "", name?.issuer ?? "", limit]
        ) { row in
            try User(&row).map { (.name($0), try row.next()) }
        }.compactMap(\.self)
    }

    private func sorted(_ query: CustomerQuery, after last: CustomerPosition?, _ limit: Int) throws -> [Row] {
        var position: RecordPosition?
        if case .value(let value) = last { position = value }
        let rows = CustomerRows(query, in: database)
        return try database.rows(rows.page(after: position, limit: limit)) { row in
            let value: Int64 = rows.order.count > 1 ? try row.next() : 0
            let user: Int64 = try row.next()
            return (.value(RecordPosition(value, user, 0)), user)
        }
    }

    /// The maximum number of transactions that one page of a product's customers reads. A subscriber has many.
    private static let maximumTransactionsOfProduct = 500

    /// The customers of a product, each once, by the latest redemption. A page may be short, even empty, before the last one.
    private func buyers(
        of product: String, after last: CustomerPosition?, _ limit: Int
    ) throws -> (customers: [KnownUser], next: CustomerPosition?) {
        var position: RecordPosition?
        if case .value(let value) = last { position = value }
        let rows = try database.rows(
            """
            SELECT redeemed_at, user_id, sequence FROM redeemed_transaction
            WHERE product = \(ProductRecords.number(of: "$1")) AND (redeemed_at, user_id, sequence) < ($2, $3, $4)
            ORDER BY redeemed_at DESC, user_id DESC, sequence DESC LIMIT $5
            """,
            [
                product, position?.first ?? .max, position?.second ?? .max, position?.third ?? .max,
                Self.maximumTransactionsOfProduct,
            ]
        ) { RecordPosition(try $0.next(), try $0.next(), try $0.next()) }
        let found = Set(rows.map(\.second))
        let (latest, users) = (
            try latestRedemptions(of: product, by: found), try known(try presentNames(of: found))
        )
        var customers: [KnownUser] = []
        var end: CustomerPosition?
        // The last user of the previous page may have further transactions of the same moment.
        var listed: Set<Int64> = Set(position.map { [$0.second] } ?? [])
        for row in rows {
            if customers.count == limit { return (customers, end) }
            end = .value(row)
            guard latest[row.second] == row.first, listed.insert(row.second).inserted, let user = users[row.second]
            else { continue }
            customers.append(user)
        }
        return (customers, rows.count < Self.maximumTransactionsOfProduct ? nil : end)
    }

    private func latestRedemptions(of product: String, by users: Set<Int64>) throws -> [Int64: Int64] {
        guard !users.isEmpty else { return [:] }
        // The query uses the users' key, not the product's index.
        return try database.dictionary(
            """
            SELECT user_id, max(redeemed_at) FROM redeemed_transaction
            WHERE user_id \(database.isIn(numbers: "$1")) AND coalesce(product, 0) = \(ProductRecords.number(of: "$2"))
            GROUP BY user_id
            """,
            [database.list(users.sorted()), product]
        ) { (try $0.next(), try $0.next()) }
    }

    /// The number of customers in a list, up to one above `CustomerQuery.maximumCount`.
    package func count(of query: CustomerQuery) throws -> Int {
        try database.single(CustomerRows(query, in: database).count(upTo: CustomerQuery.maximumCount + 1))
    }

    /// The currencies in which customers have paid, that of the most customers first.
    package func spentCurrencies(in environment: FigureQuery.Environment) throws -> [String] {
        let (maximumCurrencies, maximumCount) = (200, 1000)
        var found: [(currency: String, count: Int)] = []
        while found.count < maximumCurrencies {
            let next: String? = try database.value(
                """
                SELECT currency FROM customer_spending WHERE is_sandbox = $1 AND currency > $2 AND amount > 0
                ORDER BY currency LIMIT 1
                """,
                [environment == .sandbox, found.last?.currency ?? ""])
            guard let next else { break }
            let query = CustomerQuery(
                .spent, in: environment, currency: next, at: Timestamp(millisecondsSince1970: 0))
            found.append((next, try database.single(CustomerRows(query, in: database).count(upTo: maximumCount))))
        }
        return found.sorted { ($1.count, $0.currency) < ($0.count, $1.currency) }.map(\.currency)
    }

    /// The facts of customers by which people compare them, in the same order.
    package func listed(_ customers: [KnownUser], in environment: FigureQuery.Environment) throws -> [ListedCustomer] {
        let numbers = try users.known(among: Set(customers.map(\.user)))
        let found = Set(numbers.values).sorted()
        guard !found.isEmpty else { return [] }
        let sums = try database.customerSums(of: found).compactMapValues {
            $0.first { $0.isSandbox == (environment == .sandbox) }
        }
        var states: [Int64: [PurchaseState]] = [:]
        try database.forEachRow(
            """
            SELECT user_id, state FROM purchase_state
            WHERE user_id \(database.isIn(numbers: "$1"))
                AND \(environment.isOfOrigin)
            """,
            [database.list(found)]
        ) { row in
            let number: Int64 = try row.next()
            states[number, default: []].append(try row.next())
        }
        return customers.map { customer in
            let number = numbers[customer.user]
            let sums = number.flatMap { sums[$0] }
            return ListedCustomer(
                known: customer, spent: sums?.spent ?? [], lastPurchase: sums?.lastPurchase,
                state: number.flatMap { states[$0] }.flatMap(Self.mostImportant))
        }
    }

    /// The state that people look for first: a missing payment, then what is owned.
    private static func mostImportant(_ states: [PurchaseState]) -> PurchaseState? {
        [.billingRetry, .gracePeriod].first(where: states.contains) ?? states.first(where: \.isOwned)
            ?? states.first(where: \.mayReturn) ?? states.first
    }
}

extension [ListedCustomer] {
    /// The list as CSV (RFC 4180), with a row for each customer and currency. Amounts are in units of the currency.
    package var csv: String {
        let header = "name,issuer,first_seen_at,state,last_purchase_at,currency,spent\r\n"
        return header
            + flatMap { customer in
                let sums: [Price?] = customer.spent.isEmpty ? [nil] : customer.spent
                return sums.map { sum in
                    ExportText.cells([
                        .text(customer.known.user.name), .text(customer.known.user.issuer),
                        .date(customer.known.firstSeenAt), .text(customer.state?.rawValue),
                        .date(customer.lastPurchase), .text(sum?.currency), .amount(sum?.milliunits),
                    ]) + "\r\n"
                }
            }.joined()
    }
}
