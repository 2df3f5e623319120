import Proofs

extension Origin {
    /// The SQL condition of a column `origin`.
    ///
    /// The origins that Till knows are listed. Those of another store are told by the form of their texts.
    ///
    /// - Parameters:
    ///   - isSandbox: True for test purchases alone.
    ///   - store: The only store; nil for all stores.
    package static func condition(isSandbox: Bool, of store: PurchaseStore? = nil) -> String {
        let isOther = "origin \(isSandbox ? "NOT LIKE" : "LIKE") '%/Production'"
        if let store {
            return isListed(store)
                ? listed { $0.store == store && $0.isSandbox == isSandbox } : "\(condition(of: store)) AND \(isOther)"
        }
        return "(\(listed { $0.isSandbox == isSandbox }) OR NOT \(listed { _ in true }) AND \(isOther))"
    }

    /// The SQL condition of the purchases of a store.
    package static func condition(of store: PurchaseStore, on column: String = "origin") -> String {
        isListed(store) ? listed(on: column) { $0.store == store } : "\(column) LIKE '\(store.rawValue)/%'"
    }

    /// The SQL condition of a text that `Origin` reads.
    package static var hasForm: String {
        "(\(listed { _ in true }) OR \(["Production", "Sandbox", "Test"].map { "origin LIKE '_%/\($0)'" }.joined(separator: " OR ")))"
    }

    private static func isListed(_ store: PurchaseStore) -> Bool { PurchaseStore.allCases.contains(store) }

    private static func listed(on column: String = "origin", where isPart: (Origin) -> Bool) -> String {
        "\(column) IN \(allCases.filter(isPart).sqlList)"
    }
}
