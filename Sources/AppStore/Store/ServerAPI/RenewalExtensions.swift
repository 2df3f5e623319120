import GRDB
import HTTPSupport
import Proofs

package struct ExtendRenewalDateRequest: Decodable, Sendable {
    let extendByDays: Int?
    let extendReasonCode: Int?
    let requestIdentifier: String?
}

package struct ExtendRenewalDateResponse: Encodable, Sendable {
    package let originalTransactionId: String
    package let webOrderLineItemId: String?
    package let success: Bool
    let effectiveDate: Timestamp
}

package struct MassExtendRenewalDateRequest: Decodable, Sendable {
    let extendByDays: Int?
    let extendReasonCode: Int?
    let requestIdentifier: String?
    let productId: String?
    let storefrontCountryCodes: [String]?
}

struct MassExtendRenewalDateStatusResponse: Codable, Sendable {
    let requestIdentifier: String
    let complete: Bool
    let completeDate: Timestamp
    let succeededCount: Int
    let failedCount: Int
}

extension Books {
    /// `PUT /inApps/v1/subscriptions/extend/{originalTransactionId}`
    package func extendSubscriptionRenewalDate(
        _ originalTransactionId: String,
        _ request: ExtendRenewalDateRequest
    ) throws -> ExtendRenewalDateResponse {
        let renewalExtension = try RenewalExtension(
            days: request.extendByDays, reasonCode: request.extendReasonCode,
            requestIdentifier: request.requestIdentifier)
        guard Self.isIdentifier(originalTransactionId) else { throw ServerAPIError.invalidOriginalTransactionId }
        guard let transaction = try transactions.transaction(originalTransactionId),
            transaction.originalTransactionIdentifier == originalTransactionId
        else { throw ServerAPIError.originalTransactionIdNotFound }
        guard transaction.ownership == .purchased else {
            throw ServerAPIError.familySharedSubscriptionExtensionIneligible
        }
        guard var subscription = try subscriptionOrNone(of: transaction) else {
            throw ServerAPIError.subscriptionExtensionIneligible
        }
        let effects = try subscription.extendRenewalDate(
            byDays: renewalExtension.days, at: try now(of: subscription.account))
        try record(subscription, effects)
        return ExtendRenewalDateResponse(
            originalTransactionId: originalTransactionId,
            webOrderLineItemId: try transactions.latest(original: originalTransactionId)?.webOrderLineItemIdentifier,
            success: true, effectiveDate: subscription.expiresDate)
    }

    /// `POST /inApps/v1/subscriptions/extend/mass`. This store extends the dates at once, and only once for a request identifier.
    ///
    /// - Returns: The request identifier.
    package func extendRenewalDateForAllActiveSubscribers(_ request: MassExtendRenewalDateRequest) throws -> String {
        let renewalExtension = try RenewalExtension(
            days: request.extendByDays, reasonCode: request.extendReasonCode,
            requestIdentifier: request.requestIdentifier)
        let requestIdentifier = try renewalExtension.requestIdentifier.uuid(orThrow: .invalidRequestIdentifier)
        let countries = request.storefrontCountryCodes ?? []
        if request.storefrontCountryCodes?.isEmpty == true {
            throw ServerAPIError.invalidEmptyStorefrontCountryCodeList
        }
        guard countries.allSatisfy({ Storefront(countryCode: $0) != nil }) else {
            throw ServerAPIError.invalidStorefrontCountryCode
        }
        let product = try subscriptionProduct(request.productId)
        if try massExtension(requestIdentifier, of: product) == nil {
            try extendAll(of: product, in: countries, renewalExtension)
        }
        return renewalExtension.requestIdentifier
    }

    private func extendAll(
        of productIdentifier: String,
        in countries: [String],
        _ renewalExtension: RenewalExtension
    ) throws {
        var (succeeded, failed) = (0, 0)
        for subscription in try subscriptions.all() {
            guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier),
                RenewalExtension.includes(subscription, latest: latest, of: productIdentifier, in: countries)
            else { continue }
            var extended = subscription
            let effects: [SubscriptionEffect]
            let moment = try now(of: subscription.account)
            do { effects = try extended.extendRenewalDate(byDays: renewalExtension.days, at: moment) } catch {
                failed += 1
                try notify(.renewalExtension, .failure, of: latest, in: subscription)
                continue
            }
            try record(extended, effects)
            succeeded += 1
        }
        let status = MassExtendRenewalDateStatusResponse(
            requestIdentifier: renewalExtension.requestIdentifier, complete: true, completeDate: now,
            succeededCount: succeeded, failedCount: failed)
        try database.insert(
            [
                "product_id": productIdentifier, "request_id": status.requestIdentifier.lowercased(),
                "record": try LocalRecord.text(status),
            ], into: "mass_extension", replacing: "product_id, request_id")
        try notify(
            .renewalExtension, .summary, .summary,
            [
                "environment": issuer.environment.rawValue, "appAppleId": issuer.appAppleIdentifier,
                "bundleId": issuer.bundleIdentifier, "productId": productIdentifier,
                "requestIdentifier": status.requestIdentifier,
                "storefrontCountryCodes": countries.isEmpty ? nil : countries, "succeededCount": succeeded,
                "failedCount": failed,
            ])
    }

    func massExtension(
        _ requestIdentifier: String,
        of productIdentifier: String
    ) throws -> MassExtendRenewalDateStatusResponse? {
        let found: [MassExtendRenewalDateStatusResponse] = try database.records(
            """
            SELECT record FROM mass_extension
            WHERE product_id = \(productIdentifier) AND request_id = \(requestIdentifier)
            """)
        return found.first
    }
}

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

    /// True if an extension for all subscribers of a product includes this subscription.
    ///
    /// - Parameters:
    /// - countries: The storefronts; empty for all.
    package static func includes(
        _ subscription: CustomerSubscription,
        latest: Transaction,
        of productIdentifier: String,
        in countries: [String]
    ) -> Bool {
        // A member's follows the purchaser's.
        subscription.ownership == .purchased && subscription.productIdentifier == productIdentifier
            && subscription.isEntitled
            && (countries.isEmpty || countries.contains(latest.storefrontCountryCode))
    }
}
