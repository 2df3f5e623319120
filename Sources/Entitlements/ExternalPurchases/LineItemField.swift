import Proofs
import Vocabulary

/// A field of a line item, with its form (External Purchase Server API, "Line item fields"). Apple checks what it means, and its answer is
/// kept with the report.
package struct LineItemField: Sendable {
    /// The longest text of a line item, in bytes (`lineItemId`).
    package static let maximumTextLength = 128
    /// The largest number of line items in a report, and the largest text of them in bytes, in which they have room.
    package static let maximumCount = 100
    package static let maximumSize = 256 * 1024

    package enum Form: Sendable {
        case text
        case one([String])
        case integer
        case number
        case flag
    }

    package let name: String
    package let form: Form
    package let isRequired: Bool
    package let note: String

    private init(_ name: String, _ form: Form, isRequired: Bool = false, _ note: String) {
        (self.name, self.form, self.isRequired, self.note) = (name, form, isRequired, note)
    }

    /// In the order of the report.
    package static let all = [
        LineItemField(
            "lineItemId", .text, isRequired: true, "The identifier of the line item, which the back end makes."),
        LineItemField("creationDate", .integer, isRequired: true, "When the customer authorized it, in milliseconds."),
        LineItemField("eventType", .one(["BUY", "REFUND"]), isRequired: true, "A purchase, or a refund."),
        LineItemField("referenceLineItemId", .text, "The purchase that is refunded, or the subscription's start."),
        LineItemField("restatement", .flag, "True for a correction of an accepted line item."),
        LineItemField("erroneouslySubmitted", .flag, "True to retract a line item; with `restatement`."),
        LineItemField("productIdentifier", .text, "The product; not of a refund."),
        LineItemField("productType", .one(["ONE_TIME_BUY", "SUBSCRIPTION"]), "Its type; not of a refund."),
        LineItemField("quantity", .integer, "The number of units; not of a refund."),
        LineItemField("pricingCurrency", .text, isRequired: true, "ISO 4217, in which the customer was charged."),
        LineItemField("reportingCurrency", .text, isRequired: true, "ISO 4217, of the amounts."),
        LineItemField("exchangeRate", .number, "The rate between both, if Apple does not support the first."),
        LineItemField("amountTaxExclusive", .integer, isRequired: true, "Milliunits without tax."),
        LineItemField("amountTaxInclusive", .integer, isRequired: true, "Milliunits with tax."),
        LineItemField(
            "netAmountTaxExclusive", .integer, isRequired: true, "Milliunits without tax, after all refunds."),
        LineItemField("taxAmount", .integer, isRequired: true, "Milliunits of tax."),
        LineItemField("taxCountry", .text, isRequired: true, "The country of the tax in three letters (ISO 3166-1)."),
        LineItemField(
            "subscriptionEvent",
            .one(["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"]),
            "The event of a subscription."),
        LineItemField("subscriptionStartDate", .integer, "The beginning of its period, in milliseconds."),
        LineItemField("subscriptionEndDate", .integer, "The end of its period, in milliseconds."),
        LineItemField("subscriptionDaysOfPaidService", .integer, "All days that were paid before."),
    ]

    /// The value in the report; nil for one of another form.
    private func checked(_ value: JSONValue) -> JSONValue? {
        switch (form, value) {
        case (.text, .string(let text)):
            (1...Self.maximumTextLength).contains(text.utf8.count) && !text.hasNUL ? value : nil
        case (.one(let values), .string(let text)): values.contains { $0.hasSameBytes(as: text) } ? value : nil
        case (.integer, .number(let number)): number.int64.map { .integer($0) }
        case (.number, .number), (.flag, .bool): value
        default: nil
        }
    }

    private var expected: String {
        switch form {
        case .text: "a string of 1 to \(Self.maximumTextLength) bytes, without NUL"
        case .one(let values): values.joined(separator: ", ")
        case .integer: "an integer"
        case .number: "a number"
        case .flag: "true or false"
        }
    }
    /// The line items of a report. The members always have the same order, so that equal reports have equal content.
    ///
    /// - Throws: `ExternalPurchaseError.invalid`.
    package static func lineItems(
        in value: JSONValue?, of status: ExternalPurchaseReport.Status
    ) throws(ExternalPurchaseError) -> [JSONObject] {
        guard case .array(let elements) = value ?? .array([]) else {
            throw .invalid("The field /lineItems must be an array of objects.")
        }
        let counts = status == .lineItem ? 1...maximumCount : 0...0
        guard counts.contains(elements.count) else {
            throw .invalid(
                "A report of the status \(status.rawValue) has \(counts.lowerBound) to \(counts.upperBound) lineItems.")
        }
        var items: [JSONObject] = []
        for (index, element) in elements.enumerated() {
            guard case .object(let object) = element else {
                throw .invalid("The field /lineItems/\(index) must be an object.")
            }
            items.append(try lineItem(object, at: "/lineItems/\(index)"))
        }
        return items
    }

    private static func lineItem(_ object: JSONObject, at path: String) throws(ExternalPurchaseError) -> JSONObject {
        if let unknown = object.keys.first(where: { key in !all.contains { $0.name.hasSameBytes(as: key) } }) {
            throw .invalid("The field \(path)/\(unknown.prefix(64)) is unknown.")
        }
        var item = JSONObject()
        for field in all {
            guard let value = object[field.name] else {
                guard !field.isRequired else {
                    throw .invalid("The field \(path)/\(field.name) is missing: it must be \(field.expected).")
                }
                continue
            }
            guard let checked = field.checked(value) else {
                throw .invalid("The field \(path)/\(field.name) must be \(field.expected).")
            }
            _ = item.add(field.name, checked)
        }
        guard item.moment("creationDate") != nil else {
            throw .invalid("The field \(path)/creationDate must be a date in milliseconds since 1970.")
        }
        return item
    }
}
