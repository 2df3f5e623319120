import Foundation
import HTTPSupport
import Proofs

/// A request of the Advanced Commerce API in an app: a one-time charge, a new subscription, or a change of one.
struct SignedAdvancedCommerceRequest {
    static let unreadable = refusal("The claim request must be the base64 of a JSON object.")

    private enum Operation: String, CaseIterable {
        case oneTimeCharge = "CREATE_ONE_TIME_CHARGE"
        case subscription = "CREATE_SUBSCRIPTION"
        case modification = "MODIFY_SUBSCRIPTION"
        case reactivation = "REACTIVATE_SUBSCRIPTION"

        /// The required members, besides those of all operations.
        var required: [String] {
            switch self {
            case .oneTimeCharge: ["currency", "item", "taxCode"]
            case .subscription: ["currency", "descriptors", "items", "period", "taxCode"]
            case .modification: ["retainBillingCycle", "transactionId"]
            case .reactivation: ["transactionId"]
            }
        }
    }

    /// The lengths of a period (App Store Server API, `advancedCommercePeriod`).
    private static let periods = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]

    let object: JSONObject

    /// - Returns: Nil if the claim is not the base64 of a JSON object.
    init?(_ claims: TokenClaims) {
        guard let bytes = claims.text("request").flatMap({ Base64.decode($0.utf8) }),
            case .object(let object)? = try? JSONParser.parse(bytes)
        else { return nil }
        self.object = object
    }

    private static func refusal(_ sentence: String) -> AppStoreRefusal { AppStoreRefusal(sentence, .paymentInvalid) }

    private static func text(_ name: String, of object: JSONObject, upTo length: Int = .max) -> String? {
        if let text = object.text(name), !text.isEmpty, text.count <= length { text } else { nil }
    }

    private var operation: Operation? { Self.text("operation", of: object).flatMap(Operation.init) }

    func check() throws(AppStoreRefusal) {
        guard let operation else {
            let operations = Operation.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw Self.refusal("The request's operation must be one of \(operations).")
        }
        guard case .string("1")? = object["version"] else {
            throw Self.refusal("The request's version must be the text 1.")
        }
        guard requestReferenceIdentifier != nil else {
            throw Self.refusal("The request's requestInfo must have a UUID as its requestReferenceId.")
        }
        for name in operation.required where object[name].map({ $0 == .null }) ?? true {
            throw Self.refusal("The request lacks \(name), which \(operation.rawValue) requires.")
        }
    }

    private func information(_ name: String) -> String? {
        if case .object(let information)? = object["requestInfo"] { Self.text(name, of: information) } else { nil }
    }

    private var requestReferenceIdentifier: String? {
        information("requestReferenceId").flatMap { UUID(uuidString: $0) == nil ? nil : $0 }
    }

    /// The account token of the purchase; nil if the request has none.
    var appAccountToken: UUID? { information("appAccountToken").flatMap(UUID.init(uuidString:)) }

    /// The content of a checked request.
    func charge(in storefront: Storefront) throws(AppStoreRefusal) -> AdvancedCommerceCharge {
        let change = try change()
        guard
            [change == nil ? storefront.currency : nil, storefront.currency].contains(
                Self.text("currency", of: object)),
            [nil, storefront.countryCode].contains(Self.text("storefront", of: object))
        else {
            throw Self.refusal(
                "The request's currency and storefront must be those of the customer, \(storefront.currency) and "
                    + "\(storefront.countryCode).")
        }
        let (items, terms) = change == nil ? try content() : ([], nil)
        guard let taxCode = Self.text("taxCode", of: object) ?? (change == nil ? nil : ""),
            let requestReferenceIdentifier
        else { throw Self.refusal("The request's taxCode must be a text.") }
        var charge = AdvancedCommerceCharge(
            items: items, terms: terms, currency: storefront.currency, taxCode: taxCode,
            requestReferenceIdentifier: requestReferenceIdentifier)
        charge.change = change
        if operation == .subscription, Self.has("previousTransactionId", in: object) {
            guard let previous = Self.text("previousTransactionId", of: object) else {
                throw Self.refusal("The request's previousTransactionId must be the text of a number.")
            }
            charge.previousTransactionIdentifier = previous
        }
        return charge
    }

    private func content() throws(AppStoreRefusal)
        -> (items: [AdvancedCommerceCharge.Item], terms: AdvancedCommerceCharge.Terms?)
    {
        guard operation == .oneTimeCharge else { return (try subscriptionItems(), try terms()) }
        guard let item = object["item"].flatMap(Self.item) else {
            throw Self.refusal("The request's item must have SKU, displayName, description and price.")
        }
        return ([item], nil)
    }

    private func subscriptionItems() throws(AppStoreRefusal) -> [AdvancedCommerceCharge.Item] {
        let (items, period) = (try items("items", sellsOffers: true).map(\.item), try Self.period(of: object))
        guard !items.isEmpty, Set(items.map(\.sku)).count == items.count else {
            throw Self.refusal("Each of the request's items must have an SKU of its own.")
        }
        // Apple does not say what the others cost in a period of another length.
        if let other = items.compactMap(\.offer).first(where: { $0.period != period }),
            !items.allSatisfy({ $0.offer?.period == other.period && $0.offer?.periodCount == other.periodCount })
        {
            throw Self.refusal(
                "All items must have an offer of \(other.period.description) with the same periodCount, or each offer must have the "
                    + "period of the subscription, \(period.description).")
        }
        let charge = AdvancedCommerceCharge(items: items, currency: "", taxCode: "", requestReferenceIdentifier: "")
        guard charge.isForSale else { throw Self.refusal("The request's items cost too much together.") }
        return items
    }

    private func terms() throws(AppStoreRefusal) -> AdvancedCommerceCharge.Terms {
        guard case .object(let descriptors)? = object["descriptors"],
            let displayName = Self.text("displayName", of: descriptors, upTo: AdvancedCommerceCharge.displayNameLength),
            let description = Self.text("description", of: descriptors, upTo: AdvancedCommerceCharge.descriptionLength)
        else { throw Self.refusal("The request's descriptors must have displayName and description.") }
        return AdvancedCommerceCharge.Terms(
            displayName: displayName, description: description, period: try Self.period(of: object))
    }

    private static func period(of object: JSONObject) throws(AppStoreRefusal) -> SubscriptionPeriod {
        guard let text = text("period", of: object), periods.contains(text), let period = SubscriptionPeriod(text)
        else {
            throw refusal("The request's period must be one of \(periods.joined(separator: ", ")).")
        }
        return period
    }

    /// The items of a list, each with its object; empty without the list.
    ///
    /// - Parameter sellsOffers: False to refuse offers on items.
    private func items(
        _ list: String, sellsOffers: Bool = false
    ) throws(AppStoreRefusal) -> [(item: AdvancedCommerceCharge.Item, object: JSONObject)] {
        var items: [(AdvancedCommerceCharge.Item, JSONObject)] = []
        for object in try objects(list) {
            guard var item = Self.item(.object(object)) else {
                throw Self.refusal(
                    "Each of the request's \(list) must have an SKU of at most \(AdvancedCommerceCharge.skuLength) characters, a displayName of at "
                        + "most \(AdvancedCommerceCharge.displayNameLength), a description of at most \(AdvancedCommerceCharge.descriptionLength), and a price."
                )
            }
            if let value = object["offer"], value != .null {
                guard sellsOffers else {
                    throw Self.refusal(
                        "The store sells offers on items of a new subscription alone: leave out the offer.")
                }
                item.offer = try Self.offer(value, for: item)
            }
            items.append((item, object))
        }
        return items
    }

    /// The lengths and the numbers of periods of an offer (Advanced Commerce API, `Offer`).
    private static let offerPeriods = ["P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y"]
    private static let periodCounts: ClosedRange<Int64> = 1...12

    private static func offer(
        _ value: JSONValue, for item: AdvancedCommerceCharge.Item
    ) throws(AppStoreRefusal) -> AdvancedCommerceCharge.Offer {
        guard case .object(let offer) = value, let length = text("period", of: offer), offerPeriods.contains(length),
            let period = SubscriptionPeriod(length),
            case .number(let count)? = offer["periodCount"], let periodCount = count.int64,
            periodCounts.contains(periodCount), case .number(let amount)? = offer["price"],
            let price = amount.int64, (0...item.price).contains(price),
            let reason = text("reason", of: offer).flatMap(AdvancedCommerceOfferReason.init(rawValue:))
        else {
            let reasons = AdvancedCommerceOfferReason.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(
                "An item's offer must have one of the periods \(offerPeriods.joined(separator: ", ")), a periodCount from "
                    + "\(periodCounts.lowerBound) to \(periodCounts.upperBound), a price of at most the item's, and one of the reasons \(reasons)."
            )
        }
        // Apple: FreeTrialOfferMustUsePeriodCountOfOneError.
        guard price > 0 || periodCount == 1 else {
            throw refusal("An item's offer with the price 0, a free trial, must have the periodCount 1.")
        }
        return AdvancedCommerceCharge.Offer(
            period: period, periodCount: Int(periodCount), price: price, reason: reason)
    }

    private func objects(_ list: String) throws(AppStoreRefusal) -> [JSONObject] {
        guard let value = object[list], value != .null else { return [] }
        guard case .array(let values) = value else { throw Self.refusal("The request's \(list) must be a list.") }
        var objects: [JSONObject] = []
        for value in values {
            guard case .object(let object) = value else {
                throw Self.refusal("Each of the request's \(list) must be an object.")
            }
            objects.append(object)
        }
        return objects
    }

    private static func item(_ value: JSONValue) -> AdvancedCommerceCharge.Item? {
        guard case .object(let item) = value, let sku = text("SKU", of: item, upTo: AdvancedCommerceCharge.skuLength),
            let displayName = text("displayName", of: item, upTo: AdvancedCommerceCharge.displayNameLength),
            let description = text("description", of: item, upTo: AdvancedCommerceCharge.descriptionLength),
            case .number(let number)? = item["price"], let price = number.int64,
            AdvancedCommerceCharge.prices.contains(price)
        else { return nil }
        return AdvancedCommerceCharge.Item(sku: sku, displayName: displayName, description: description, price: price)
    }
}

/// The changes of a subscription that the customer has.
extension SignedAdvancedCommerceRequest {
    /// The change; nil for a new purchase.
    private func change() throws(AppStoreRefusal) -> AdvancedCommerceChange? {
        let kind: AdvancedCommerceChange.Kind
        switch operation {
        case .oneTimeCharge, .subscription, nil: return nil
        case .modification: kind = .modification(try modification())
        case .reactivation: kind = .reactivation(skus: Self.has("items", in: object) ? try skus("items") : nil)
        }
        guard let transaction = Self.text("transactionId", of: object) else {
            throw Self.refusal("The request's transactionId must be the text of a number.")
        }
        return AdvancedCommerceChange(ofTransaction: transaction, kind)
    }

    private func skus(_ list: String) throws(AppStoreRefusal) -> [String] {
        var skus: [String] = []
        for object in try objects(list) {
            guard let sku = Self.text("SKU", of: object, upTo: AdvancedCommerceCharge.skuLength), !skus.contains(sku)
            else {
                throw Self.refusal("Each of the request's \(list) must have an SKU of its own.")
            }
            skus.append(sku)
        }
        return skus
    }

    private static func has(_ name: String, in object: JSONObject) -> Bool { object[name].map { $0 != .null } ?? false }

    private static func isImmediate(_ object: JSONObject) throws(AppStoreRefusal) -> Bool {
        switch text("effective", of: object) {
        case "IMMEDIATELY": true
        case "NEXT_BILL_CYCLE": false
        default: throw refusal("Each effective of the request must be IMMEDIATELY or NEXT_BILL_CYCLE.")
        }
    }

    /// An item with the prorated price that its object states.
    private static func prorated(
        _ item: AdvancedCommerceCharge.Item, _ object: JSONObject
    ) throws(AppStoreRefusal) -> AdvancedCommerceCharge.Item {
        guard let value = object["proratedPrice"], value != .null else { return item }
        guard case .number(let number) = value, let price = number.int64, (0...item.price).contains(price) else {
            throw refusal("Each proratedPrice of the request must be a number of milliunits from 0 to the price.")
        }
        var item = item
        item.paid = price
        return item
    }

    private func modification() throws(AppStoreRefusal) -> AdvancedCommerceChange.Modification {
        guard case .bool(let retainsBillingCycle)? = object["retainBillingCycle"] else {
            throw Self.refusal("The request's retainBillingCycle must be true or false.")
        }
        var change = AdvancedCommerceChange.Modification()
        change.retainsBillingCycle = retainsBillingCycle
        for (item, object) in try items("addItems") { change.added.append(try Self.prorated(item, object)) }
        for (item, object) in try items("changeItems") {
            guard let current = Self.text("currentSKU", of: object, upTo: AdvancedCommerceCharge.skuLength),
                ["UPGRADE", "DOWNGRADE", "APPLY_OFFER"].contains(Self.text("reason", of: object))
            else {
                throw Self.refusal(
                    "Each of the request's changeItems must have a currentSKU, and UPGRADE, DOWNGRADE or APPLY_OFFER as its reason."
                )
            }
            let isImmediate = try Self.isImmediate(object)
            guard isImmediate || !Self.has("proratedPrice", in: object) else {
                throw Self.refusal("An item that changes at the next renewal has no proratedPrice.")
            }
            change.replaced.append(
                .init(of: current, by: try Self.prorated(item, object), isImmediate: isImmediate))
        }
        change.removed = try skus("removeItems")
        change.taxCode = Self.text("taxCode", of: object)
        try addTerms(to: &change)
        try check(change)
        return change
    }

    private func addTerms(to change: inout AdvancedCommerceChange.Modification) throws(AppStoreRefusal) {
        if let value = object["descriptors"], value != .null {
            guard case .object(let descriptors) = value else {
                throw Self.refusal("The request's descriptors must be an object.")
            }
            change.displayName = Self.text(
                "displayName", of: descriptors, upTo: AdvancedCommerceCharge.displayNameLength)
            change.description = Self.text(
                "description", of: descriptors, upTo: AdvancedCommerceCharge.descriptionLength)
            change.describesAtOnce = try Self.isImmediate(descriptors)
        }
        guard let value = object["periodChange"], value != .null else { return }
        guard case .object(let period) = value else {
            throw Self.refusal("The request's periodChange must be an object.")
        }
        change.period = try Self.period(of: period)
        // Apple: PeriodResetWithRetainBillingCycle, PeriodChangeImmediateWithEffectiveAtNextBillingCycle.
        guard try Self.isImmediate(period) != change.retainsBillingCycle else {
            throw Self.refusal(
                "A periodChange IMMEDIATELY needs retainBillingCycle false, and one at NEXT_BILL_CYCLE needs true.")
        }
    }

    /// Checks what the changes of a request say together (Advanced Commerce API, "Error messages and codes").
    private func check(_ change: AdvancedCommerceChange.Modification) throws(AppStoreRefusal) {
        guard !change.added.isEmpty || !change.replaced.isEmpty || !change.removed.isEmpty else {
            throw Self.refusal("The request must add, change or remove an item.")
        }
        let named = change.added.map(\.sku) + change.replaced.map(\.currentSKU) + change.removed
        guard Set(named).count == named.count else {
            throw Self.refusal("The request must name each SKU in one of addItems, changeItems and removeItems, once.")
        }
        if change.retainsBillingCycle {
            guard change.period == nil || change.added.isEmpty && !change.replaced.contains(where: \.isImmediate) else {
                throw Self.refusal("A periodChange at the next renewal lets no item begin at once.")
            }
        } else {
            guard !change.added.isEmpty || !change.replaced.isEmpty else {
                throw Self.refusal("With retainBillingCycle false, removeItems needs addItems or changeItems.")
            }
            guard change.replaced.allSatisfy(\.isImmediate), change.describesAtOnce else {
                throw Self.refusal("With retainBillingCycle false, each change is effective IMMEDIATELY.")
            }
        }
    }
}
