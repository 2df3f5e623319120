import Ledger

/// Statements that the constraints of the tables allow or forbid. Alice has redeemed transaction 1, and bob transaction 9.
struct TableRules {
    /// The number of alice in the database.
    let alice: String
    /// The number of bob in the database.
    let bob: String
    /// A digest, as an SQL literal.
    let digest: String
    let dialect: SQLDialect

    private var claim: String { "INSERT INTO claim (transaction_id, origin, app, user_id) VALUES" }
    private var renewal: String {
        "INSERT INTO claim (original_transaction_id, transaction_id, origin, app, user_id) VALUES"
    }
    private var purchase: String { "INSERT INTO claim (transaction_id, origin, app, owner_id) VALUES" }

    private var redeemed: String {
        """
        INSERT INTO redeemed_transaction (product, quantity, purchase_date, stated_at, redeemed_at, proof_digest,
        is_revoked, original_transaction_id, transaction_id, origin, app, user_id, sequence)
        VALUES (1, 1, 0, 0, 0, \(digest), 0,
        """
    }

    private var credit: String {
        "INSERT INTO credit (balance, amount, origin, is_revoked, user_id, sequence) VALUES ('seeds', 10, 4, 0,"
    }

    /// The allowed statements. They show that the forbidden ones do not fail because of their form.
    var allowed: [String] {
        [
            "\(purchase) (\(literal("3")), 4, 1, \(bob))",
            "\(renewal) (\(literal("3")), \(literal("31")), 4, 1, \(bob))",
            "\(redeemed) \(literal("3")), \(literal("3")), 4, 1, \(bob), 2)",
            "\(credit) \(bob), 2)",
            // The same identifier in another app.
            "\(claim) (\(literal("1")), 4, 2, \(bob))",
        ]
    }

    /// The forbidden statements: a second owner, a second grant, a credit that is there already.
    var forbidden: [String] {
        [
            "\(claim) (\(literal("1")), 4, 1, \(bob))",
            "\(renewal) (\(literal("9")), \(literal("1")), 4, 1, \(bob))",
            "\(purchase) (\(literal("1")), 4, 1, \(bob))",
            // A row of nobody, a renewal of nobody, and a time without a purchase.
            "INSERT INTO claim (transaction_id, origin, app) VALUES (\(literal("5")), 4, 1)",
            """
            INSERT INTO claim (original_transaction_id, transaction_id, origin, app, owner_id)
            VALUES (\(literal("5")), \(literal("6")), 4, 1, \(bob))
            """,
            """
            INSERT INTO claim (transaction_id, origin, app, user_id, transferred_at)
            VALUES (\(literal("5")), 4, 1, \(bob), 1)
            """,
            "\(redeemed) \(literal("4")), \(literal("4")), 4, 1, \(alice), 1)",
            "\(credit) \(bob), 2)",
        ]
    }

    /// An identifier as an SQL literal.
    private func literal(_ identifier: String) -> String {
        dialect == .sqlite ? "'\(identifier)'" : "'\\x\(PackedText.bytes(of: identifier).hexadecimal)'"
    }

    /// The statements about a missing user and a missing transaction. A file forbids them. In PostgreSQL, which would lock the other row
    /// for each purchase, the check of the ledger finds their rows.
    var dangling: [String] {
        ["\(redeemed) \(literal("4")), \(literal("4")), 4, 1, 99, 1)", "\(credit) \(bob), 7)"]
    }
}
