/// What the tables of a ledger themselves allow, whatever the code above them does: statements for alice, who has redeemed
/// transaction 1, and bob, who has redeemed 9.
struct TableRules {
    /// Their numbers, as the database has them.
    let alice: String
    let bob: String
    /// Some digest, as the database writes one.
    let digest: String

    private var original: String {
        "INSERT INTO original_transaction (origin, original_transaction_id, user_id) VALUES"
    }

    private var redeemed: String {
        """
        INSERT INTO redeemed_transaction (product_id, quantity, purchase_date, stated_at, redeemed_at, proof_digest,
        sequence, origin, transaction_id, original_transaction_id, user_id)
        VALUES ('p', 1, 0, 0, 0, \(digest), (SELECT max(sequence) + 1 FROM redeemed_transaction), 'local/Sandbox',
        """
    }

    /// What is allowed, so that none of the others fails by its form.
    var allowed: [String] {
        [
            "\(original) ('local/Sandbox', '3', \(bob))",
            "\(redeemed) '3', '3', \(bob))",
            "INSERT INTO entitlement VALUES (\(bob), 'sprout', 3, 'local/Sandbox', '3', 0)",
            "INSERT INTO credit VALUES ('local/Sandbox', '3', \(bob), 'seeds', 10)",
        ]
    }

    /// A second owner, a second grant, a grant of nothing.
    var forbidden: [String] {
        [
            "INSERT INTO credit VALUES ('local/Sandbox', '3', \(bob), 'seeds', 10)",
            "INSERT INTO credit VALUES ('local/Sandbox', '1', \(bob), 'seeds', 10)",
            "INSERT INTO credit VALUES ('local/Sandbox', 'none', \(bob), 'seeds', 10)",
            "\(original) ('local/Sandbox', '1', \(bob))",
            "\(original) ('local/Sandbox', '4', 99)",
            "\(redeemed) '2', '1', \(bob))",
            "\(redeemed) '1', '1', \(alice))",
            "INSERT INTO entitlement VALUES (\(bob), 'sprout', 1, 'local/Sandbox', '1', 0)",
            "INSERT INTO entitlement VALUES (\(alice), 'sprout', 9, 'local/Sandbox', 'none', 0)",
            "INSERT INTO entitlement VALUES (\(alice), 'sprout', 1, 'local/Sandbox', '1', 0)",
        ]
    }
}
