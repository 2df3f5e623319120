/// The stories of the customers as `YearScript` makes them, oldest first.
///
/// A subscription renews on the day of the month on which it began, or on which its trial ended: anna on the 11th, ben on
/// the 18th, cleo on the 1st, dora and ivan on the 27th and 20th, and each from another day after an upgrade, a recovery that
/// comes too late or a new beginning. The app presents what it has bought before the notification arrives.
enum ExpectedStories {
    static let all = [
        "anna": anna, "ben": ben, "cleo": cleo, "dora": dora, "eli": eli, "finn": finn, "gus": gus, "hana": hana,
        "ivan": ivan,
    ]

    /// Grace until 27 June. The recovery of 15 June pays from 11 June on.
    private static let anna = """
        \(purchase("01-04", "SUBSCRIBED INITIAL_BUY", "anna.1", "basic.monthly"))
        \(renewal("01-11", "anna.2", "basic.monthly"))
        \(renewal("02-11", "anna.3", "basic.monthly"))
        \(renewal("03-11", "anna.4", "basic.monthly"))
        03-20 PRICE_INCREASE PENDING anna.4 recorded
        03-22 PRICE_INCREASE ACCEPTED anna.4 recorded
        \(renewal("04-11", "anna.5", "basic.monthly"))
        05-01 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED anna.5 recorded
        05-01 autoRenewDisabled anna.5 by App Store: The customer turned the renewal of basic.monthly off.
        05-03 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED anna.5 recorded
        05-03 autoRenewEnabled anna.5 by App Store: The customer turned the renewal of basic.monthly on.
        \(renewal("05-11", "anna.6", "basic.monthly"))
        06-11 DID_FAIL_TO_RENEW GRACE_PERIOD anna.6 recorded
        06-11 gracePeriodBegan anna.6 by App Store: The renewal of basic.monthly could not be charged. \
        The grace period began.
        06-15 DID_RENEW BILLING_RECOVERY anna.7 granted
        06-15 granted anna.7 by App Store: Transaction anna.7 grants basic.monthly.
        \(renewal("07-11", "anna.8", "basic.monthly"))
        \(renewal("08-11", "anna.9", "basic.monthly"))
        \(renewal("09-11", "anna.10", "basic.monthly"))
        \(renewal("10-11", "anna.11", "basic.monthly"))
        \(renewal("11-11", "anna.12", "basic.monthly"))
        \(renewal("12-11", "anna.13", "basic.monthly"))
        """

    /// The grace period of a month is 16 days: until 4 May. Apple tries for 60 days, until 17 June.
    private static let ben = """
        \(purchase("01-18", "SUBSCRIBED INITIAL_BUY", "ben.1", "premium.monthly"))
        \(renewal("02-18", "ben.2", "premium.monthly"))
        \(renewal("03-18", "ben.3", "premium.monthly"))
        04-18 DID_FAIL_TO_RENEW GRACE_PERIOD ben.3 recorded
        04-18 gracePeriodBegan ben.3 by App Store: The renewal of premium.monthly could not be charged. \
        The grace period began.
        05-04 GRACE_PERIOD_EXPIRED ben.3 recorded
        05-04 renewalFailed ben.3 by App Store: The renewal of premium.monthly could not be charged. Apple retries.
        06-17 EXPIRED BILLING_RETRY ben.3 recorded
        06-17 expired ben.3 by App Store: premium.monthly expired: billingError (billingError)
        \(purchase("08-01", "SUBSCRIBED RESUBSCRIBE", "ben.4", "basic.monthly"))
        """

    /// An upgrade and a change to a product of the same level and length begin at once, what is lower waits for the renewal.
    private static let cleo = """
        \(purchase("02-01", "SUBSCRIBED INITIAL_BUY", "cleo.1", "basic.monthly"))
        \(renewal("03-01", "cleo.2", "basic.monthly"))
        03-15 OFFER_REDEEMED cleo.2 recorded
        \(renewal("04-01", "cleo.3", "basic.monthly"))
        \(renewal("05-01", "cleo.4", "basic.monthly"))
        \(upgrade("05-08", "DID_CHANGE_RENEWAL_PREF UPGRADE", "cleo.5", "premium.monthly", from: ("cleo.4", "basic.monthly")))
        \(renewal("06-08", "cleo.6", "premium.monthly"))
        06-20 DID_CHANGE_RENEWAL_PREF DOWNGRADE cleo.6 recorded
        \(choice("06-20", "cleo.6", "basic.monthly", insteadOf: "premium.monthly"))
        06-25 DID_CHANGE_RENEWAL_PREF cleo.6 recorded
        06-25 planChosen cleo.6 by App Store: The customer keeps premium.monthly at the next renewal after all.
        07-01 DID_CHANGE_RENEWAL_PREF DOWNGRADE cleo.6 recorded
        \(choice("07-01", "cleo.6", "basic.monthly", insteadOf: "premium.monthly"))
        \(renewal("07-08", "cleo.7", "basic.monthly"))
        \(upgrade("07-20", "DID_CHANGE_RENEWAL_PREF UPGRADE", "cleo.8", "duo.monthly", from: ("cleo.7", "basic.monthly")))
        \(renewal("08-20", "cleo.9", "duo.monthly"))
        09-20 EXPIRED PRODUCT_NOT_FOR_SALE cleo.9 recorded
        09-20 expired cleo.9 by App Store: duo.monthly expired: productNotAvailable (productNotAvailable)
        """

    /// A refund turns renewal off, and its reversal leaves it off.
    private static let dora = """
        \(purchase("01-20", "SUBSCRIBED INITIAL_BUY", "dora.1", "basic.monthly"))
        \(renewal("01-27", "dora.2", "basic.monthly"))
        \(renewal("02-27", "dora.3", "basic.monthly"))
        \(upgrade("03-01", "OFFER_REDEEMED UPGRADE", "dora.4", "premium.monthly", from: ("dora.3", "basic.monthly")))
        \(renewal("04-01", "dora.5", "premium.monthly"))
        04-15 PRICE_INCREASE PENDING dora.5 recorded
        04-18 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED dora.5 recorded
        04-18 autoRenewDisabled dora.5 by App Store: The customer turned the renewal of premium.monthly off.
        \(notice("04-28", "dora.5", "premium.monthly", end: "05-01"))
        05-01 EXPIRED PRICE_INCREASE dora.5 recorded
        05-01 expired dora.5 by App Store: premium.monthly expired: customerDidNotConsentToPriceIncrease \
        (customerDidNotConsentToPriceIncrease)
        \(purchase("06-05", "SUBSCRIBED RESUBSCRIBE", "dora.6", "premium.monthly"))
        06-20 OFFER_REDEEMED DOWNGRADE dora.6 recorded
        \(choice("06-20", "dora.6", "basic.monthly", insteadOf: "premium.monthly"))
        \(renewal("07-05", "dora.7", "basic.monthly"))
        \(renewal("08-05", "dora.8", "basic.monthly"))
        08-08 CONSUMPTION_REQUEST dora.8 recorded
        08-10 REFUND_DECLINED dora.8 recorded
        08-18 CONSUMPTION_REQUEST dora.8 recorded
        08-20 REFUND dora.8 revoked
        08-20 revoked dora.8 by App Store: Transaction dora.8 of basic.monthly was revoked, and USD 1.99 paid back.
        08-25 REFUND_REVERSED dora.8 granted
        08-25 granted dora.8 by App Store: Transaction dora.8 grants basic.monthly.
        08-25 autoRenewDisabled dora.8 by App Store: The customer turned the renewal of basic.monthly off.
        \(notice("09-02", "dora.8", "basic.monthly", end: "09-05"))
        09-05 EXPIRED VOLUNTARY dora.8 recorded
        09-05 expired dora.8 by App Store: basic.monthly expired: customerCancelled (customerCancelled)
        """

    private static let eli = """
        \(purchase("03-02", "SUBSCRIBED INITIAL_BUY", "eli.1", "duo.monthly"))
        03-10 PRICE_INCREASE ACCEPTED eli.1 recorded
        \(renewal("04-02", "eli.2", "duo.monthly"))
        04-20 PRICE_INCREASE PENDING eli.2 recorded
        05-02 EXPIRED PRICE_INCREASE eli.2 recorded
        05-02 expired eli.2 by App Store: duo.monthly expired: customerDidNotConsentToPriceIncrease \
        (customerDidNotConsentToPriceIncrease)
        \(purchase("10-03", "SUBSCRIBED RESUBSCRIBE", "eli.3", "basic.monthly"))
        \(renewal("10-10", "eli.4", "basic.monthly"))
        10-20 DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED eli.4 recorded
        10-20 autoRenewDisabled eli.4 by App Store: The customer turned the renewal of basic.monthly off.
        \(notice("11-07", "eli.4", "basic.monthly", end: "11-10"))
        11-10 EXPIRED VOLUNTARY eli.4 recorded
        11-10 expired eli.4 by App Store: basic.monthly expired: customerCancelled (customerCancelled)
        """

    /// The season of 10 March lasts three months. Of what is bought again, Apple does not notify.
    private static let finn = """
        \(purchase("02-02", "ONE_TIME_CHARGE", "finn.1", "seeds"))
        02-05 spent spending by key tests: 12 seeds were spent: A bed of roses (A bed of roses)
        02-10 CONSUMPTION_REQUEST finn.1 recorded
        02-12 REFUND finn.1 revoked
        02-12 revoked finn.1 by App Store: Transaction finn.1 of seeds was revoked, and USD 2.97 paid back.
        \(purchase("02-20", "ONE_TIME_CHARGE", "finn.2", "gate"))
        \(purchase("03-10", "ONE_TIME_CHARGE", "finn.3", "season"))
        05-18 CONSUMPTION_REQUEST finn.2 recorded
        05-20 REFUND finn.2 revoked
        05-20 revoked finn.2 by App Store: Transaction finn.2 of gate was revoked, and USD 19.99 paid back.
        06-01 REFUND_REVERSED finn.2 granted
        06-01 granted finn.2 by App Store: Transaction finn.2 grants gate.
        06-10 expired finn.3 by App Store: season expired.
        \(purchase("07-07", "ONE_TIME_CHARGE", "finn.4", "seeds"))
        08-02 granted finn.5 by key tests: Transaction finn.5 grants gate.
        """

    /// Finn's refund and its reversal are gus's, too, until the sharing ends.
    private static let gus = """
        03-04 refused finn.2 by key tests: Transaction finn.2 of gate was refused: ownedByAnotherUser \
        (ownedByAnotherUser) Another user has redeemed the purchase and keeps it. Ask the customer to log in as \
        that user, or revoke the purchase there and grant the item here. [finn]
        \(purchase("03-05", "ONE_TIME_CHARGE", "gus.1", "gate"))
        05-20 REVOKE gus.1 revoked
        05-20 revoked gus.1 by App Store: Transaction gus.1 of gate was revoked.
        06-01 REFUND_REVERSED gus.1 granted
        06-01 granted gus.1 by App Store: Transaction gus.1 grants gate.
        09-01 REVOKE gus.1 revoked
        09-01 revoked gus.1 by App Store: Transaction gus.1 of gate was revoked.
        10-01 itemGiven grant by key tests: The team granted gate 1: For the loss (For the loss)
        """

    private static let hana = """
        \(purchase("01-15", "SUBSCRIBED INITIAL_BUY", "hana.1", "basic.yearly"))
        03-01 RENEWAL_EXTENDED hana.1 recorded
        \(extended("03-01", "hana.1", until: "2028-01-25"))
        04-01 RENEWAL_EXTENDED hana.1 recorded
        \(extended("04-01", "hana.1", until: "2028-02-14"))
        05-05 RENEWAL_EXTENSION FAILURE hana.1 recorded
        """

    /// The refund of 5 April is of a period that is over.
    private static let ivan = """
        \(purchase("01-13", "SUBSCRIBED INITIAL_BUY", "ivan.1", "basic.monthly"))
        \(renewal("01-20", "ivan.2", "basic.monthly"))
        02-20 DID_FAIL_TO_RENEW ivan.2 recorded
        02-20 renewalFailed ivan.2 by App Store: The renewal of basic.monthly could not be charged. Apple retries.
        02-24 DID_RENEW BILLING_RECOVERY ivan.3 granted
        02-24 granted ivan.3 by App Store: Transaction ivan.3 grants basic.monthly.
        03-05 DID_CHANGE_RENEWAL_PREF DOWNGRADE ivan.3 recorded
        \(choice("03-05", "ivan.3", "basic.yearly", insteadOf: "basic.monthly"))
        \(renewal("03-24", "ivan.4", "basic.yearly"))
        04-01 RENEWAL_EXTENDED ivan.4 recorded
        \(extended("04-01", "ivan.4", until: "2028-04-13"))
        04-05 REFUND ivan.2 revoked
        04-05 revoked ivan.2 by App Store: Transaction ivan.2 of basic.monthly was revoked, and USD 4.99 paid back.
        05-05 RENEWAL_EXTENDED ivan.4 recorded
        \(extended("05-05", "ivan.4", until: "2028-05-03"))
        07-15 revoked ivan.4 by key tests: Transaction ivan.4 of basic.yearly was revoked: A fraud (A fraud)
        """

    /// The app presents a purchase, and the notification about it changes nothing more.
    private static func purchase(_ date: String, _ type: String, _ sale: String, _ product: String) -> String {
        "\(date) \(type) \(sale) recorded\n\(date) granted \(sale) by key tests: Transaction \(sale) grants \(product)."
    }

    private static func upgrade(
        _ date: String,
        _ type: String,
        _ sale: String,
        _ product: String,
        from old: (sale: String, product: String)
    ) -> String {
        """
        \(date) \(type) \(sale) recorded
        \(date) productChanged \(old.sale) by App Store: \(product) replaced \(old.product) of transaction \
        \(old.sale). (\(product))
        \(date) granted \(sale) by key tests: Transaction \(sale) grants \(product).
        """
    }

    private static func notice(_ date: String, _ sale: String, _ product: String, end: String) -> String {
        "\(date) endsSoon \(sale) by App Store: \(product) ends at \(end), and does not renew. (\(end))"
    }

    private static func extended(_ date: String, _ sale: String, until end: String) -> String {
        "\(date) periodExtended \(sale) by App Store: Apple extended basic.yearly until \(end). (\(end))"
    }

    private static func choice(_ date: String, _ sale: String, _ product: String, insteadOf old: String) -> String {
        """
        \(date) planChosen \(sale) by App Store: The customer chose \(product) for the next renewal of \(old). \
        (\(product))
        """
    }

    private static func renewal(_ date: String, _ sale: String, _ product: String) -> String {
        "\(date) DID_RENEW \(sale) granted\n\(date) granted \(sale) by App Store: Transaction \(sale) grants \(product)."
    }
}
