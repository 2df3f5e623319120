import Catalog
import Ledger
import Proofs

extension LedgerTransaction {
    /// The facts that a message in RevenueCat's format depends on.
    func revenueCatFacts(
        of delivery: WebhookDelivery,
        _ catalogs: Catalogs,
        at moment: Timestamp
    ) throws -> RevenueCatFacts {
        let entry = delivery.entry
        let user = User(issuer: delivery.issuer, name: delivery.name)
        let identifiers = try user.map { try self.identifiers(of: $0) }
        var facts = RevenueCatFacts(
            entry, messageIdentifier: delivery.messageIdentifier, customer: identifiers?.listed ?? [delivery.name])
        facts.hasMoreIdentifiers = identifiers?.hasMore ?? false
        switch entry.event {
        case .itemGiven, .itemTakenBack:
            facts.grant = try user.flatMap { try grant(entry.reference, of: $0) }
            facts.rights = catalogs.rights().filter { right in
                right.items.contains { $0.description.hasSameBytes(as: entry.subject) }
            }.map(\.name)
        default:
            let purchase = try purchase(of: entry, by: user, catalogs, at: moment)
            facts.transactions = purchase?.transactions.sorted { $0.isEarlier(than: $1) } ?? []
            if let owner = try purchase?.owner.map({ try self.identifiers(of: $0) }) {
                facts.owner = owner.listed
                facts.hasMoreIdentifiers = facts.hasMoreIdentifiers || owner.hasMore
            }
            facts.revocation = try WebhookRecords(database: database).revocation(before: delivery)
            facts.type = catalogs.type(of: entry.subject)
            facts.rights = catalogs.rights(givenBy: entry.subject, in: purchase?.app)
        }
        return facts
    }

    /// The first ids of a customer, the present one first.
    private func identifiers(of user: User) throws -> (listed: [String], hasMore: Bool) {
        let limit = RevenueCatFacts.maximumIdentifiers
        let users = [user] + (try aliases(of: user, limit: limit))
        return (users.prefix(limit).map { CustomerIdentifier($0)?.text ?? $0.name }, users.count > limit)
    }

    /// The purchase of an entry. Several apps may use its identifier; the user's own purchase is preferred.
    private func purchase(
        of entry: AuditEntry,
        by user: User?,
        _ catalogs: Catalogs,
        at moment: Timestamp
    ) throws -> KnownPurchase? {
        let found = try purchases(ofTransaction: entry.reference, in: entry.app, at: moment) { catalogs.type(of: $0) }
            .filter { purchase in
                purchase.status.origin == entry.origin
                    && purchase.transactions.contains { $0.productIdentifier.hasSameBytes(as: entry.subject) }
            }
        return found.first { $0.owner == user } ?? found.first
    }
}

extension Catalogs {
    /// The rights that a product gives, directly or by its item.
    ///
    /// - Parameter app: The bundle identifier of the app that sold it; nil for all apps.
    fileprivate func rights(givenBy product: String, in app: String?) -> [String] {
        let item = (app.flatMap { self[$0] } ?? all.first { $0.product(product) != nil })?.benefit(of: product)?.item
        return rights(in: app).filter { right in
            right.products.contains(ByteKey(product)) || item.map { right.items.contains($0) } ?? false
        }.map(\.name)
    }
}
