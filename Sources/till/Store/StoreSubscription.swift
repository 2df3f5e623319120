import AppStore
import ArgumentParser
import HTTPSupport
import Service

/// `till store subscription`
struct StoreSubscription: Command {
    /// An event of a subscription.
    enum Event: String, CaseIterable, ExpressibleByArgument {
        case renew
        case expire
        case cancel
        case resume
        case resolveBilling = "resolve-billing"
        case raisePrice = "raise-price"
        case consent
        case refuse
    }

    static let configuration = CommandConfiguration(
        commandName: "subscription", abstract: "Apply an event to a subscription.",
        discussion: """
            renew and expire take effect at once. cancel and resume are decisions of the customer. resolve-billing ends a billing \
            issue. raise-price announces a higher price; consent and refuse are the customer's answers.

            Examples:
              till store subscription cancel 2000000123456789
              till store subscription raise-price 2000000123456789 --price 5990
            """)

    @Argument(help: "renew, expire, cancel, resume, resolve-billing, raise-price, consent or refuse.")
    var event: Event

    @Argument(help: ArgumentHelp("The identifier of any transaction of the subscription.", valueName: "transaction"))
    var transactionIdentifier: String

    @Option(help: ArgumentHelp("The higher price, in thousandths of the currency.", valueName: "milliunits"))
    var price: Int64?

    @Flag(help: "The higher price needs no consent.")
    var withoutConsent = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (price != nil) == (event == .raisePrice) else {
            throw ValidationError("raise-price needs --price. Leave --price out for other events.")
        }
        guard price.map({ $0 >= 0 }) ?? true else { throw ValidationError("--price must be 0 or more.") }
    }

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        switch event {
        case .renew: try store.forceRenewal(of: transactionIdentifier)
        case .expire: try store.expire(transactionIdentifier)
        case .cancel: try store.setAutoRenew(false, of: transactionIdentifier)
        case .resume: try store.setAutoRenew(true, of: transactionIdentifier)
        case .resolveBilling: try store.resolveBillingIssue(of: transactionIdentifier)
        case .raisePrice:
            try store.requestPriceIncrease(
                of: transactionIdentifier, to: price ?? 0, needsConsent: !withoutConsent)
        case .consent: try store.consentToPriceIncrease(of: transactionIdentifier)
        case .refuse: try store.declinePriceIncrease(of: transactionIdentifier)
        }
        let sale = try store.sale(transactionIdentifier)
        let latest = try store.history(of: sale.account).last {
            $0.originalTransactionIdentifier == sale.originalTransactionIdentifier
        }
        terminal.line(
            "\(sale.originalTransactionIdentifier)  \(latest?.productIdentifier ?? sale.productIdentifier) until "
                + (latest?.expiresDate?.rfc3339 ?? "-"))
        try terminal.json(SaleResource(latest ?? sale))
    }
}
