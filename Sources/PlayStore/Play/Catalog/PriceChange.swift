import Proofs

/// A price change of a subscription, and the consent to it.
package struct PriceChange: Codable, Hashable, Sendable {
    /// The kinds of changes, by Google's names.
    package enum Mode: String, Codable, Sendable {
        case decrease = "PRICE_DECREASE"
        /// The customer has to agree.
        case optIn = "PRICE_INCREASE"
        /// The customer is told, and may cancel.
        case optOut = "OPT_OUT_PRICE_INCREASE"
    }

    /// The states of a change, by Google's names.
    package enum State: String, Codable, Sendable {
        /// The customer has not agreed yet.
        case outstanding = "OUTSTANDING"
        case confirmed = "CONFIRMED"
        case applied = "APPLIED"
        /// The earlier price has returned.
        case canceled = "CANCELED"
    }

    package let newPrice: Money
    package let mode: Mode
    package var state: State
    package let startTime: Timestamp
    /// The moment from which a renewal has the new price.
    package let noticeEnd: Timestamp

    /// True until the customer is charged the new price, or keeps the old one.
    package var isUnderWay: Bool { [.outstanding, .confirmed].contains(state) }
}

extension RecurringPurchase.Item {
    /// The days before a renewal at a higher price. An increase to which the customer has to agree begins with a week in which the Play
    /// is silent.
    private static let optInDays: Int64 = 37
    private static let optOutDays: Int64 = 30
    /// The seconds of a license tester's notice, by the length of the real period in days.
    private static let testNotices: [(days: Int64, seconds: Int64)] = [
        (31, 300), (93, 180), (186, 120), (.max, 180),
    ]

    /// Starts the change to the present price of the plan. An earlier change that is under way ends.
    ///
    /// - Parameter isOptOut: True if the customer need not agree to an increase.
    /// - Returns: True if something changes. Nothing does if the customer has the price already.
    mutating func changePrice(to price: Money, isOptOut: Bool, at now: Timestamp) -> Bool {
        guard price.currencyCode == terms.price.currencyCode else { return false }
        let earlier = priceChange.flatMap { $0.isUnderWay ? $0 : nil }
        guard price != terms.price else {
            guard earlier != nil else { return false }
            priceChange?.state = .canceled
            return true
        }
        guard earlier?.newPrice != price else { return false }
        let isIncrease = (price.billionths ?? 0) > (terms.price.billionths ?? 0)
        let mode: PriceChange.Mode = !isIncrease ? .decrease : isOptOut ? .optOut : .optIn
        priceChange = PriceChange(
            newPrice: price, mode: mode, state: mode == .optIn ? .outstanding : .confirmed, startTime: now,
            noticeEnd: isIncrease ? noticeEnd(isOptOut: isOptOut, from: now) : now)
        return true
    }

    private func noticeEnd(isOptOut: Bool, from start: Timestamp) -> Timestamp {
        guard terms.isTest else { return start.adding(days: isOptOut ? Self.optOutDays : Self.optInDays) }
        let end = start.adding(terms.period, dayOfMonth: start.dayOfMonth)
        let days = (end.millisecondsSince1970 - start.millisecondsSince1970) / 86_400_000
        return start.adding(seconds: Self.testNotices.first { days <= $0.days }?.seconds ?? 180)
    }

    /// The renewal with the new price; nil if no change is under way.
    ///
    /// - Parameter renewal: The next renewal.
    func newPriceTime(after renewal: Timestamp) -> Timestamp? {
        guard let priceChange, priceChange.isUnderWay else { return nil }
        var time = renewal
        for phase in terms.phases.dropFirst(begunPhases) {
            time = RecurringPurchase.end(of: phase.length, from: time, terms: terms, kind: phase.kind)
        }
        while time < priceChange.noticeEnd {
            time = RecurringPurchase.end(of: terms.period, from: time, terms: terms, kind: .base)
        }
        return time
    }

    /// True if the customer has not agreed to the price of the renewal.
    func isPriceUnanswered(at renewal: Timestamp) -> Bool {
        guard let priceChange else { return false }
        return priceChange.state == .outstanding && nextPhase == nil && renewal >= priceChange.noticeEnd
    }

    /// Takes up the new price if the renewal is the first one with it.
    mutating func applyPriceChange(at renewal: Timestamp) -> Bool {
        guard let priceChange, priceChange.state == .confirmed, nextPhase == nil, renewal >= priceChange.noticeEnd
        else { return false }
        (terms.price, priceTime) = (priceChange.newPrice, priceChange.startTime)
        self.priceChange?.state = .applied
        return true
    }
}

extension RecurringPurchase {
    /// Starts the change to the present price of a product's plan.
    ///
    /// "If an item in a subscription with add-ons purchase has an opt-in price increase which is not yet confirmed by the user, any new
    /// opt-in price increase for other items in the purchase will be ignored unless it results in the same renewal time"
    /// (subscription-with-addons, "End a legacy price cohort"). It waits for the customer's answer to the first one.
    ///
    /// - Parameters:
    ///   - productId: The product; nil for that of the base item.
    ///   - isOptOut: True if the customer need not agree to an increase.
    /// - Returns: No effects if the customer has the price already, or does not renew.
    package mutating func changePrice(
        of productId: String? = nil, to price: Money, isOptOut: Bool, at now: Timestamp
    ) -> [Effect] {
        guard renews else { return [] }
        let (before, productId) = (self, productId ?? base.terms.productId)
        let isUnderWay = before.item(of: productId)?.priceChange?.isUnderWay == true
        var isChanged = false
        changeItems { item in
            guard item.terms.productId == productId, !item.isRemoved else { return }
            isChanged = item.changePrice(to: price, isOptOut: isOptOut, at: now)
            item.waitingPrice = nil
        }
        guard isChanged else { return [] }
        let times = items.filter { $0.priceChange?.state == .outstanding }.map { newPriceTime(of: $0) }
        guard Set(times).count <= 1 else {
            self = before
            changeItems { item in if item.terms.productId == productId { item.waitingPrice = price } }
            return []
        }
        // "Old price migration is canceled", with a notification, and the new one has its own (price-changes, "Handle overlapping price
        // changes").
        let isSecond = isUnderWay && item(of: productId)?.priceChange?.isUnderWay == true
        return Array(repeating: .notification(.priceChangeUpdated), count: isSecond ? 2 : 1)
    }

    /// The renewal of an item with its new price; nil if no change is under way.
    func newPriceTime(of item: Item) -> Timestamp? {
        guard renews, !item.isRemoved else { return nil }
        return item.newPriceTime(after: state == .paused ? resumeTime ?? item.expiryTime : item.expiryTime)
    }

    /// The renewal of the base item with its new price; nil if no change is under way.
    package var expectedNewPriceTime: Timestamp? { newPriceTime(of: base) }

    /// True if a price increase waits for the customer.
    package var awaitsConsent: Bool { items.contains { $0.priceChange?.state == .outstanding } }

    /// Agrees to the price increases: "users can only accept all unconfirmed opt-in price increases at once. … After the user confirms the
    /// price change for item A, the price change of item B starts" (subscription-with-addons, "End a legacy price cohort").
    ///
    /// - Throws: `PlayError`, `invalidAction`, unless one waits for the customer.
    package mutating func acceptPrice(at now: Timestamp) throws(PlayError) -> [Effect] {
        guard renews, awaitsConsent else {
            throw .invalidAction("Subscription \(number) has no price increase that waits for consent.")
        }
        changeItems { item in
            if item.priceChange?.state == .outstanding { item.priceChange?.state = .confirmed }
        }
        var effects: [Effect] = [.notification(.priceChangeUpdated), .notification(.priceChangeConfirmed)]
        for item in items {
            guard let price = item.waitingPrice else { continue }
            effects += changePrice(of: item.terms.productId, to: price, isOptOut: false, at: now)
        }
        return effects
    }

    /// True if the customer has not agreed to the price of an item that is due.
    func isPriceUnanswered(at renewal: Timestamp) -> Bool {
        items.contains { ($0.declinedAt ?? $0.expiryTime) <= renewal && $0.isPriceUnanswered(at: renewal) }
    }
}

extension PlayBooks {
    /// `monetization.subscriptions.basePlans.migratePrices`: subscribers who have had their price since before a time get the present one.
    ///
    /// A customer's price is the one of the purchase, and no version of the catalog is kept: whoever bought before a version's time has an
    /// older one.
    package func migratePrices(_ request: PriceMigrationRequests.Migrate, at place: CatalogPlace) throws
        -> EmptyObject
    {
        let place = try place.place(of: request.place)
        let product: CatalogSubscription = try found(at: place)
        let index = try product.index(ofPlan: place.basePlanId)
        guard let plan = product.basePlans?[index], plan.prepaidBasePlanType == nil else {
            throw PublisherError.invalidValue("basePlanId", "a prepaid plan has no subscribers who renew.")
        }
        guard let version = request.regionsVersion?.version, !version.isEmpty else {
            throw PublisherError.required("regionsVersion.version")
        }
        let field = "regionalPriceMigrations"
        guard let migrations = request.regionalPriceMigrations, !migrations.isEmpty else {
            throw PublisherError.required(field)
        }
        try CatalogCheck.different(migrations.map { $0.regionCode ?? "" }, "regionCode", field)
        for migration in migrations {
            guard let oldest = migration.oldestAllowedPriceVersionTime?.moment else {
                throw PublisherError.required("\(field).oldestAllowedPriceVersionTime")
            }
            guard let config = plan.regionalConfigs?.first(where: { $0.regionCode == migration.regionCode }),
                let region = config.regionCode, let price = config.price
            else { throw PublisherError.invalidValue("\(field).regionCode", "the base plan has no price there.") }
            guard let isOptOut = PriceMigrationRequests.isOptOut[migration.priceIncreaseType ?? ""] else {
                throw PublisherError.invalidValue("\(field).priceIncreaseType", "it is of no type.")
            }
            for var purchase in try subscriptions.subscriptions(
                of: product.productId ?? "", in: product.packageName ?? "")
            where purchase.items.contains(where: {
                $0.terms.productId == product.productId && $0.terms.basePlanId == plan.basePlanId
                    && $0.terms.regionCode == region && $0.priceTime < oldest
            }) {
                let time = try of(purchase.account).now
                let effects = purchase.changePrice(
                    of: product.productId, to: price, isOptOut: isOptOut, at: time)
                if !effects.isEmpty { try keep(&purchase, after: effects, at: time) }
            }
        }
        return .init()
    }

    /// `monetization.subscriptions.basePlans.batchMigratePrices`: all requests, or none.
    func migratePrices(_ batch: CatalogBatch<PriceMigrationRequests.Migrate>, at place: CatalogPlace) throws
        -> PriceMigrationRequests.BatchMigrated
    {
        let requests = try checked(batch) { try place.place(of: $0.place) }
        return PriceMigrationRequests.BatchMigrated(
            responses: try requests.map { try migratePrices($0, at: place) })
    }
}

/// The bodies of price migrations, and their answers.
package enum PriceMigrationRequests {
    /// True for the types of increases to which the customer need not agree. Without a type, the customer has to.
    static let isOptOut = [
        "": false, "PRICE_INCREASE_TYPE_UNSPECIFIED": false, "PRICE_INCREASE_TYPE_OPT_IN": false,
        "PRICE_INCREASE_TYPE_OPT_OUT": true,
    ]

    package struct RegionalMigration: Codable, Sendable {
        package var regionCode: String?
        package var oldestAllowedPriceVersionTime: DateTimeText?
        package var priceIncreaseType: String?
    }

    package struct Migrate: Codable, Sendable {
        package var packageName: String?
        package var productId: String?
        package var basePlanId: String?
        package var regionalPriceMigrations: [RegionalMigration]?
        package var regionsVersion: OneTimeProduct.RegionsVersion?
        package var latencyTolerance: String?

        var place: CatalogPlace {
            CatalogPlace(packageName: packageName, productId: productId, basePlanId: basePlanId)
        }
    }

    package struct BatchMigrated: Codable, Sendable {
        package var responses: [EmptyObject]?
    }
}
