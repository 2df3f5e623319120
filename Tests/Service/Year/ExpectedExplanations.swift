/// The explanations at noon of 1 January 2028, for each customer of bed 0 and 1, gate 1, and plus 1, 2 and 3.
enum ExpectedExplanations {
    static let all = [
        "anna": [
            free, never("bed", 1, "season"), jos,
            owned("plus", 1, "basic.monthly", "anna.13", since: "01-04", until: "2028-01-11"),
            never("plus", 2, "premium.monthly"), never("plus", 3, "duo.monthly"),
        ],
        "ben": [
            free, never("bed", 1, "season"), jos,
            owned("plus", 1, "basic.monthly", "ben.4", since: "08-01", until: "2028-02-01"),
            // The subscription goes on with another product.
            "cause productChanged, isOwned false, item (collection plus, number 2), origin local/Sandbox, "
                + "reference ben.4, remedy Map basic.monthly to the item, too, or grant the item., since 08-01, "
                + "text The user has basic.monthly now, which does not grant the item.",
            never("plus", 3, "duo.monthly"),
        ],
        // All three products are of one subscription, which has ended with the last.
        "cleo": [free, never("bed", 1, "season"), jos]
            + (1...3).map {
                expired(
                    $0, "duo.monthly", "cleo.9", since: "09-20", "because the product was not available at the renewal")
            },
        "dora": [free, never("bed", 1, "season"), jos]
            + (1...2).map {
                expired($0, "basic.monthly", "dora.8", since: "09-05", "because the customer turned renewal off")
            } + [never("plus", 3, "duo.monthly")],
        "eli": [
            free, never("bed", 1, "season"), jos,
            expired(1, "basic.monthly", "eli.4", since: "11-10", "because the customer turned renewal off"),
            never("plus", 2, "premium.monthly"),
            expired(3, "basic.monthly", "eli.4", since: "11-10", "because the customer turned renewal off"),
        ],
        "finn": [
            free,
            "cause expired, isOwned false, item (collection bed, number 1), origin local/Sandbox, reference finn.3, "
                + "remedy The customer can subscribe again, or the team can grant the item., since 06-10, "
                + "text season has expired.",
            "cause owned, isOwned true, item (collection gate, number 1), origin local/Sandbox, reference finn.2, "
                + "since 02-20, text The user has bought gate.",
            never("plus", 1, "basic.monthly or basic.yearly"), never("plus", 2, "premium.monthly"),
            never("plus", 3, "duo.monthly"),
        ],
        "gus": [
            free, never("bed", 1, "season"),
            "cause granted, isOwned true, item (collection gate, number 1), reference grant, since 10-01, "
                + "text The team has granted the item.",
            never("plus", 1, "basic.monthly or basic.yearly"), never("plus", 2, "premium.monthly"),
            never("plus", 3, "duo.monthly"),
        ],
        "hana": [
            free, never("bed", 1, "season"), jos,
            owned("plus", 1, "basic.yearly", "hana.1", since: "01-15", until: "2028-02-14"),
            never("plus", 2, "premium.monthly"), never("plus", 3, "duo.monthly"),
        ],
        "ivan": [
            free, never("bed", 1, "season"), jos,
            "cause revokedByTeam, isOwned false, item (collection plus, number 1), origin local/Sandbox, "
                + "reference ivan.4, remedy Reinstate the purchase with `PUT …/transactions/ivan.4/reinstatement`., "
                + "since 07-15, text The team has revoked basic.yearly: A fraud",
            never("plus", 2, "premium.monthly"), never("plus", 3, "duo.monthly"),
        ],
    ].mapValues { $0.joined(separator: "\n") }

    private static let free =
        "cause ownedByEverybody, isOwned true, item (collection bed, number 0), text The catalog gives the item to everybody."

    /// A customer without a gate is told that somebody's is unclaimed, and not which.
    private static let jos =
        "cause unclaimed, isOwned false, item (collection gate, number 1), remedy Restore purchases in the app. Otherwise ask "
        + "for the order number of the store's receipt, and assign only the purchase that a search for it finds., text The "
        + "service knows no purchase of gate by the user. A purchase of it is unclaimed, and may be anybody's."

    private static func never(_ collection: String, _ number: Int, _ products: String) -> String {
        "cause neverBought, isOwned false, item (collection \(collection), number \(number)), remedy If the customer has a "
            + "receipt of the store, restore purchases in the app, and look at the refusals., text The service knows no "
            + "purchase of \(products) by the user."
    }

    private static func owned(
        _ collection: String,
        _ number: Int,
        _ product: String,
        _ sale: String,
        since: String,
        until: String
    ) -> String {
        "cause owned, isOwned true, item (collection \(collection), number \(number)), origin local/Sandbox, "
            + "reference \(sale), since \(since), text The user has bought \(product), until \(until), and it renews., "
            + "until \(until)"
    }

    private static func expired(
        _ number: Int,
        _ product: String,
        _ sale: String,
        since: String,
        _ reason: String
    ) -> String {
        "cause expired, isOwned false, item (collection plus, number \(number)), origin local/Sandbox, reference \(sale), "
            + "remedy The customer can subscribe again, or the team can grant the item., since \(since), "
            + "text \(product) has expired \(reason)."
    }
}
