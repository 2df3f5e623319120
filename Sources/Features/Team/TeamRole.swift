/// The role of a team member in the console.
package enum TeamRole: String, Sendable, CaseIterable {
    /// Sees customers, figures, products and messages, and changes nothing.
    case viewer
    /// Helps customers: gives items, revokes purchases, adds to balances, assigns purchases.
    case support
    /// Creates, edits and withdraws products.
    case catalog
    /// May do everything.
    case admin

    package var permissions: Set<TeamPermission> {
        switch self {
        case .viewer: [.view]
        case .support: [.view, .support, .store]
        case .catalog: [.view, .catalog, .store]
        case .admin: Set(TeamPermission.allCases)
        }
    }
}
