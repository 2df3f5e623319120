import Proofs

/// The keys that all products of a `.storekit` file have.
extension CatalogReader {
    func product(type: ProductType, subscription: Subscription? = nil) throws(CatalogError) -> Product {
        Product(
            productIdentifier: try required("productID").string(), type: type,
            referenceName: try optional("referenceName")?.text() ?? "", price: try required("displayPrice").price(),
            isFamilyShareable: try optional("familyShareable")?.bool() ?? false, localizations: try localizations(),
            subscription: subscription)
    }

    /// - Throws: `CatalogError` for an unknown type, or a type that belongs to another list.
    func productType(among types: [ProductType]) throws(CatalogError) -> ProductType {
        let type = try required("type")
        let name = try type.string()
        guard let known = types.first(where: { $0.configurationName == name }) else {
            throw type.failure("it is none of \(types.map(\.configurationName).joined(separator: ", "))")
        }
        return known
    }

    func price() throws(CatalogError) -> Price {
        guard let price = Price(majorUnits: try string(), currency: currency) else {
            throw failure("it is no price; write \"1200\" or \"0.99\"")
        }
        return price
    }

    func period() throws(CatalogError) -> SubscriptionPeriod {
        guard let period = SubscriptionPeriod(try string()) else {
            throw failure("it is not a period; write P1W, P1M or P1Y")
        }
        return period
    }

    /// A product that Xcode has just created has a localization without texts.
    private func localizations() throws(CatalogError) -> [Product.Localization] {
        var localizations: [Product.Localization] = []
        for element in try optional("localizations")?.elements() ?? [] {
            // A localization that its author has not finished is for no language.
            guard let locale = try element.optionalString("locale") else { continue }
            let localization = Product.Localization(
                locale: locale,
                displayName: try element.optional("displayName")?.text() ?? "",
                description: try element.optional("description")?.text() ?? "")
            guard !localizations.contains(where: { $0.locale == localization.locale }) else {
                throw try element.required("locale").failure("\(localization.locale) is there twice")
            }
            localizations.append(localization)
        }
        return localizations
    }
}

extension Product {
    /// The texts in a language, such as `ko` or `en`. If the language has none, the first localization.
    ///
    /// - Returns: Nil for a product without texts.
    package func localization(language: String) -> Localization? {
        let wanted = language.prefix { $0 != "_" && $0 != "-" }.lowercased()
        return localizations.first { $0.language.lowercased() == wanted } ?? localizations.first
    }
}

extension Catalog {
    package var languages: [String] { products.languages }
}

extension [Product] {
    /// The languages of the products' texts, such as `en`. The first product's first language comes first, because it replaces
    /// a missing one.
    package var languages: [String] {
        var languages: [String] = []
        for localization in flatMap(\.localizations) {
            let language = localization.language.lowercased()
            if !languages.contains(language) { languages.append(language) }
        }
        return languages
    }
}

extension ProductType {
    /// The name of the type in `.storekit` files and definitions.
    package var configurationName: String {
        switch self {
        case .consumable: "Consumable"
        case .nonConsumable: "NonConsumable"
        case .nonRenewingSubscription: "NonRenewingSubscription"
        case .autoRenewableSubscription: "RecurringSubscription"
        }
    }
}

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
                billingPlans: try billingPlans(), multiSeat: try multiSeat()))
    }

    /// The seats with which the subscription is sold. As at Apple, a subscription that a family can share is sold with none until the
    /// developer enables them.
    private func multiSeat() throws(CatalogError) -> MultiSeat {
        let isShareable = try optional("familyShareable")?.bool() ?? false
        guard let seats = try optional("multiSeat") else { return MultiSeat(isEnabled: !isShareable) }
        var management = InvitationManagement.apple
        if let given = try seats.optional("invitationManagement") {
            guard let known = InvitationManagement(rawValue: try given.string()) else {
                throw given.failure("it is none of APPLE, DEVELOPER")
            }
            management = known
        }
        var tiers: [MultiSeat.PriceTier] = []
        for element in try seats.optional("priceTiers")?.elements() ?? [] {
            let first = try element.required("minimumQuantity")
            let number = try first.count()
            guard number > tiers.last?.minimumQuantity ?? 1 else {
                throw first.failure("it has to be greater than that of the tier before, and than 1")
            }
            tiers.append(
                MultiSeat.PriceTier(minimumQuantity: number, price: try element.required("displayPrice").price()))
        }
        guard tiers.count < MultiSeat.maximumPrices else {
            throw seats.failure(
                "a subscription has at most \(MultiSeat.maximumPrices) prices of a seat, its own included")
        }
        return MultiSeat(
            isEnabled: try seats.optional("isEnabled")?.bool() ?? true, invitationManagement: management,
            priceTiers: tiers)
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
