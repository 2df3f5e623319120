extension CustomerInfo {
    /// The protocol's name of a store.
    package enum Store: String, Sendable, CaseIterable {
        case appStore = "app_store"
        /// A grant by the team.
        case promotional
    }
}
