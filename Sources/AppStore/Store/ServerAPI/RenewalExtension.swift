import Proofs

/// An extension of renewal dates that a developer requests (App Store Server API, "Extend a Subscription Renewal
/// Date").
package struct RenewalExtension: Hashable, Sendable {
    package let days: Int
    package let requestIdentifier: String

    /// - Throws: `ServerAPIError` for the first value that is missing or out of range.
    package init(days: Int?, reasonCode: Int?, requestIdentifier: String?) throws(ServerAPIError) {
        guard let days, (1...90).contains(days) else { throw .invalidExtendByDays }
        guard let reasonCode, (0...3).contains(reasonCode) else { throw .invalidExtendReasonCode }
        guard let requestIdentifier, (1...128).contains(requestIdentifier.utf8.count) else {
            throw .invalidRequestIdentifier
        }
        self.days = days
        self.requestIdentifier = requestIdentifier
    }

    /// Extends a subscription, if it is eligible.
    package func extend(
        _ subscription: inout CustomerSubscription,
        at now: Timestamp
    ) throws(ServerAPIError) -> [SubscriptionEffect] {
        do { return try subscription.extendRenewalDate(byDays: days, at: now) + [.notify(.renewalExtended, nil)] } catch
        {
            switch error {
            case .maximumReached: throw .subscriptionMaxExtension
            case .ineligible: throw .subscriptionExtensionIneligible
            }
        }
    }

    /// True if an extension for all subscribers of a product includes this subscription.
    ///
    /// - Parameters:
    ///   - latest: Its latest transaction.
    /// - countries: The storefronts; empty for all.
    package static func includes(
        _ subscription: CustomerSubscription,
        latest: Transaction,
        of productIdentifier: String,
        in countries: [String]
    ) -> Bool {
        subscription.productIdentifier == productIdentifier && subscription.isEntitled
            && (countries.isEmpty || countries.contains(latest.storefrontCountryCode))
    }
}
