/// Statements that the constraints of the tables allow or forbid. Alice has redeemed transaction 1, and bob transaction 9.
struct TableRules {
    /// The number of alice in the database.
    let alice: String
    /// The number of bob in the database.
    let bob: String
    /// A digest, as an SQL literal.
    let digest: String

    private var original: String { "INSERT INTO original (original_transaction_id, origin, app, user_id) VALUES" }

    private var claim: String {
        "INSERT INTO claim (original_transaction_id, transaction_id, origin, app, user_id) VALUES"
    }

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
            "\(original) ('3', 4, 1, \(bob))",
            "\(claim) ('3', '3', 4, 1, \(bob))",
            "\(redeemed) '3', '3', 4, 1, \(bob), 2)",
            "\(credit) \(bob), 2)",
            // The same identifiers in another app.
            "\(claim) ('1', '1', 4, 2, \(bob))",
            "\(original) ('1', 4, 2, \(bob))",
        ]
    }

    /// The forbidden statements: a second owner, a second grant, a credit that is there already.
    var forbidden: [String] {
        [
            "\(claim) ('1', '1', 4, 1, \(bob))",
            "\(claim) ('9', '1', 4, 1, \(bob))",
            "\(original) ('1', 4, 1, \(bob))",
            "\(redeemed) '4', '4', 4, 1, \(alice), 1)",
            "\(credit) \(bob), 2)",
        ]
    }

    /// The statements about a missing user and a missing transaction. A file forbids them. In PostgreSQL, which would lock the other row
    /// for each purchase, the check of the ledger finds their rows.
    var dangling: [String] {
        ["\(redeemed) '4', '4', 4, 1, 99, 1)", "\(credit) \(bob), 7)"]
    }
}
