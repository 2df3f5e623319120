/// The items of the customers at noon on the last day of each month, and at noon of 1 January 2028.
enum ExpectedStates {
    static let months = [
        "01-31: anna active plus 1, ben introductory plus 2, dora active plus 1, hana active plus 1, ivan active plus 1",
        "02-28: anna active plus 1, ben introductory plus 2, cleo trial plus 1, dora active plus 1, finn gate 1, "
            + "hana active plus 1, ivan active plus 1",
        "03-31: anna active plus 1, ben active plus 2, cleo active plus 1, dora active plus 2, eli active plus 3, "
            + "finn bed 1 gate 1, gus gate 1, hana active plus 1, ivan active plus 1",
        // Ben's grace period lasts until 4 May, and dora has declined the higher price.
        "04-30: anna active plus 1, ben gracePeriod plus 2, cleo active plus 1, dora willNotRenew plus 2, eli active plus 3, "
            + "finn bed 1 gate 1, gus gate 1, hana active plus 1, ivan active plus 1",
        // The gate is refunded, which also takes it from gus, with whom finn shares it.
        "05-31: anna active plus 1, ben billingRetry, cleo active plus 2, dora expired, eli expired, finn bed 1, "
            + "hana active plus 1, ivan active plus 1",
        "06-30: anna active plus 1, ben expired, cleo active plus 2, dora active plus 2, eli expired, finn gate 1, "
            + "gus gate 1, hana active plus 1, ivan active plus 1",
        // The team has taken ivan's purchase back.
        "07-31: anna active plus 1, ben expired, cleo active plus 3, dora active plus 1, eli expired, finn gate 1, "
            + "gus gate 1, hana active plus 1, ivan revoked",
        "08-31: anna active plus 1, ben active plus 1, cleo active plus 3, dora willNotRenew plus 1, eli expired, "
            + "finn gate 1, gus gate 1, hana active plus 1, ivan revoked",
        "09-30: anna active plus 1, ben active plus 1, cleo expired, dora expired, eli expired, finn gate 1, "
            + "hana active plus 1, ivan revoked",
        "10-31: anna active plus 1, ben active plus 1, cleo expired, dora expired, eli willNotRenew plus 1, finn gate 1, "
            + "gus gate 1, hana active plus 1, ivan revoked",
        "11-30: anna active plus 1, ben active plus 1, cleo expired, dora expired, eli expired, finn gate 1, gus gate 1, "
            + "hana active plus 1, ivan revoked",
        "12-31: anna active plus 1, ben active plus 1, cleo expired, dora expired, eli expired, finn gate 1, gus gate 1, "
            + "hana active plus 1, ivan revoked",
    ]

    private static let everybodys = "collection bed, number 0, renews false, source rule, state owned"

    /// The items of each customer.
    static let items = [
        "anna": everybodys
            + "\ncollection plus, number 1, origin local/Sandbox, originalTransactionId anna.1, productId basic.monthly, "
            + "renews true, since 01-04, source purchase, state active, transactionId anna.13, until 2028-01-11",
        "ben": everybodys
            + "\ncollection plus, number 1, origin local/Sandbox, originalTransactionId ben.1, productId basic.monthly, "
            + "renews true, since 08-01, source purchase, state active, transactionId ben.4, until 2028-02-01",
        "cleo": everybodys, "dora": everybodys, "eli": everybodys,
        "finn": everybodys
            + "\ncollection gate, number 1, origin local/Sandbox, originalTransactionId finn.2, productId gate, "
            + "renews false, since 02-20, source purchase, state owned, transactionId finn.2",
        "gus": everybodys
            + "\ncollection gate, grant grant, number 1, renews false, since 10-01, source grant, state owned",
        // A year, and twice an extension, of 10 and of 20 days.
        "hana": everybodys
            + "\ncollection plus, number 1, origin local/Sandbox, originalTransactionId hana.1, productId basic.yearly, "
            + "renews true, since 01-15, source purchase, state active, transactionId hana.1, until 2028-02-14",
        "ivan": everybodys,
    ]

    /// The subscriptions of each customer. `since` is the beginning of the time without a gap, trials included.
    static let subscriptions = [
        "anna": "nextCurrency USD, nextPrice 5990, nextProductId basic.monthly, origin local/Sandbox, "
            + "originalTransactionId anna.1, productId basic.monthly, renews true, renewsAt 2028-01-11, since 01-04, state active, until 2028-01-11",
        "ben": "nextCurrency USD, nextPrice 4990, nextProductId basic.monthly, origin local/Sandbox, "
            + "originalTransactionId ben.1, productId basic.monthly, renews true, renewsAt 2028-02-01, since 08-01, state active, until 2028-02-01",
        "cleo": "expirationReason productNotAvailable, origin local/Sandbox, originalTransactionId cleo.1, "
            + "productId duo.monthly, renews false, since 02-01, state expired, until 09-20",
        "dora": "cancelledBy user, expirationReason customerCancelled, origin local/Sandbox, "
            + "originalTransactionId dora.1, productId basic.monthly, renews false, since 06-05, state expired, until 09-05",
        "eli": "cancelledBy user, expirationReason customerCancelled, origin local/Sandbox, "
            + "originalTransactionId eli.1, productId basic.monthly, renews false, since 10-03, state expired, until 11-10",
        "finn": "", "gus": "",
        "hana": "nextCurrency USD, nextPrice 49990, nextProductId basic.yearly, origin local/Sandbox, "
            + "originalTransactionId hana.1, productId basic.yearly, renews true, renewsAt 2028-02-14, since 01-15, state active, until 2028-02-14",
        // Extended twice by 20 days, from 2028-03-24 on. Before 02-24 ivan was without it.
        "ivan":
            "origin local/Sandbox, originalTransactionId ivan.1, productId basic.yearly, renews false, since 02-24, "
            + "state revoked, until 2028-05-03",
    ]

    /// Finn has spent 12 of the 30 seeds that were refunded; the 10 of July do not make up for it.
    static let balance = "amount 0, balance seeds"

    static let unclaimed = [
        "bundleId com.example.garden, facts (appTransactionId 715266694483449944, currency USD, environment Sandbox, "
            + "inAppOwnershipType PURCHASED, originalPurchaseDate 06-06, price 19990, signedDate 06-06, storefront USA, "
            + "storefrontId 143441, transactionReason PURCHASE, type Non-Consumable), item (collection gate, number 1), "
            + "origin local/Sandbox, originalTransactionId jo.1, productId gate, purchaseDate 06-06, statedAt 06-06, "
            + "transactionId jo.1"
    ]
}
