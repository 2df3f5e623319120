import Features
import Proofs

/// The answer of `POST /v1/subscribers/{user}/intro_eligibility`.
///
/// A customer gets one introductory offer in each subscription group.
package struct IntroEligibility: Hashable, Sendable {
    /// The eligibility for each product; nil for a product that is no subscription of the catalog.
    package let products: [ByteKey: Bool?]

    /// - Parameter groups: The subscription group of each subscription of the catalog.
    package init(
        _ products: [String],
        of transactions: [RedeemedTransaction],
        groups: [ByteKey: String]
    ) {
        let used = transactions.filter { transaction in
            let terms = PurchasePeriod.Terms(transaction.facts)
            return terms.isTrial || terms.isIntroductory
        }
        let usedGroups = Set(
            used.compactMap { transaction in
                (transaction.facts.text(.subscriptionGroupIdentifier) ?? groups[ByteKey(transaction.productIdentifier)])
                    .map { ByteKey($0) }
            })
        var eligibility: [ByteKey: Bool?] = [:]
        for product in products {
            let group = groups[ByteKey(product)]
            eligibility[ByteKey(product)] = .some(group.map { !usedGroups.contains(ByteKey($0)) })
        }
        self.products = eligibility
    }

    package var json: JSONValue { .members(products) { $0.map { .bool($0) } ?? .null } }
}
