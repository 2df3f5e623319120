import Proofs

/// Reads the subscription groups of a `.storekit` file.
struct SubscriptionReader {
    let currency: String

    /// A group's products, in the file's order.
    func products(ofGroup group: CatalogReader) throws(CatalogError) -> [Product] {
        let identifier = try group.required("id").string()
        let name = try group.optional("name")?.text() ?? ""
        return try group.required("subscriptions").elements().map { entry throws(CatalogError) in
            try product(entry, groupIdentifier: identifier, groupName: name)
        }
    }

    func product(_ entry: CatalogReader, groupIdentifier: String, groupName: String) throws(CatalogError) -> Product {
        let period = try entry.required("recurringSubscriptionPeriod")
        let (offers, unfinished) = try offers(entry)
        return try ProductReader(entry: entry, currency: currency).product(
            type: .autoRenewableSubscription,
            subscription: Subscription(
                groupIdentifier: groupIdentifier, groupName: groupName,
                level: try entry.required("groupNumber").count(), period: try Self.period(period),
                offers: offers, unfinishedOffers: unfinished))
    }

    /// Files up to 4.0 have one introductory offer. Later files have several, in addition or instead.
    private func offers(
        _ entry: CatalogReader
    ) throws(CatalogError) -> ([SubscriptionOffer], unfinished: [Subscription.UnfinishedOffer]) {
        var offers: [SubscriptionOffer] = []
        var unfinished: [Subscription.UnfinishedOffer] = []
        func read(
            _ element: CatalogReader, _ kind: SubscriptionOffer.Kind, identifiedBy name: String?
        ) throws(CatalogError) {
            if let key = try Self.missingKey(of: element, identifiedBy: name) {
                unfinished.append(
                    .init(
                        kind: kind,
                        identifier: try name.flatMap { name throws(CatalogError) in
                            try element.optionalString(name)
                        }, key: key))
            } else {
                offers.append(try offer(element, kind: kind, identifiedBy: name))
            }
        }
        let introductory = try entry.optional("introductoryOffers")?.elements() ?? []
        if introductory.isEmpty, let single = try entry.optional("introductoryOffer") {
            try read(single, .introductory, identifiedBy: nil)
        }
        for element in introductory { try read(element, .introductory, identifiedBy: nil) }
        for (key, kind, name) in [
            ("adHocOffers", SubscriptionOffer.Kind.promotional, "offerID"), ("codeOffers", .offerCode, "referenceName"),
            ("winbackOffers", .winBack, "offerID"),
        ] {
            for element in try entry.optional(key)?.elements() ?? [] {
                try read(element, kind, identifiedBy: name)
            }
        }
        return (offers, unfinished)
    }

    /// The first key of an offer that its author has not filled in; nil for a finished offer. Xcode writes the payment
    /// mode `none` until it is chosen.
    private static func missingKey(
        of offer: CatalogReader,
        identifiedBy name: String?
    ) throws(CatalogError) -> String? {
        let mode = try offer.optionalString("paymentMode")
        if mode == nil || mode == "none" { return "paymentMode" }
        for key in [name, "subscriptionPeriod"].compactMap(\.self) where try offer.optionalString(key) == nil {
            return key
        }
        return nil
    }

    private func offer(
        _ entry: CatalogReader,
        kind: SubscriptionOffer.Kind,
        identifiedBy name: String?
    ) throws(CatalogError) -> SubscriptionOffer {
        let mode = try entry.required("paymentMode")
        guard let paymentMode = SubscriptionOffer.PaymentMode(rawValue: try mode.string()) else {
            throw mode.failure("it is none of free, payAsYouGo, payUpFront")
        }
        var identifier: String?
        if let name { identifier = try entry.required(name).string() }
        var price: Price?
        if paymentMode != .freeTrial {
            price = try Self.price(try entry.required("displayPrice"), currency: currency)
        }
        var eligibility: Set<SubscriptionOffer.Eligibility>?
        if kind == .offerCode, let names = try entry.optional("eligibility")?.elements() {
            eligibility = []
            for name in names {
                guard let customers = SubscriptionOffer.Eligibility(rawValue: try name.string()) else {
                    throw name.failure("it is none of new, existing, expired")
                }
                eligibility?.insert(customers)
            }
        }
        if kind == .winBack, try entry.optional("isEligible")?.bool() == false { eligibility = [] }
        return SubscriptionOffer(
            kind: kind, identifier: identifier, paymentMode: paymentMode,
            period: try Self.period(try entry.required("subscriptionPeriod")),
            periodCount: try entry.optional("numberOfPeriods")?.count() ?? 1, price: price, eligibility: eligibility)
    }

    /// An offer's price. Xcode writes an empty text for an unused field: nothing is charged.
    private static func price(_ entry: CatalogReader, currency: String) throws(CatalogError) -> Price {
        guard try !entry.text().isEmpty else { return Price(milliunits: 0, currency: currency) }
        return try ProductReader.price(entry, currency: currency)
    }

    private static func period(_ entry: CatalogReader) throws(CatalogError) -> SubscriptionPeriod {
        guard let period = SubscriptionPeriod(try entry.string()) else {
            throw entry.failure("it is not a period; write P1W, P1M or P1Y")
        }
        return period
    }
}
