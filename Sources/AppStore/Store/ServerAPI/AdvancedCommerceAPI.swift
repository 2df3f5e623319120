import Catalog
import Foundation
import HTTPSupport
import Proofs

/// The endpoints of the Advanced Commerce API for a developer's server (`/advancedCommerce/v1`). They throw `AdvancedCommerceError` and
/// `ServerAPIError`.
///
/// Each is about a subscription or a charge that the developer's server described, by any of its transactions.
struct AdvancedCommerceResponse: Encodable, Sendable {
    /// Nil for a one-time charge.
    let signedRenewalInfo: String?
    let signedTransactionInfo: String
}

/// The part that all requests have (Advanced Commerce API, `RequestInfo`).
struct AdvancedCommerceRequestInfo: Decodable, Sendable {
    let appAccountToken: String?
    let consistencyToken: String?
    let requestReferenceId: String?
}

protocol AdvancedCommerceRequest: Decodable, Sendable {
    var requestInfo: AdvancedCommerceRequestInfo? { get }
    var storefront: String? { get }
}

struct SubscriptionCancelRequest: AdvancedCommerceRequest {
    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
}

struct SubscriptionChangeMetadataRequest: AdvancedCommerceRequest {
    struct Descriptors: Decodable, Sendable {
        let description: String?
        let displayName: String?
        let effective: String?
    }

    struct Item: Decodable, Sendable {
        let currentSKU: String?
        let SKU: String?
        let description: String?
        let displayName: String?
        let effective: String?
    }

    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
    let descriptors: Descriptors?
    let items: [Item]?
    let taxCode: String?
}

struct SubscriptionPriceChangeRequest: AdvancedCommerceRequest {
    struct Item: Decodable, Sendable {
        let SKU: String?
        let price: Int64?
        let dependentSKUs: [String]?
    }

    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
    let currency: String?
    let items: [Item]?
}

struct SubscriptionMigrateRequest: AdvancedCommerceRequest {
    struct Descriptors: Decodable, Sendable {
        let description: String?
        let displayName: String?
    }

    struct Item: Decodable, Sendable {
        let SKU: String?
        let description: String?
        let displayName: String?
    }

    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
    let descriptors: Descriptors?
    let items: [Item]?
    let renewalItems: [Item]?
    let targetProductId: String?
    let taxCode: String?
}

struct SubscriptionRevokeRequest: AdvancedCommerceRequest {
    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
    let refundReason: String?
    let refundRiskingPreference: Bool?
    let refundType: String?
}

struct RequestRefundRequest: AdvancedCommerceRequest {
    struct Item: Decodable, Sendable {
        let SKU: String?
        let refundAmount: Int64?
        let refundReason: String?
        let refundType: String?
        let revoke: Bool?
    }

    let requestInfo: AdvancedCommerceRequestInfo?
    let storefront: String?
    let currency: String?
    let items: [Item]?
    let refundRiskingPreference: Bool?
}

extension Books {
    /// `POST /advancedCommerce/v1/subscription/cancel/{transactionId}`: the subscription does not renew.
    func cancelSubscription(
        _ transactionId: String, _ request: SubscriptionCancelRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        var subscription = try commerceSubscription(transactionId, request)
        guard !subscription.hasEnded else { throw AdvancedCommerceError.subscriptionNotEligible }
        let effects = try subscription.setAutoRenew(false)
        try record(subscription, effects)
        return try response(about: subscription)
    }

    /// `POST /advancedCommerce/v1/subscription/changeMetadata/{transactionId}`: names and SKUs change, and neither price nor service.
    func changeSubscriptionMetadata(
        _ transactionId: String, _ request: SubscriptionChangeMetadataRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        var subscription = try commerceSubscription(transactionId, request)
        guard subscription.isEntitled else { throw AdvancedCommerceError.inactiveACASub }
        guard request.descriptors != nil || request.items != nil || request.taxCode != nil else {
            throw AdvancedCommerceError.invalidProductChanges
        }
        guard request.taxCode?.isEmpty != true else { throw AdvancedCommerceError.invalidTaxProductCode }
        try checkFirstUse(of: request)
        let (atOnce, later) = try (request.changes(atOnce: true), request.changes(atOnce: false))
        guard var present = subscription.advancedCommerceCharge, var next = subscription.renewalCharge else {
            throw StoreError.subscriptionNotFound(transactionId)
        }
        let skus = (present.items + next.items).map(\.sku)
        guard request.items?.compactMap(\.currentSKU).allSatisfy(skus.contains) ?? true else {
            throw AdvancedCommerceError.invalidProduct
        }
        atOnce(&present)
        // The next period has the changes of the present one, too.
        atOnce(&next)
        later(&next)
        guard present.isForSale, next.isForSale else { throw AdvancedCommerceError.invalidSKU }
        subscription.advancedCommerceCharge = present
        subscription.changeRenewalContent { $0 = next }
        try subscriptions.save(subscription)
        try changePeriod(of: subscription) { transaction in
            guard var charge = transaction.advancedCommerceCharge else { return }
            atOnce(&charge)
            transaction.advancedCommerceCharge = charge
        }
        try notify(.metadataUpdate, nil, of: subscription)
        return try response(about: subscription)
    }

    /// `POST /advancedCommerce/v1/subscription/changePrice/{transactionId}`: items have other prices from a later renewal on.
    func changeSubscriptionPrice(
        _ transactionId: String, _ request: SubscriptionPriceChangeRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        var subscription = try commerceSubscription(transactionId, request)
        guard subscription.state == .subscribed, subscription.isAutoRenewing, let next = subscription.renewalCharge
        else {
            throw AdvancedCommerceError.subscriptionNotEligible
        }
        guard [nil, next.currency].contains(request.currency) else { throw AdvancedCommerceError.invalidCurrency }
        let changes = try request.changes(of: next)
        let isIncrease = next.items.contains { item in changes[item.sku].map { $0.price > item.price } ?? false }
        // Apple supports no increases in India (Advanced Commerce API, "Handling subscription price changes").
        let terms = try terms(of: subscription.account)
        guard !isIncrease || subscription.storefront(terms).countryCode != "IND" else {
            throw AdvancedCommerceError.priceIncreaseIsNotCurrentlySupportedInIndia
        }
        let isYearly = next.terms?.period.unit == .year
        subscription.changeRenewalContent { next in
            for index in next.items.indices {
                guard let change = changes[next.items[index].sku] else { continue }
                let present = next.items[index].price
                next.items[index].priceIncrease =
                    change.price > present
                    ? .init(
                        price: change.price,
                        needsConsent: change.price.needsConsent(insteadOf: present, isYearly: isYearly),
                        dependentSKUs: change.dependentSKUs, status: .scheduled)
                    : nil
                if change.price <= present { next.items[index].price = change.price }
            }
        }
        try subscriptions.save(subscription)
        try notify(.priceChange, nil, of: subscription)
        return try response(about: subscription)
    }

    /// `POST /advancedCommerce/v1/subscription/migrate/{transactionId}`: a subscription of the catalog goes on as one that the developer's
    /// server describes, under another original transaction. The customer pays nothing for it, and the same at the next renewal.
    func migrateSubscription(
        _ transactionId: String, _ request: SubscriptionMigrateRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        guard let target = request.targetProductId else { throw AdvancedCommerceError.nullTargetProductID }
        guard let generic = configuration.product(target)?.subscription else {
            throw AdvancedCommerceError.invalidTargetProductID
        }
        let transaction = try apiTransaction(transactionId)
        guard let former = try subscriptionOrNone(of: transaction) else {
            throw AdvancedCommerceError.subscriptionDoesNotExist
        }
        guard former.advancedCommerceCharge == nil else { throw AdvancedCommerceError.subscriptionAlreadyMigrated }
        try check(request, of: transaction, former)
        let terms = try terms(of: former.account)
        let charge = try request.charge(currency: former.storefront(terms).currency)
        guard former.isEntitled else { throw AdvancedCommerceError.inactiveACASub }
        guard former.priceIncrease == nil else {
            throw AdvancedCommerceError.migrationNotAllowedWhenPriceIncreaseCommunicated
        }
        guard former.hasPendingChange == (request.renewalItems != nil) else {
            throw AdvancedCommerceError.pendingChangesMismatch
        }
        let other = try subscriptions.subscription(of: former.account, group: generic.groupIdentifier)
        guard other?.hasEnded ?? true || other?.groupIdentifier == former.groupIdentifier else {
            throw AdvancedCommerceError.subscriptionAlreadyExists
        }
        let original = former.originalTransactionIdentifier
        let members = try subscriptions.fetch("shared_original_transaction_id = \(original)")
        guard members.isEmpty,
            let migrated = former.migrated(
                to: target, in: generic.groupIdentifier, as: charge, under: newTransactionIdentifier(), terms)
        else { throw AdvancedCommerceError.subscriptionNotEligible }
        try checkFirstUse(of: request)
        try changePeriod(of: former) { $0.isUpgraded = true }
        try subscriptions.delete(original: original)
        // An account has one subscription of a group.
        if let other { try subscriptions.delete(original: other.originalTransactionIdentifier) }
        let period = SubscriptionCharge(
            productIdentifier: target, quantity: 1, seats: nil,
            price: Price(milliunits: 0, currency: charge.present.currency), offer: nil, reason: .purchase,
            startDate: terms.now, expiresDate: migrated.expiresDate, billingPlanType: nil, commitment: nil)
        try record(migrated, [.charge(period), .notify(.migration, nil)])
        let first = try sale(migrated.originalTransactionIdentifier)
        try payments.add(first, .purchased)
        return try response(about: migrated, first)
    }

    /// `POST /advancedCommerce/v1/subscription/revoke/{transactionId}`: the subscription ends at once, and is paid back.
    func revokeSubscription(
        _ transactionId: String, _ request: SubscriptionRevokeRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        guard let isRisking = request.refundRiskingPreference else { throw AdvancedCommerceError.nullRefundRisking }
        let reason = try refundReason(request.refundReason)
        let type = try request.refundType.refundType
        guard type != .custom else { throw AdvancedCommerceError.invalidRefundType }
        var subscription = try commerceSubscription(transactionId, request)
        guard subscription.isEntitled,
            let latest = try transactions.latest(original: subscription.originalTransactionIdentifier)
        else { throw AdvancedCommerceError.revokeOnInactiveSubscription }
        try checkNoPendingRefund(of: latest)
        try checkFirstUse(of: request)
        let isDeclined = reason == AdvancedCommerceRefundRequest.simulatedDecline
        if isRisking || isDeclined {
            let effects = try subscription.setAutoRenew(false)
            try record(subscription, effects)
        }
        try decide(
            .init(items: nil, type: type, reason: reason), of: latest, asking: isRisking)
        return try response(about: try self.subscription(with: transactionId))
    }

    /// `POST /advancedCommerce/v1/transaction/requestRefund/{transactionId}`: items are paid back, and taken if the request says so.
    func requestTransactionRefund(
        _ transactionId: String, _ request: RequestRefundRequest
    ) throws -> AdvancedCommerceResponse {
        try check(request)
        let transaction = try apiTransaction(transactionId)
        guard let charge = transaction.advancedCommerceCharge else { throw AdvancedCommerceError.operationNotAllowed }
        let subscription = try subscriptionOrNone(of: transaction)
        try check(request, of: transaction, subscription)
        guard [nil, charge.currency].contains(request.currency) else { throw AdvancedCommerceError.invalidCurrency }
        guard let isRisking = request.refundRiskingPreference else { throw AdvancedCommerceError.nullRefundRisking }
        guard transaction.revocation == nil else { throw AdvancedCommerceError.alreadyRefunded }
        try checkNoPendingRefund(of: transaction)
        let items = try refundItems(request.items, of: transaction, charge)
        let revoked = items.filter(\.isRevoked).map(\.sku)
        let isActive = try transaction.isPaid(after: now(of: transaction.account))
        guard !isActive || charge.items.contains(where: { $0.revokedAt == nil && !revoked.contains($0.sku) }) else {
            throw AdvancedCommerceError.removalAllNotAllowed
        }
        guard let first = items.first else { throw AdvancedCommerceError.atLeastOneItem }
        try checkFirstUse(of: request)
        try decide(
            .init(items: items, type: first.type, reason: first.reason), of: transaction, asking: isRisking)
        let changed = try sale(transactionId)
        guard let after = try subscriptionOrNone(of: changed) else {
            return AdvancedCommerceResponse(signedRenewalInfo: nil, signedTransactionInfo: try signed(changed))
        }
        return try response(about: after, changed)
    }

    /// - Throws: `AdvancedCommerceError.pendingRefund` while a request of the customer's, or of the developer's server, waits for its decision.
    private func checkNoPendingRefund(of transaction: Transaction) throws {
        guard try !transactions.isRefundRequested(of: transaction.transactionIdentifier) else {
            throw AdvancedCommerceError.pendingRefund
        }
    }

    /// Pays back at once, or asks the developer first, so that a tester decides with `till store refund`.
    private func decide(
        _ request: AdvancedCommerceRefundRequest, of transaction: Transaction, asking isAsked: Bool
    ) throws {
        let now = try now(of: transaction.account)
        try decideRefund(of: transaction.transactionIdentifier) { effects in
            if request.reason == AdvancedCommerceRefundRequest.simulatedDecline { return effects.simulateDecline() }
            return isAsked ? effects.ask(about: request) : effects.refund(request, at: now)
        }
    }

    private func refundItems(
        _ items: [RequestRefundRequest.Item]?, of transaction: Transaction, _ charge: AdvancedCommerceCharge
    ) throws -> [AdvancedCommerceRefundRequest.Item] {
        guard let items else { throw AdvancedCommerceError.nullItems }
        let latest = try transactions.latest(original: transaction.originalTransactionIdentifier)
        let moment = try now(of: transaction.account)
        var refunds: [AdvancedCommerceRefundRequest.Item] = []
        for item in items {
            guard let sku = item.SKU else { throw AdvancedCommerceError.nullSKU }
            guard !refunds.contains(where: { $0.sku == sku }) else {
                throw AdvancedCommerceError.itemCannotBeSpecifiedMultipleTimes
            }
            let (reason, type) = (try refundReason(item.refundReason), try item.refundType.refundType)
            guard let isRevoked = item.revoke else { throw AdvancedCommerceError.malformedPayload }
            if type == .custom {
                guard let amount = item.refundAmount else { throw AdvancedCommerceError.nullRefundAmount }
                guard amount > 0 else { throw AdvancedCommerceError.negativeRefundAmount }
            } else if item.refundAmount != nil {
                throw AdvancedCommerceError.refundAmountWithoutCustom
            }
            guard type != .prorated || latest?.transactionIdentifier == transaction.transactionIdentifier else {
                throw AdvancedCommerceError.proratedOnlyLatestTransaction
            }
            guard let owned = charge.items.first(where: { $0.sku == sku && $0.revokedAt == nil }) else {
                throw AdvancedCommerceError.productNotOwned
            }
            guard owned.charged > 0, type != .prorated || transaction.isPaid(after: moment) else {
                throw AdvancedCommerceError.transactionNotRefundable
            }
            guard owned.refundable > 0 else { throw AdvancedCommerceError.alreadyRefunded }
            guard item.refundAmount ?? 0 <= owned.refundable else { throw AdvancedCommerceError.insufficientFunds }
            refunds.append(
                .init(sku: sku, type: type, amount: item.refundAmount, reason: reason, isRevoked: isRevoked))
        }
        let declined = refunds.count { $0.reason == AdvancedCommerceRefundRequest.simulatedDecline }
        guard [0, refunds.count].contains(declined) else { throw AdvancedCommerceError.partialSimulateRefundDecline }
        return refunds
    }

    private func refundReason(_ reason: String?) throws -> String {
        guard let reason else { throw AdvancedCommerceError.nullRefundReason }
        guard AdvancedCommerceRefundRequest.reasons.contains(reason) else {
            throw AdvancedCommerceError.invalidRefundReason
        }
        guard reason != AdvancedCommerceRefundRequest.simulatedDecline || issuer.environment != .production else {
            throw AdvancedCommerceError.simulateRefundDeclineOnlyInSandbox
        }
        return reason
    }

    /// Checks the parts that all requests have.
    private func check(_ request: some AdvancedCommerceRequest) throws {
        guard let information = request.requestInfo else { throw AdvancedCommerceError.nullRequestInfo }
        guard let reference = information.requestReferenceId else {
            throw AdvancedCommerceError.nullRequestReferenceID
        }
        guard UUID(uuidString: reference) != nil else { throw AdvancedCommerceError.invalidRequestReferenceID }
        guard information.appAccountToken.map({ $0.isEmpty || UUID(uuidString: $0) != nil }) ?? true else {
            throw ServerAPIError.invalidAppAccountToken
        }
        guard request.storefront.map({ Storefront(countryCode: $0) != nil }) ?? true else {
            throw ServerAPIError.invalidStorefrontCountryCode
        }
    }

    private func checkFirstUse(of request: some AdvancedCommerceRequest) throws {
        guard let reference = request.requestInfo?.requestReferenceId.flatMap(UUID.init(uuidString:)),
            try payments.isFirstUse(of: reference)
        else { throw AdvancedCommerceError.repeatedRequestReferenceId }
    }

    private func check(
        _ request: some AdvancedCommerceRequest, of transaction: Transaction, _ subscription: CustomerSubscription?
    ) throws {
        guard [nil, transaction.storefrontCountryCode].contains(request.storefront) else {
            throw AdvancedCommerceError.mismatchedStorefront
        }
        if let token = request.requestInfo?.consistencyToken, token != subscription?.consistencyToken {
            throw AdvancedCommerceError.invalidConsistencyToken
        }
    }

    /// The subscription of any of its transactions, for a request about it.
    private func commerceSubscription(
        _ transactionId: String, _ request: some AdvancedCommerceRequest
    ) throws -> CustomerSubscription {
        let transaction = try apiTransaction(transactionId)
        guard let subscription = try subscriptionOrNone(of: transaction) else {
            throw AdvancedCommerceError.subscriptionDoesNotExist
        }
        guard subscription.advancedCommerceCharge != nil else { throw AdvancedCommerceError.subscriptionNotEligible }
        try check(request, of: transaction, subscription)
        return subscription
    }

    /// - Parameter transaction: The transaction to state; nil for the latest.
    private func response(
        about subscription: CustomerSubscription, _ transaction: Transaction? = nil
    ) throws -> AdvancedCommerceResponse {
        let latest = try transactions.latest(original: subscription.originalTransactionIdentifier)
        guard let stated = transaction ?? latest else {
            throw StoreError.subscriptionNotFound(subscription.originalTransactionIdentifier)
        }
        return AdvancedCommerceResponse(
            signedRenewalInfo: try issuer.signedRenewalInfo(subscription, try terms(of: subscription.account)),
            signedTransactionInfo: try signed(stated))
    }
}

extension AdvancedCommerceRefundRequest {
    /// The reason with which a test is declined.
    static let simulatedDecline = "SIMULATE_REFUND_DECLINE"
    /// The reasons that a request may have (Advanced Commerce API, `refundReason`).
    static let reasons: Set = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
        "MODIFY_ITEMS_REFUND",
        simulatedDecline,
    ]
}

extension String? {
    /// The value of `refundType`.
    fileprivate var refundType: AdvancedCommerceRefundType {
        get throws(AdvancedCommerceError) {
            guard let self else { throw .nullRefundType }
            guard let type = AdvancedCommerceRefundType(rawValue: self) else { throw .invalidRefundType }
            return type
        }
    }

    /// The value of `effective`: true for a change at once.
    fileprivate var isImmediate: Bool {
        get throws(AdvancedCommerceError) {
            switch self {
            case "IMMEDIATELY": return true
            case "NEXT_BILL_CYCLE": return false
            case nil: throw .nullEffective
            default: throw .malformedPayload
            }
        }
    }
}

extension Int64 {
    /// True if a customer must consent to the price instead of a lower one: it is more than half higher, and by more than 5 units of the
    /// currency, or 50 in a year (Advanced Commerce API, "Handling subscription price changes"). Apple names the amounts in US dollars alone.
    fileprivate func needsConsent(insteadOf present: Int64, isYearly: Bool) -> Bool {
        let increase = self - present
        return increase > present / 2 && increase > (isYearly ? 50_000 : 5000)
    }
}

extension SubscriptionPriceChangeRequest {
    /// The checked changes of a subscription's next period, by SKU.
    fileprivate func changes(
        of next: AdvancedCommerceCharge
    ) throws(AdvancedCommerceError) -> [String: (price: Int64, dependentSKUs: [String])] {
        guard let items else { throw .nullItems }
        guard !items.isEmpty else { throw .atLeastOneItem }
        var changes: [String: (price: Int64, dependentSKUs: [String])] = [:]
        var dependent: Set<String> = []
        for item in items {
            guard let sku = item.SKU else { throw .nullSKU }
            guard sku.count <= AdvancedCommerceCharge.skuLength else { throw .skuLengthExceeded }
            guard let price = item.price else { throw .nullPrice }
            guard AdvancedCommerceCharge.prices.contains(price) else { throw .negativePrice }
            guard changes[sku] == nil else { throw .itemCannotBeSpecifiedMultipleTimes }
            guard let renewing = next.items.first(where: { $0.sku == sku }) else {
                throw .invalidSKUProvidedMustBeCurrentSKUSetToRenew
            }
            guard [nil, .scheduled].contains(renewing.priceIncrease?.status) else {
                throw .priceChangeCannotBeIssuedWhenAlreadyCommunicated
            }
            let others = item.dependentSKUs ?? []
            guard dependent.isDisjoint(with: others), Set(others).count == others.count else {
                throw .dependentSKUsCannotBeShared
            }
            guard others.allSatisfy({ other in other != sku && next.items.contains { $0.sku == other } }) else {
                throw .invalidSKU
            }
            dependent.formUnion(others)
            changes[sku] = (price, others)
        }
        guard changes.allSatisfy({ $0.value.dependentSKUs.isEmpty || !dependent.contains($0.key) }) else {
            throw .dependentSKUsCannotBeChained
        }
        return changes
    }
}

extension SubscriptionMigrateRequest {
    /// The content of the present and the next period, without prices and periods.
    fileprivate func charge(
        currency: String
    ) throws(AdvancedCommerceError) -> (present: AdvancedCommerceCharge, next: AdvancedCommerceCharge?) {
        guard let taxCode else { throw .nullTaxCode }
        guard let reference = requestInfo?.requestReferenceId else { throw .nullRequestReferenceID }
        guard !taxCode.isEmpty else { throw .invalidTaxProductCode }
        guard let items else { throw .nullItems }
        guard let descriptors else { throw .nullDescriptors }
        let (displayName, description) = try Self.texts(descriptors.displayName, descriptors.description)
        let terms = AdvancedCommerceCharge.Terms(
            displayName: displayName, description: description, period: .oneMonth)
        func charge(_ items: [Item]) throws(AdvancedCommerceError) -> AdvancedCommerceCharge {
            guard !items.isEmpty else { throw .atLeastOneItem }
            var described: [AdvancedCommerceCharge.Item] = []
            for item in items {
                guard let sku = item.SKU else { throw .nullSKU }
                guard !sku.isEmpty, !described.contains(where: { $0.sku == sku }) else { throw .invalidSKU }
                guard sku.count <= AdvancedCommerceCharge.skuLength else { throw .skuLengthExceeded }
                let (displayName, description) = try Self.texts(item.displayName, item.description)
                described.append(.init(sku: sku, displayName: displayName, description: description, price: 0))
            }
            return AdvancedCommerceCharge(
                items: described, terms: terms, currency: currency, taxCode: taxCode,
                requestReferenceIdentifier: reference)
        }
        let present = try charge(items)
        guard let renewalItems else { return (present, nil) }
        return (present, try charge(renewalItems))
    }

    private static func texts(
        _ displayName: String?, _ description: String?
    ) throws(AdvancedCommerceError) -> (displayName: String, description: String) {
        guard let displayName else { throw .nullDisplayName }
        guard let description else { throw .nullDescription }
        try SubscriptionChangeMetadataRequest.check(displayName, description)
        return (displayName, description)
    }
}

extension SubscriptionChangeMetadataRequest {
    /// The changes that take effect at once, or those of the next period alone.
    fileprivate func changes(
        atOnce: Bool
    ) throws(AdvancedCommerceError) -> (inout AdvancedCommerceCharge) -> Void {
        let terms = try descriptors.flatMap { (new) throws(AdvancedCommerceError) -> Descriptors? in
            guard new.displayName != nil || new.description != nil else { throw .atLeastOneOfDisplayNameOrDescription }
            try Self.check(new.displayName, new.description)
            return try new.effective.isImmediate == atOnce ? new : nil
        }
        guard items?.isEmpty != true else { throw .atLeastOneItem }
        var changed: [(sku: String, Item)] = []
        for item in items ?? [] {
            guard let sku = item.currentSKU else { throw .nullCurrentSKU }
            guard item.SKU?.isEmpty != true else { throw .invalidSKU }
            guard item.SKU?.count ?? 0 <= AdvancedCommerceCharge.skuLength else { throw .skuLengthExceeded }
            try Self.check(item.displayName, item.description)
            if try item.effective.isImmediate == atOnce { changed.append((sku, item)) }
        }
        return { charge in
            if let displayName = terms?.displayName { charge.terms?.displayName = displayName }
            if let description = terms?.description { charge.terms?.description = description }
            for (sku, item) in changed {
                guard let index = charge.items.firstIndex(where: { $0.sku == sku }) else { continue }
                let present = charge.items[index]
                charge.items[index].sku = item.SKU ?? present.sku
                charge.items[index].displayName = item.displayName ?? present.displayName
                charge.items[index].description = item.description ?? present.description
            }
            if atOnce { charge.taxCode = taxCode ?? charge.taxCode }
        }
    }

    fileprivate static func check(_ displayName: String?, _ description: String?) throws(AdvancedCommerceError) {
        guard displayName?.isEmpty != true else { throw .invalidDisplayName }
        guard description?.isEmpty != true else { throw .invalidDescription }
        guard displayName?.count ?? 0 <= AdvancedCommerceCharge.displayNameLength else {
            throw .displayNameLengthExceeded
        }
        guard description?.count ?? 0 <= AdvancedCommerceCharge.descriptionLength else {
            throw .descriptionLengthExceeded
        }
    }
}
