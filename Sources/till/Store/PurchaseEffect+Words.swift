import AppStore
import Proofs

extension PurchaseEffect {
    /// `USD 4.99`, `already subscribed, renews on …`, or `changes to … on …`.
    var words: String {
        switch self {
        case .charged(let price): price.formatted
        case .alreadySubscribed(let date): "already subscribed until \(date.rfc3339), nothing charged"
        case .changes(let product, let date): "changes to \(product) on \(date.rfc3339), nothing charged"
        }
    }
}
