import Foundation

/// A rule of a file of rules.
protocol NamedRule: Sendable {
    var name: String { get }

    init(_ entry: CatalogReader) throws(CatalogError)
}

extension NamedRule {
    /// True without a condition, or if it holds. A condition about an unknown fact does not hold.
    func holds<Condition, Fact>(_ condition: Condition?, _ fact: Fact?, _ test: (Condition, Fact) -> Bool) -> Bool {
        guard let condition else { return true }
        return fact.map { test(condition, $0) } ?? false
    }
}

/// A file of rules in the folder of a catalog: `rules`, each with a name of its own, and `dryRun`.
struct RuleFile<Rule: NamedRule>: Sendable {
    let isDryRun: Bool
    let rules: [Rule]
    /// The entries of the rules, for errors about their products.
    let entries: [CatalogReader]

    /// - Returns: Nil if the folder does not have the file.
    init?(_ name: String, in folder: URL) throws(CatalogError) {
        guard let file = try CatalogReader(optional: name, in: folder, upTo: 256 * 1024) else { return nil }
        try file.check(keys: ["dryRun", "rules"])
        isDryRun = try file.optional("dryRun")?.bool() ?? false
        entries = try file.required("rules").elements(upTo: 200)
        rules = try entries.unique { entry throws(CatalogError) in
            let rule = try Rule(entry)
            return (rule, rule.name)
        }
    }
}
