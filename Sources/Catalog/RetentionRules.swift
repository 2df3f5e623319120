import Foundation
import Proofs

/// The rules that choose the message for a customer who may cancel a subscription, from `RetentionRules.json` (Retention Messaging API, "Get
/// Retention Message").
///
/// The first rule whose conditions all hold decides.
package final class RetentionRules: Sendable {
    private let file: RuleFile<RetentionRule>

    /// - Returns: Nil if the folder of the catalog has no rules.
    init?(folder: URL) throws(CatalogError) {
        guard let file = try RuleFile<RetentionRule>(Catalog.retentionRulesFile, in: folder) else { return nil }
        self.file = file
    }

    /// True if the choices are logged, and the App Store shows its default message.
    package var isDryRun: Bool { file.isDryRun }

    /// True if a choice is signed with the In-App Purchase key.
    package var needsKey: Bool { file.rules.contains { $0.choice.needsKey } }

    func check(in catalog: Catalog) throws(CatalogError) {
        for (entry, rule) in zip(file.entries, file.rules) {
            for product in try entry.optional("products")?.elements() ?? [] {
                try product.checkSubscription(in: catalog)
            }
            let answer = try entry.required("answer")
            switch rule.choice {
            case .message, .advancedCommerceInfo, .defaultMessage: break
            case .alternateProduct:
                try answer.required("alternateProduct").required("productId").checkSubscription(in: catalog)
            case .promotionalOffer(_, let offer, let product):
                let part = try answer.required("promotionalOffer")
                if product != nil { try part.required("productId").checkSubscription(in: catalog) }
                guard
                    catalog.products.contains(where: {
                        product ?? $0.productIdentifier == $0.productIdentifier && $0.has(offer)
                    })
                else {
                    throw try part.required("offerIdentifier").failure("the catalog has no promotional offer \(offer)")
                }
            }
        }
    }

    /// The decision about a customer.
    ///
    /// - Parameter catalog: The catalog with the groups of subscriptions and their offers.
    package func decision(about facts: RetentionFacts, in catalog: Catalog) -> RetentionDecision {
        for rule in file.rules {
            switch rule.holds(for: facts, in: catalog) {
            case true?: return .chosen(rule.choice, rule: rule.name)
            case false?: continue
            // A later rule may only follow if this one does not hold.
            case nil: return .undecided(rule: rule.name)
            }
        }
        return .unmatched
    }
}

extension Catalog {
    package static let retentionRulesFile = "RetentionRules.json"
}

/// The facts about a customer who may cancel a subscription.
package struct RetentionFacts: Hashable, Sendable {
    /// The product that the customer is subscribed to.
    package let productIdentifier: String
    /// The customer's locale, such as `en-US`.
    package let locale: String
    /// Nil if the ledger has not told.
    package let ownership: Ownership?

    /// The facts of the ledger about the subscription. One that is not known is nil.
    package struct Ownership: Hashable, Sendable {
        /// True if a user has redeemed the purchase.
        package let isRedeemed: Bool
        /// The product of the present period.
        package let productIdentifier: String?
        /// The code of the storefront's country, such as `KOR`.
        package let storefront: String?
        /// The seconds since the first purchase.
        package let age: Int64?
        package let isTrial: Bool?
        package let isFamilyShared: Bool?

        package init(
            isRedeemed: Bool, product productIdentifier: String? = nil, storefront: String? = nil, age: Int64? = nil,
            isTrial: Bool? = nil, isFamilyShared: Bool? = nil
        ) {
            (self.isRedeemed, self.productIdentifier, self.storefront) = (isRedeemed, productIdentifier, storefront)
            (self.age, self.isTrial, self.isFamilyShared) = (age, isTrial, isFamilyShared)
        }
    }

    package init(product productIdentifier: String, locale: String, ownership: Ownership? = nil) {
        (self.productIdentifier, self.locale, self.ownership) = (productIdentifier, locale, ownership)
    }

    /// The facts for people: `garden.basic.monthly, en-US, 40 days subscribed, KOR, not on trial`.
    package var text: String {
        let parts = [
            productIdentifier, locale, ownership?.isRedeemed ?? true ? nil : "not redeemed",
            ownership?.age.map { "\($0 / 86_400) days subscribed" }, ownership?.storefront,
            ownership?.isTrial.map { $0 ? "on trial" : "not on trial" },
            ownership?.isFamilyShared.map { $0 ? "shared by the family" : "not shared by the family" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

/// The decision of the rules.
package enum RetentionDecision: Hashable, Sendable {
    case chosen(RetentionAnswer, rule: String)
    /// A rule depends on a fact of the ledger, which has not told.
    case undecided(rule: String)
    case unmatched

    /// The choice, which is the default message without one.
    package var choice: RetentionAnswer { if case .chosen(let choice, _) = self { choice } else { .defaultMessage } }

    /// The name of the rule; nil if none matched.
    package var rule: String? {
        switch self {
        case .chosen(_, let rule), .undecided(let rule): rule
        case .unmatched: nil
        }
    }

    /// The decision for people: `promotionalOffer 5d1b… by rule "loyal"`.
    package var text: String {
        let words = [choice.name, choice.message?.uuidString.lowercased()].compactMap(\.self).joined(separator: " ")
        return words + (rule.map { " by rule \"\($0)\"" } ?? ", no rule matched")
    }
}

/// A choice of the rules: a part of Apple's `RealtimeResponseBody` before it is signed.
package indirect enum RetentionAnswer: Hashable, Sendable {
    case message(UUID)
    case alternateProduct(UUID, product: String, BillingPlanType?)
    /// A promotional offer of a product; nil for the customer's own.
    case promotionalOffer(UUID, offer: String, product: String?)
    /// A change of the items that the team's server has described (`SubscriptionModifyInAppRequest`).
    case advancedCommerceInfo(UUID, request: JSONObject)
    /// The message that the App Store shows if a server chooses none.
    case defaultMessage

    /// The part of Apple's answer; `none` for no part.
    package var name: String {
        switch self {
        case .message: "message"
        case .alternateProduct: "alternateProduct"
        case .promotionalOffer: "promotionalOffer"
        case .advancedCommerceInfo: "advancedCommerceInfo"
        case .defaultMessage: "none"
        }
    }

    /// The uploaded message; nil for the default one.
    package var message: UUID? {
        switch self {
        case .message(let message), .alternateProduct(let message, _, _), .promotionalOffer(let message, _, _),
            .advancedCommerceInfo(let message, _):
            message
        case .defaultMessage: nil
        }
    }

    /// True if it is signed with the In-App Purchase key.
    package var needsKey: Bool {
        switch self {
        case .promotionalOffer, .advancedCommerceInfo: true
        case .message, .alternateProduct, .defaultMessage: false
        }
    }

    /// - Parameter answer: The answer of a rule: one part in Apple's words, or none.
    fileprivate init(_ answer: CatalogReader) throws(CatalogError) {
        let parts = ["advancedCommerceInfo", "alternateProduct", "message", "promotionalOffer"]
        try answer.check(keys: parts)
        var choices: [RetentionAnswer] = []
        if let part = try answer.optional("message") {
            choices.append(.message(try part.message(and: [])))
        }
        if let part = try answer.optional("alternateProduct") {
            let message = try part.message(and: ["billingPlanType", "productId"])
            let plan = try part.optional("billingPlanType")?.word(among: BillingPlanType.allCases.map(\.rawValue))
            choices.append(
                .alternateProduct(
                    message, product: try part.required("productId").string(),
                    plan.flatMap(BillingPlanType.init(rawValue:))))
        }
        if let part = try answer.optional("promotionalOffer") {
            let message = try part.message(and: ["offerIdentifier", "productId"])
            choices.append(
                .promotionalOffer(
                    message, offer: try part.required("offerIdentifier").string(),
                    product: try part.optional("productId")?.string()))
        }
        if let part = try answer.optional("advancedCommerceInfo") {
            choices.append(
                .advancedCommerceInfo(
                    try part.message(and: ["request"]), request: try part.required("request").change()))
        }
        guard choices.count <= 1 else { throw answer.failure("it has several parts; the App Store takes one") }
        self = choices.first ?? .defaultMessage
    }
}

/// A rule: a choice, and the conditions that must all hold. A condition about an unknown fact does not hold.
private struct RetentionRule: NamedRule {
    private static let keys = [
        "answer", "isFamilyShared", "isRedeemed", "isTrial", "locales", "name", "products", "storefronts",
        "subscribedDays",
    ]

    let name: String
    let choice: RetentionAnswer
    private let products: Set<ByteKey>?
    private let locales: [String]?
    private let storefronts: [String]?
    private let isRedeemed: Bool?
    /// In seconds.
    private let age: ClosedRange<Int64>?
    private let isTrial: Bool?
    private let isFamilyShared: Bool?

    init(_ entry: CatalogReader) throws(CatalogError) {
        try entry.check(keys: Self.keys)
        name = try entry.required("name").name()
        choice = try RetentionAnswer(try entry.required("answer"))
        products = try entry.optional("products").map { list throws(CatalogError) in
            Set(try list.texts { text, _ in text }.map { ByteKey($0) })
        }
        locales = try entry.optional("locales")?.texts { text, element throws(CatalogError) in
            guard text.wholeMatch(of: /[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{2,8}){0,3}/) != nil else {
                throw element.failure("it is \"\(text.prefix(64))\"; write a language or a locale, such as en or en-US")
            }
            return Self.normal(text)
        }
        storefronts = try entry.optional("storefronts")?.texts { text, element throws(CatalogError) in
            guard text.wholeMatch(of: /[A-Z]{3}/) != nil else {
                throw element.failure("it is \"\(text.prefix(64))\"; write a country in three letters, such as KOR")
            }
            return text
        }
        isRedeemed = try entry.optional("isRedeemed")?.bool()
        age = try entry.optional("subscribedDays")?.range(upTo: 100_000, times: 86_400)
        isTrial = try entry.optional("isTrial")?.bool()
        isFamilyShared = try entry.optional("isFamilyShared")?.bool()
    }

    /// The locale in one spelling: Apple's tables have `en-US`, and `.storekit` files `en_US`.
    private static func normal(_ locale: String) -> String { locale.lowercased().replacing("_", with: "-") }

    /// - Returns: Nil if the facts of the ledger decide, and are missing.
    func holds(for facts: RetentionFacts, in catalog: Catalog) -> Bool? {
        guard products?.contains(ByteKey(facts.productIdentifier)) ?? true, speaks(facts.locale),
            isPossible(for: facts.productIdentifier, in: catalog)
        else { return false }
        guard isRedeemed != nil || storefronts != nil || age != nil || isTrial != nil || isFamilyShared != nil else {
            return true
        }
        guard let known = facts.ownership else { return nil }
        return holds(isRedeemed, known.isRedeemed, ==)
            && holds(storefronts, known.storefront) { $0.contains($1) }
            && holds(age, known.age) { $0.contains($1) }
            && holds(isTrial, known.isTrial, ==)
            && holds(isFamilyShared, known.isFamilyShared, ==)
    }

    /// True for the locales of the condition. A language stands for all its regions.
    private func speaks(_ locale: String) -> Bool {
        let locale = Self.normal(locale)
        return locales?.contains { locale == $0 || locale.hasPrefix($0 + "-") } ?? true
    }

    /// True if the App Store can show the choice to the subscriber of a product: "Choose an alternative subscription from the same
    /// subscription group" (`alternateProduct`), "either at the same or a different tier of service" (promotional offers).
    private func isPossible(for product: String, in catalog: Catalog) -> Bool {
        func isOfGroup(_ other: String) -> Bool {
            let group = catalog.product(product)?.subscription?.groupIdentifier
            return group != nil && catalog.product(other)?.subscription?.groupIdentifier == group
        }
        switch choice {
        case .message, .advancedCommerceInfo, .defaultMessage: return true
        case .alternateProduct(_, let other, _): return isOfGroup(other) && !other.hasSameBytes(as: product)
        case .promotionalOffer(_, let offer, let other):
            let offered = other ?? product
            return isOfGroup(offered) && catalog.product(offered)?.has(offer) ?? false
        }
    }
}

extension Product {
    /// True if the product has a promotional offer.
    fileprivate func has(_ offer: String) -> Bool {
        subscription?.offers.contains { $0.kind == .promotional && $0.identifier?.hasSameBytes(as: offer) ?? false }
            ?? false
    }
}

extension CatalogReader {
    /// The largest request of the Advanced Commerce API in a rule, in bytes.
    private static let maximumRequest = 4096

    /// The identifier of the message in a part of an answer.
    ///
    /// - Parameter keys: The other keys of the part.
    fileprivate func message(and keys: [String]) throws(CatalogError) -> UUID {
        try check(keys: keys + ["messageIdentifier"])
        let identifier = try required("messageIdentifier")
        guard let message = UUID(uuidString: try identifier.string()) else {
            throw identifier.failure("it must be the UUID under which the message was uploaded")
        }
        return message
    }

    /// A change of one item: "Use SubscriptionModifyInAppRequest with a single SubscriptionModifyChangeItem" (Retention Messaging API,
    /// `advancedCommerceData`). The service adds the members that differ for each customer.
    fileprivate func change() throws(CatalogError) -> JSONObject {
        let request = try object(upTo: Self.maximumRequest)
        for added in ["operation", "requestInfo", "transactionId", "version"] where request[added] != nil {
            throw CatalogError(file: file, key: path(of: added), reason: "leave it out; the service adds it")
        }
        let items = try required("changeItems")
        guard try items.elements().count == 1 else { throw items.failure("it must have one item") }
        _ = try required("retainBillingCycle").bool()
        return request
    }

    /// The different texts of a list.
    ///
    /// - Parameter read: Returns the value of a text of an element.
    fileprivate func texts(
        _ read: (String, CatalogReader) throws(CatalogError) -> String
    ) throws(CatalogError) -> [String] {
        try elements().unique { element throws(CatalogError) in
            let text = try read(try element.string(), element)
            return (text, text)
        }
    }

    /// Checks that the text is an auto-renewable subscription.
    fileprivate func checkSubscription(in catalog: Catalog) throws(CatalogError) {
        _ = try benefit(in: catalog)
        guard catalog.product(try string())?.subscription != nil else {
            throw failure("\(try string()) is no auto-renewable subscription")
        }
    }
}
