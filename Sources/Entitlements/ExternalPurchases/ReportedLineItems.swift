import Ledger
import Proofs
import Vocabulary

/// The line items of a token as its reports state them: of each one the last statement, without those that Apple has refused.
package struct ReportedLineItems: Sendable {
    /// A line item with the state of the report that has stated it last.
    package struct Item: Sendable {
        package let identifier: String
        package let object: JSONObject
        package let state: ExternalPurchaseReport.State

        package var isRefund: Bool { object.text("eventType") == "REFUND" }
        package var isRetracted: Bool { object["erroneouslySubmitted"] == .bool(true) }

        /// An amount in the currency of the report; nil if the report has another form.
        package func amount(_ field: String) -> Price? {
            guard case .number(let number)? = object[field], let milliunits = number.int64,
                let currency = object.text("reportingCurrency")
            else { return nil }
            return Price(milliunits: milliunits, currency: currency)
        }
    }

    /// In the order of their first reports.
    package private(set) var items: [Item] = []

    /// - Parameter reports: The reports about one token, in any order.
    /// - Throws: `BrokenInvariant` for a line item without an identifier.
    package init(_ reports: [ExternalPurchaseReport]) throws(BrokenInvariant) {
        for report in reports.sorted(by: { $0.position < $1.position }) where report.state != .refused {
            for object in report.lineItems {
                guard let identifier = object.text("lineItemId") else {
                    throw BrokenInvariant("a line item has an identifier", report.key.requestIdentifier)
                }
                let item = Item(identifier: identifier, object: object, state: report.state)
                if let known = items.firstIndex(where: { $0.identifier.hasSameBytes(as: identifier) }) {
                    items[known] = item
                } else {
                    items.append(item)
                }
            }
        }
    }

    /// The amounts of a sale that are not refunded; nil for another line item, and for amounts that no currency has.
    package func left(of sale: Item) -> (withoutTax: Price, tax: Price)? {
        guard !sale.isRefund, !sale.isRetracted, let amount = sale.amount("amountTaxExclusive"),
            let tax = sale.amount("taxAmount")
        else { return nil }
        let refunds = items.filter {
            $0.isRefund && !$0.isRetracted
                && $0.object.text("referenceLineItemId")?.hasSameBytes(as: sale.identifier) == true
        }
        func rest(_ total: Price, _ field: String) -> Price? {
            var left = total.milliunits
            for refund in refunds {
                guard let amount = refund.amount(field) else { return nil }
                let (rest, isOverflow) = left.subtractingReportingOverflow(amount.milliunits)
                if isOverflow { return nil }
                left = rest
            }
            return Price(milliunits: left, currency: total.currency)
        }
        guard let withoutTax = rest(amount, "amountTaxExclusive"), let taxLeft = rest(tax, "taxAmount") else {
            return nil
        }
        return (withoutTax, taxLeft)
    }

    /// The line item of a refund ("Reporting refunds"): it names the sale, has its currencies and its country, and the net amount that is left.
    ///
    /// - Parameters:
    ///   - sale: The identifier of the sale.
    ///   - amount: Milliunits without tax.
    ///   - identifier: The identifier of the new line item.
    /// - Throws: `ExternalPurchaseError.invalid` for another line item, or more than is left.
    package func refund(
        of sale: String, _ amount: Int64, tax: Int64, as identifier: String, at moment: Timestamp
    ) throws(ExternalPurchaseError) -> JSONObject {
        guard let sold = items.first(where: { $0.identifier.hasSameBytes(as: sale) }), let left = left(of: sold) else {
            throw .invalid("The token has no sale with this identifier that could be refunded.")
        }
        guard amount >= 0, tax >= 0, amount <= left.withoutTax.milliunits, tax <= left.tax.milliunits,
            case let (inclusive, isOverflow) = amount.addingReportingOverflow(tax), !isOverflow, inclusive > 0
        else {
            throw .invalid(
                "A refund is of more than 0, and at most of \(left.withoutTax.formatted) and \(left.tax.formatted) of tax."
            )
        }
        var item: JSONObject = [
            "lineItemId": .string(identifier), "creationDate": .integer(moment.millisecondsSince1970),
            "eventType": "REFUND", "referenceLineItemId": .string(sold.identifier),
            "amountTaxExclusive": .integer(amount), "amountTaxInclusive": .integer(inclusive),
            "netAmountTaxExclusive": .integer(left.withoutTax.milliunits - amount), "taxAmount": .integer(tax),
        ]
        for field in ["pricingCurrency", "reportingCurrency", "exchangeRate", "taxCountry"] {
            if let value = sold.object[field] { _ = item.add(field, value) }
        }
        guard let checked = try LineItemField.lineItems(in: .array([.object(item)]), of: .lineItem).first else {
            throw .invalid("The sale has no amounts.")
        }
        return checked
    }
}
