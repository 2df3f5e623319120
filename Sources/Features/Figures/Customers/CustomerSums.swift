import Entitlements
import Ledger
import Proofs

/// The purchases of a customer in one environment, as lists of customers show them and are sorted by them.
///
/// They follow from the transactions. The job of the figures writes them, so that no purchase waits for their indexes, and a page of
/// a list reads one row of an index for each customer.
struct CustomerSums: Hashable {
    let isSandbox: Bool
    let lastPurchase: Timestamp
    /// The sums of the paid prices without what was refunded, the largest first.
    let spent: [Price]

    /// The sums of each environment in which a customer has bought something.
    static func all(of transactions: [RedeemedTransaction]) -> [CustomerSums] {
        [false, true].compactMap { isSandbox in
            let bought = transactions.filter { $0.origin.isSandbox == isSandbox }
            return bought.map(\.purchaseDate).max().map {
                CustomerSums(isSandbox: isSandbox, lastPurchase: $0, spent: bought.spent(inSandbox: isSandbox))
            }
        }
    }
}

extension Table {
    static let customerSums = [customerActivity, customerSpending]

    /// The last purchase of each customer in an environment.
    private static let customerActivity = Table(
        name: "customer_activity", family: .userData,
        columns: [
            .integer("user_id"), .integer("is_sandbox", check: "is_sandbox IN (0, 1)"), .integer("last_purchase_at"),
        ],
        key: ["user_id", "is_sandbox"], erasure: .deletion, merge: .byRule
    )
    .indexed("customer_activity_by_time", by: ["is_sandbox", "last_purchase_at", "user_id"])

    /// The sum that each customer has paid in an environment and a currency, in milliunits.
    private static let customerSpending = Table(
        name: "customer_spending", family: .userData,
        columns: [
            .integer("user_id"), .integer("is_sandbox", check: "is_sandbox IN (0, 1)"), .text("currency"),
            .integer("amount"),
        ],
        key: ["user_id", "is_sandbox", "currency"], erasure: .deletion, merge: .byRule
    )
    .indexed("customer_spending_by_amount", by: ["is_sandbox", "currency", "amount", "user_id"])
}

/// The SQL about the sums of customers.
extension LedgerDatabase {
    /// The sums of customers, production first.
    func customerSums(of users: [Int64]) throws -> [Int64: [CustomerSums]] {
        var spent: [Int64: [(isSandbox: Bool, price: Price)]] = [:]
        try forEachRow(
            """
            SELECT user_id, is_sandbox, currency, amount FROM customer_spending
            WHERE user_id \(isIn(numbers: "$1"))
            """,
            [list(users)]
        ) { row in
            let (user, isSandbox, currency): (Int64, Bool, String) = (try row.next(), try row.next(), try row.next())
            spent[user, default: []].append((isSandbox, Price(milliunits: try row.next(), currency: currency)))
        }
        var sums: [Int64: [CustomerSums]] = [:]
        try forEachRow(
            """
            SELECT user_id, is_sandbox, last_purchase_at FROM customer_activity
            WHERE user_id \(isIn(numbers: "$1")) ORDER BY user_id, is_sandbox
            """,
            [list(users)]
        ) { row in
            let (user, isSandbox): (Int64, Bool) = (try row.next(), try row.next())
            let paid = (spent[user] ?? []).filter { $0.isSandbox == isSandbox }.map(\.price)
            sums[user, default: []].append(
                CustomerSums(isSandbox: isSandbox, lastPurchase: try row.next(), spent: paid.largestFirst))
        }
        return sums
    }

    func replaceCustomerSums(_ customers: [(user: Int64, sums: [CustomerSums])]) throws {
        try deleteCustomerSums(of: customers.map(\.user))
        let sums = customers.flatMap { user, sums in sums.map { (user: user, sums: $0) } }
        try insert(
            into: "customer_activity", ["user_id", "is_sandbox", "last_purchase_at"],
            sums.map { [$0.user, $0.sums.isSandbox, $0.sums.lastPurchase] })
        try insert(
            into: "customer_spending", ["user_id", "is_sandbox", "currency", "amount"],
            sums.flatMap { user, sums in
                sums.spent.map { [user, sums.isSandbox, $0.currency, $0.milliunits] }
            })
    }

    func deleteCustomerSums(of users: [Int64]) throws {
        for table in Table.customerSums where try has(table.name) {
            try delete(from: table.name, where: ["user_id"], users.map { [$0] })
        }
    }
}
