import Ledger

extension LedgerFeature {
    /// The purchases of users, their items, and the grants and revocations of back ends.
    package static let entitlements = LedgerFeature(tables: Table.purchases + Table.team, rules: EntitlementRules.all)
}
