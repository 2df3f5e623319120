import Proofs

/// The subscription groups of a `.storekit` file.
extension CatalogReader {
    /// The products of a group, in the file's order.
    func subscriptions() throws(CatalogError) -> [Product] {
        let identifier = try required("id").string()
        let name = try optional("name")?.text() ?? ""
        return try required("subscriptions").elements().map { entry throws(CatalogError) in
            try entry.subscription(groupIdentifier: identifier, groupName: name)
        }
    }

    func subscription(groupIdentifier: String, groupName: String) throws(CatalogError) -> Product {
        let period = try required("recurringSubscriptionPeriod")
        let (offers, unfinished) = try offers()
        return try product(
            type: .autoRenewableSubscription,
            subscription: Subscription(
                groupIdentifier: groupIdentifier, groupName: groupName, level: try required("groupNumber").count(),
                period: try period.period(), offers: offers, unfinishedOffers: unfinished,
                billingPlans: try billingPlans()))
    }

    /// The enabled billing plans of a file of version 5.0. A plan without a price is not finished, and an unknown one belongs to a
    /// later Xcode.
    private func billingPlans() throws(CatalogError) -> [BillingPlan] {
        var plans: [BillingPlan] = []
        for element in try optional("billingPlans")?.elements() ?? [] {
            guard try element.optional("isEnabled")?.bool() ?? true, let type = try element.billingPlanType(),
                try element.optionalString("displayPrice") != nil
            else { continue }
            var commitmentPrice: Price?
            if try element.optionalString("commitmentDisplayPrice") != nil {
                commitmentPrice = try element.required("commitmentDisplayPrice").price()
            }
            plans.append(
                BillingPlan(
                    type: type, price: try element.required("displayPrice").price(), commitmentPrice: commitmentPrice))
        }
        return plans
    }

    private func billingPlanType() throws(CatalogError) -> BillingPlanType? {
        try optionalString("billingPlanType").flatMap { BillingPlanType(rawValue: $0) }
    }

    /// Files up to 4.0 have one introductory offer. Later files have several, in addition or instead.
    private func offers() throws(CatalogError) -> ([SubscriptionOffer], unfinished: [Subscription.UnfinishedOffer]) {
        var offers: [SubscriptionOffer] = []
        var unfinished: [Subscription.UnfinishedOffer] = []
        func read(
            _ element: CatalogReader, _ kind: SubscriptionOffer.Kind, identifiedBy name: String?
        ) throws(CatalogError) {
            if let key = try element.missingKey(identifiedBy: name) {
                unfinished.append(
                    .init(
                        kind: kind,
                        identifier: try name.flatMap { name throws(CatalogError) in
                            try element.optionalString(name)
                        }, key: key))
            } else {
                offers.append(try element.offer(kind, identifiedBy: name))
            }
        }
        let introductory = try optional("introductoryOffers")?.elements() ?? []
        if introductory.isEmpty, let single = try optional("introductoryOffer") {
            try read(single, .introductory, identifiedBy: nil)
        }
        for element in introductory { try read(element, .introductory, identifiedBy: nil) }
        for (key, kind, name) in [
            ("adHocOffers", SubscriptionOffer.Kind.promotional, "offerID"), ("codeOffers", .offerCode, "referenceName"),
            ("winbackOffers", .winBack, "offerID"),
        ] {
            for element in try optional(key)?.elements() ?? [] { try read(element, kind, identifiedBy: name) }
        }
        return (offers, unfinished)
    }

    /// The first key of an offer that its author has not filled in; nil for a finished offer. Xcode writes the payment
    /// mode `none` until it is chosen.
    private func missingKey(identifiedBy name: String?) throws(CatalogError) -> String? {
        let mode = try optionalString("paymentMode")
        if mode == nil || mode == "none" { return "paymentMode" }
        for key in [name, "subscriptionPeriod"].compactMap(\.self) where try optionalString(key) == nil { return key }
        return nil
    }

    private func offer(
        _ kind: SubscriptionOffer.Kind,
        identifiedBy name: String?
    ) throws(CatalogError) -> SubscriptionOffer {
        let mode = try required("paymentMode")
        guard let paymentMode = SubscriptionOffer.PaymentMode(rawValue: try mode.string()) else {
            throw mode.failure("it is none of free, payAsYouGo, payUpFront")
        }
        var identifier: String?
        if let name { identifier = try required(name).string() }
        var price: Price?
        if paymentMode != .freeTrial { price = try required("displayPrice").offerPrice() }
        var eligibility: Set<SubscriptionOffer.Eligibility>?
        if kind == .offerCode, let names = try optional("eligibility")?.elements() {
            eligibility = []
            for name in names {
                guard let customers = SubscriptionOffer.Eligibility(rawValue: try name.string()) else {
                    throw name.failure("it is none of new, existing, expired")
                }
                eligibility?.insert(customers)
            }
        }
        if kind == .winBack, try optional("isEligible")?.bool() == false { eligibility = [] }
        return SubscriptionOffer(
            kind: kind, identifier: identifier, paymentMode: paymentMode,
            period: try required("subscriptionPeriod").period(),
            periodCount: try optional("numberOfPeriods")?.count() ?? 1, price: price, eligibility: eligibility,
            billingPlanType: try billingPlanType())
    }

    /// An offer's price. Xcode writes an empty text for an unused field: nothing is charged.
    private func offerPrice() throws(CatalogError) -> Price {
        try text().isEmpty ? Price(milliunits: 0, currency: currency) : try price()
    }
}
