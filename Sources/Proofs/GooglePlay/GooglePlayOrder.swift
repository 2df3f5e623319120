/// An order of Google Play: what was paid for a purchase or a period, and what was paid back.
package struct GooglePlayOrder: Sendable {
    /// The offer of a period.
    package enum Phase: Sendable {
        case base, freeTrial, introductory
        /// The time for the value of a replaced plan.
        case proration

        /// Reads the phase from its markers.
        init?(
            _ fields: PayloadFields, _ base: String, _ freeTrial: String, _ introductory: String, _ proration: String
        ) throws(ProofRefusal) {
            if try fields.object(proration) != nil {
                self = .proration
            } else if try fields.object(freeTrial) != nil {
                self = .freeTrial
            } else if try fields.object(introductory) != nil {
                self = .introductory
            } else if try fields.object(base) != nil {
                self = .base
            } else {
                return nil
            }
        }
    }

    struct LineItem: Sendable {
        let productId: String
        /// The amount that was paid, with tax.
        let total: Price?
        let periodStart: Timestamp?
        let periodEnd: Timestamp?
        let phase: Phase?

        init(_ fields: PayloadFields) throws(ProofRefusal) {
            productId = try fields.product()
            total = try fields.money("total")
            let details = try fields.object("subscriptionDetails")
            periodStart = try details?.dateTime("servicePeriodStartTime")
            periodEnd = try details?.dateTime("servicePeriodEndTime")
            phase = try details?.object("offerPhaseDetails").flatMap { (phase) throws(ProofRefusal) in
                try Phase(
                    phase, "baseDetails", "freeTrialDetails", "introductoryPriceDetails", "prorationPeriodDetails")
            }
        }
    }

    private struct PartialRefund {
        let date: Timestamp?
        let amount: Int64?
        let isProcessed: Bool

        init(_ event: PayloadFields) throws(ProofRefusal) {
            let created = try event.dateTime("createTime")
            date = try event.dateTime("processTime") ?? created
            amount = try event.object("refundDetails")?.money("total")?.milliunits
            isProcessed = try event.string("state") == "PROCESSED_SUCCESSFULLY"
        }
    }

    /// The extent of the money that was paid back.
    enum Refund: Sendable {
        case full, partial
    }

    package let identifier: String
    /// The token of the purchase; nil if the answer has none.
    package let purchaseToken: String?
    package let createdAt: Timestamp?
    let refund: Refund?
    /// True if the whole order was paid back.
    package var isRefunded: Bool { refund == .full }
    /// The date of the last refund, or of the cancellation.
    let refundedAt: Timestamp?
    /// The processed partial refunds, each in milliunits (`partialRefundEvents[].refundDetails.total`); nil if an amount is missing.
    private let partialRefunds: [Int64]?
    let lineItems: [LineItem]
    /// The place where the order was made, in Google's word, such as `IN_APP`.
    let salesChannel: String?
    /// The JSON of the Play Points that were spent.
    let pointsDetails: String?
    /// The reason of a full refund in Google's word: `CHARGEBACK` or `OTHER`.
    let refundReason: String?

    /// Reads an `Order`.
    ///
    /// - Throws: `ProofRefusal` for bytes that are no such answer, or of another order.
    package init(_ bytes: [UInt8], identifier: String) throws(ProofRefusal) {
        try self.init(try PayloadFields(json: bytes, upTo: GooglePlayAnswer.maximumSize), among: [identifier])
    }

    /// The maximum size of an answer about several orders, in bytes.
    package static let maximumListSize = 4 << 20

    /// Reads a `BatchGetOrdersResponse`.
    ///
    /// - Throws: `ProofRefusal` for bytes that are no such answer, or with another order.
    package static func all(
        _ bytes: [UInt8], among identifiers: Set<String>
    ) throws(ProofRefusal) -> [GooglePlayOrder] {
        let fields = try PayloadFields(json: bytes, upTo: maximumListSize).deciding(["orders"])
        return try fields.objects("orders") { (fields) throws(ProofRefusal) in
            try GooglePlayOrder(fields, among: identifiers)
        } ?? []
    }

    private init(_ fields: PayloadFields, among identifiers: Set<String>) throws(ProofRefusal) {
        let fields = fields.deciding(["state", "lineItems"])
        guard let identifier = try fields.order("orderId"), identifiers.contains(identifier) else {
            throw ProofRefusal(.payloadInvalid, "The field orderId must be an order that was asked for.")
        }
        self.identifier = identifier
        purchaseToken = try fields.string("purchaseToken").flatMap { GooglePlayToken.isToken($0) ? $0 : nil }
        createdAt = try fields.dateTime("createTime")
        salesChannel = try fields.string("salesChannel")
        pointsDetails = try fields.json("pointsDetails", PayloadForm.points)
        let history = try fields.object("orderHistory")
        let wholeRefund = try history?.object("refundEvent")
        refundReason = try wholeRefund?.string("refundReason")
        // A refund that is pending has not been paid (PartialRefundEvent.State).
        let partial = try history?.objects("partialRefundEvents") { (event) throws(ProofRefusal) in
            try PartialRefund(event)
        }?.filter(\.isProcessed)
        switch try fields.string("state") {
        case "REFUNDED", "CANCELED": refund = .full
        case "PARTIALLY_REFUNDED": refund = .partial
        // "Requested refund is waiting to be processed", and what was paid back before stays so.
        case "PENDING_REFUND": refund = partial?.isEmpty ?? true ? nil : .partial
        default: refund = nil
        }
        let amounts = partial.map { $0.compactMap(\.amount) }
        partialRefunds = amounts?.count == partial?.count ? amounts : nil
        let dates = [
            try wholeRefund?.dateTime("eventTime"),
            try history?.object("cancellationEvent")?.dateTime("eventTime"), partial?.compactMap(\.date).max(),
            try fields.dateTime("lastEventTime"),
        ]
        refundedAt = dates.compactMap(\.self).first
        lineItems = try fields.lineItems("lineItems") { (item) throws(ProofRefusal) in try LineItem(item) }
    }

    /// The first product of the order.
    package var firstProduct: String? { lineItems.first?.productId }

    func lineItem(_ productId: String) -> LineItem? { lineItems.first { $0.productId.hasSameBytes(as: productId) } }

    /// True for an order of other products alone.
    func isOfOthers(than productId: String) -> Bool { !lineItems.isEmpty && lineItem(productId) == nil }
}

extension PayloadForm {
    /// The Play Points of an order of Google Play (`pointsDetails`).
    static let points: [String: PayloadForm] = [
        "pointsOfferId": .text, "pointsSpent": .text, "pointsDiscountRateMicros": .text,
        "pointsCouponValue": .object(["currencyCode": .text, "units": .text, "nanos": .integer]),
    ]
}

/// Money that Google Play has paid back for a product.
package struct StatedRefund: Hashable, Sendable {
    /// In milliunits of the price's currency; nil if Google states no amount.
    package let amount: Int64?
    package let date: Timestamp?

    package init(amount: Int64?, date: Timestamp?) { (self.amount, self.date) = (amount, date) }
}

extension TransactionFacts {
    /// States a refund. The statement has its date if Google states none.
    package mutating func state(_ refund: StatedRefund) {
        self[.refundedAmount] = .init(refund.amount)
        self[.refundedAt] = .init(refund.date ?? date(.signedDate))
    }
}

/// The money that was paid back (developers.google.com/android-publisher/api-ref/rest/v3/orders: State, RefundDetails).
extension GooglePlayOrder {
    /// The refund of a product of the order.
    ///
    /// A whole refund pays the total of each line, and a canceled order was never charged. Google does not say of which line a partial
    /// refund is. It belongs to the products that were taken back, then to the only line of its amount, and otherwise to all lines in
    /// proportion to their totals.
    ///
    /// - Parameter isTakenBack: True for a product of the order that the customer does not have any more.
    /// - Returns: Nil if nothing was paid back.
    package func refund(of productId: String, takenBack isTakenBack: (String) -> Bool = { _ in false }) -> StatedRefund?
    {
        guard let refund, let line = lineItems.firstIndex(where: { $0.productId.hasSameBytes(as: productId) }) else {
            return nil
        }
        let totals = lineItems.map { $0.total?.milliunits }
        guard refund == .partial else { return StatedRefund(amount: totals[line], date: refundedAt) }
        guard let partialRefunds else { return StatedRefund(amount: nil, date: refundedAt) }
        var left = totals.compactMap(\.self)
        let known = left
        guard known.count == totals.count else {
            let amount = totals.count == 1 ? partialRefunds.reduce(0, +) : nil
            return amount == 0 ? nil : StatedRefund(amount: amount, date: refundedAt)
        }
        let gone = lineItems.indices.filter { isTakenBack(lineItems[$0].productId) }
        for amount in partialRefunds {
            let places = gone.contains { left[$0] > 0 } ? gone : Array(lineItems.indices)
            let equal = places.filter { known[$0] == amount && left[$0] == amount }
            Self.take(amount, from: equal.count == 1 ? equal : places, of: &left)
        }
        let amount = known[line] - left[line]
        return amount == 0 ? nil : StatedRefund(amount: amount, date: refundedAt)
    }

    /// True if money was paid back for some of the products, and not for the others.
    package var isRefundOfSomeProducts: Bool {
        guard refund == .partial else { return false }
        let count = lineItems.count { refund(of: $0.productId) != nil }
        return count > 0 && count < lineItems.count
    }

    /// Takes an amount from some lines in proportion to what is left of each. The last one has the remainder of the division.
    private static func take(_ amount: Int64, from places: [Int], of left: inout [Int64]) {
        let sum = places.reduce(0) { $0 + left[$1] }
        guard sum > 0 else { return }
        var (rest, of) = (min(amount, sum), sum)
        for place in places where of > 0 {
            let part = of.dividingFullWidth(rest.multipliedFullWidth(by: left[place])).quotient
            (rest, of) = (rest - part, of - left[place])
            left[place] -= part
        }
    }
}

/// A record of a purchase that Google Play takes back, in full or some of its units (`VoidedPurchase`).
package struct VoidedGooglePlayPurchase: Sendable, Hashable {
    package let purchaseToken: String
    /// The key of the record, because the renewals of a subscription share a token. Nil for a purchase without an order.
    package let orderId: String?
    package let voidedAt: Timestamp
    /// The reason in Google's numbers: 0 other, 1 remorse, 2 not received, 3 defective, 4 accidental, 5 fraud, 6 friendly fraud,
    /// 7 chargeback, 8 not acknowledged.
    package let reason: Int
    /// The initiator in Google's numbers: 0 the customer, 1 the developer, 2 Google; nil if it is not stated.
    package let source: Int?
    /// The number of units; nil for all that are left.
    package let quantity: Int?

    package var revocationReason: RevocationReason { RevocationReason(voidedReason: reason) }

    init(_ fields: PayloadFields) throws(ProofRefusal) {
        let fields = fields.deciding(["purchaseToken", "orderId", "voidedTimeMillis", "voidedQuantity"])
        guard let token = try fields.token("purchaseToken"), let voided = try fields.wholeNumber("voidedTimeMillis"),
            (0...Timestamp.endOfYear9999).contains(voided)
        else { throw ProofRefusal(.payloadInvalid, "A voided purchase needs a purchaseToken and a voidedTimeMillis.") }
        (purchaseToken, orderId, voidedAt) = (
            token, try fields.order("orderId"), Timestamp(millisecondsSince1970: voided)
        )
        reason = try fields.wholeNumber("voidedReason").flatMap { Int(exactly: $0) } ?? 0
        source = try fields.wholeNumber("voidedSource").flatMap { Int(exactly: $0) }
        let isPartial = try fields.wholeNumber("voidedQuantity") != nil
        quantity = isPartial ? try fields.quantity("voidedQuantity") : nil
    }
}

extension RevocationReason {
    /// The reason of a voided purchase in Apple's numbers, for one in Google's.
    package init(voidedReason: Int) {
        self = [2, 3].contains(voidedReason) ? .refundedDueToIssue : .refundedForOtherReason
    }
}

extension TransactionFacts {
    /// States who has voided a purchase and why, in Google's numbers.
    package mutating func state(voidedBy source: Int?, reason: Int) {
        self[.voidedSource] = .init(source.map { Int64($0) })
        self[.voidedReason] = .integer(Int64(reason))
    }
}

/// A page of voided purchases, the oldest first (`VoidedPurchasesListResponse`).
package struct VoidedGooglePlayPurchases: Sendable {
    /// The maximum size of a page in bytes. It has at most 1000 purchases.
    package static let maximumSize = 1 << 20
    /// The maximum length of the token of a page in bytes.
    private static let maximumPageTokenSize = 4096
    private static let maximumCount = 1000

    package let purchases: [VoidedGooglePlayPurchase]
    /// The number of records in another form, which are left out, so that the others count.
    package let unreadableCount: Int
    /// The token of the next page; nil for the last one.
    package let nextPageToken: String?

    /// - Throws: `ProofRefusal` for bytes that are no such answer.
    package init(_ bytes: [UInt8]) throws(ProofRefusal) {
        let fields = try PayloadFields(json: bytes, upTo: Self.maximumSize).deciding(["voidedPurchases"])
        (purchases, unreadableCount) = try fields.readableObjects("voidedPurchases") { (fields) throws(ProofRefusal) in
            try VoidedGooglePlayPurchase(fields)
        }
        guard purchases.count + unreadableCount <= Self.maximumCount else {
            throw ProofRefusal(
                .payloadInvalid, "The field voidedPurchases must have at most \(Self.maximumCount) purchases.")
        }
        nextPageToken = try fields.object("tokenPagination")?.deciding(["nextPageToken"])
            .text("nextPageToken", upTo: Self.maximumPageTokenSize)
    }
}

/// Members in the forms of Google's JSON.
extension PayloadFields {
    /// A text of at most so many bytes.
    func text(_ name: String, upTo maximumSize: Int) throws(ProofRefusal) -> String? {
        guard let text = try string(name) else { return nil }
        guard text.utf8.count <= maximumSize else {
            throw ProofRefusal(.payloadInvalid, "The field \(name) must have at most \(maximumSize) bytes.")
        }
        return text
    }

    private func visible(_ name: String, upTo maximumSize: Int) throws(ProofRefusal) -> String? {
        guard let text = try text(name, upTo: maximumSize) else { return nil }
        guard text.isVisibleASCII else {
            throw ProofRefusal(.payloadInvalid, "The field \(name) must be visible ASCII characters.")
        }
        return text
    }

    func token(_ name: String) throws(ProofRefusal) -> String? {
        try visible(name, upTo: GooglePlayPurchase.maximumTokenSize)
    }

    func order(_ name: String) throws(ProofRefusal) -> String? {
        try visible(name, upTo: GooglePlayAnswer.maximumOrderSize)
    }

    /// The product of a line item.
    func product() throws(ProofRefusal) -> String {
        guard let product = try deciding(["productId"]).visible("productId", upTo: GooglePlayPurchase.maximumNameSize)
        else { throw ProofRefusal(.payloadInvalid, "A line item needs a productId.") }
        return product
    }

    /// The line items of an answer.
    func lineItems<Item>(
        _ name: String, _ read: (PayloadFields) throws(ProofRefusal) -> Item
    ) throws(ProofRefusal) -> [Item] {
        let items = try objects(name, read) ?? []
        guard items.count <= GooglePlayPurchase.maximumProducts else {
            throw ProofRefusal(
                .payloadInvalid, "The field \(name) must have at most \(GooglePlayPurchase.maximumProducts) items.")
        }
        return items
    }

    /// A moment in RFC 3339, rounded down to milliseconds.
    func dateTime(_ name: String) throws(ProofRefusal) -> Timestamp? {
        guard let text = try string(name) else { return nil }
        if let moment = Timestamp(rfc3339: text) { return moment }
        guard deciding.contains(name) else { return nil }
        throw ProofRefusal(.payloadInvalid, "The field \(name) must be a date-time of RFC 3339.")
    }

    /// An integer of 64 bits, which Google's JSON writes as a string of digits.
    func wholeNumber(_ name: String) throws(ProofRefusal) -> Int64? {
        let number = PayloadFields(object: object, unreadable: unreadable)
        guard let text = try number.string(name) else { return nil }
        if let number = Int64(text) { return number }
        guard deciding.contains(name) else { return nil }
        throw ProofRefusal(.payloadInvalid, "The field \(name) must be a whole number.")
    }

    /// An amount (`google.type.Money`), rounded down to milliunits; nil for another form.
    func money(_ name: String) throws(ProofRefusal) -> Price? {
        guard let money = try object(name), let currency = try money.string("currencyCode"),
            currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else { return nil }
        let (units, nanos) = (try money.wholeNumber("units") ?? 0, try money.wholeNumber("nanos") ?? 0)
        guard (0...1_000_000_000_000).contains(units), (0..<1_000_000_000).contains(nanos) else { return nil }
        return Price(milliunits: units * 1000 + nanos / 1_000_000, currency: currency)
    }

    var isAcknowledged: Bool {
        get throws(ProofRefusal) { try string("acknowledgementState") == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" }
    }

    /// The identifier that the app has given to the customer's account, or to one of its profiles.
    func obfuscated(_ subject: String) throws(ProofRefusal) -> String? {
        let name = "obfuscatedExternal\(subject)Id"
        // Another form would let the purchase go to any user.
        guard let text = try deciding([name]).string(name) else { return nil }
        guard text.utf16.count <= GooglePlayPurchase.maximumObfuscatedLength else {
            throw ProofRefusal(
                .payloadInvalid,
                "The field \(name) must have at most \(GooglePlayPurchase.maximumObfuscatedLength) characters.")
        }
        return text
    }
}
