import Proofs
import Vocabulary

extension AuditEntry {
    /// An event of a user's audit log. `rule` has everything that is said about it.
    package enum Event: String, Sendable, CaseIterable, SQLConvertible {
        case granted, revoked, unitsRevoked, paymentRefunded
        case productChanged, planChosen, periodExtended
        case refused
        case transferredIn, transferredOut, moved, assigned
        case itemGiven, itemTakenBack
        case credited, spent
        case expired, renewalFailed, gracePeriodBegan, paused, autoRenewDisabled, autoRenewEnabled
        case refundAnswered, aliased, erased
    }
}

/// The row of an event. Pages, stories, webhooks, live events and documents derive from it.
package struct EventRule: Sendable {
    /// What an event is about: the fields of a message, and the reference and the subject of an entry.
    package enum Object: Equatable, Sendable {
        /// A transaction and its product.
        case transaction
        /// A purchase with all its transactions, by the original one, and the product.
        case purchase
        /// The team's grant, and its item.
        case grant
        /// The user. The reference and the subject are for machines.
        case user
        /// Anything else, in the words of the document.
        case other(reference: String, subject: String)
    }

    /// The reason of an entry, which an erasure removes.
    package enum Reason: Equatable, Sendable {
        /// The team's own words, or others as they stand.
        case words(String)
        /// The code of a refusal.
        case refusal
        /// A moment as RFC 3339 until which the event lasts.
        case end(String)
        /// A product, at Google Play with its base plan: `PRODUCT:BASEPLAN`.
        case plan(String)
        /// The canceler of a renewal: a word of `ExpirationReason.canceler`.
        case canceler
        /// The cause of an end: an `ExpirationReason`.
        case expiration
    }

    /// The event without its object, on pages.
    package let title: String
    package let korean: String
    /// The effect for the customer, on pages.
    package let mood: Mood
    /// The part of the story that has the event; nil if only the whole story has it.
    package let part: StoryKind?
    package let object: Object
    package let reason: Reason?
    /// The type of the message to webhooks; nil if they are not told.
    package let message: String?
    /// The type of the message in RevenueCat's format. A grant may have another one, and `RevenueCatEvent.messages` further ones.
    package let revenueCat: RevenueCatType?
    /// True if the apps of the user hear of the event.
    package let isToldToApps: Bool
    /// The meaning, in the document of the API.
    package let meaning: String
    /// The sentence of the story.
    package let sentence: @Sendable (AuditEntry) -> String

    fileprivate init(
        _ title: String, korean: String, _ mood: Mood = .neutral, in part: StoryKind?, about object: Object,
        reason: Reason? = nil, message: String? = nil, revenueCat: RevenueCatType? = nil, isToldToApps: Bool = true,
        _ meaning: String, sentence: @escaping @Sendable (AuditEntry) -> String
    ) {
        (self.title, self.korean, self.mood, self.part) = (title, korean, mood, part)
        (self.object, self.reason, self.message, self.revenueCat) = (object, reason, message, revenueCat)
        (self.isToldToApps, self.meaning, self.sentence) = (isToldToApps, meaning, sentence)
    }
}

extension AuditEntry.Event {
    package var rule: EventRule {
        switch self {
        case .granted:
            EventRule(
                "Redeemed", korean: "구매 반영", .good, in: .purchases, about: .transaction, reason: .words("the team's"),
                message: "purchase.granted", revenueCat: .nonRenewingPurchase,
                "a transaction was redeemed and counts, or the store or the team withdrew its revocation; that of the other one stays in force"
            ) { "Transaction \($0.reference) grants \($0.subject)\($0.ending)" }
        case .revoked:
            EventRule(
                "Revoked", korean: "회수", .bad, in: .refunds, about: .transaction, reason: .words("the team's"),
                message: "purchase.revoked", revenueCat: .cancellation,
                "the store or the team revoked a transaction, now or before it was redeemed; `refundedAmount` and `currency` if the store has paid money back"
            ) { "Transaction \($0.reference) of \($0.subject) was revoked\($0.paidBack)\($0.ending)" }
        case .unitsRevoked:
            EventRule(
                "Units revoked", korean: "일부 수량 회수", .bad, in: .refunds, about: .transaction,
                reason: .words("the number of units"),
                "Google Play took some units of a purchase back, and the balance lost them"
            ) { "\($0.company) took units of transaction \($0.reference) of \($0.subject) back\($0.ending)" }
        case .paymentRefunded:
            EventRule(
                "Money paid back", korean: "환불", .warning, in: .refunds, about: .transaction,
                message: "purchase.refunded", revenueCat: .cancellation,
                "a store paid money back and left the goods, or paid it back at another time than it took them; `refundedAmount` and `currency` if the store has stated them"
            ) {
                "\($0.company) paid \($0.refund?.formatted ?? "money") back for transaction \($0.reference) of \($0.subject)."
            }
        case .productChanged:
            EventRule(
                "Product changed", korean: "상품 변경", in: .purchases, about: .transaction,
                reason: .plan("the new product, if it is known"), message: "subscription.productChanged",
                revenueCat: .productChange,
                "another product, or another base plan at Google Play, ended a period of a subscription. It is no revocation, though an app receipt states it as a cancellation"
            ) { "\($0.reason ?? "Another product") replaced \($0.subject) of transaction \($0.reference)." }
        case .planChosen:
            EventRule(
                "Plan of the next renewal chosen", korean: "다음 갱신의 요금제 선택", in: .renewals, about: .transaction,
                reason: .plan("the chosen product, unless the present one stays"), message: "subscription.planChosen",
                revenueCat: .productChange,
                "the customer has chosen another plan for the next renewal, or keeps the present one after all; the present period goes on"
            ) { entry in
                entry.reason.map { "The customer chose \($0) for the next renewal of \(entry.subject)." }
                    ?? "The customer keeps \(entry.subject) at the next renewal after all."
            }
        case .periodExtended:
            EventRule(
                "Period extended", korean: "이용 기간 연장", .good, in: .renewals, about: .transaction,
                reason: .end("the new end"),
                message: "subscription.periodExtended", revenueCat: .subscriptionExtended,
                "the App Store extended the running period of a subscription"
            ) { "\($0.company) extended \($0.subject)\($0.until)." }
        case .refused:
            EventRule(
                "Refused", korean: "거절", .bad, in: .refusals, about: .transaction, reason: .refusal,
                isToldToApps: false,
                "the service refused a transaction that the user presented"
            ) { "Transaction \($0.reference) of \($0.subject) was refused\($0.ending)" }
        case .transferredIn:
            EventRule(
                "Came from another customer", korean: "다른 고객에게서 이전", .good, in: .purchases, about: .purchase,
                reason: .words("at a log-in, the anonymous id"), message: "purchase.transferredIn",
                revenueCat: .transfer, "a purchase came from another user"
            ) {
                "Purchase \($0.reference) of \($0.subject) came from \($0.reason.map { "the anonymous customer \($0)" } ?? "another user")."
            }
        case .transferredOut:
            EventRule(
                "Went to another customer", korean: "다른 고객에게 이전", .warning, in: .purchases, about: .purchase,
                message: "purchase.transferredOut", revenueCat: .transfer, "a purchase went to another user"
            ) { "Purchase \($0.reference) of \($0.subject) went to another user." }
        case .moved:
            EventRule(
                "Purchase moved", korean: "구매 이동", in: .team, about: .purchase, reason: .words("the team's"),
                "the team moved a purchase; both users have the event, after that of the transfer"
            ) { "The team moved purchase \($0.reference) of \($0.subject)\($0.ending)" }
        case .assigned:
            EventRule(
                "Purchase assigned", korean: "구매 배정", .good, in: .team, about: .transaction,
                reason: .words("the team's"), "the team assigned an unclaimed purchase to the user"
            ) { "The team assigned the unclaimed transaction \($0.reference) of \($0.subject)\($0.ending)" }
        case .itemGiven:
            EventRule(
                "Item given", korean: "아이템 지급", .good, in: .team, about: .grant, reason: .words("the team's"),
                message: "item.given", revenueCat: .nonRenewingPurchase, "the team gave an item"
            ) { "The team granted \($0.subject)\($0.ending)" }
        case .itemTakenBack:
            EventRule(
                "Item taken back", korean: "지급 아이템 회수", .bad, in: .team, about: .grant, reason: .words("the team's"),
                message: "item.takenBack", revenueCat: .expiration, "the team took back an item that it had given"
            ) { "The team revoked a grant of \($0.subject)\($0.ending)" }
        case .credited:
            EventRule(
                "Balance increased", korean: "잔액 추가", .good, in: .team,
                about: .other(reference: "the addition", subject: "the amount and the balance"),
                reason: .words("the team's"), "the team added an amount to a balance"
            ) { "The team added \($0.subject)\($0.ending)" }
        case .spent:
            EventRule(
                "Balance spent", korean: "잔액 사용", in: nil,
                about: .other(reference: "the spending", subject: "the amount and the balance"),
                reason: .words("the team's"), "a part of a balance was spent"
            ) { "\($0.subject) were spent\($0.ending)" }
        case .expired:
            // RevenueCat's back ends remove access at EXPIRATION. After a failed renewal the user no longer owns the item.
            EventRule(
                "Expired", korean: "만료", in: .renewals, about: .transaction, reason: .expiration,
                message: "purchase.expired", revenueCat: .expiration,
                "a subscription, or a purchase with an end, is over; it is about the last transaction"
            ) { "\($0.subject) expired\($0.ending)" }
        case .renewalFailed:
            EventRule(
                "Renewal failed", korean: "갱신 실패", .warning, in: .renewals, about: .transaction,
                message: "subscription.renewalFailed", revenueCat: .expiration,
                "a renewal could not be charged, and the store retries; the user no longer owns the item"
            ) { "The renewal of \($0.subject) could not be charged. \($0.company) retries." }
        case .gracePeriodBegan:
            EventRule(
                "Grace period began", korean: "유예 기간 시작", .warning, in: .renewals, about: .transaction,
                message: "subscription.gracePeriodBegan", revenueCat: .billingIssue,
                "a renewal could not be charged; the user owns the item until the grace period ends"
            ) { "The renewal of \($0.subject) could not be charged. The grace period began." }
        case .paused:
            EventRule(
                "Subscription paused", korean: "구독 일시중지", .warning, in: .renewals, about: .transaction,
                reason: .end("the end of the pause, if it is stated"), message: "subscription.paused",
                revenueCat: .expiration,
                "a pause at Google Play began; the user owns nothing until the subscription is charged again"
            ) { "The customer paused \($0.subject)\($0.until)." }
        case .autoRenewDisabled:
            EventRule(
                "Renewal turned off", korean: "자동 갱신 꺼짐", .warning, in: .renewals, about: .transaction,
                reason: .canceler, message: "subscription.autoRenewDisabled", revenueCat: .cancellation,
                "another period is not to follow"
            ) {
                $0.store.statesCanceler
                    ? "The renewal of \($0.subject) was turned off."
                    : "The customer turned the renewal of \($0.subject) off."
            }
        case .autoRenewEnabled:
            EventRule(
                "Renewal turned on", korean: "자동 갱신 켜짐", .good, in: .renewals, about: .transaction,
                message: "subscription.autoRenewEnabled", revenueCat: .uncancellation,
                "another period is to follow after all"
            ) { "The customer turned the renewal of \($0.subject) on." }
        case .refundAnswered:
            EventRule(
                "Refund question answered", korean: "환불 질문에 답함", in: .refunds, about: .transaction,
                reason: .words("the answer, the rule and the facts"),
                "the service answered the App Store's question about a refund by the team's rules"
            ) { "Till answered the App Store's question about a refund of \($0.subject)\($0.ending)" }
        case .aliased:
            EventRule(
                "Anonymous customer logged in", korean: "익명 고객 로그인", in: nil, about: .user,
                reason: .words("the anonymous id"),
                "an anonymous id became the user's at a log-in; the subject is `customer` if it had purchases, and `id` otherwise"
            ) {
                let name = $0.reason.map { " \($0)" } ?? ""
                return $0.subject == "customer"
                    ? "The anonymous customer\(name) logged in and became one with this user."
                    : "The anonymous id\(name) logged in as this user."
            }
        case .erased:
            EventRule(
                "Customer erased", korean: "고객 삭제", in: nil, about: .user,
                "the user was erased; a stream of live events ends"
            ) { _ in "The user was erased." }
        }
    }
}

/// The parts of sentences.
extension AuditEntry {
    fileprivate var store: PurchaseStore { origin?.store ?? .appStore }

    fileprivate var company: String { store.company }

    /// The end of a sentence, with the reason.
    fileprivate var ending: String { reason.map { ": \($0)" } ?? "." }

    fileprivate var until: String { reason.map { " until \($0)" } ?? "" }

    /// The money that was paid back with the goods; empty for none, and for an unknown amount.
    fileprivate var paidBack: String {
        guard let refund, refund.milliunits != 0 else { return "" }
        return ", and \(refund.formatted) paid back"
    }
}

/// A kind of entries of a story.
package enum StoryKind: String, CaseIterable, Sendable {
    case purchases, renewals, refunds, refusals, team, notifications
}

/// The type of an event in RevenueCat's webhooks. The audit log has no event for the other types.
package enum RevenueCatType: String, Sendable, CaseIterable, SQLConvertible {
    case initialPurchase = "INITIAL_PURCHASE"
    case renewal = "RENEWAL"
    case nonRenewingPurchase = "NON_RENEWING_PURCHASE"
    case cancellation = "CANCELLATION"
    case uncancellation = "UNCANCELLATION"
    case billingIssue = "BILLING_ISSUE"
    case subscriptionPaused = "SUBSCRIPTION_PAUSED"
    case subscriptionExtended = "SUBSCRIPTION_EXTENDED"
    case expiration = "EXPIRATION"
    case productChange = "PRODUCT_CHANGE"
    case refundReversed = "REFUND_REVERSED"
    case transfer = "TRANSFER"
}

extension AuditEntry.Event {
    /// Each purchase has it in its record and in an index.
    package static let words = FrequentWords([granted.rawValue])

    package var sqlValue: SQLValue { .text(Self.words.stored(rawValue)) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        self.init(rawValue: Self.words.stated(text))
    }
}

extension Collection<AuditEntry.Event> {
    /// The texts of the events in rows in parentheses, for `IN`.
    package var sqlList: String {
        "(" + map { "'\(AuditEntry.Event.words.stored($0.rawValue))'" }.sorted().joined(separator: ", ") + ")"
    }
}
