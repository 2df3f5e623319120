import Proofs

/// Something that a customer, the App Store or the team does on a day of the year.
///
/// A customer is a user of the service and an account of the store of the same name. A sale is named by its customer and its
/// number among the customer's: `finn.2`.
enum YearEvent: Sendable {
    // The customers.
    case buys(_ customer: String, _ product: String, quantity: Int = 1, offer: Payment.OfferChoice? = nil)
    case turnsRenewal(_ customer: String, isOn: Bool)
    case consents(_ customer: String)
    case declines(_ customer: String)
    case mendsPayment(_ customer: String)
    case asksForRefund(_ sale: String)
    case shares(_ sale: String, with: String)
    case endsSharing(_ sale: String)
    /// Presents the sale of another customer.
    case presents(_ customer: String, _ sale: String)

    // The App Store.
    case charges(Bool, withGracePeriod: Bool = false)
    case sellsIn(_ storefront: String)
    case raisesPrice(_ customer: String, to: Int64, needsConsent: Bool)
    case refunds(_ sale: String)
    case declinesRefund(_ sale: String)
    case reversesRefund(_ sale: String)

    // The team.
    case asksForTest
    case extends(_ customer: String, days: Int)
    case extendsAll(_ product: String, days: Int)
    case withdraws(_ product: String)
    case spends(_ customer: String, _ amount: Int)
    case grants(_ customer: String, Item)
    case takesBack(_ sale: String)
}
