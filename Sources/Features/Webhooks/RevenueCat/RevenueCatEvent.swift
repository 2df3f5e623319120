import Entitlements
import Ledger
import Proofs
import Vocabulary

/// A message in the format of RevenueCat's webhooks.
package struct RevenueCatEvent: Hashable, Sendable {
    package typealias Kind = RevenueCatType

    /// The reason for a cancellation or an expiration.
    enum Reason: String, Sendable {
        case unsubscribe = "UNSUBSCRIBE"
        case billingError = "BILLING_ERROR"
        case developerInitiated = "DEVELOPER_INITIATED"
        case priceIncrease = "PRICE_INCREASE"
        case customerSupport = "CUSTOMER_SUPPORT"
        /// Only of an expiration.
        case subscriptionPaused = "SUBSCRIPTION_PAUSED"
        case unknown = "UNKNOWN"
    }

    package let kind: Kind
    /// The members of `event`, in the order of their names.
    let members: JSONObject

    /// The body of the message as JSON.
    package var text: String {
        JSONValue.object(["api_version": "1.0", "event": .object(members)]).compactText
    }
}

/// The rules that derive the type of an event from the ledger's facts.
extension RevenueCatEvent {
    /// True if an entry of the audit log has a message in this format.
    static func isSent(about entry: AuditEntry) -> Bool {
        switch entry.event {
        // A transfer is one event, which the former owner's log causes. At a log-in, the former owner no longer exists.
        case .transferredIn: entry.reason != nil
        // "A PRODUCT_CHANGE event will immediately be sent informing of the upcoming product change" ("Product Change at Period End").
        // The page has no event for a customer who takes the choice back.
        case .planChosen: entry.reason != nil
        // The PRODUCT_CHANGE tells of it.
        case .autoRenewDisabled: entry.reason.flatMap(Canceler.init) != .replacement
        default: entry.event.rule.revenueCat != nil
        }
    }

    /// - Returns: Nil for a change without a message.
    package init?(_ facts: RevenueCatFacts) {
        guard Self.isSent(about: facts.entry), let sent = facts.entry.event.rule.revenueCat else { return nil }
        let kind = facts.companion ?? (facts.entry.event == .granted ? Kind.granted(facts) : sent)
        self.init(kind: kind, members: kind == .transfer ? Self.transfer(facts) : Self.change(kind, facts))
    }
}

extension RevenueCatEvent.Kind {
    /// The types of a granted transaction.
    static let granted: [Self] = [.initialPurchase, .renewal, .nonRenewingPurchase, .refundReversed]

    static func granted(_ facts: RevenueCatFacts) -> Self {
        if facts.revocation != nil { return .refundReversed }
        guard facts.isSubscription else { return .nonRenewingPurchase }
        return facts.isRenewal ? .renewal : .initialPurchase
    }
}

extension RevenueCatEvent {
    /// A test message, which reports no change.
    static func body(ofTest notice: WebhookNotice) -> [UInt8] {
        let event: JSONValue = .object([
            "type": "TEST", "id": .string(notice.identifier),
            "event_timestamp_ms": .integer(notice.happenedAt.millisecondsSince1970),
        ])
        return Array(JSONValue.object(["api_version": "1.0", "event": event]).compactText.utf8)
    }
}

/// The exact JSON of events. A member without a value is null, as in RevenueCat's own events.
extension RevenueCatEvent {
    static func change(_ kind: Kind, _ facts: RevenueCatFacts) -> JSONObject {
        let (entry, transaction) = (facts.entry, facts.transaction)
        let terms = PurchasePeriod.Terms(transaction?.facts ?? TransactionFacts())
        let isPromotional = entry.event.rule.object == .grant
        let (amount, currency) = (facts.amount(of: kind), transaction?.facts.text(.currency))
        // There are no exchange rates here. An amount of zero is zero in every currency.
        let inDollars = amount == 0 || currency.map { $0.hasSameBytes(as: "USD") } == true ? amount : nil
        return object([
            ("aliases", .texts(facts.customer)),
            // "Not included when store is PROMOTIONAL."
            ("app_id", isPromotional ? nil : .text(transaction?.app)),
            ("app_user_id", .text(facts.customer.first)),
            ("auto_resume_at_ms", kind == .subscriptionPaused ? .milliseconds(facts.resumesAt) : nil),
            ("cancel_reason", kind == .cancellation ? .string(facts.reason.rawValue) : nil),
            ("commission_percentage", .null),
            ("country_code", .text(transaction?.facts.text(.storefront).flatMap(countryCode))),
            ("currency", .text(currency)),
            ("entitlement_id", .null),
            // "It can be NULL if the product_id is not mapped to any entitlements."
            ("entitlement_ids", facts.rights.isEmpty ? .null : .texts(facts.rights)),
            ("environment", .string(environment(of: entry.origin))),
            ("event_timestamp_ms", .milliseconds(entry.happenedAt)),
            ("expiration_at_ms", .milliseconds(facts.endsAt)),
            ("expiration_reason", kind == .expiration ? .string(facts.reason.rawValue) : nil),
            (
                "grace_period_expiration_at_ms",
                kind == .billingIssue ? .milliseconds(transaction?.graceEndsAt) : nil
            ),
            ("has_more_aliases", hasMoreAliases(facts)),
            ("id", .string(facts.messageIdentifier)),
            ("is_family_share", .bool(facts.isFamilyShared)),
            ("is_trial_conversion", kind == .renewal ? .bool(facts.isTrialConversion) : nil),
            ("metadata", .null),
            // The audit log has the plan in RevenueCat's form.
            (
                "new_product_id",
                kind == .productChange ? .text(entry.reason.map { SubscribedPlan(text: $0).revenueCatName }) : nil
            ),
            ("offer_code", .text(transaction.flatMap(offerCode))),
            ("original_app_user_id", .text(facts.customer.first)),
            ("original_transaction_id", .text(isPromotional ? entry.reference : facts.originalIdentifier)),
            ("period_type", .string(isPromotional ? "PROMOTIONAL" : periodType(terms))),
            ("presented_offering_id", .null),
            ("price", .amount(inDollars)),
            ("price_in_purchased_currency", .amount(amount)),
            ("product_id", .string(facts.product)),
            ("purchased_at_ms", .milliseconds(facts.grant?.grantedAt ?? transaction?.purchaseDate)),
            ("renewal_number", facts.renewalNumber.map { .integer($0) } ?? .null),
            ("store", .string(isPromotional ? "PROMOTIONAL" : store(of: entry.origin))),
            // Attributes may be personal data, so messages have none.
            ("subscriber_attributes", .object([:])),
            ("takehome_percentage", .null),
            ("tax_percentage", .null),
            ("transaction_id", .string(transaction?.storeIdentifier ?? entry.reference)),
            ("type", .string(kind.rawValue)),
        ])
    }

    /// A transfer from the user whose log has the entry. At a log-in, the former owner is the anonymous id in the reason.
    static func transfer(_ facts: RevenueCatFacts) -> JSONObject {
        let former = facts.entry.reason.map { [identifier(ofAnonymous: $0)] }
        let owner = former == nil ? facts.owner : facts.customer
        return object([
            ("app_id", .text(facts.transactions.last?.app)),
            ("environment", .string(environment(of: facts.entry.origin))),
            ("event_timestamp_ms", .milliseconds(facts.entry.happenedAt)),
            ("has_more_aliases", hasMoreAliases(facts)),
            ("id", .string(facts.messageIdentifier)),
            ("store", .string(store(of: facts.entry.origin))),
            ("transferred_from", .texts(former ?? facts.customer)),
            // The anonymous id is an alias of the customer now.
            ("transferred_to", .texts(owner.filter { id in former?.contains { $0.hasSameBytes(as: id) } != true })),
            ("type", .string(Kind.transfer.rawValue)),
        ])
    }

    /// - Parameter members: The members. One without a value is left out.
    private static func object(_ members: [(String, JSONValue?)]) -> JSONObject {
        var object = JSONObject()
        for case (let name, let value?) in members { _ = object.add(name, value) }
        return object
    }

    /// Till's own member, which RevenueCat's messages do not have.
    private static func hasMoreAliases(_ facts: RevenueCatFacts) -> JSONValue? {
        facts.hasMoreIdentifiers ? .bool(true) : nil
    }

    private static func identifier(ofAnonymous name: String) -> String {
        User(issuer: User.customerIssuer, name: name).flatMap { CustomerIdentifier($0)?.text } ?? name
    }

    private static func environment(of origin: Origin?) -> String {
        origin?.isSandbox == true ? "SANDBOX" : "PRODUCTION"
    }

    private static func store(of origin: Origin?) -> String {
        (origin?.store ?? .appStore).rawValue.uppercased()
    }

    private static func periodType(_ terms: PurchasePeriod.Terms) -> String {
        terms.isPrepaid ? "PREPAID" : terms.isTrial ? "TRIAL" : terms.isIntroductory ? "INTRO" : "NORMAL"
    }

    private static func countryCode(_ storefront: String) -> String? {
        guard storefront.utf8.count == 3 else { return nil }
        return Storefront(countryCode: storefront)?.shortCountryCode
    }

    /// "For App Store this property corresponds to the offerIdentifier. For Play Store this corresponds to the promotionCode."
    private static func offerCode(_ transaction: RedeemedTransaction) -> String? {
        guard !transaction.origin.store.statesPromotionCode else { return transaction.facts.text(.promotionCode) }
        guard transaction.facts.integer(.offerType) == Int64(SubscriptionOffer.Kind.offerCode.rawValue) else {
            return nil
        }
        return transaction.facts.text(.offerIdentifier)
    }
}

extension JSONValue {
    fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    fileprivate static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    fileprivate static func milliseconds(_ moment: Timestamp?) -> JSONValue {
        moment.map { .integer($0.millisecondsSince1970) } ?? .null
    }

    /// - Parameter milliunits: The amount. The JSON has units, such as 4.99.
    fileprivate static func amount(_ milliunits: Int64?) -> JSONValue {
        milliunits.map { .number(JSONNumber(thousandths: $0)) } ?? .null
    }
}
