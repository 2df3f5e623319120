import Proofs

extension Origin {
    /// The SQL condition of a column `origin`.
    ///
    /// The origins that Till knows are listed. Those of another store are told by their numbers (`Origin.number`).
    ///
    /// - Parameters:
    ///   - isSandbox: True for test purchases alone.
    ///   - store: The only store; nil for all stores.
    package static func condition(isSandbox: Bool, of store: PurchaseStore? = nil) -> String {
        if let store { return "origin IN \(origins(of: store).filter { $0.isSandbox == isSandbox }.sqlList)" }
        return "(\(listed { $0.isSandbox == isSandbox }) OR origin < 0 AND (origin & 3) \(isSandbox ? "<>" : "=") 0)"
    }

    /// The SQL condition of the purchases of a store.
    package static func condition(of store: PurchaseStore, on column: String = "origin") -> String {
        "\(column) IN \(origins(of: store).sqlList)"
    }

    /// The SQL condition of a number that `Origin` reads.
    package static var hasForm: String { "(\(listed { _ in true }) OR origin < 0 AND (origin & 3) < 3)" }

    private static func origins(of store: PurchaseStore) -> [Origin] {
        let known = allCases.filter { $0.store == store }
        return known.isEmpty
            ? ["Production", "Sandbox", "Test"].compactMap { Origin(rawValue: "\(store.rawValue)/\($0)") } : known
    }

    private static func listed(where isPart: (Origin) -> Bool) -> String {
        "origin IN \(allCases.filter(isPart).sqlList)"
    }
}
