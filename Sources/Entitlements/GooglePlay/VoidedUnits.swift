import Catalog
import Ledger
import Proofs
import Vocabulary

/// The units of a purchase that Google Play has listed as voided, one record for each refund.
///
/// Google states the units of a refund, and not those that are left. So each record is kept, and a list that is read twice takes nothing
/// twice.
struct VoidedUnits: Hashable {
    /// The sum of all records.
    var quantity = 0
    /// The date of the last record; nil for none.
    var voidedAt: Timestamp?

    /// A stated product of a one-time purchase, of which the voided units are refunded, also if the state does not say so. If each unit is
    /// voided by itself, the purchase is taken back.
    ///
    /// - Parameter name: The token's name. It is the transaction of an only product. If the purchase has several, Google does not say of
    ///   which one the units are.
    func applied(to stated: StatedPurchase, of name: String) -> StatedPurchase {
        let purchase = stated.purchase
        guard let voidedAt, purchase.transactionIdentifier.hasSameBytes(as: name) else { return stated }
        var result = stated
        result.refundedQuantity = max(stated.refundedQuantity, quantity)
        guard quantity >= purchase.quantity, purchase.revocationDate == nil else { return result }
        result.purchase = purchase.revoked(
            at: voidedAt, reason: RevocationReason.refundedForOtherReason.rawValue)
        return result
    }
}

extension StatedPurchase {
    /// States the share of the price that was paid back for units, if the order with the amount is not known.
    ///
    /// - Parameters:
    ///   - known: The redeemed transactions of the purchase. One of them may have a price that the statement has not.
    ///   - isAsked: False if the order of a redeemed transaction was not asked for. It states the amount.
    mutating func payBackUnits(of known: [RedeemedTransaction], voidedAt: Timestamp?, isAsked: Bool) {
        let known = known.first { $0.transactionIdentifier.hasSameBytes(as: purchase.transactionIdentifier) }
        let units = VoidedUnits(
            quantity: refundedQuantity,
            voidedAt: known?.facts.date(.refundedAt) ?? voidedAt ?? purchase.facts.date(.signedDate))
        guard purchase.facts[.refundedAmount] == nil, isAsked || known == nil,
            let refund = units.refund(
                of: purchase.facts.integer(.price) ?? known?.paidAmount, units: purchase.quantity,
                beyond: known?.facts)
        else { return }
        purchase = purchase.stating(refund)
    }
}

extension VoidedUnits {
    /// The share of a price that the units have cost. Without a price, the amount is unknown.
    ///
    /// - Parameter known: What is known to be paid back. An order states its amount rounded.
    /// - Returns: Nil if it is that of all units.
    fileprivate func refund(of price: Int64?, units bought: Int, beyond known: TransactionFacts?) -> StatedRefund? {
        guard quantity > 0, bought > 0 else { return nil }
        guard let price else {
            return known?[.refundedAt] == nil ? StatedRefund(amount: nil, date: voidedAt) : nil
        }
        let bought = Int64(bought)
        let amount = bought.dividingFullWidth(price.multipliedFullWidth(by: min(Int64(quantity), bought))).quotient
        if let known = known?.integer(.refundedAmount), amount - known <= price / bought / 2 { return nil }
        return StatedRefund(amount: amount, date: voidedAt)
    }
}

extension RedeemedTransaction {
    /// The refund of voided units; nil if it is known.
    func refund(ofUnits units: VoidedUnits, of bought: Int?) -> StatedRefund? {
        units.refund(of: paidAmount, units: bought ?? quantity, beyond: facts)
    }

    /// The refund of the whole price; nil if the price is unknown, or if the order of a subscription has stated another amount.
    func refund(ofWhole voided: VoidedGooglePlayPurchase) -> StatedRefund? {
        let isKnown = expiresAt != nil && facts.integer(.refundedAmount) ?? 0 > 0
        return isKnown ? nil : paidAmount.map { StatedRefund(amount: $0, date: voided.voidedAt) }
    }
}

/// The units of a redeemed purchase of one product.
struct BoughtUnits: Hashable {
    /// The units that were paid, refunded or not.
    let bought: Int
    /// The units with which the transaction was redeemed. Those that were refunded before are not among them.
    let redeemed: Int
    /// The units that the credit has lost since.
    let taken: Int

    /// The units that the credit has lost once all voided units are taken back.
    ///
    /// - Returns: Nil if no unit is left. The purchase is then taken back as a whole.
    func taken(after voided: VoidedUnits) -> Int? {
        let left = min(redeemed, bought - voided.quantity)
        return left > 0 ? max(taken, redeemed - left) : nil
    }

    /// The amount of a credit that loses more units.
    ///
    /// - Parameter amount: The amount with the units that are taken so far.
    func amount(_ amount: Int, taking taken: Int) -> Int {
        amount / (redeemed - self.taken) * (redeemed - taken)
    }
}

/// The SQL of bought and voided units of an app, inside the caller's transaction.
struct VoidedUnitRecords {
    let database: any LedgerDatabase
    /// The number of the app.
    let app: Int64
    /// The name of the app on Google Play.
    let package: String

    /// Stores a record of voided units, unless it is stored.
    func write(_ voided: VoidedGooglePlayPurchase, _ quantity: Int) throws {
        try database.write(
            """
            INSERT INTO google_voided_units (purchase_token, order_id, app, package, voided_at, quantity)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (purchase_token, order_id, app, package, voided_at) DO NOTHING
            """,
            [voided.purchaseToken, voided.orderId ?? "", app, package, voided.voidedAt, quantity])
    }

    func units(ofToken token: String) throws -> VoidedUnits {
        let records = try database.rows(
            """
            SELECT quantity, voided_at FROM google_voided_units
            WHERE purchase_token = $1 AND app = $2 AND package = $3 ORDER BY voided_at, order_id
            """,
            [token, app, package]
        ) { (quantity: try $0.next() as Int, voidedAt: try $0.next() as Timestamp) }
        return VoidedUnits(quantity: records.reduce(0) { $0 + $1.quantity }, voidedAt: records.last?.voidedAt)
    }

    /// Stores the number of bought units, unless it is stored.
    func write(bought: Int, ofToken token: String) throws {
        try database.write(
            """
            INSERT INTO google_bought_units (purchase_token, app, package, bought, taken) VALUES ($1, $2, $3, $4, 0)
            ON CONFLICT (purchase_token, app, package) DO NOTHING
            """,
            [token, app, package, bought])
    }

    /// The bought units of a redeemed transaction. Without a record of them, all were redeemed.
    func units(ofToken token: String, redeemed: Int) throws -> BoughtUnits {
        try database.row(
            "SELECT bought, taken FROM google_bought_units WHERE purchase_token = $1 AND app = $2 AND package = $3",
            [token, app, package]
        ) { BoughtUnits(bought: try $0.next(), redeemed: redeemed, taken: try $0.next()) }
            ?? BoughtUnits(bought: redeemed, redeemed: redeemed, taken: 0)
    }

    func write(taken: Int, ofToken token: String) throws {
        try database.write(
            "UPDATE google_bought_units SET taken = $1 WHERE purchase_token = $2 AND app = $3 AND package = $4",
            [taken, token, app, package])
    }
}

/// The effect of voided units on a redeemed purchase.
enum UnitRevocation {
    /// Nobody has redeemed the purchase, or it has given no credit, and a unit of it is left.
    case none
    case applied(NotificationOutcome)
    /// No unit is left.
    case all
}

extension LedgerTransaction {
    func voidedUnits(ofApp app: App, _ package: String) throws -> VoidedUnitRecords {
        VoidedUnitRecords(database: database, app: try number(ofRecorded: app), package: package)
    }

    /// A redeemed transaction of one product, and the credit that it has given; nil for an item, which has no units.
    private struct Redeemed {
        let sequence: Int64
        let product: String
        let quantity: Int
        let credit: Credit?
    }

    /// Takes voided units back from the credit of a redeemed one-time purchase. An item goes with the last unit.
    ///
    /// - Parameters:
    ///   - key: The transaction, which is its own original. A product of a purchase with several has another identifier, and Google does
    ///     not say of which product the voided units are.
    ///   - token: The purchase token, whose name is the transaction.
    func takeBackUnits(
        of key: TransactionKey, _ token: String, _ records: VoidedUnitRecords, at moment: Timestamp
    ) throws -> UnitRevocation {
        let apps = try apps
        let owner: Int64? = try database.value(
            "\(Table.ownerOfPurchase) AND origin = $2 AND app = $3",
            key.sqlValues(apps))
        guard let owner else { return .none }
        // The heads are read first, so that a concurrent writer changes their version.
        var heads = try users.heads(of: [owner])
        let redeemed = try database.row(
            """
            SELECT redeemed.sequence, \(ProductRecords.identifier(in: "redeemed")), redeemed.quantity, credit.balance,
                credit.amount
            FROM redeemed_transaction AS redeemed
                LEFT JOIN credit ON credit.user_id = redeemed.user_id AND credit.sequence = redeemed.sequence
            WHERE redeemed.user_id = $1 AND redeemed.original_transaction_id = $2 AND redeemed.origin = $3
                AND redeemed.app = $4 AND redeemed.transaction_id = $2
            """,
            [owner] + key.sqlValues(apps)
        ) { row -> Redeemed in
            let (sequence, product, quantity): (Int64, String, Int) = (
                try row.next(), try row.next(), try row.next()
            )
            let (balance, amount): (String?, Int?) = (try row.next(), try row.next())
            return Redeemed(
                sequence: sequence, product: product, quantity: quantity,
                credit: balance.flatMap { name in amount.map { Credit(balance: name, amount: $0) } })
        }
        guard let redeemed else { return .none }
        try records.write(bought: redeemed.quantity, ofToken: token)
        let units = try records.units(ofToken: token, redeemed: redeemed.quantity)
        guard let taken = units.taken(after: try records.units(ofToken: token)) else { return .all }
        guard let credit = redeemed.credit else { return .none }
        guard taken > units.taken else { return .applied(.recorded) }
        let known = redeemed.quantity - units.taken
        guard known > 0, credit.amount % known == 0 else {
            throw BrokenInvariant("a credit is that of the units that are left", key.identifier)
        }
        // A log-in on another node of a distributed database can have moved the purchase since its owner was read.
        try database.require(
            "owner_id", of: "claim", where: Table.transactionKey, [[owner] + key.sqlValues(apps)])
        try records.write(taken: taken, ofToken: token)
        let left = units.amount(credit.amount, taking: taken)
        try database.update(
            "credit", set: ["amount"], where: ["user_id", "sequence"],
            [[left, owner, redeemed.sequence]])
        let entry = AuditEntry(
            happenedAt: moment, event: .unitsRevoked, actor: .store(key.origin.store), origin: key.origin, app: key.app,
            reference: key.identifier, subject: redeemed.product, reason: String(taken - units.taken),
            measure: .amount(left - credit.amount, of: credit.balance))
        try record(entry, of: owner, &heads)
        return .applied(.revoked)
    }
}

extension Table {
    /// The records of units that Google Play has listed as voided, redeemed or not. The record of the units that are left is one of
    /// `google_voided_purchase`.
    static let googleVoidedUnits = Table(
        name: "google_voided_units", family: .globalKey,
        columns: [
            .text("purchase_token"), .text("order_id"), .integer("app"), .text("package"), .integer("voided_at"),
            .integer("quantity", check: "quantity > 0"),
        ],
        key: ["purchase_token", "order_id", "app", "package", "voided_at"])

    /// The purchases of several units of one product. `bought`: the units that were paid, refunded or not; `taken`: those that the credit
    /// of the redeemed transaction has lost since.
    static let googleBoughtUnits = Table(
        name: "google_bought_units", family: .globalKey,
        columns: [
            .text("purchase_token"), .integer("app"), .text("package"), .integer("bought", check: "bought > 0"),
            .integer("taken", check: "taken >= 0"),
        ],
        key: ["purchase_token", "app", "package"])
}
