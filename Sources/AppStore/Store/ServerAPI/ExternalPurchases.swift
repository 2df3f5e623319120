import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A token that an app gets when its customer may buy outside the App Store (StoreKit, "Receiving and decoding external purchase tokens"),
/// with the last status that the developer's server has reported.
package struct ExternalPurchaseToken: Hashable, Sendable {
    /// The type of a custom link token: two of the European Union, and two of Japan (StoreKit, `token(for:)`). Other tokens state none.
    package enum Kind: String, CaseIterable, Sendable {
        case acquisition = "ACQUISITION"
        case services = "SERVICES"
        case inApp = "IN_APP"
        case linkOut = "LINK_OUT"

        /// True for the types that may be reported as duplicates, and of which Apple tells after their end.
        fileprivate var isOfEuropeanUnion: Bool { self == .acquisition || self == .services }
    }

    package let externalPurchaseId: String
    package let kind: Kind?
    package let creationDate: Timestamp
    /// Nil for a token without a type.
    package let expirationDate: Timestamp?
    /// The token as the app has it: JSON in Base64URL.
    package let text: String
    /// The status of the last accepted report, by Apple's name; nil without a report.
    package fileprivate(set) var status: String?

    /// The days after which Apple tells of a token that nobody has reported, unless it is of the European Union (External Purchase Server
    /// API, "Reporting unrecognized and transactionless tokens").
    static let daysUntilReminder: Int64 = 10
    /// The days between the reminders of an active token, which are monthly (App Store Server Notifications, `subtype`).
    private static let daysOfMonth: Int64 = 30

    private var unreportedDate: Timestamp {
        let end = kind?.isOfEuropeanUnion == true ? expirationDate : nil
        return end ?? creationDate.adding(days: Self.daysUntilReminder)
    }

    /// The subtype of the notification at a date of `nextReminder`.
    fileprivate func subtype(of reminder: Timestamp) -> Subtype {
        reminder == unreportedDate ? .unreported : .activeTokenReminder
    }

    /// The date of the next notification about the token after a moment; nil for none. No reminder follows the report as a duplicate.
    fileprivate func nextReminder(after moment: Timestamp) -> Timestamp? {
        var dates = status == nil && moment < unreportedDate ? [unreportedDate] : []
        if let expirationDate, status != ExternalPurchaseReport.Status.duplicateToken.rawValue {
            let months = max(0, moment.secondsSince1970 - creationDate.secondsSince1970) / (Self.daysOfMonth * 86_400)
            let next = creationDate.adding(days: (months + 1) * Self.daysOfMonth)
            if next < expirationDate { dates.append(next) }
        }
        return dates.min()
    }
}

/// A report about a token (External Purchase Server API, `ExternalPurchaseReport`).
struct ExternalPurchaseReport: Codable {
    enum Status: String, Codable {
        case lineItem = "LINE_ITEM"
        case noLineItem = "NO_LINE_ITEM"
        case unrecognizedToken = "UNRECOGNIZED_TOKEN"
        case duplicateToken = "DUPLICATE_TOKEN"
    }

    var requestIdentifier: String?
    let externalPurchaseId: String?
    let status: Status?
    let lineItems: [ExternalPurchaseLineItem]?
}

/// A transaction or a correction in a report (External Purchase Server API, "Line item fields"). Amounts are milliunits.
struct ExternalPurchaseLineItem: Codable {
    enum EventType: String, Codable {
        case buy = "BUY"
        case refund = "REFUND"
    }

    enum ProductType: String, Codable {
        case oneTimeBuy = "ONE_TIME_BUY"
        case subscription = "SUBSCRIPTION"
    }

    enum SubscriptionEvent: String, Codable {
        case start = "SUBSCRIPTION_START"
        case renewal = "RENEWAL"
        case change = "SUBSCRIPTION_CHANGE"
        case payment = "SUBSCRIPTION_PAYMENT"
    }

    let lineItemId: String?
    let creationDate: Int64?
    let eventType: EventType?
    let referenceLineItemId: String?
    let restatement: Bool?
    let erroneouslySubmitted: Bool?
    let productIdentifier: String?
    let productType: ProductType?
    let quantity: Int64?
    let pricingCurrency: String?
    let reportingCurrency: String?
    let exchangeRate: Double?
    let amountTaxExclusive: Int64?
    let amountTaxInclusive: Int64?
    let netAmountTaxExclusive: Int64?
    let taxAmount: Int64?
    let taxCountry: String?
    let subscriptionEvent: SubscriptionEvent?
    let subscriptionStartDate: Int64?
    let subscriptionEndDate: Int64?
    let subscriptionDaysOfPaidService: Int64?

    fileprivate var isErroneous: Bool { erroneouslySubmitted == true }

    /// The purchase to whose net amount the item belongs.
    fileprivate var purchase: String? { eventType == .refund ? referenceLineItemId : lineItemId }

    /// The names of the fields that are present, besides the two flags.
    fileprivate var fields: Set<String> {
        let values: [(String, Any?)] = [
            ("lineItemId", lineItemId), ("creationDate", creationDate), ("eventType", eventType),
            ("referenceLineItemId", referenceLineItemId), ("productIdentifier", productIdentifier),
            ("productType", productType), ("quantity", quantity), ("pricingCurrency", pricingCurrency),
            ("reportingCurrency", reportingCurrency), ("exchangeRate", exchangeRate),
            ("amountTaxExclusive", amountTaxExclusive), ("amountTaxInclusive", amountTaxInclusive),
            ("netAmountTaxExclusive", netAmountTaxExclusive), ("taxAmount", taxAmount), ("taxCountry", taxCountry),
            ("subscriptionEvent", subscriptionEvent), ("subscriptionStartDate", subscriptionStartDate),
            ("subscriptionEndDate", subscriptionEndDate),
            ("subscriptionDaysOfPaidService", subscriptionDaysOfPaidService),
        ]
        return Set(values.filter { $0.1 != nil }.map(\.0))
    }

    private static let required = [
        "lineItemId", "creationDate", "eventType", "pricingCurrency", "reportingCurrency", "amountTaxExclusive",
        "amountTaxInclusive", "netAmountTaxExclusive", "taxAmount", "taxCountry",
    ]
    private static let ofProduct = ["productType", "productIdentifier", "quantity"]
    private static let ofSubscription = [
        "subscriptionEvent", "subscriptionStartDate", "subscriptionEndDate", "subscriptionDaysOfPaidService",
    ]

    /// The fields that an item of this kind must have, and those that it may not have (`OneTimeBuyLineItem`,
    /// `SubscriptionBuyLineItem`, `RefundLineItem`).
    fileprivate var rule: (required: [String], forbidden: [String]) {
        switch (eventType, productType) {
        case (.refund, _): (Self.required + ["referenceLineItemId"], Self.ofProduct + Self.ofSubscription)
        case (.buy, .subscription): (Self.required + Self.ofProduct + Self.ofSubscription, [])
        case (.buy, .oneTimeBuy):
            (Self.required + Self.ofProduct, Self.ofSubscription + ["referenceLineItemId"])
        default: (Self.required + Self.ofProduct, [])
        }
    }
}

/// A mistake in a report (External Purchase Server API, "Error messages and codes"). A report with one has no effect.
struct ExternalPurchaseMistake: Encodable {
    let errorCode: Int
    let errorMessage: String
    let fieldName: String
    let lineItemId: String?

    init(_ kind: Kind, _ field: String, of lineItem: String? = nil) {
        (errorCode, errorMessage, fieldName, lineItemId) = (kind.rawValue, kind.message, field, lineItem)
    }

    /// The kinds by Apple's numbers. Apple's other kinds depend on rules that it does not publish.
    enum Kind: Int {
        case duplicateValue = 1
        case reportingCurrencyMismatch = 2
        case notFound = 3
        case omittedField = 4
        case fieldNotAllowed = 5
        case futureDate = 6
        case unknownEnum = 7
        case lineItemStatusRegression = 8
        case missingLineItems = 9
        case lineItemsNotAllowed = 10
        case incorrectAmountTaxInclusive = 11
        case incorrectNetAmount = 12
        case selfReference = 13
        case referenceInvalidSubscriptionEvent = 14
        case negativeValue = 15
        case positiveValueRequired = 16
        case startDateAfterEndDate = 17
        case currencyExchangeNotAllowed = 18
        case maximumLengthExceeded = 19
        case erroneouslySubmittedNotRestatement = 20
        case referenceNotABuy = 21
        case erroneousReferencedByValid = 22
        case taxCountryMismatch = 23
        case netAmountMismatch = 24
        case validReferencesErroneous = 25
        case dateTooFarInPast = 27
        case repeatErroneousSubmission = 30
        case referencedCreationDateIncompatible = 31
        case pricingCurrencyMismatch = 32
        case exchangeRateMismatch = 33
        case subscriptionStartNonZeroDays = 34
        case invalidSubscriptionPayment = 35
        case creationDateOutOfRange = 36
        case duplicateTokenStatusNotAllowed = 37
        case restatementCreationDateMismatch = 38
        case restatementNotAllowed = 39

        /// Apple's message. The messages of 9, 22, 35, 37 and 38 follow the summaries of their pages.
        var message: String {
            switch self {
            case .duplicateValue: "The field's value is already submitted and a duplicate value is not expected."
            case .reportingCurrencyMismatch:
                "The refund's referenced buy line item has a different reporting currency."
            case .notFound: "The referenced value was not found."
            case .omittedField: "A required field is missing."
            case .fieldNotAllowed: "The provided field is not allowed."
            case .futureDate: "The provided date field is in the future and future values are not allowed."
            case .unknownEnum: "The provided value is unknown for an enumeration."
            case .lineItemStatusRegression:
                "Cannot mark status as NO_LINE_ITEM or UNRECOGNIZED_TOKEN after previously reporting as LINE_ITEM."
            case .missingLineItems: "The external purchase ID has a LINE_ITEM status but is missing line items."
            case .lineItemsNotAllowed:
                "A line item was provided for an external purchase ID that has a NO_LINE_ITEM or UNRECOGNIZED_TOKEN status."
            case .incorrectAmountTaxInclusive:
                "The tax exclusive amount plus the tax amount does not equal the tax inclusive amount."
            case .incorrectNetAmount: "The net amount value does not match the expected value."
            case .selfReference: "The line item may not reference itself."
            case .referenceInvalidSubscriptionEvent:
                "The referenced line item has no subscription event or its subscription event is not SUBSCRIPTION_START."
            case .negativeValue: "This field doesn't allow a negative value."
            case .positiveValueRequired: "This field requires a positive value."
            case .startDateAfterEndDate: "The start date is after the end date."
            case .currencyExchangeNotAllowed:
                "The reporting currency, which reports a currency exchange, isn't allowed."
            case .maximumLengthExceeded: "The field's maximum length is exceeded."
            case .erroneouslySubmittedNotRestatement:
                "Expecting restatement for an erroneously submitted line item, but line item is not a restatement."
            case .referenceNotABuy: "The referenced line item is not a buy."
            case .erroneousReferencedByValid:
                "The line item is erroneously submitted but is referenced by a line item that is not erroneously submitted."
            case .taxCountryMismatch: "The refund's referenced buy line item has a different tax country."
            case .netAmountMismatch:
                "Two line items involved in the same net amount calculation have different net amount values."
            case .validReferencesErroneous:
                "The line item references an erroneously submitted line item, but the line item itself is not erroneously submitted."
            case .dateTooFarInPast: "The provided date is too far in the past. Date must be in milliseconds."
            case .repeatErroneousSubmission:
                "The line item has status erroneously submitted but its previous version was already marked erroneously submitted."
            case .referencedCreationDateIncompatible:
                "The referenced line item has a creation date after the line item's creation date."
            case .pricingCurrencyMismatch: "The refund's referenced buy line item has a different pricing currency."
            case .exchangeRateMismatch: "The refund's referenced buy line item has a different exchange rate."
            case .subscriptionStartNonZeroDays:
                "The subscriptionDaysOfPaidService field must be zero for a line item with subscription event SUBSCRIPTION_START."
            case .invalidSubscriptionPayment:
                "The tax inclusive amount must be positive for a line item with subscription event SUBSCRIPTION_PAYMENT."
            case .creationDateOutOfRange:
                "The line item's creation date is outside the active range of the token. Date must be in milliseconds."
            case .duplicateTokenStatusNotAllowed:
                "The DUPLICATE_TOKEN status is not allowed for the associated token type."
            case .restatementCreationDateMismatch:
                "The creation date of the restatement line item does not match the creation date of the original line item."
            case .restatementNotAllowed:
                "Restatement is not allowed for this line item because its creation date is too far in the past."
            }
        }
    }
}

/// The search for the mistakes in a report's line items.
private struct LineItemCheck {
    /// The longest text of a field (`lineItemId`, `referenceLineItemId`, `pricingCurrency`).
    private static let maximumLength = 128
    /// Apple publishes no oldest date. One in seconds is far before this one.
    private static let oldestDate: Int64 = 1_577_836_800_000
    /// The days for which a line item can be restated (`RestatementNotAllowedCreationDateError`).
    private static let restatementDays: Int64 = 365
    /// The currencies that Apple supports (`reportingCurrency`).
    private static let currencies: Set<String> = [
        "AED", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP", "HKD", "HUF",
        "IDR", "ILS", "INR", "JPY", "KRW", "KZT", "MXN", "MYR", "NGN", "NOK", "NZD", "PEN", "PHP", "PKR", "PLN", "QAR",
        "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "TZS", "USD", "VND", "ZAR",
    ]

    let now: Timestamp
    let token: ExternalPurchaseToken
    /// The accepted line items that the report's may concern, by their identifiers.
    let known: [String: ExternalPurchaseLineItem]
    private(set) var mistakes: [ExternalPurchaseMistake] = []
    /// The known line items, replaced by those of the report.
    private var after: [String: ExternalPurchaseLineItem]

    init(
        _ items: [ExternalPurchaseLineItem], of token: ExternalPurchaseToken,
        after known: [String: ExternalPurchaseLineItem], at now: Timestamp
    ) {
        (self.now, self.token, self.known, after) = (now, token, known, known)
        var complete: [ExternalPurchaseLineItem] = []
        var seen: Set<String> = []
        for item in items {
            let count = mistakes.count
            checkFields(of: item)
            guard mistakes.count == count, let identifier = item.lineItemId else { continue }
            if !seen.insert(identifier).inserted { add(.duplicateValue, "lineItemId", item) }
            complete.append(item)
            after[identifier] = item
        }
        // A mistake in a field would bring about others in what is computed with it.
        guard mistakes.isEmpty else { return }
        for item in complete { checkRestatement(of: item) }
        for item in complete { checkReference(of: item) }
        checkNetAmounts(of: complete)
    }

    private mutating func add(
        _ kind: ExternalPurchaseMistake.Kind, _ field: String, _ item: ExternalPurchaseLineItem
    ) {
        mistakes.append(ExternalPurchaseMistake(kind, field, of: item.lineItemId))
    }

    private mutating func checkFields(of item: ExternalPurchaseLineItem) {
        let (fields, rule) = (item.fields, item.rule)
        for name in rule.required where !fields.contains(name) { add(.omittedField, name, item) }
        for name in rule.forbidden where fields.contains(name) { add(.fieldNotAllowed, name, item) }
        for (name, text) in [
            ("lineItemId", item.lineItemId), ("referenceLineItemId", item.referenceLineItemId),
            ("productIdentifier", item.productIdentifier), ("pricingCurrency", item.pricingCurrency),
        ] where text.map({ $0.count > Self.maximumLength }) ?? false {
            add(.maximumLengthExceeded, name, item)
        }
        for (name, date) in [
            ("creationDate", item.creationDate), ("subscriptionStartDate", item.subscriptionStartDate),
            ("subscriptionEndDate", item.subscriptionEndDate),
        ] where date.map({ $0 < Self.oldestDate }) ?? false {
            add(.dateTooFarInPast, name, item)
        }
        for (name, amount) in [
            ("subscriptionDaysOfPaidService", item.subscriptionDaysOfPaidService),
            ("netAmountTaxExclusive", item.netAmountTaxExclusive), ("taxAmount", item.taxAmount),
            ("amountTaxExclusive", item.amountTaxExclusive), ("amountTaxInclusive", item.amountTaxInclusive),
        ] where amount.map({ $0 < 0 }) ?? false {
            add(.negativeValue, name, item)
        }
        if let quantity = item.quantity, quantity <= 0 { add(.positiveValueRequired, "quantity", item) }
        if let rate = item.exchangeRate, !(rate > 0) { add(.positiveValueRequired, "exchangeRate", item) }
        checkCurrency(of: item)
        checkDates(of: item)
        if item.erroneouslySubmitted == true, item.restatement != true {
            add(.erroneouslySubmittedNotRestatement, "erroneouslySubmitted", item)
        }
        if let own = item.lineItemId, own == item.referenceLineItemId {
            add(.selfReference, "referenceLineItemId", item)
        }
        if let exclusive = item.amountTaxExclusive, let tax = item.taxAmount, let inclusive = item.amountTaxInclusive {
            let (sum, isOverflow) = exclusive.addingReportingOverflow(tax)
            if isOverflow || sum != inclusive { add(.incorrectAmountTaxInclusive, "amountTaxInclusive", item) }
            if item.subscriptionEvent == .payment, inclusive == 0 {
                add(.invalidSubscriptionPayment, "amountTaxInclusive", item)
            }
        }
    }

    private mutating func checkCurrency(of item: ExternalPurchaseLineItem) {
        if let country = item.taxCountry, Storefront(countryCode: country) == nil {
            add(.unknownEnum, "taxCountry", item)
        }
        guard let pricing = item.pricingCurrency, let reporting = item.reportingCurrency else { return }
        guard Self.currencies.contains(reporting) else { return add(.unknownEnum, "reportingCurrency", item) }
        // "Determine your reporting currency": the same one, or EUR or USD for one that Apple does not support.
        let isSupported = Self.currencies.contains(pricing)
        if isSupported ? reporting != pricing : !["EUR", "USD"].contains(reporting) {
            add(.currencyExchangeNotAllowed, "reportingCurrency", item)
        }
        if isSupported, item.exchangeRate != nil { add(.fieldNotAllowed, "exchangeRate", item) }
        if !isSupported, item.exchangeRate == nil { add(.omittedField, "exchangeRate", item) }
    }

    private mutating func checkDates(of item: ExternalPurchaseLineItem) {
        if let start = item.subscriptionStartDate, let end = item.subscriptionEndDate, start > end {
            add(.startDateAfterEndDate, "subscriptionEndDate", item)
        }
        if item.subscriptionEvent == .start, (item.subscriptionDaysOfPaidService ?? 0) > 0 {
            add(.subscriptionStartNonZeroDays, "subscriptionDaysOfPaidService", item)
        }
        guard let date = item.creationDate, date >= Self.oldestDate else { return }
        if date > now.millisecondsSince1970 { add(.futureDate, "creationDate", item) }
        guard let end = token.expirationDate else { return }
        if !(token.creationDate.millisecondsSince1970...end.millisecondsSince1970).contains(date) {
            add(.creationDateOutOfRange, "creationDate", item)
        }
    }

    /// "Reporting corrections": a restatement has the identifier, the date and all fields of the line item that it overwrites.
    private mutating func checkRestatement(of item: ExternalPurchaseLineItem) {
        guard let identifier = item.lineItemId, let date = item.creationDate else { return }
        guard item.restatement == true else {
            if known[identifier] != nil { add(.duplicateValue, "lineItemId", item) }
            return
        }
        guard let earlier = known[identifier] else { return add(.notFound, "lineItemId", item) }
        if earlier.creationDate != date { add(.restatementCreationDateMismatch, "creationDate", item) }
        if now > Timestamp(millisecondsSince1970: date).adding(days: Self.restatementDays) {
            add(.restatementNotAllowed, "creationDate", item)
        }
        if item.isErroneous, earlier.isErroneous { add(.repeatErroneousSubmission, "erroneouslySubmitted", item) }
        if item.isErroneous, after.values.contains(where: { $0.referenceLineItemId == identifier && !$0.isErroneous }) {
            add(.erroneousReferencedByValid, "erroneouslySubmitted", item)
        }
    }

    private mutating func checkReference(of item: ExternalPurchaseLineItem) {
        guard let reference = item.referenceLineItemId else { return }
        guard let referenced = after[reference] else { return add(.notFound, "referenceLineItemId", item) }
        if let date = item.creationDate, let earlier = referenced.creationDate, earlier > date {
            add(.referencedCreationDateIncompatible, "creationDate", item)
        }
        if referenced.isErroneous, !item.isErroneous { add(.validReferencesErroneous, "erroneouslySubmitted", item) }
        guard item.eventType == .refund else {
            if referenced.subscriptionEvent != .start {
                add(.referenceInvalidSubscriptionEvent, "referenceLineItemId", item)
            }
            return
        }
        guard referenced.eventType == .buy else { return add(.referenceNotABuy, "referenceLineItemId", item) }
        if item.reportingCurrency != referenced.reportingCurrency {
            add(.reportingCurrencyMismatch, "reportingCurrency", item)
        }
        if item.pricingCurrency != referenced.pricingCurrency {
            add(.pricingCurrencyMismatch, "pricingCurrency", item)
        }
        if item.exchangeRate != referenced.exchangeRate { add(.exchangeRateMismatch, "exchangeRate", item) }
        if item.taxCountry != referenced.taxCountry { add(.taxCountryMismatch, "taxCountry", item) }
    }

    /// `netAmountTaxExclusive`: the amount of the purchase, as it was last stated, without those of its refunds.
    private mutating func checkNetAmounts(of items: [ExternalPurchaseLineItem]) {
        for item in items {
            guard let purchase = item.purchase, let sold = after[purchase] else { continue }
            let valid = ([sold] + after.values.filter { $0.eventType == .refund && $0.referenceLineItemId == purchase })
                .filter { !$0.isErroneous }
            let net = valid.reduce(Int64(0)) { sum, item in
                let amount = item.amountTaxExclusive ?? 0
                return item.eventType == .refund
                    ? sum.subtractingReportingOverflow(amount).partialValue
                    : sum.addingReportingOverflow(amount).partialValue
            }
            guard item.netAmountTaxExclusive != net else { continue }
            let isMismatch = items.contains {
                $0.purchase == purchase && $0.netAmountTaxExclusive != item.netAmountTaxExclusive
            }
            add(isMismatch ? .netAmountMismatch : .incorrectNetAmount, "netAmountTaxExclusive", item)
        }
    }
}

/// The SQL statements on external purchases. They run inside the caller's transaction of the store's database.
package struct ExternalPurchaseRecords {
    let database: Database

    /// All tokens, the oldest first.
    package func tokens() throws -> [ExternalPurchaseToken] {
        try SQLRequest<Row>("SELECT * FROM external_purchase_token ORDER BY rowid").fetchAll(database)
            .map(ExternalPurchaseToken.init)
    }

    fileprivate func token(_ identifier: String) throws -> ExternalPurchaseToken? {
        try SQLRequest<Row>("SELECT * FROM external_purchase_token WHERE external_purchase_id = \(identifier)")
            .fetchOne(database).map(ExternalPurchaseToken.init)
    }

    /// Writes a token.
    ///
    /// - Parameter reminder: The date of the next notification about it; nil for none.
    fileprivate func save(_ token: ExternalPurchaseToken, reminding reminder: Timestamp?) throws {
        try database.insert(
            [
                "external_purchase_id": token.externalPurchaseId, "type": token.kind?.rawValue,
                "creation_date": token.creationDate, "expiration_date": token.expirationDate, "token": token.text,
                "status": token.status, "reminder_date": reminder,
            ], into: "external_purchase_token", replacing: "external_purchase_id")
    }

    /// The token with the first notification that is due.
    func firstDue(at moment: Timestamp) throws -> (token: ExternalPurchaseToken, date: Timestamp)? {
        try SQLRequest<Row>(
            """
            SELECT * FROM external_purchase_token WHERE reminder_date <= \(moment)
            ORDER BY reminder_date, rowid LIMIT 1
            """
        ).fetchOne(database).map { (ExternalPurchaseToken($0), $0["reminder_date"]) }
    }

    func nextReminder() throws -> Timestamp? {
        try SQLRequest<Timestamp>("SELECT min(reminder_date) FROM external_purchase_token").fetchOne(database)
    }

    /// The accepted report of an identifier, as JSON.
    func report(_ identifier: String) throws -> String? {
        try SQLRequest<String>("SELECT record FROM external_purchase_report WHERE request_id = \(identifier)")
            .fetchOne(database)
    }

    /// The accepted line items with some identifiers, and those that refer to one of them.
    fileprivate func lineItems(_ identifiers: [String]) throws -> [String: ExternalPurchaseLineItem] {
        let found: [ExternalPurchaseLineItem] = try database.records(
            """
            SELECT record FROM external_purchase_line_item
            WHERE line_item_id IN \(identifiers) OR reference_line_item_id IN \(identifiers)
            """)
        return Dictionary(found.map { ($0.lineItemId ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    fileprivate func accept(_ report: ExternalPurchaseReport, as identifier: String) throws {
        // It is answered as it is kept, so its members have an order.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try database.insert(
            ["request_id": identifier, "record": String(decoding: try encoder.encode(report), as: UTF8.self)],
            into: "external_purchase_report")
        for item in report.lineItems ?? [] {
            try database.insert(
                [
                    "line_item_id": item.lineItemId, "reference_line_item_id": item.referenceLineItemId,
                    "record": try LocalRecord.text(item),
                ], into: "external_purchase_line_item", replacing: "line_item_id")
        }
    }
}

extension ExternalPurchaseToken {
    fileprivate init(_ row: Row) {
        self.init(
            externalPurchaseId: row["external_purchase_id"], kind: (row["type"] as String?).flatMap(Kind.init),
            creationDate: row["creation_date"], expirationDate: row["expiration_date"], text: row["token"],
            status: row["status"])
    }
}

extension Books {
    package var externalPurchases: ExternalPurchaseRecords { ExternalPurchaseRecords(database: database) }

    /// Makes a token, as for an app whose customer may buy outside the App Store. Apple tells of a custom link token (`CREATED`).
    package func makeExternalPurchaseToken(_ kind: ExternalPurchaseToken.Kind?) throws -> ExternalPurchaseToken {
        let token = issuer.externalPurchaseToken(kind, createdAt: now)
        try externalPurchases.save(token, reminding: token.nextReminder(after: now))
        if kind != nil { try notify(.created, about: token) }
        return token
    }

    /// Tells of a new token on demand. One that nobody has reported was created ten days ago.
    func notifyOfExternalPurchaseToken(_ subtype: Subtype?) throws -> StoreNotification {
        let isUnreported = subtype == .unreported
        let token = issuer.externalPurchaseToken(
            isUnreported ? nil : .services,
            createdAt: isUnreported ? now.adding(days: -ExternalPurchaseToken.daysUntilReminder) : now)
        try externalPurchases.save(token, reminding: token.nextReminder(after: now))
        return try notify(subtype, about: token)
    }

    /// Tells of a token whose notification is due at the present moment.
    func remind(of token: ExternalPurchaseToken) throws {
        try externalPurchases.save(token, reminding: token.nextReminder(after: now))
        try notify(token.subtype(of: now), about: token)
    }

    @discardableResult
    private func notify(_ subtype: Subtype?, about token: ExternalPurchaseToken) throws -> StoreNotification {
        try notify(.externalPurchaseToken, subtype, .externalPurchaseToken, issuer.statement(of: token))
    }

    /// `PUT /externalPurchase/v1/reports`
    ///
    /// - Returns: The identifier of the report, and its mistakes; without one, the report is accepted.
    /// - Throws: `ServerAPIError`, `generalBadRequest`, for an identifier that is no UUID.
    func sendExternalPurchaseReport(
        _ report: ExternalPurchaseReport
    ) throws -> (requestIdentifier: String, mistakes: [ExternalPurchaseMistake]) {
        var mistakes: [ExternalPurchaseMistake] = []
        for (name, isMissing) in [
            ("requestIdentifier", report.requestIdentifier == nil),
            ("externalPurchaseId", report.externalPurchaseId == nil), ("status", report.status == nil),
        ] where isMissing {
            mistakes.append(.init(.omittedField, name))
        }
        let identifier = try report.requestIdentifier?.uuid(orThrow: .generalBadRequest) ?? ""
        guard mistakes.isEmpty, let status = report.status else { return (identifier, mistakes) }
        if try externalPurchases.report(identifier) != nil {
            mistakes.append(.init(.duplicateValue, "requestIdentifier"))
        }
        guard var token = try externalPurchases.token(report.externalPurchaseId ?? "") else {
            return (identifier, mistakes + [.init(.notFound, "externalPurchaseId")])
        }
        let items = report.lineItems ?? []
        switch status {
        case .lineItem where items.isEmpty: mistakes.append(.init(.missingLineItems, "status"))
        case .lineItem: break
        case _ where !items.isEmpty: mistakes.append(.init(.lineItemsNotAllowed, "status"))
        // `status`: "only to SERVICES and ACQUISITION token types".
        case .duplicateToken where token.kind?.isOfEuropeanUnion != true:
            mistakes.append(.init(.duplicateTokenStatusNotAllowed, "status"))
        case .noLineItem where token.status == ExternalPurchaseReport.Status.lineItem.rawValue,
            .unrecognizedToken where token.status == ExternalPurchaseReport.Status.lineItem.rawValue:
            mistakes.append(.init(.lineItemStatusRegression, "status"))
        default: break
        }
        let named = items.flatMap { [$0.lineItemId, $0.referenceLineItemId] }.compactMap(\.self)
        mistakes += LineItemCheck(items, of: token, after: try externalPurchases.lineItems(named), at: now).mistakes
        guard mistakes.isEmpty else { return (identifier, mistakes) }
        token.status = status.rawValue
        var accepted = report
        accepted.requestIdentifier = identifier
        try externalPurchases.accept(accepted, as: identifier)
        try externalPurchases.save(token, reminding: token.nextReminder(after: now))
        return (identifier, [])
    }
}

extension ProofIssuer {
    /// The lifetime of a custom link token: an hour in the sandbox, and a year in production, as in the examples of "Receiving and decoding
    /// external purchase tokens".
    private var externalTokenSeconds: Int64 { environment == .production ? 365 * 86_400 : 3600 }

    /// A new token. Only its identifier tells the environment.
    fileprivate func externalPurchaseToken(
        _ kind: ExternalPurchaseToken.Kind?, createdAt creationDate: Timestamp
    ) -> ExternalPurchaseToken {
        let identifier = UUID(randomness: randomness).lowercasedString
        let (full, end) = (
            environment == .production ? identifier : "SANDBOX_" + identifier,
            kind == nil ? nil : creationDate.adding(seconds: externalTokenSeconds)
        )
        func token(_ text: String) -> ExternalPurchaseToken {
            ExternalPurchaseToken(
                externalPurchaseId: full, kind: kind, creationDate: creationDate, expirationDate: end, text: text)
        }
        return token(Base64.encode(statement(of: token("")).json.compactBytes, .urlSafe))
    }

    /// The fields of a token (App Store Server Notifications V2, `externalPurchaseToken`).
    fileprivate func statement(of token: ExternalPurchaseToken) -> StatementFields {
        [
            "appAppleId": appAppleIdentifier, "bundleId": bundleIdentifier, "tokenCreationDate": token.creationDate,
            "externalPurchaseId": token.externalPurchaseId, "tokenType": token.kind?.rawValue,
            "tokenExpirationDate": token.expirationDate,
        ]
    }
}
