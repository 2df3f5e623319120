import Foundation
import Ledger
import Proofs
import Vocabulary

/// The columns that several tables have, as values.
extension AppNumbers {
    /// The key of the transaction in the next columns: its identifier, its origin and its app.
    func key(_ row: inout ResultRow) throws -> TransactionKey {
        let (identifier, origin): (String, Origin) = (try row.next(), try row.next())
        return TransactionKey(app: try bundleIdentifier(of: try row.next()), origin: origin, identifier: identifier)
    }
}

extension Origin {
    /// The number of the origin of a position in a list. It is lower than that of each origin for another text, and for none.
    static func number(ofText text: String?) -> Int64 {
        text.flatMap(Origin.init(rawValue:))?.number ?? Int64(Int32.min)
    }
}

extension TransactionKey {
    /// The values of the columns of `Table.transactionKey` or `Table.originalKey`.
    package func sqlValues(_ apps: AppNumbers) -> [any SQLConvertible] {
        [SQLValue.packed(identifier), origin, apps[app]]
    }
}

/// Stored as one text, because few purchases have it. It is the dates of the purchase and of the statement, and the transaction.
extension Naming: SQLConvertible {
    package var sqlValue: SQLValue {
        .text(
            PagePosition(
                purchaseDate.millisecondsSince1970, statedAt.millisecondsSince1970, transactionIdentifier
            ).description)
    }

    package init?(_ value: SQLValue) {
        guard let parts = String(value).flatMap(PagePosition<Int64, Int64, String>.init) else { return nil }
        self.init(
            purchaseDate: Timestamp(millisecondsSince1970: parts.first), transactionIdentifier: parts.third,
            statedAt: Timestamp(millisecondsSince1970: parts.second))
    }
}

extension Item {
    /// The item in the next columns: its collection and its number.
    package init(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(collection: try row.next(), number: try row.next())
    }
}

extension Revocation {
    /// The revocation in the next columns: its time, its reason and the one who revoked.
    ///
    /// - Returns: Nil if there is no revocation.
    package init?(_ row: inout ResultRow) throws(ColumnMismatch) {
        let (revokedAt, reason): (Timestamp?, String?) = (try row.next(), try row.next())
        let revokedBy: String? = try row.next()
        guard let revokedAt else { return nil }
        guard let reason, let revokedBy else { throw ColumnMismatch.column("revoked_by") }
        self.init(revokedAt: revokedAt, reason: reason, revokedBy: revokedBy)
    }
}

extension StatementOrder {
    /// The value of a column for the number. It is null for a signed statement.
    fileprivate var sqlNumber: Int64? { number == 0 ? nil : number }
}

extension StatedRenewal {
    package static let columns =
        ["stated_at", "statement_number", "proof_digest"] + RenewalFacts.columnNames + ["settings"]

    package var sqlValues: [any SQLConvertible] {
        [statedAt, order.sqlNumber, proofDigest] + facts.sqlValues + [settings]
    }

    /// The statement in the next columns, which are `columns`.
    package init(_ row: inout ResultRow) throws(ColumnMismatch) {
        let (statedAt, number): (Timestamp, Int64?) = (try row.next(), try row.next())
        self.init(statedAt: statedAt, proofDigest: try row.next(), facts: try RenewalFacts(&row))
        statementNumber = number ?? 0
        settings = try row.next()
    }
}

extension RenewalSettings: SQLConvertible {}

extension TransactionStatus {
    package static let columns = [
        "stated_at", "statement_number", "revocation_date", "revocation_reason", "expires_at",
    ]

    package var sqlValues: [any SQLConvertible] {
        [statedAt, order.sqlNumber, revocationDate, revocationReason, expiresAt]
    }

    /// The status in the next columns, which are `columns`.
    package init(_ row: inout ResultRow) throws(ColumnMismatch) {
        let (statedAt, number): (Timestamp, Int64?) = (try row.next(), try row.next())
        self.init(
            revocationDate: try row.next(), revocationReason: try row.next(), expiresAt: try row.next(),
            statedAt: statedAt, statementNumber: number ?? 0)
    }
}

extension EntitlementFacts.Transaction {
    /// The columns of `redeemed_transaction` that a statement changes.
    static let statementColumns =
        TransactionStatus.columns + [
            "grace_ends_at", "grace_stated_at", "grace_statement_number", "event_statements", "fixed_period",
        ]

    /// The values of the columns, in their order. The statements under several identifiers are JSON.
    var statementValues: [any SQLConvertible] {
        get throws {
            let statements = try statements.map { [UInt8](try JSONEncoder().encode($0)) }
            var status = status
            status.expiresAt = expiresAt
            return status.sqlValues
                + [
                    grace?.endsAt, grace?.order.date, grace?.order.sqlNumber, statements, fixed?.period.description,
                ]
        }
    }
}

extension LedgerDatabase {
    /// An argument with the identifiers of transactions.
    package func list(_ keys: some Sequence<TransactionKey>) -> SQLValue { list(eachPacked: keys.map(\.identifier)) }

    /// The SQL of a condition on the column `app`; empty for all apps.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    package func isIn(_ app: Int64?, of table: String = "") -> String {
        app.map { "AND \(table.isEmpty ? "" : table + ".")app = \($0)" } ?? ""
    }
}

extension LedgerTransaction {
    package var apps: AppNumbers { get throws { try database.apps.numbers(of: []) } }

    /// The name of each user, except of erased ones.
    package func presentNames(of numbers: Set<Int64>) throws -> [Int64: User] {
        try users.names(of: numbers).filter { $0.value.issuer != User.erasedIssuer }
    }
}

/// A table of facts with columns in the ledger.
package protocol StoredFact: StatedFact {
    /// The words of each fact that nearly all rows have, by its position; nil for another fact.
    static var words: [FrequentWords?] { get }
}

extension StoredFact {
    /// The text in the ledger for a stated one.
    package func storedText(_ text: String) -> String { Self.words[position]?.stored(text) ?? text }

    package func statedText(_ text: String) -> String { Self.words[position]?.stated(text) ?? text }
}

extension TransactionFact: StoredFact {
    package static let words: [FrequentWords?] = allCases.map { fact in
        switch fact {
        case .environment: FrequentWords(of: AppStoreEnvironment.self)
        case .type: FrequentWords(of: ProductType.self)
        case .inAppOwnershipType: FrequentWords(of: InAppOwnershipType.self)
        case .transactionReason: FrequentWords(of: TransactionReason.self)
        case .offerDiscountType: FrequentWords(of: OfferDiscountType.self)
        default: nil
        }
    }
}

extension RenewalFact: StoredFact {
    package static let words: [FrequentWords?] = allCases.map {
        $0 == .environment ? FrequentWords(of: AppStoreEnvironment.self) : nil
    }
}

/// The columns of stated facts, one for each. A column is null if the App Store has not stated the fact. It has the place of a word
/// that most rows have.
extension StatedFacts where Fact: StoredFact {
    package static var columns: [Table.Column] {
        Fact.allCases.map { fact in
            let field = fact.field
            return switch field.kind {
            case .text, .token, .texts, .object: .text(field.column).of(Fact.words[fact.position]).optional
            case .integer, .date: .integer(field.column).optional
            case .bool: .small(field.column).optional
            }
        }
    }

    package static var columnNames: [String] { Fact.allCases.map { $0.field.column } }

    package var sqlValues: [any SQLConvertible] {
        Fact.allCases.map { fact in
            switch self[fact] {
            case .integer(let number): SQLValue.integer(number)
            case .text(let text): SQLValue.text(fact.storedText(text))
            case nil: SQLValue.null
            }
        }
    }
}

extension StatedFacts where Fact: StoredFact, Fact.AllCases == [Fact] {
    /// The facts in the next columns of a row, one for each.
    package init(_ row: inout ResultRow, _ facts: [Fact] = Fact.allCases) throws(ColumnMismatch) {
        self.init()
        try read(&row, facts)
    }

    /// Replaces the facts by those in the next columns of a row, one for each. The memory is used again.
    mutating func read(_ row: inout ResultRow, _ facts: [Fact]) throws(ColumnMismatch) {
        removeAll()
        for fact in facts {
            switch try row.nextValue() {
            case .integer(let number): self[fact] = .integer(number)
            case .text(let text): self[fact] = .text(fact.statedText(text))
            case .null, .blob, .packed, .list: break
            }
        }
    }
}
