import Ledger

extension LedgerFeature {
    /// The purchases of users, what users own by them, and what back ends give and take back.
    package static let entitlements = LedgerFeature(tables: Table.purchases + Table.team, rules: EntitlementRules.all)
}
