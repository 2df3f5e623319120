import Features
import HTTPSupport
import Ledger
import Proofs

/// Validates a proof: redeems it, and answers with the purchases of its customer.
struct CordovaValidation: Sendable {
    let services: DoorServices
    let newcomers: NewcomerAllowance?

    private var entitlements: EntitlementService { services.entitlements }

    /// - Throws: `RedemptionError` for a refused proof; `Problem` for an invalid request.
    func answer(to request: CordovaRequest, from caller: Caller) async throws -> CordovaAnswer {
        guard let app = caller.app else { throw Problem.unexpected }
        let named = try request.username.map { try services.customer($0).user }
        let redemption = DoorRedemption(services: services, newcomers: newcomers)
        let verified = try await redemption.verify(request.proof, for: named, by: caller)
        let purchases = verified.purchases ?? []
        let customer = try await CordovaCustomers(services: services).customer(
            named, of: request, verified, app: app, by: caller)
        var types: [ByteKey: ProductType] = [:]
        if let customer, !purchases.isEmpty {
            let lines = try await redemption.lines(of: request.proof, verified, for: customer, by: caller)
            types = redemption.types(of: lines, purchases)
            if let refusal = CordovaOutcome(lines: lines, types: types).refusal { throw refusal }
        }
        let moment = services.clock.now()
        var facts = PurchaseCollection.Facts(moment: moment)
        facts.presented = Set(purchases.map { ByteKey($0.transactionIdentifier) })
        if let customer, let history = try await entitlements.history(of: customer) {
            let showsAll = named != nil || history.user.isProofCustomer
            let originals = Set(purchases.map { ByteKey($0.originalTransactionIdentifier) })
            facts.renewals = history.renewals
            facts.transactions = history.transactions.filter { transaction in
                guard transaction.app?.hasSameBytes(as: app) ?? false else { return false }
                // The customer has logged out of the app: the proof does not show the other purchases.
                return showsAll || originals.contains(ByteKey(transaction.originalTransactionIdentifier))
            }
            facts.types = self.types(of: facts.transactions.map(\.productIdentifier))
        }
        return CordovaAnswer(
            to: request, app: app, content: verified.content, collection: PurchaseCollection(facts),
            productsWithoutIntroductoryOffer: productsWithoutIntroductoryOffer(facts.transactions, app), date: moment)
    }

    private func types(of products: [String]) -> [ByteKey: ProductType] {
        var types: [ByteKey: ProductType] = [:]
        for product in Set(products.map { ByteKey($0) }) { types[product] = entitlements.apps.type(of: product.text) }
        return types
    }

    /// The subscriptions of the app's catalog in the groups of which the customer has used an introductory offer.
    private func productsWithoutIntroductoryOffer(_ transactions: [RedeemedTransaction], _ app: String) -> [String] {
        guard let catalog = entitlements.catalogs[app] else { return [] }
        var groups: [ByteKey: String] = [:]
        for product in catalog.products {
            groups[ByteKey(product.productIdentifier)] = product.subscription?.groupIdentifier
        }
        let eligibility = IntroEligibility(groups.keys.map(\.text), of: transactions, groups: groups)
        return eligibility.products.filter { $0.value == false }.keys.sorted().map(\.text)
    }
}
