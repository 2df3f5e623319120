import Proofs

extension ProductType {
    /// The name of the type in `.storekit` files and definitions.
    package var configurationName: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "NonConsumable"
        case .nonRenewingSubscription: "NonRenewingSubscription"
        case .autoRenewableSubscription: "RecurringSubscription"
        }
    }
}
