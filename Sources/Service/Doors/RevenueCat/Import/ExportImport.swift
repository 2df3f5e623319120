import Entitlements
import Features
import Proofs
import Vocabulary

/// The customers of an export, collected row by row. Rows in any order and with any repetition lead to the same customers.
package struct ExportImport: Sendable {
    /// A line that is not imported, because it is invalid.
    package struct InvalidLine: Hashable, Sendable {
        /// The number of the line, from 1.
        package let line: Int
        package let reason: String
    }

    /// A customer with all records of the file.
    package struct Customer: Hashable, Sendable {
        /// The id that names the customer.
        package let user: User
        /// The further ids of the customer.
        package let aliases: [User]
        package let grants: [PromisedItem]
        package let purchases: [ExpectedPurchase]
        package let attributes: [Attribute]
    }

    /// The maximum number of invalid lines that are listed.
    package static let maximumListed = 1000

    private struct Draft {
        let identifier: CustomerIdentifier
        var aliases: Set<CustomerIdentifier> = []
        var attributes: Set<Attribute> = []
        var grants: Set<PromisedItem> = []
    }

    private struct PurchaseKey: Hashable {
        let origin: Origin
        let transaction: ByteKey
    }

    /// The customer whose row about a purchase starts last.
    private struct Claimant {
        /// The purchase as that row states it.
        var purchase: ExpectedPurchase
        var customer: User
        /// All customers of the purchase.
        var customers: Set<User>
    }

    private let rules: ExportRules
    private let columns: ExportColumns
    private var drafts: [User: Draft] = [:]
    private var claimants: [PurchaseKey: Claimant] = [:]
    private var counts: [ExportExclusion: Int] = [:]

    /// The number of rows, without the header.
    package private(set) var rows = 0
    package private(set) var invalidCount = 0
    /// The first invalid lines.
    package private(set) var invalidLines: [InvalidLine] = []

    /// - Throws: `ExportFileError`, `headerInvalid`, `columnMissing` or `columnRepeated`.
    package init(header: CSVReader.Record?, by rules: ExportRules) throws(ExportFileError) {
        columns = try ExportColumns(header)
        self.rules = rules
    }

    package mutating func add(_ record: CSVReader.Record) {
        rows += 1
        do throws(ExportRow.Invalid) {
            if let problem = record.problem { throw ExportRow.Invalid(reason: problem.rawValue) }
            add(try ExportRow(record.fields, columns))
        } catch {
            invalidCount += 1
            if invalidLines.count < Self.maximumListed {
                invalidLines.append(InvalidLine(line: record.line, reason: error.reason))
            }
        }
    }

    private mutating func add(_ row: ExportRow) {
        let decision = rules.decision(about: row)
        for exclusion in decision.exclusions { counts[exclusion, default: 0] += 1 }
        guard decision.isOfCustomer else { return }
        if row.refusedAttributes > 0 { counts[.attributeInvalid, default: 0] += row.refusedAttributes }
        let user = row.customer.user
        var draft = drafts.removeValue(forKey: user) ?? Draft(identifier: row.customer)
        if let alias = decision.alias { draft.aliases.insert(alias) }
        draft.attributes.formUnion(row.attributes)
        draft.grants.formUnion(decision.grants)
        drafts[user] = draft
        if let purchase = decision.purchase { claim(purchase, for: user) }
    }

    private mutating func claim(_ purchase: ExpectedPurchase, for user: User) {
        let key = PurchaseKey(origin: purchase.origin, transaction: ByteKey(purchase.originalTransactionIdentifier))
        var claimant =
            claimants.removeValue(forKey: key)
            ?? Claimant(purchase: purchase, customer: user, customers: [])
        claimant.customers.insert(user)
        if Self.isLater(purchase, of: user, than: claimant) {
            (claimant.purchase, claimant.customer) = (purchase, user)
        }
        claimants[key] = claimant
    }

    /// Rows that start at the same time have an order, too, so that the order of the file does not matter.
    private static func isLater(
        _ purchase: ExpectedPurchase,
        of user: User,
        than claimant: Claimant
    ) -> Bool {
        let other = claimant.purchase
        if purchase.purchaseDate != other.purchaseDate { return purchase.purchaseDate > other.purchaseDate }
        let (name, otherName) = (ByteKey(user.name), ByteKey(claimant.customer.name))
        if name != otherName { return name < otherName }
        func rank(_ purchase: ExpectedPurchase) -> (Int64, ByteKey) {
            (purchase.expiresAt?.millisecondsSince1970 ?? .max, ByteKey(purchase.productIdentifier))
        }
        return rank(other) < rank(purchase)
    }

    package var exclusions: [ExportExclusion: Int] {
        var counts = counts
        let others = claimants.values.reduce(0) { $0 + $1.customers.count - 1 }
        if others > 0 { counts[.otherCustomerInFile] = others }
        return counts
    }

    /// The customers, in the order of their ids.
    package func customers() -> [Customer] {
        let purchases = Dictionary(grouping: claimants.values, by: \.customer).mapValues { claimants in
            claimants.map(\.purchase).sorted {
                ($0.origin.rawValue, ByteKey($0.originalTransactionIdentifier))
                    < ($1.origin.rawValue, ByteKey($1.originalTransactionIdentifier))
            }
        }
        return drafts.sorted { ByteKey($0.key.name) < ByteKey($1.key.name) }.map { user, draft in
            let names = Self.names(of: draft)
            return Customer(
                user: names.user, aliases: names.aliases, grants: draft.grants.sorted { $0.identifier < $1.identifier },
                purchases: purchases[user] ?? [],
                attributes: draft.attributes.sorted {
                    (ByteKey($0.name), $0.statedAt, ByteKey($0.value ?? ""))
                        < (ByteKey($1.name), $1.statedAt, ByteKey($1.value ?? ""))
                })
        }
    }

    /// The id that names a customer, and the other ids: a known id names the customer, as after a log-in.
    private static func names(of draft: Draft) -> (user: User, aliases: [User]) {
        let aliases = draft.aliases.sorted { ByteKey($0.user.name) < ByteKey($1.user.name) }
        let name = ([draft.identifier] + aliases).first { !$0.isAnonymous } ?? draft.identifier
        return (name.user, ([draft.identifier] + aliases).filter { $0 != name }.map(\.user))
    }
}

/// The error of a file that is not a readable data export. Nothing of it is imported.
package enum ExportFileError: StatedError, Equatable {
    case unreadable(path: String)
    case compressed(path: String)
    /// A quote inside a field without quotes, or a text after the closing quote.
    case quoteInvalid(line: Int)
    /// A quoted field without an end.
    case quoteOpen(line: Int)
    /// A carriage return without a line feed.
    case lineEndInvalid(line: Int)
    case headerInvalid
    case columnMissing(String)
    case columnRepeated(String)

    package var statement: CommandError {
        switch self {
        case .unreadable(let path):
            CommandError("fileUnreadable", NamedFile.fault(of: path))
        case .compressed(let path):
            CommandError("fileCompressed", "\"\(path)\" is compressed. Run `gunzip` on it, and import the result.")
        case .quoteInvalid(let line):
            CommandError("exportSyntaxInvalid", "Line \(line) has a quote in a wrong place. \(Self.remedy)")
        case .quoteOpen(let line):
            CommandError(
                "exportSyntaxInvalid",
                "A quoted field that begins in line \(line) or later has no end. \(Self.remedy)")
        case .lineEndInvalid(let line):
            CommandError(
                "exportSyntaxInvalid",
                "Line \(line) has a carriage return without a line feed. \(Self.remedy)")
        case .headerInvalid:
            CommandError("exportHeaderInvalid", "The first line does not name the columns. \(Self.remedy)")
        case .columnMissing(let name):
            CommandError(
                "exportHeaderInvalid",
                "The column \(name) is missing. Select it in the settings of the scheduled data export. Nothing was imported."
            )
        case .columnRepeated(let name):
            CommandError("exportHeaderInvalid", "The first line names the column \(name) twice. \(Self.remedy)")
        }
    }

    private static let remedy = "Nothing was imported; use a file of the scheduled data export in CSV (RFC 4180)."
}
