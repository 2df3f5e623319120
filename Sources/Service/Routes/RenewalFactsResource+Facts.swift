import Commerce
import Entitlements
import Foundation
import Receipts
import Wire

extension RenewalFactsResource {
    init(_ facts: RenewalFacts) {
        self.init(
            environment: facts.text(.environment),
            productId: facts.text(.productId),
            autoRenewProductId: facts.text(.autoRenewProductId),
            autoRenewStatus: facts.integer(.autoRenewStatus),
            expirationIntent: facts.integer(.expirationIntent),
            isInBillingRetryPeriod: facts.bool(.isInBillingRetryPeriod),
            gracePeriodExpiresDate: facts.date(.gracePeriodExpiresDate)?.rfc3339,
            priceIncreaseStatus: facts.integer(.priceIncreaseStatus),
            renewalDate: facts.date(.renewalDate)?.rfc3339,
            renewalPrice: facts.integer(.renewalPrice),
            renewalQuantity: facts.integer(.renewalQuantity),
            currency: facts.text(.currency),
            offerType: facts.integer(.offerType),
            offerIdentifier: facts.text(.offerIdentifier),
            offerDiscountType: facts.text(.offerDiscountType),
            offerPeriod: facts.text(.offerPeriod),
            recentSubscriptionStartDate: facts.date(.recentSubscriptionStartDate)?.rfc3339,
            eligibleWinBackOfferIds: facts.text(.eligibleWinBackOfferIds).flatMap {
                try? JSONDecoder().decode([String].self, from: Data($0.utf8))
            },
            appAccountToken: facts.text(.appAccountToken),
            appTransactionId: facts.text(.appTransactionId),
            renewalBillingPlanType: facts.text(.renewalBillingPlanType),
            commitmentInfo: facts.text(.commitmentInfo).flatMap(JSONContent.init(json:)),
            advancedCommerceInfo: facts.text(.advancedCommerceInfo).flatMap(JSONContent.init(json:)),
            multiSeatInfo: facts.text(.multiSeatInfo).flatMap(JSONContent.init(json:)))
    }
}

extension RenewalInfoResource {
    init(_ subscription: SubscribedPurchase) {
        self.init(
            originalTransactionId: subscription.originalTransactionIdentifier, origin: subscription.origin,
            signedDate: subscription.renewal.statedAt.rfc3339, facts: RenewalFactsResource(subscription.renewal.facts))
    }
}
