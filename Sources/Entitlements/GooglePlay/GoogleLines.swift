import Catalog
import Ledger
import Proofs

/// The SQL of the lines of Google Play's chains of tokens, inside the caller's transaction.
struct GoogleLineRecords {
    let database: any LedgerDatabase
    /// The number of the app.
    let app: Int64
    /// The name of the app on Google Play.
    let package: String

    private static let keys = ["original_token", "app", "package", "product_id"]
    private static let values = [
        "line", "purchase_token", "charge", "order_id", "begins_at", "ends_at", "lapsed_at", "is_renewal",
        "statement_number",
    ]

    /// The lines of a chain.
    func lines(ofChain originalToken: String) throws -> GooglePlayLines {
        GooglePlayLines(
            try database.rows(
                """
                SELECT product_id, \(Self.values.joined(separator: ", ")) FROM google_line
                WHERE original_token = $1 AND app = $2 AND package = $3 ORDER BY product_id
                """,
                [originalToken, app, package], Self.product))
    }

    private static func product(_ row: inout ResultRow) throws -> GooglePlayLines.Product {
        .init(
            try row.next(), in: try row.next(), of: try row.next(), charge: try row.next(), orderId: try row.next(),
            from: try row.next(), to: try row.next(), lapsedAt: try row.next(), isRenewal: try row.next(),
            number: try row.next())
    }

    /// Writes the lines that a statement has changed. A product keeps its line.
    ///
    /// - Parameters:
    ///   - known: The lines before the statement.
    func write(
        _ lines: GooglePlayLines, after known: GooglePlayLines, ofChain originalToken: String, named name: String
    )
        throws
    {
        let columns = Self.keys + ["original_name"] + Self.values
        let changed = lines.products.filter { !known.products.contains($0) }
        for product in changed.sorted(by: { ByteKey($0.productId) < ByteKey($1.productId) }) {
            try database.write(
                """
                INSERT INTO google_line (\(columns.joined(separator: ", ")))
                VALUES (\((1...columns.count).map { "$\($0)" }.joined(separator: ", ")))
                ON CONFLICT (\(Self.keys.joined(separator: ", "))) DO UPDATE
                SET \(Self.values.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
                """,
                [
                    originalToken, app, package, product.productId, name, product.line, product.purchaseToken,
                    product.charge, product.orderId, product.beginsAt, product.endsAt, product.lapsedAt,
                    product.isRenewal, product.statementNumber,
                ])
        }
    }
}

extension LedgerTransaction {
    /// The number of an app of whose purchases something is recorded.
    func number(ofRecorded app: App) throws -> Int64 {
        guard let number = try number(ofApp: app.bundleIdentifier)?.number else {
            throw BrokenInvariant("an app with recorded purchases has a number", app.bundleIdentifier)
        }
        return number
    }

    func googleLines(ofApp app: App, _ package: String) throws -> GoogleLineRecords {
        GoogleLineRecords(database: database, app: try number(ofRecorded: app), package: package)
    }

    /// The original transactions of all lines of a chain: the name of its first token first.
    ///
    /// - Parameter name: A text that may be the name of a first token.
    func googleOriginals(named name: String) throws -> [String] {
        guard name.hasPrefix(PurchaseTokenNames.prefix) else { return [name] }
        let lines: [String] = try database.rows(
            "SELECT DISTINCT line FROM google_line WHERE original_name = $1 AND line <> ''", [name]
        ) { try $0.next() }
        // A signed purchase of several products may be redeemed without a question, which alone records lines. A colon comes before a
        // semicolon.
        let owned: [String] = try database.rows(
            """
            SELECT transaction_id FROM claim
            WHERE transaction_id >= $1 AND transaction_id < $2 AND owner_id IS NOT NULL
            """,
            [SQLValue.packed("\(name):"), .packed("\(name);")]
        ) { try $0.next() }
        let others = Set((lines.map { "\(name):\($0)" } + owned).map { ByteKey($0) })
        return [name] + others.sorted().map(\.text)
    }

    /// The original transactions of all lines of the chain that has one of them; that one alone for another store.
    func googleChain(of original: String) throws -> [String] {
        guard original.hasPrefix(PurchaseTokenNames.prefix) else { return [original] }
        return try googleOriginals(named: String(original.prefix { $0 != ":" }))
    }
}

extension Table {
    /// The products of Google Play's chains of tokens. `original_token`: the first token of the chain; `original_name`: its name, which
    /// is the original transaction of the main line; `line`: empty for the main line, else the product with which the line has begun.
    /// Each line is a purchase, and its original transaction has the line after the name. The other columns are of the last charge:
    /// `charge`: its transaction; `purchase_token`: the token that has it; `lapsed_at`: the last answer without access since;
    /// `statement_number`: the number of the last statement about it.
    static let googleLine = Table(
        name: "google_line", family: .globalKey,
        columns: [
            .text("original_token"), .integer("app"), .text("package"), .text("product_id"), .text("original_name"),
            .text("line"), .text("purchase_token"), .text("charge"), .text("order_id").optional,
            .integer("begins_at"), .integer("ends_at").optional, .integer("lapsed_at").optional,
            .integer("is_renewal", check: "is_renewal IN (0, 1)"),
            .integer("statement_number"),
        ],
        key: ["original_token", "app", "package", "product_id"]
    )
    .indexed("google_line_by_name", by: ["original_name"])
    // A customer states the order of a purchase that nobody has redeemed.
    .indexed("google_line_by_order", by: ["order_id"], where: "order_id IS NOT NULL")
    .takingBack("lapsed_at")
}

/// The place of a purchase in Google's chains: the token that has its last charge, and the product of that.
package struct GooglePlace: Hashable, Sendable {
    package let package: String
    package let token: String
    package let productIdentifier: String
}

extension GooglePurchaseService {
    /// The place of a purchase; nil if no statement about it is recorded.
    ///
    /// - Parameter original: The original transaction: the name of the first token, and the line after a colon.
    package func place(ofPurchase original: String) async throws -> GooglePlace? {
        let parts = original.split(separator: ":", maxSplits: 1).map(String.init)
        guard let name = parts.first else { return nil }
        let line = parts.dropFirst().first ?? ""
        return try await entitlements.ledger.read { transaction in
            guard let app = try transaction.number(ofApp: app.bundleIdentifier)?.number else { return nil }
            return try transaction.database.rows(
                """
                SELECT package, purchase_token, product_id FROM google_line
                WHERE original_name = $1 AND line = $2 AND app = $3 ORDER BY begins_at DESC, product_id LIMIT 1
                """,
                [name, line, app]
            ) { GooglePlace(package: try $0.next(), token: try $0.next(), productIdentifier: try $0.next()) }.first
        }
    }

    /// True if the service asks the purchase's own account: an app of the catalog may have several on Google Play.
    package func isOwn(_ place: GooglePlace?) -> Bool { place.map { $0.package.hasSameBytes(as: packageName) } ?? true }
}

/// The lines that a statement ends besides the charges that it states.
extension GooglePurchaseService {
    /// The statement in the lines of the ledger.
    func placed(
        _ statement: GooglePlayStatement, recordedAs purchase: GooglePurchase
    ) async throws -> GooglePlayStatement {
        let lines = try await lines(of: purchase)
        return statement.placed(
            in: lines, of: purchase.originalToken, number: purchase.statementNumber, isNewToken: false)
    }

    package func lines(of purchase: GooglePurchase) async throws -> GooglePlayLines {
        try await entitlements.ledger.read {
            try $0.googleLines(ofApp: app, packageName).lines(ofChain: purchase.originalToken)
        }
    }

    /// The claims that end the redeemed charges of the lines which a statement ends.
    func endings(
        of placed: GooglePlayStatement, recordedAs purchase: GooglePurchase
    ) async throws -> EntitlementService.VerifiedPurchases {
        var claims: [Claim] = []
        for line in placed.endedLines {
            let key = TransactionKey(app: app.bundleIdentifier, origin: purchase.key.origin, identifier: line.original)
            let transactions = try await entitlements.ledger.read { try $0.redeemedTransactions(ofPurchase: key) }
            claims += try transactions.sorted { $0.isEarlier(than: $1) }.compactMap { transaction in
                try line.ending(transaction, by: placed, numbered: purchase.statementNumber, granting: app.catalog)
            }
        }
        return EntitlementService.VerifiedPurchases(origin: placed.origin, claims: claims)
    }

    /// Ends the charges of the lines that a recorded statement ends.
    package func applyEndings(of statement: GooglePlayStatement, recordedAs purchase: GooglePurchase) async throws {
        let placed = try await placed(statement, recordedAs: purchase)
        guard !placed.endedLines.isEmpty else { return }
        _ = try await entitlements.outcomes(ofStated: try await endings(of: placed, recordedAs: purchase))
    }
}

extension GooglePlayStatement.EndedLine {
    /// The claim that ends a redeemed charge of the line.
    ///
    /// - Returns: Nil for the charge that is stated by itself, and for one that the line does not change.
    fileprivate func ending(
        _ transaction: RedeemedTransaction, by statement: GooglePlayStatement, numbered number: Int64,
        granting catalog: Catalog?
    ) throws(BrokenInvariant) -> Claim? {
        let isLast = transaction.transactionIdentifier.hasSameBytes(as: charge)
        guard !(isLast && isStated), transaction.revocationDate == nil else { return nil }
        let revocation = isLast ? revokedAt : nil
        let ends = [transaction.expiresAt, transaction.graceEndsAt].compactMap(\.self)
        let isRunning = ends.contains { $0 > endsAt }
        guard isRunning || isLast && renewal != nil else { return nil }
        var stated = isLast ? transaction.facts.completed(by: facts, numbered: (0, number)) : transaction.facts
        stated[.signedDate] = .integer(statement.askedAt.millisecondsSince1970)
        // A charge that is taken back keeps the time that was paid for. The facts of each keep it, since its price pays for all of it.
        let end = revocation == nil ? transaction.expiresAt.map { min($0, endsAt) } : transaction.expiresAt
        return try Claim(
            ending: transaction, at: end, revokedAt: revocation, stating: stated, renewal: isLast ? renewal : nil,
            by: statement, numbered: number, granting: catalog)
    }
}

extension Claim {
    /// The claim of a redeemed charge of Google Play that a statement ends without naming it.
    fileprivate init(
        ending transaction: RedeemedTransaction, at end: Timestamp?, revokedAt revocationDate: Timestamp?,
        stating facts: TransactionFacts, renewal: StatedRenewal?, by statement: GooglePlayStatement,
        numbered number: Int64, granting catalog: Catalog?
    ) throws(BrokenInvariant) {
        let benefit = catalog?.benefit(of: transaction.productIdentifier)
        var renewal = renewal
        renewal?.statementNumber = number
        self.init(
            app: try transaction.seller, origin: transaction.origin,
            transactionIdentifier: transaction.transactionIdentifier,
            originalTransactionIdentifier: transaction.originalTransactionIdentifier,
            productIdentifier: transaction.productIdentifier, quantity: transaction.quantity,
            purchaseDate: transaction.purchaseDate, revocationDate: revocationDate,
            revocationReason: revocationDate.map { _ in RevocationReason.refundedForOtherReason.rawValue },
            signedAt: statement.askedAt, statementNumber: number, proofDigest: statement.digest, item: benefit?.item,
            credit: benefit?.credit,
            expiresAt: benefit?.end(
                from: transaction.purchaseDate, ofUnits: transaction.quantity, paidUntil: end),
            period: benefit?.period(ofUnits: transaction.quantity), grace: .until(nil), facts: facts, renewal: renewal)
    }
}
