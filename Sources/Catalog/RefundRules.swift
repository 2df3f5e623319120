import Foundation
import Proofs

/// The rules that answer the stores' questions about refunds, from `RefundRules.json`: the App Store's `CONSUMPTION_REQUEST`, and Google
/// Play's `PendingRefundReviewNotification`.
///
/// The first rule whose conditions all hold decides.
package final class RefundRules: Sendable {
    private let file: RuleFile<RefundRule>

    /// - Returns: Nil if the folder of the catalog has no rules.
    init?(folder: URL) throws(CatalogError) {
        guard let file = try RuleFile<RefundRule>(Catalog.refundRulesFile, in: folder) else { return nil }
        self.file = file
    }

    /// True if the decisions are recorded and not sent.
    package var isDryRun: Bool { file.isDryRun }

    func check(in catalog: Catalog) throws(CatalogError) {
        for entry in file.entries {
            for product in try entry.optional("products")?.elements() ?? [] { _ = try product.benefit(in: catalog) }
        }
    }

    /// The answer to a question.
    ///
    /// - Parameter preference: The preference if no rule matches; nil for none.
    package func answer(to facts: RefundFacts, otherwise preference: RefundPreference?) -> RefundAnswer {
        let rule = file.rules.first { $0.matches(facts) }
        return RefundAnswer(rule.map(\.preference) ?? preference, to: facts, by: rule?.name)
    }
}

extension Catalog {
    package static let refundRulesFile = "RefundRules.json"
}

/// The facts about a purchase whose refund a customer requests. A fact that is not known is nil.
package struct RefundFacts: Hashable, Sendable {
    /// The whole of a purchase, in thousandths of a percent.
    package static let whole = 100_000
    /// The only reason for which Google Play asks: "Pending reviews support only `CHARGEBACK` as the refund reason"
    /// (developer.android.com/google/play/billing/play-developer-apis-release-notes, July 06, 2026).
    package static let chargeback = "CHARGEBACK"

    package let productIdentifier: String?
    package let type: ProductType?
    /// The customer's reason in Apple's words, or that of Google Play (`RefundFacts.chargeback`).
    package let reason: String?
    /// True if a user has redeemed the purchase.
    package let isDelivered: Bool
    /// The consumed share, in thousandths of a percent.
    package let consumed: Int?
    /// The seconds from the purchase to the question.
    package let age: Int64?
    /// The number of the customer's other purchases that the store has refunded.
    package let refunds: Int?

    package init(
        product productIdentifier: String? = nil,
        type: ProductType? = nil,
        reason: String? = nil,
        isDelivered: Bool = true,
        consumed: Int? = nil,
        age: Int64? = nil,
        refunds: Int? = nil
    ) {
        self.productIdentifier = productIdentifier
        self.type = type
        self.reason = reason
        self.isDelivered = isDelivered
        self.consumed = consumed
        self.age = age
        self.refunds = refunds
    }

    /// The spent share of an amount that a purchase has added to a balance. The oldest amounts are spent first.
    ///
    /// - Parameters:
    ///   - earlier: The amounts that were added before, without refunded ones.
    ///   - spent: All that was spent of the balance.
    package static func consumed(of amount: Int, addedAfter earlier: Int, spent: Int) -> Int {
        guard amount > 0 else { return whole }
        let used = max(0, min(amount, spent - earlier))
        return amount.dividingFullWidth(used.multipliedFullWidth(by: whole)).quotient
    }

    /// The past share of a period.
    package static func consumed(from start: Timestamp, until end: Timestamp, at moment: Timestamp) -> Int {
        let (length, past) = (
            end.millisecondsSince1970 - start.millisecondsSince1970,
            moment.millisecondsSince1970 - start.millisecondsSince1970
        )
        guard length > 0, past < length else { return whole }
        return past <= 0 ? 0 : Int(length.dividingFullWidth(past.multipliedFullWidth(by: Int64(whole))).quotient)
    }

    /// The facts for people: `consumed 60 %, 26 hours old, refunds: 2`.
    package var text: String {
        let parts = [
            isDelivered ? nil : "not delivered", consumed.map { "consumed \($0 / 1000) %" },
            age.map { "\($0 / 3600) hours old" }, refunds.map { "refunds: \($0)" },
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}

/// A preference in an answer to Google Play about a refund
/// (developers.google.com/android-publisher/api-ref/rest/v3/orders/reviewrefund, `RefundPreference`).
package enum GoogleRefundPreference: String, CaseIterable, Sendable {
    case approve = "APPROVE"
    case decline = "DECLINE"
    case neutral = "NEUTRAL"

    /// The preference in the words of the rules; nil for none.
    package var ofRules: RefundPreference? {
        switch self {
        case .approve: .grantFull
        case .decline: .decline
        case .neutral: nil
        }
    }
}

/// An answer to a store's question about a refund.
package struct RefundAnswer: Hashable, Sendable {
    /// Nil to state none.
    package let preference: RefundPreference?
    /// The consumed share, in thousandths of a percent; nil to state none.
    package let percentage: Int?
    /// The name of the rule; nil if none matched.
    package let rule: String?

    /// The answer that states a preference as far as the App Store accepts it.
    ///
    /// It computes the share of a subscription itself. Of another product, `GRANT_PRORATED` needs a share between nothing and the
    /// whole (App Store Server API, `ConsumptionRequest`): of nothing consumed the refund is full, of the whole there is none.
    package init(_ preference: RefundPreference?, to facts: RefundFacts, by rule: String? = nil) {
        let isSubscription = facts.type == .autoRenewableSubscription
        let consumed = facts.isDelivered ? facts.consumed : 0
        self.rule = rule
        percentage = isSubscription || !facts.isDelivered ? nil : consumed
        guard preference == .grantProrated, !isSubscription else {
            self.preference = preference
            return
        }
        self.preference =
            switch consumed {
            case nil: nil
            case let consumed? where consumed <= 0: .grantFull
            case let consumed? where consumed >= RefundFacts.whole: .decline
            default: .grantProrated
            }
    }

    /// The preference for Google Play. It refunds the whole of an order or nothing, so a part is no preference.
    package var googlePreference: GoogleRefundPreference {
        switch preference {
        case .grantFull: .approve
        case .decline: .decline
        case .grantProrated, nil: .neutral
        }
    }

    /// The answer for people: `DECLINE by rule "spent"`.
    package var text: String { text(preference?.rawValue ?? "no preference") }

    /// The same answer in the words of Google Play: `APPROVE by rule "accident"`.
    package var googleText: String { text(googlePreference.rawValue) }

    private func text(_ preference: String) -> String {
        preference + (rule.map { " by rule \"\($0)\"" } ?? ", no rule matched")
    }
}

/// A rule: an answer, and the conditions that must all hold. A condition about an unknown fact does not hold.
private struct RefundRule: NamedRule {
    private static let keys = [
        "ageHours", "answer", "consumedPercent", "isDelivered", "name", "products", "reasons", "refunds", "types",
    ]

    /// The answer that states no preference.
    private static let noPreference = "NONE"
    private static let reasonWords = ConsumptionRequestReason.allCases.map(\.rawValue) + [RefundFacts.chargeback]

    let name: String
    /// Nil to state none.
    let preference: RefundPreference?
    private let products: Set<ByteKey>?
    private let types: [ProductType]?
    private let reasons: [String]?
    private let isDelivered: Bool?
    /// In thousandths of a percent.
    private let consumed: ClosedRange<Int64>?
    /// In seconds.
    private let age: ClosedRange<Int64>?
    private let refunds: ClosedRange<Int64>?

    init(_ entry: CatalogReader) throws(CatalogError) {
        try entry.check(keys: Self.keys)
        name = try entry.required("name").name()
        let words = RefundPreference.allCases.map(\.rawValue) + [Self.noPreference]
        preference = RefundPreference(rawValue: try entry.required("answer").word(among: words))
        products = try entry.optional("products").map { list throws(CatalogError) in
            Set(
                try list.elements().unique { product throws(CatalogError) in
                    let product = try product.string()
                    return (ByteKey(product), product)
                })
        }
        types = try entry.optional("types")?.words(among: ProductType.allCases.map(\.rawValue))
            .compactMap(ProductType.init(rawValue:))
        reasons = try entry.optional("reasons")?.words(among: Self.reasonWords)
        isDelivered = try entry.optional("isDelivered")?.bool()
        consumed = try entry.optional("consumedPercent")?.range(upTo: 100, times: 1000)
        age = try entry.optional("ageHours")?.range(upTo: 1_000_000, times: 3600)
        refunds = try entry.optional("refunds")?.range(upTo: 1_000_000)
    }

    func matches(_ facts: RefundFacts) -> Bool {
        holds(products, facts.productIdentifier) { $0.contains(ByteKey($1)) }
            && holds(types, facts.type) { $0.contains($1) }
            && holds(reasons, facts.reason) { $0.contains($1) }
            && holds(isDelivered, facts.isDelivered, ==)
            && holds(consumed, facts.consumed) { $0.contains(Int64($1)) }
            && holds(age, facts.age) { $0.contains($1) }
            && holds(refunds, facts.refunds) { $0.contains(Int64($1)) }
    }
}

extension CatalogReader {
    private func unknown(_ word: String, among words: [String]) -> CatalogError {
        failure("it is \"\(word.prefix(64))\"; choose one of \(words.joined(separator: ", "))")
    }

    /// The words of a list.
    fileprivate func words(among known: [String]) throws(CatalogError) -> [String] {
        try elements().unique { element throws(CatalogError) in
            let text = try element.word(among: known)
            return (text, text)
        }
    }

    /// One of some words.
    func word(among known: [String]) throws(CatalogError) -> String {
        let text = try string()
        guard known.contains(text) else { throw unknown(text, among: known) }
        return text
    }

    /// A range of whole numbers from 0, as `atLeast`, `atMost` or both.
    ///
    /// - Parameter factor: The number of units in one of the file's.
    func range(upTo maximum: Int, times factor: Int64 = 1) throws(CatalogError) -> ClosedRange<Int64> {
        try check(keys: ["atLeast", "atMost"])
        let (from, to) = (try optional("atLeast")?.count(), try optional("atMost")?.count())
        guard from != nil || to != nil else { throw failure("it needs `atLeast`, `atMost` or both") }
        guard (from ?? 0) <= (to ?? maximum), max(from ?? 0, to ?? 0) <= maximum else {
            throw failure("`atLeast` is at most `atMost`, and both are at most \(maximum)")
        }
        return (Int64(from ?? 0) * factor)...(to.map { Int64($0) * factor } ?? .max)
    }
}
