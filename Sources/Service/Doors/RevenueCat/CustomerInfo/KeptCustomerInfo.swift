import Catalog
import Features
import HTTPSupport
import Proofs
import Synchronization

/// Customer info, kept in memory while neither a write, a catalog nor time has changed it.
package final class KeptCustomerInfo: Sendable {
    /// The bytes of the answer about a transaction, about.
    private static let bytesOfTransaction = 500

    private let answers = UserAnswers<AttributedAnswer<RenderedCustomerInfo>>(upTo: 32 << 20) {
        $0.answer.size + $0.attributesSize
    }

    package init() {}

    /// Returns the customer info of a customer, and the customer's time.
    ///
    /// - Parameters:
    ///   - entitlements: The service, as far as the caller sees it.
    ///   - usesKept: False to make the info anew, after a write for the customer.
    ///   - rights: Returns the rights of the apps that the caller sees.
    package func info(
        about customer: CustomerIdentifier,
        by entitlements: EntitlementService,
        usesKept: Bool = true,
        _ rights: () -> [RightSources]
    ) async throws -> (info: RenderedCustomerInfo, moment: Timestamp) {
        let user = customer.user
        if usesKept, let (info, moment) = try await entitlements.answer(about: user, keptIn: answers) {
            return (info, moment)
        }
        let (known, moment) = try await entitlements.attributedHistory(of: user)
        let facts = CustomerInfoFacts(known, about: customer, at: moment, rights(), entitlements.apps)
        let (info, changesAt) = try await BlockingWork.process(facts.transactions.count * Self.bytesOfTransaction) {
            let info = CustomerInfo(facts)
            return (RenderedCustomerInfo(info), info.changesAt)
        }
        if usesKept, let known {
            entitlements.keep(info, madeFrom: known, at: moment, changingAt: changesAt, about: user, in: answers)
        }
        return (info, moment)
    }
}

extension CustomerInfoFacts {
    /// - Parameter known: Nil for a customer whom the ledger does not know.
    fileprivate init(
        _ known: AttributedHistory?,
        about customer: CustomerIdentifier,
        at moment: Timestamp,
        _ rights: [RightSources],
        _ apps: Apps
    ) {
        let identifier = known.flatMap { CustomerIdentifier($0.history.user)?.text } ?? customer.text
        self.init(identifier: identifier, requestDate: moment, firstSeen: known?.history.firstSeenAt ?? moment)
        self.rights = rights
        guard let known else { return }
        let history = known.history
        transactions = history.transactions
        renewals = history.renewals
        renewalEvents = history.renewalEvents
        grants = history.grants
        for product in Set(transactions.map { ByteKey($0.productIdentifier) }) {
            products[product] = apps.product(product.text).map {
                (type: $0.type, displayName: $0.localizations.first?.displayName)
            }
        }
        // Anybody with the app can ask for a known customer's id. Addresses and the like are for the team.
        attributes = known.attributes.filter { !$0.isPersonal }
    }
}

/// The rights of apps, which are the same until a catalog changes.
package final class KeptRights: Sendable {
    private let kept = Mutex<(revisions: [Int64], rights: [ByteKey?: [RightSources]])>(([], [:]))

    package init() {}

    /// The rights of the apps that a caller sees, each with all products that give it, directly or through their items.
    package func rights(of entitlements: EntitlementService) -> [RightSources] {
        let (revisions, app) = (entitlements.apps.revisions, entitlements.limitingApp)
        let key = app.map { ByteKey($0) }
        if let known = kept.withLock({ $0.revisions == revisions ? $0.rights[key] : nil }) { return known }
        let catalogs = entitlements.catalogs
        let rights = catalogs.rights(in: app).map { right in
            let direct = right.products.map(\.text)
            let indirect = right.items.flatMap { catalogs.products(granting: $0, in: app) }
            return RightSources(name: right.name, products: direct + indirect, items: Array(right.items))
        }
        kept.withLock { kept in
            if kept.revisions != revisions { kept = (revisions, [:]) }
            kept.rights[key] = rights
        }
        return rights
    }
}
