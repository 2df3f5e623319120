import Commerce
import Foundation
import Receipts
import Wire

extension TransactionFactsResource {
    init(_ facts: TransactionFacts) {
        self.init(
            environment: facts.text(.environment),
            type: facts.text(.type),
            inAppOwnershipType: facts.text(.inAppOwnershipType),
            transactionReason: facts.text(.transactionReason),
            originalPurchaseDate: facts.date(.originalPurchaseDate)?.rfc3339,
            expiresDate: facts.date(.expiresDate)?.rfc3339,
            signedDate: facts.date(.signedDate)?.rfc3339,
            webOrderLineItemId: facts.text(.webOrderLineItemId),
            subscriptionGroupIdentifier: facts.text(.subscriptionGroupIdentifier),
            isUpgraded: facts.bool(.isUpgraded),
            price: facts.integer(.price),
            currency: facts.text(.currency),
            storefront: facts.text(.storefront),
            storefrontId: facts.text(.storefrontId),
            offerType: facts.integer(.offerType),
            offerIdentifier: facts.text(.offerIdentifier),
            offerDiscountType: facts.text(.offerDiscountType),
            offerPeriod: facts.text(.offerPeriod),
            isTrialPeriod: facts.bool(.isTrialPeriod),
            isInIntroOfferPeriod: facts.bool(.isInIntroductoryOfferPeriod),
            appAccountToken: facts.text(.appAccountToken),
            appTransactionId: facts.text(.appTransactionId),
            itemId: facts.integer(.itemId),
            revocationType: facts.text(.revocationType),
            revocationPercentage: facts.integer(.revocationPercentage),
            billingPlanType: facts.text(.billingPlanType),
            commitmentInfo: facts.text(.commitmentInfo).flatMap(JSONContent.init(json:)),
            advancedCommerceInfo: facts.text(.advancedCommerceInfo).flatMap(JSONContent.init(json:)),
            multiSeatInfo: facts.text(.multiSeatInfo).flatMap(JSONContent.init(json:)),
            additionalTransactionReason: facts.text(.additionalTransactionReason))
    }
}

extension JSONContent {
    /// The value of a JSON text; nil for another text.
    init?(json text: String) {
        guard let value = try? JSONDecoder().decode(JSONContent.self, from: Data(text.utf8)) else { return nil }
        self = value
    }
}
