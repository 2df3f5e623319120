import Catalog
import Features
import HTTPSupport
import Hummingbird
import Proofs

/// Reads customers for the answers with customer info.
struct RevenueCatCustomers: Sendable {
    let services: DoorServices
    /// The bytes of the answer about a transaction, about.
    private static let bytesOfTransaction = 500

    /// Returns customer info. A customer whom the ledger does not know is answered as new, and not written down: strangers could
    /// fill the ledger.
    ///
    /// - Parameter status: 201 for a customer whom this request has created.
    func answer(
        about customer: CustomerIdentifier,
        _ request: Request,
        status: HTTPResponse.Status = .ok,
        attributeErrors: [AttributeFailure] = []
    ) async throws -> Response {
        let moment = services.clock.now()
        let facts = try await facts(about: customer, at: moment)
        return try await BlockingWork.process(facts.transactions.count * Self.bytesOfTransaction) {
            let info = CustomerInfo(facts)
            return RevenueCatAnswer.response(
                info.json(attributeErrors: attributeErrors), covering: info.contentForEntityTag, for: request,
                at: moment, status: status)
        }
    }

    /// The transactions that a customer has redeemed.
    func transactions(of customer: CustomerIdentifier) async throws -> [RedeemedTransaction] {
        try await services.entitlements.history(of: customer.user)?.transactions ?? []
    }

    private func facts(about customer: CustomerIdentifier, at moment: Timestamp) async throws -> CustomerInfoFacts {
        let history = try await services.entitlements.history(of: customer.user)
        let identifier = history.flatMap { CustomerIdentifier($0.user)?.text } ?? customer.text
        var facts = CustomerInfoFacts(
            identifier: identifier, requestDate: moment, firstSeen: history?.firstSeenAt ?? moment)
        facts.rights = rights
        guard let history else { return facts }
        facts.transactions = history.transactions
        facts.renewals = history.renewals
        facts.renewalEvents = history.renewalEvents
        facts.grants = history.grants
        for product in Set(history.transactions.map { ByteKey($0.productIdentifier) }) {
            facts.products[product] = services.entitlements.apps.product(product.text).map {
                CustomerProduct(type: $0.type, displayName: $0.localizations.first?.displayName)
            }
        }
        // Anybody with the app can ask for a known customer's id. Addresses and the like are for the team.
        facts.attributes = try await services.attributes.attributes(of: customer.user).filter { !$0.isPersonal }
            .map { CustomerAttribute(name: $0.name, value: $0.value, updatedAt: $0.statedAt) }
        return facts
    }

    /// The rights of the caller's apps, each with all products that give it.
    var rights: [CustomerRight] {
        let (catalogs, app) = (services.entitlements.catalogs, services.entitlements.limitingApp)
        return catalogs.rights(in: app).map { right in
            let direct = right.products.map(\.text)
            let indirect = right.items.flatMap { catalogs.products(granting: $0, in: app) }
            return CustomerRight(
                identifier: right.name,
                productIdentifiers: Set((direct + indirect).map { ByteKey($0) }).sorted().map(\.text),
                items: right.items.sorted())
        }
    }
}
