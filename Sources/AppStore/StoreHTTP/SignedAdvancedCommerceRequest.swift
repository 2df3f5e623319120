import Foundation
import HTTPSupport
import Proofs

/// A request of the Advanced Commerce API in an app. The store sells one-time charges and new subscriptions, and checks the form alone of
/// the others.
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

    /// The prices of an item and of all items, in milliunits. The prices of a StoreKit configuration are in this range, too.
    private static let prices: ClosedRange<Int64> = 0...999_999_999_999
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

    private static func text(_ name: String, of object: JSONObject) -> String? {
        if let text = object.text(name), !text.isEmpty { text } else { nil }
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
        guard Self.text("currency", of: object) == storefront.currency,
            [nil, storefront.countryCode].contains(Self.text("storefront", of: object))
        else {
            throw Self.refusal(
                "The request's currency and storefront must be those of the customer, \(storefront.currency) and "
                    + "\(storefront.countryCode).")
        }
        let (items, terms) = try content()
        guard let taxCode = Self.text("taxCode", of: object), let requestReferenceIdentifier else {
            throw Self.refusal("The request's taxCode must be a text.")
        }
        return AdvancedCommerceCharge(
            items: items, terms: terms, currency: storefront.currency, taxCode: taxCode,
            requestReferenceIdentifier: requestReferenceIdentifier)
    }

    private func content() throws(AppStoreRefusal)
        -> (items: [AdvancedCommerceCharge.Item], terms: AdvancedCommerceCharge.Terms?)
    {
        switch operation {
        case .oneTimeCharge:
            guard let item = object["item"].flatMap(Self.item) else {
                throw Self.refusal("The request's item must have SKU, displayName, description and price.")
            }
            return ([item], nil)
        case .subscription: return (try subscriptionItems(), try terms())
        case .modification, .reactivation, nil:
            throw Self.refusal(
                "The store sells one-time charges and new subscriptions alone: the operation must be "
                    + "\(Operation.oneTimeCharge.rawValue) or \(Operation.subscription.rawValue).")
        }
    }

    private func subscriptionItems() throws(AppStoreRefusal) -> [AdvancedCommerceCharge.Item] {
        guard case .array(let values)? = object["items"], !values.isEmpty,
            case let items = values.compactMap(Self.item), items.count == values.count,
            Set(items.map(\.sku)).count == items.count
        else {
            throw Self.refusal(
                "Each of the request's items must have an SKU of its own, displayName, description and price.")
        }
        var total: Int64 = 0
        for item in items where Self.prices.contains(total) { total += item.price }
        guard Self.prices.contains(total) else { throw Self.refusal("The request's items cost too much together.") }
        for case .object(let value) in values where value["offer"].map({ $0 != .null }) ?? false {
            throw Self.refusal("The store sells no offers on items: leave out the offer.")
        }
        return items
    }

    private func terms() throws(AppStoreRefusal) -> AdvancedCommerceCharge.Terms {
        guard case .object(let descriptors)? = object["descriptors"],
            let displayName = Self.text("displayName", of: descriptors),
            let description = Self.text("description", of: descriptors)
        else { throw Self.refusal("The request's descriptors must have displayName and description.") }
        guard let text = Self.text("period", of: object), Self.periods.contains(text),
            let period = SubscriptionPeriod(text)
        else {
            throw Self.refusal("The request's period must be one of \(Self.periods.joined(separator: ", ")).")
        }
        return AdvancedCommerceCharge.Terms(displayName: displayName, description: description, period: period)
    }

    private static func item(_ value: JSONValue) -> AdvancedCommerceCharge.Item? {
        guard case .object(let item) = value, let sku = text("SKU", of: item),
            let displayName = text("displayName", of: item), let description = text("description", of: item),
            case .number(let number)? = item["price"], let price = number.int64, prices.contains(price)
        else { return nil }
        return AdvancedCommerceCharge.Item(sku: sku, displayName: displayName, description: description, price: price)
    }
}
