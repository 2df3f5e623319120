import Proofs

extension [ListedCustomer] {
    /// The list as CSV (RFC 4180), with a row for each customer and currency. Amounts are in units of the currency.
    package var csv: String {
        let header = "name,issuer,first_seen_at,state,last_purchase_at,currency,spent\r\n"
        return header
            + flatMap { customer in
                let sums: [Price?] = customer.spent.isEmpty ? [nil] : customer.spent
                return sums.map { sum in
                    let cells: [ExportValue] = [
                        .text(customer.known.user.name), .text(customer.known.user.issuer),
                        .date(customer.known.firstSeenAt), .text(customer.state?.rawValue),
                        .date(customer.lastPurchase), .text(sum?.currency), .amount(sum?.milliunits),
                    ]
                    return cells.map(ExportText.cell).joined(separator: ",") + "\r\n"
                }
            }.joined()
    }
}
