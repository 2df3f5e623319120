import Catalog
import HTTPSupport
import Proofs

/// Purchases that the developer's server describes (Advanced Commerce API). The store charges no tax.
extension AdvancedCommerceCharge {
    /// The longest texts, in characters (Advanced Commerce API, `SubscriptionModifyAddItem`).
    static let (skuLength, displayNameLength, descriptionLength) = (128, 30, 45)

    /// A generic subscription of the catalog with the price and the period that the developer's server has named. It has no offers, billing
    /// plans and seats, and no family shares it. Any other product stays.
    func describing(_ generic: Product) -> Product {
        guard let terms, let subscription = generic.subscription else { return generic }
        return Product(
            productIdentifier: generic.productIdentifier, type: generic.type, referenceName: generic.referenceName,
            price: price, isFamilyShareable: false, localizations: generic.localizations,
            subscription: Subscription(
                groupIdentifier: subscription.groupIdentifier, groupName: subscription.groupName,
                level: subscription.level, period: period(of: terms), offers: [],
                multiSeat: MultiSeat(isEnabled: false)))
    }

    /// The length of this period: that of the offer which all items have, or else the subscription's.
    private func period(of terms: Terms) -> SubscriptionPeriod {
        let lengths = Set(items.map { $0.offer?.period ?? terms.period })
        return lengths.count == 1 ? lengths.first ?? terms.period : terms.period
    }

    /// The part of a signed transaction (App Store Server API, `AdvancedCommerceTransactionInfo`).
    func statement(revokedAt revocationDate: Timestamp?) -> StatementFields {
        [
            "descriptors": terms?.statement, "items": items.map { $0.statement(revokedAt: revocationDate) },
            "period": terms?.period.description, "requestReferenceId": requestReferenceIdentifier, "taxCode": taxCode,
            "taxExclusivePrice": price.milliunits, "taxRate": "0", "estimatedTax": 0,
        ]
    }

    /// The part of signed renewal information (App Store Server API, `AdvancedCommerceRenewalInfo`).
    fileprivate func renewalStatement(consistencyToken: String) -> StatementFields {
        [
            "consistencyToken": consistencyToken, "descriptors": terms?.statement,
            "items": items.map(\.renewalStatement), "period": terms?.period.description,
            "requestReferenceId": requestReferenceIdentifier, "taxCode": taxCode,
        ]
    }
}

extension AdvancedCommerceCharge.Item {
    fileprivate func statement(revokedAt revocationDate: Timestamp?) -> StatementFields {
        [
            "SKU": sku, "displayName": displayName, "description": description, "price": price,
            "offer": offer?.statement,
            "refunds": refunds?.map(\.statement), "revocationDate": revokedAt ?? revocationDate,
        ]
    }

    /// An item of signed renewal information (App Store Server API, `AdvancedCommerceRenewalItem`).
    fileprivate var renewalStatement: StatementFields {
        [
            "SKU": sku, "displayName": displayName, "description": description, "price": price,
            "offer": offer?.statement, "priceIncreaseInfo": priceIncrease?.statement,
        ]
    }
}

extension AdvancedCommerceCharge.Offer {
    fileprivate var statement: StatementFields {
        ["period": period.description, "periodCount": periodCount, "price": price, "reason": reason.rawValue]
    }
}

extension AdvancedCommerceCharge.Refund {
    fileprivate var statement: StatementFields {
        ["refundAmount": amount, "refundDate": date, "refundReason": reason, "refundType": type]
    }
}

extension AdvancedCommerceCharge.PriceIncrease {
    fileprivate var statement: StatementFields {
        [
            "dependentSKUs": dependentSKUs.isEmpty ? nil : dependentSKUs, "price": price, "status": status.rawValue,
        ]
    }
}

extension AdvancedCommerceCharge.Terms {
    fileprivate var statement: StatementFields { ["displayName": displayName, "description": description] }
}

extension CustomerSubscription {
    /// The product of an identifier as this customer has it in the next period, by the catalog or by the developer's server; nil if it is
    /// not for sale.
    func product(_ identifier: String, _ terms: SubscriptionTerms) -> Product? {
        terms.product(identifier).map { renewalCharge?.describing($0) ?? $0 }
    }

    /// The part of renewal information.
    var advancedCommerceStatement: StatementFields? {
        renewalCharge?.renewalStatement(consistencyToken: consistencyToken)
    }

    /// Each period has another token, with which the developer's server names the present state.
    var consistencyToken: String {
        let state = "\(originalTransactionIdentifier) \(expiresDate.millisecondsSince1970)"
        return Base64.encode(DigestAlgorithm.sha256.digest(of: Array(state.utf8)), .urlSafe)
    }
}
