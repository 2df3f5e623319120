import Proofs
import Vocabulary

extension AuditEntry {
    /// An event of a user's audit log. `rule` has everything that is said about it.
    package enum Event: String, Sendable, CaseIterable, SQLConvertible {
        case granted, revoked, unitsRevoked, paymentRefunded
        case productChanged, migrated, planChosen, periodExtended
        case refused
        case transferredIn, transferredOut, moved, assigned
        case itemGiven, itemTakenBack
        case commerceRequested
        case credited, spent
        case expired, renewalFailed, gracePeriodBegan, paused, autoRenewDisabled, autoRenewEnabled, endsSoon
        case storeAsked, storeRequestDecided, storeAnswered
        case refundAnswered, consentRescinded, aliased, erased
    }
}

/// The row of an event. Pages, stories, webhooks, live events and documents derive from it.
package struct EventRule: Sendable {
    /// The object of an event: it decides the fields of a message, and the reference and the subject of an entry.
    package enum Object: Equatable, Sendable {
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
    package var mood = Mood.neutral
    /// The part of the story that has the event; nil if only the whole story has it.
    package var part: StoryKind?
    package let object: Object
    package var reason: Reason?
    /// The types of the message to webhooks, of which the purchase decides; empty if they are not told.
    package var messages: [MessageType] = []
    /// The type of the message in RevenueCat's format. A grant may have another one, and `RevenueCatEvent.messages` further ones.
    package var revenueCat: RevenueCatType?
    /// True if the apps of the user hear of the event.
    package var isToldToApps = true
    /// The meaning, in the document of the API.
    package let meaning: String
    /// The sentence of the story.
    package let sentence: @Sendable (AuditEntry) -> String
}

extension AuditEntry.Event {
    package var rule: EventRule {
        switch self {
        case .granted:
            EventRule(
                title: "Redeemed", korean: "구매 지급", mood: .good, part: .purchases, object: .transaction,
                reason: .words("the team's"),
                messages: [
                    .productPurchased, .subscriptionPurchased, .subscriptionRenewed, .subscriptionResumed,
                    .purchaseReinstated,
                ], revenueCat: .nonRenewingPurchase,
                meaning: "a transaction counts: it was redeemed, or its revocation was withdrawn"
            ) { "Transaction \($0.reference) grants \($0.subject)\($0.ending)" }
        case .revoked:
            EventRule(
                title: "Revoked", korean: "회수", mood: .bad, part: .refunds, object: .transaction,
                reason: .words("the team's"), messages: [.purchaseRevoked, .purchaseRefunded],
                revenueCat: .cancellation,
                meaning: "the store or the team revoked a transaction; `refundedAmount` if the store paid money back"
            ) { "Transaction \($0.reference) of \($0.subject) was revoked\($0.paidBack)\($0.ending)" }
        case .unitsRevoked:
            EventRule(
                title: "Units revoked", korean: "일부 수량 회수", mood: .bad, part: .refunds, object: .transaction,
                reason: .words("the number of units"),
                meaning: "Google Play took some units of a purchase back, and the balance lost them"
            ) { "\($0.company) took units of transaction \($0.reference) of \($0.subject) back\($0.ending)" }
        case .paymentRefunded:
            EventRule(
                title: "Money paid back", korean: "환불", mood: .warning, part: .refunds, object: .transaction,
                messages: [.purchaseRefunded], revenueCat: .cancellation,
                meaning: "a store paid `refundedAmount` back and left the goods, or took them at another time"
            ) {
                "\($0.company) paid \($0.refund?.formatted ?? "money") back for transaction \($0.reference) of \($0.subject)."
            }
        case .productChanged:
            EventRule(
                title: "Product changed", korean: "상품 변경", part: .purchases, object: .transaction,
                reason: .plan("the new product, if it is known"), messages: [.productChanged],
                revenueCat: .productChange,
                meaning: "another product or base plan ended a period of a subscription; this is no revocation"
            ) { "\($0.reason ?? "Another product") replaced \($0.subject) of transaction \($0.reference)." }
        case .migrated:
            EventRule(
                title: "Subscription moved", korean: "구독 이전", part: .purchases, object: .transaction,
                reason: .words("the original transaction before the move"), messages: [.subscriptionMigrated],
                meaning:
                    "a subscription goes on under another original transaction: it was migrated, or moved into a bundle or out of one"
            ) { entry in
                let former = entry.reason.map { "Purchase \($0)" } ?? "Another purchase"
                return "\(former) goes on as transaction \(entry.reference) of \(entry.subject)."
            }
        case .planChosen:
            EventRule(
                title: "Plan of the next renewal chosen", korean: "다음 갱신의 요금제 선택", part: .renewals,
                object: .transaction, reason: .plan("the chosen product, unless the present one stays"),
                messages: [.planChosen], revenueCat: .productChange,
                meaning: "the customer chose another plan for the next renewal, or keeps the present one after all"
            ) { entry in
                entry.reason.map { "The customer chose \($0) for the next renewal of \(entry.subject)." }
                    ?? "The customer keeps \(entry.subject) at the next renewal after all."
            }
        case .periodExtended:
            EventRule(
                title: "Period extended", korean: "이용 기간 연장", mood: .good, part: .renewals, object: .transaction,
                reason: .end("the new end"), messages: [.periodExtended], revenueCat: .subscriptionExtended,
                meaning: "the App Store extended the running period of a subscription"
            ) { "\($0.company) extended \($0.subject)\($0.until)." }
        case .refused:
            EventRule(
                title: "Refused", korean: "거절", mood: .bad, part: .refusals, object: .transaction, reason: .refusal,
                isToldToApps: false, meaning: "the service refused a transaction that the user presented"
            ) { "Transaction \($0.reference) of \($0.subject) was refused\($0.ending)" }
        case .transferredIn:
            EventRule(
                title: "Came from another customer", korean: "다른 고객에게서 이전", mood: .good, part: .purchases,
                object: .purchase, reason: .words("at a log-in, the anonymous id"), messages: [.transferredIn],
                revenueCat: .transfer, meaning: "a purchase came from another user"
            ) {
                "Purchase \($0.reference) of \($0.subject) came from \($0.reason.map { "the anonymous customer \($0)" } ?? "another user")."
            }
        case .transferredOut:
            EventRule(
                title: "Went to another customer", korean: "다른 고객에게 이전", mood: .warning, part: .purchases,
                object: .purchase, messages: [.transferredOut], revenueCat: .transfer,
                meaning: "a purchase went to another user"
            ) { "Purchase \($0.reference) of \($0.subject) went to another user." }
        case .moved:
            EventRule(
                title: "Purchase moved", korean: "구매 이동", part: .team, object: .purchase, reason: .words("the team's"),
                meaning: "the team moved a purchase; both users have the event, after that of the transfer"
            ) { "The team moved purchase \($0.reference) of \($0.subject)\($0.ending)" }
        case .assigned:
            EventRule(
                title: "Purchase assigned", korean: "구매 배정", mood: .good, part: .team, object: .transaction,
                reason: .words("the team's"), meaning: "the team assigned an unclaimed purchase to the user"
            ) { "The team assigned the unclaimed transaction \($0.reference) of \($0.subject)\($0.ending)" }
        case .itemGiven:
            EventRule(
                title: "Item given", korean: "아이템 지급", mood: .good, part: .team, object: .grant,
                reason: .words("the team's"), messages: [.itemGiven], revenueCat: .nonRenewingPurchase,
                meaning: "the team gave an item"
            ) { "The team granted \($0.subject)\($0.ending)" }
        case .itemTakenBack:
            EventRule(
                title: "Item taken back", korean: "지급 아이템 회수", mood: .bad, part: .team, object: .grant,
                reason: .words("the team's"), messages: [.itemTakenBack], revenueCat: .expiration,
                meaning: "the team took back an item that it had given"
            ) { "The team revoked a grant of \($0.subject)\($0.ending)" }
        case .commerceRequested:
            EventRule(
                title: "Advanced Commerce", korean: "Advanced Commerce 요청", part: .team, object: .transaction,
                reason: .words("the request, and the team's words or the outcome"), isToldToApps: false,
                meaning: "the team asked Apple's Advanced Commerce API to change a purchase, or had the answer"
            ) { "Request to the Advanced Commerce API about \($0.subject)\($0.ending)" }
        case .credited:
            EventRule(
                title: "Balance increased", korean: "잔액 추가", mood: .good, part: .team,
                object: .other(reference: "the addition", subject: "the amount and the balance"),
                reason: .words("the team's"), meaning: "the team added an amount to a balance"
            ) { "The team added \($0.subject)\($0.ending)" }
        case .spent:
            EventRule(
                title: "Balance spent", korean: "잔액 사용",
                object: .other(reference: "the spending", subject: "the amount and the balance"),
                reason: .words("the team's"), meaning: "a part of a balance was spent"
            ) { "\($0.subject) were spent\($0.ending)" }
        case .expired:
            // RevenueCat's back ends remove access at EXPIRATION. After a failed renewal the user no longer owns the item.
            EventRule(
                title: "Expired", korean: "만료", part: .renewals, object: .transaction, reason: .expiration,
                messages: [.purchaseExpired], revenueCat: .expiration,
                meaning: "a subscription, or a purchase with an end, is over; it is about the last transaction"
            ) { "\($0.subject) expired\($0.ending)" }
        case .renewalFailed:
            EventRule(
                title: "Renewal failed", korean: "갱신 실패", mood: .warning, part: .renewals, object: .transaction,
                messages: [.renewalFailed], revenueCat: .expiration,
                meaning: "a renewal could not be charged, and the store retries; the user no longer owns the item"
            ) { "The renewal of \($0.subject) could not be charged. \($0.company) retries." }
        case .gracePeriodBegan:
            EventRule(
                title: "Grace period began", korean: "유예 기간 시작", mood: .warning, part: .renewals, object: .transaction,
                messages: [.gracePeriodBegan], revenueCat: .billingIssue,
                meaning: "a renewal could not be charged; the user owns the item until the grace period ends"
            ) { "The renewal of \($0.subject) could not be charged. The grace period began." }
        case .paused:
            EventRule(
                title: "Subscription paused", korean: "구독 일시중지", mood: .warning, part: .renewals, object: .transaction,
                reason: .end("the end of the pause, if it is stated"), messages: [.subscriptionPaused],
                revenueCat: .expiration,
                meaning: "a pause at Google Play began; the user owns nothing until the next charge"
            ) { "The customer paused \($0.subject)\($0.until)." }
        case .autoRenewDisabled:
            EventRule(
                title: "Renewal turned off", korean: "자동 갱신 꺼짐", mood: .warning, part: .renewals, object: .transaction,
                reason: .canceler, messages: [.subscriptionExpiring], revenueCat: .cancellation,
                meaning: "another period is not to follow"
            ) {
                $0.store.statesCanceler
                    ? "The renewal of \($0.subject) was turned off."
                    : "The customer turned the renewal of \($0.subject) off."
            }
        case .autoRenewEnabled:
            EventRule(
                title: "Renewal turned on", korean: "자동 갱신 켜짐", mood: .good, part: .renewals, object: .transaction,
                messages: [.subscriptionRenewing], revenueCat: .uncancellation,
                meaning: "another period is to follow after all"
            ) { "The customer turned the renewal of \($0.subject) on." }
        case .endsSoon:
            EventRule(
                title: "Ends soon", korean: "곧 종료", mood: .warning, part: .renewals, object: .transaction,
                reason: .end("the end"), messages: [.subscriptionEndsSoon],
                meaning: "a subscription that does not renew, or a prepaid plan, ends in three days"
            ) { "\($0.subject) ends\($0.reason.map { " at \($0)" } ?? " soon"), and does not renew." }
        case .storeAsked:
            EventRule(
                title: "Store asked", korean: "스토어에 요청", part: .team, object: .transaction,
                reason: .words("the action and the team's"), isToldToApps: false,
                meaning: "the team asked the store for an action, such as a refund"
            ) { "The team asked \($0.storeName) for an action about \($0.subject)\($0.ending)" }
        case .storeRequestDecided:
            EventRule(
                title: "Request to the store decided", korean: "스토어 요청 결정", part: .team, object: .transaction,
                reason: .words("the decision, the action and the team's"), isToldToApps: false,
                meaning: "a second person approved or declined a request to the store"
            ) { "A request to \($0.storeName) about \($0.subject) was decided\($0.ending)" }
        case .storeAnswered:
            EventRule(
                title: "Store answered", korean: "스토어의 응답", part: .team, object: .transaction,
                reason: .words("the action and the answer"), isToldToApps: false,
                meaning: "the store accepted or refused an action that the team asked for"
            ) { "\($0.company) answered about \($0.subject)\($0.ending)" }
        case .refundAnswered:
            EventRule(
                title: "Refund question answered", korean: "환불 문의에 답변", part: .refunds, object: .transaction,
                reason: .words("the answer, the rule and the facts"),
                meaning: "the service answered the store's question about a refund, or about a disputed payment"
            ) { "Till answered the store's question about a refund of \($0.subject)\($0.ending)" }
        case .consentRescinded:
            EventRule(
                title: "Parental consent withdrawn", korean: "보호자 동의 철회", mood: .bad,
                object: .other(reference: "the app transaction", subject: "`keep` or `block`"),
                messages: [.consentRescinded],
                meaning:
                    "a parent withdrew the consent to a child's use of the app; with `block`, the child's purchases are revoked"
            ) {
                "A parent withdrew the consent to the use of the app."
                    + ($0.subject == "block" ? " Till revokes the child's purchases." : "")
            }
        case .aliased:
            EventRule(
                title: "Anonymous customer logged in", korean: "익명 고객 로그인", object: .user,
                reason: .words("the anonymous id"),
                meaning: "an anonymous id logged in as the user; the subject is `id`, or `customer` with purchases"
            ) {
                let name = $0.reason.map { " \($0)" } ?? ""
                return $0.subject == "customer"
                    ? "The anonymous customer\(name) logged in and became one with this user."
                    : "The anonymous id\(name) logged in as this user."
            }
        case .erased:
            EventRule(
                title: "Customer erased", korean: "고객 삭제", object: .user,
                meaning: "the user was erased; a stream of live events ends"
            ) { _ in "The user was erased." }
        }
    }
}

/// The parts of sentences.
extension AuditEntry {
    fileprivate var store: PurchaseStore { origin?.store ?? .appStore }

    fileprivate var company: String { store.company }

    fileprivate var storeName: String { store.nameInSentence }

    /// The end of a sentence, with the reason.
    fileprivate var ending: String { reason.map { ": \($0)" } ?? "." }

    fileprivate var until: String { reason.map { " until \($0)" } ?? "" }

    /// The money that was paid back with the goods; empty for none, and for an unknown amount.
    fileprivate var paidBack: String {
        guard let refund, refund.milliunits != 0 else { return "" }
        return ", and \(refund.formatted) paid back"
    }
}

package enum StoryKind: String, CaseIterable, Sendable {
    case purchases, renewals, refunds, refusals, team, notifications
}

/// The type of a message to webhooks: what happened.
package enum MessageType: String, Sendable, CaseIterable {
    /// A product that does not renew.
    case productPurchased = "product.purchased"
    /// The first period of a subscription.
    case subscriptionPurchased = "subscription.purchased"
    case subscriptionRenewed = "subscription.renewed"
    /// The first period after a pause.
    case subscriptionResumed = "subscription.resumed"
    /// The store or the team has withdrawn a revocation.
    case purchaseReinstated = "purchase.reinstated"
    /// The store has paid money back.
    case purchaseRefunded = "purchase.refunded"
    /// The team, the payer of a family or the buyer of a seat has taken a purchase back, without a refund.
    case purchaseRevoked = "purchase.revoked"
    case purchaseExpired = "purchase.expired"
    case transferredIn = "purchase.transferredIn"
    case transferredOut = "purchase.transferredOut"
    /// The running period is the last one.
    case subscriptionExpiring = "subscription.expiring"
    /// Another period is to follow after all.
    case subscriptionRenewing = "subscription.renewing"
    /// The running period ends in three days, and no other one follows.
    case subscriptionEndsSoon = "subscription.endsSoon"
    case gracePeriodBegan = "subscription.gracePeriodBegan"
    case renewalFailed = "subscription.renewalFailed"
    case subscriptionPaused = "subscription.paused"
    case productChanged = "subscription.productChanged"
    /// The subscription goes on under another original transaction.
    case subscriptionMigrated = "subscription.migrated"
    case planChosen = "subscription.planChosen"
    case periodExtended = "subscription.periodExtended"
    case itemGiven = "item.given"
    case itemTakenBack = "item.takenBack"
    /// A parent has withdrawn the consent to a child's use of the app.
    case consentRescinded = "consent.rescinded"
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
