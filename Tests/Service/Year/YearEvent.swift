import HTTPSupport
import Proofs
import Vocabulary

/// Something that a customer, the App Store or the team does on a day of the year.
///
/// A customer is a user of the service and an account of the store of the same name. A sale is named by its customer and its
/// number among the customer's: `finn.2`.
enum YearEvent: Sendable {
    // The customers.
    case buys(
        _ customer: String, _ product: String, quantity: Int = 1, offer: Payment.OfferChoice? = nil,
        plan: BillingPlanType? = nil)
    case turnsRenewal(_ customer: String, isOn: Bool)
    case consents(_ customer: String)
    case declines(_ customer: String)
    case mendsPayment(_ customer: String)
    case asksForRefund(_ sale: String)
    case shares(_ sale: String, with: String)
    case endsSharing(_ sale: String)
    case joinsFamily(_ customer: String, of: String)
    case leavesFamily(_ customer: String)
    case changesSeats(_ customer: String, to: Int)
    /// The customer's own clock goes ahead, day by day.
    case advances(_ customer: String, days: Int)
    /// Presents the sale of another customer.
    case presents(_ customer: String, _ sale: String)

    // The App Store.
    case charges(Bool, withGracePeriod: Bool = false)
    case sellsIn(_ storefront: String)
    case raisesPrice(_ customer: String, to: Int64, needsConsent: Bool)
    case refunds(_ sale: String)
    case declinesRefund(_ sale: String)
    case reversesRefund(_ sale: String)
    case refundsSeats(_ sale: String, Int)

    // The team.
    case asksForTest
    case extends(_ customer: String, days: Int)
    case extendsAll(_ product: String, days: Int)
    case withdraws(_ product: String)
    case spends(_ customer: String, _ amount: Int)
    case grants(_ customer: String, Item)
    case takesBack(_ sale: String)
    /// Claims a seat of a customer's subscription.
    case claimsSeat(_ customer: String)
    /// Gives back a seat: `claim.2`.
    case unclaimsSeat(_ customer: String, _ claim: String)
}

extension YearEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .buys(let customer, let product, let quantity, let offer, let plan):
            "\(customer) buys \(product)" + (quantity == 1 ? "" : ", \(quantity)")
                + (offer.map { ", with the offer \($0.identifier)" } ?? "")
                + (plan == .monthly ? ", committed to twelve months" : "")
        case .turnsRenewal(let customer, let isOn): "\(customer) turns renewal \(isOn ? "on" : "off")"
        case .consents(let customer): "\(customer) consents to the higher price"
        case .declines(let customer): "\(customer) declines the higher price"
        case .mendsPayment(let customer): "\(customer) mends the payment"
        case .asksForRefund(let sale): "the customer asks for a refund of \(sale)"
        case .shares(let sale, let member): "\(sale) is shared with \(member)"
        case .endsSharing(let sale): "the sharing of \(sale) ends"
        case .joinsFamily(let customer, let other): "\(customer) joins the family of \(other)"
        case .leavesFamily(let customer): "\(customer) leaves the family"
        case .changesSeats(let customer, let total): "\(customer) changes the seats to \(total)"
        case .advances(let customer, let days): "the clock of \(customer) goes \(days) days ahead"
        case .presents(let customer, let sale): "\(customer) presents \(sale)"
        case .charges(let succeeds, let hasGracePeriod):
            succeeds ? "charges succeed" : "charges fail, with\(hasGracePeriod ? "" : "out") a grace period"
        case .sellsIn(let storefront): "the storefront is \(storefront)"
        case .raisesPrice(let customer, let price, let needsConsent):
            "the price for \(customer) rises to \(price), with\(needsConsent ? "" : "out") consent"
        case .refunds(let sale): "\(sale) is refunded"
        case .declinesRefund(let sale): "the refund of \(sale) is declined"
        case .reversesRefund(let sale): "the refund of \(sale) is reversed"
        case .refundsSeats(let sale, let count): "\(count) seats of \(sale) are refunded"
        case .asksForTest: "the team asks for a test"
        case .extends(let customer, let days): "the team extends the period of \(customer) by \(days) days"
        case .extendsAll(let product, let days): "the team extends all periods of \(product) by \(days) days"
        case .withdraws(let product): "the team withdraws \(product)"
        case .spends(let customer, let amount): "\(customer) spends \(amount)"
        case .grants(let customer, let item): "the team grants \(item) to \(customer)"
        case .takesBack(let sale): "the team takes back \(sale)"
        case .claimsSeat(let customer): "the team claims a seat of \(customer)"
        case .unclaimsSeat(let customer, let claim): "the team gives back \(claim) of \(customer)"
        }
    }
}
