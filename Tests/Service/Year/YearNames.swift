import AppStore

/// Short names of what has a random identifier, so that a year reads as it was written.
struct YearNames {
    private var names: [String: String] = [:]

    /// - Parameter customers: Those whose sales get names.
    mutating func add(_ store: Store, of customers: [String]) throws {
        for customer in customers {
            for (index, sale) in try store.history(of: customer).enumerated() {
                names[sale.transactionIdentifier] = "\(customer).\(index + 1)"
            }
        }
    }

    mutating func add(_ identifier: String, as name: String) {
        names[identifier] = name
    }

    /// A text with the names for the identifiers in it, without `garden.`, and with short dates.
    func shortened(_ text: String) -> String {
        var text = text
        for (identifier, name) in names { text = text.replacing(identifier, with: name) }
        return text.replacing("garden.", with: "").replacing("2027-", with: "").replacing("T12:00:00Z", with: "")
    }
}
