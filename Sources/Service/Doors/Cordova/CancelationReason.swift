/// The reason for the end of a purchase, by the plugin's name (`CancelationReason`).
package enum CancelationReason: String, CaseIterable, Sendable {
    /// The team has revoked the purchase.
    case developer = "Developer"
    /// The App Store has ended the family sharing.
    case system = "System"
    case systemReplaced = "System.Replaced"
    case systemProductUnavailable = "System.ProductUnavailable"
    case systemBillingError = "System.BillingError"
    case customer = "Customer"
    case customerTechnicalIssues = "Customer.TechnicalIssues"
    case customerPriceIncrease = "Customer.PriceIncrease"
    case customerOtherReason = "Customer.OtherReason"
    case unknown = "Unknown"
}
