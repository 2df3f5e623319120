import Ledger
import Proofs
import Vocabulary

extension StoreAction {
    /// An action that a store lets a server perform. `rule` has everything that is said about it.
    package enum Kind: String, Sendable, CaseIterable {
        case refund, revoke, cancel, extend, extendAll, changePrice, changeMetadata, migrate
    }
}

/// The row of an action. Routes, the command, the forms and the documents derive from it.
package struct StoreActionRule: Sendable {
    /// The thing that an action is about.
    package enum Object: Sendable {
        /// One charge.
        case transaction
        /// A subscription, by any of its transactions.
        case subscription
        /// All active subscribers of a product.
        case product
    }

    /// The way to perform the action at a store.
    package struct Endpoint: Sendable {
        package let store: PurchaseStore
        /// The name of the method or the endpoint in the store's documentation.
        package let name: String
        package let fields: [StoreActionField]
        package let repetition: Repetition
        /// The largest value of `days`; nil for an action without days.
        package var maximumDays: Int?

        /// True for a purchase that a server has described (Apple's Advanced Commerce API) alone. The request is Apple's own.
        package var isOfDescribed: Bool { fields.contains(.request) }
    }

    /// The effect of another action of the kind for the same object.
    package enum Repetition: Sendable {
        /// A store performs it once, so a repeated request is about the same action.
        case none
        /// Nothing changes that the first one has not changed.
        case harmless
        /// The effects add up, as the days of two extensions do. A repeated request may come from a person whose connection broke.
        case addsUp
    }

    package let title: String
    package let korean: String
    /// The effect, for the team.
    package let effect: String
    package let koreanEffect: String
    package let object: Object
    /// The endpoints of the stores that let a server perform it. Another store does not.
    package let endpoints: [Endpoint]

    package func endpoint(at store: PurchaseStore) -> Endpoint? { endpoints.first { $0.store == store } }
}

extension StoreAction.Kind {
    /// - Note: Apple lets no server refund, revoke or cancel what was sold without the Advanced Commerce API: the customer asks Apple. Google
    ///   lets no server pay a part of an order back but by a revocation: `orders.refund` has no amount, and an empty body.
    package var rule: StoreActionRule {
        switch self {
        case .refund:
            // "Whether to revoke the purchased item. If set to true, access … will be terminated immediately. If the item is a recurring
            // subscription, all future payments will also be terminated" (developers.google.com/android-publisher/api-ref/rest/v3/orders/refund).
            StoreActionRule(
                title: "Refund the order", korean: "주문 환불",
                effect:
                    "The store pays the whole order, or the chosen items, back. The customer keeps the goods, unless they are taken, too.",
                koreanEffect: "스토어가 주문 금액 전체나 선택한 항목을 환불합니다. 상품도 회수하지 않으면 고객이 계속 가집니다.",
                object: .transaction,
                endpoints: [
                    .init(store: .playStore, name: "orders.refund", fields: [.takesGoods], repetition: .none),
                    .described("transaction/requestRefund", repetition: .addsUp),
                ])
        case .revoke:
            // developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/revoke, `RevocationContext`: the last charge
            // of each item, the part of it that is left, or the last charge of one item.
            StoreActionRule(
                title: "End the subscription now", korean: "구독 즉시 종료",
                effect: "The store ends the subscription at once, and pays the last charge, or a part of it, back.",
                koreanEffect: "스토어가 구독을 즉시 끝내고 마지막 결제 금액의 전부 또는 일부를 환불합니다.",
                object: .subscription,
                endpoints: [
                    .init(
                        store: .playStore, name: "purchases.subscriptionsv2.revoke", fields: [.share],
                        repetition: .none), .described("subscription/revoke", repetition: .none),
                ])
        case .cancel:
            // developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/cancel, `CancellationType`.
            StoreActionRule(
                title: "Turn the renewal off", korean: "자동 갱신 끄기",
                effect:
                    "The store charges nothing more. The customer keeps the goods until the end of the paid period.",
                koreanEffect: "스토어가 더 이상 결제하지 않습니다. 고객은 결제된 기간이 끝날 때까지 상품을 가집니다.",
                object: .subscription,
                endpoints: [
                    .init(
                        store: .playStore, name: "purchases.subscriptionsv2.cancel", fields: [.stops],
                        repetition: .harmless), .described("subscription/cancel", repetition: .harmless),
                ])
        case .extend:
            // Apple: "up to 90 days", "twice within a year (365 days) per customer"
            // (developer.apple.com/documentation/appstoreserverapi/extending-the-renewal-date-for-auto-renewable-subscriptions). Google:
            // "The duration by which all subscription items should be deferred" (purchases.subscriptionsv2.defer, `DeferralContext`), at
            // least a day and at most a year (developer.android.com/google/play/billing/subscriptions).
            StoreActionRule(
                title: "Move the next charge", korean: "다음 결제일 연기",
                effect:
                    "The store moves the end of the paid period, and with it the next charge. The customer pays nothing for it.",
                koreanEffect: "스토어가 결제된 기간의 끝과 다음 결제일을 미룹니다. 고객은 그 기간의 요금을 내지 않습니다.",
                object: .subscription,
                endpoints: [
                    .init(
                        store: .appStore, name: "Extend a Subscription Renewal Date", fields: [.days, .cause],
                        repetition: .addsUp, maximumDays: 90),
                    .init(
                        store: .playStore, name: "purchases.subscriptionsv2.defer", fields: [.days],
                        repetition: .addsUp, maximumDays: 365),
                ])
        case .extendAll:
            // developer.apple.com/documentation/appstoreserverapi/Extend-Subscription-Renewal-Dates-for-All-Active-Subscribers. Google has no
            // such method.
            StoreActionRule(
                title: "Move the next charge of all subscribers", korean: "모든 구독자의 다음 결제일 연기",
                effect:
                    "The store moves the next charge of all active subscribers of a product. It may take hours or days.",
                koreanEffect: "스토어가 상품의 모든 활성 구독자의 다음 결제일을 미룹니다. 몇 시간이나 며칠이 걸릴 수 있습니다.",
                object: .product,
                endpoints: [
                    .init(
                        store: .appStore, name: "Extend Subscription Renewal Dates for All Active Subscribers",
                        fields: [.days, .cause, .storefronts], repetition: .addsUp, maximumDays: 90)
                ])
        // developer.apple.com/documentation/advancedcommerceapi. The App Store judges the request.
        case .changePrice:
            StoreActionRule(
                title: "Change the price", korean: "가격 변경",
                effect: "The store charges another price for the items of the subscription.",
                koreanEffect: "스토어가 구독 항목에 다른 가격을 청구합니다.", object: .subscription,
                endpoints: [.described("subscription/changePrice", repetition: .harmless)])
        case .changeMetadata:
            StoreActionRule(
                title: "Change the description", korean: "설명 변경",
                effect: "The store shows another name or description of the subscription.",
                koreanEffect: "스토어가 구독의 다른 이름이나 설명을 표시합니다.", object: .subscription,
                endpoints: [.described("subscription/changeMetadata", repetition: .harmless)])
        case .migrate:
            StoreActionRule(
                title: "Migrate the subscription", korean: "구독 이전",
                effect: "The store moves the subscription to the Advanced Commerce API.",
                koreanEffect: "스토어가 구독을 Advanced Commerce API로 이전합니다.", object: .subscription,
                endpoints: [.described("subscription/migrate", repetition: .harmless)])
        }
    }
}

extension StoreActionRule.Endpoint {
    /// An endpoint of Apple's Advanced Commerce API.
    fileprivate static func described(_ name: String, repetition: StoreActionRule.Repetition) -> Self {
        Self(store: .appStore, name: "Advanced Commerce, \(name)", fields: [.request], repetition: repetition)
    }
}

/// A field of a request for an action. Each request has those of its endpoint alone.
package enum StoreActionField: String, Sendable, CaseIterable {
    case takesGoods, share, stops, days, cause, storefronts, request

    /// A word of a choice.
    package struct Choice: Sendable {
        package let word: String
        /// The value in the request to the store.
        package let stated: JSONValue
        package let title: String
        package let korean: String
    }

    package enum Value: Sendable {
        /// True or false; false if it is left out.
        case flag
        /// One of some words; the first one if it is left out.
        case choice([Choice])
        /// A number, which a request must have.
        case number(ClosedRange<Int>)
        /// Codes of countries (ISO 3166-1 alpha-3); all if it is left out.
        case countries(upTo: Int)
        /// The body of a request to the store, without its identifier; an empty one if it is left out.
        case request
    }

    package struct Rule: Sendable {
        package let value: Value
        /// The label in forms.
        package let title: String
        package let korean: String
        /// The meaning in documents and help.
        package let meaning: String
    }

    package var rule: Rule {
        switch self {
        case .takesGoods:
            Rule(
                value: .flag, title: "Take the goods, too", korean: "상품도 회수",
                meaning: "For a refund, true to take the goods, too, and to stop the renewals of a subscription.")
        case .share:
            Rule(
                value: .choice([
                    Choice(word: "full", stated: "fullRefund", title: "The last charge", korean: "마지막 결제 전액"),
                    Choice(
                        word: "prorated", stated: "proratedRefund", title: "The part for the time left",
                        korean: "남은 기간에 해당하는 금액"),
                    Choice(
                        word: "item", stated: "itemBasedRefund", title: "This item alone, of several",
                        korean: "여러 항목 중 이 항목만"),
                ]), title: "Pay back", korean: "환불 금액",
                meaning:
                    "For the end of a subscription, what is paid back: the last charge, the part for the time left, or the last "
                    + "charge of this item alone.")
        case .stops:
            Rule(
                value: .choice([
                    Choice(
                        word: "renewals", stated: "USER_REQUESTED_STOP_RENEWALS",
                        title: "The customer may turn it on again", korean: "고객이 다시 켤 수 있음"),
                    Choice(
                        word: "payments", stated: "DEVELOPER_REQUESTED_STOP_PAYMENTS",
                        title: "For good, with all installments", korean: "할부를 포함하여 완전히 중단"),
                ]), title: "Stop", korean: "중단",
                meaning:
                    "For a renewal that is turned off, `renewals` as if the customer had asked for it, who may turn it on again, or "
                    + "`payments` for good, with the installments that are left.")
        case .days:
            Rule(
                value: .number(1...365), title: "Days", korean: "일수",
                meaning: "For a moved charge, the days: 1 to 90 at the App Store, 1 to 365 at Google Play.")
        case .cause:
            // developer.apple.com/documentation/appstoreserverapi/extendreasoncode
            Rule(
                value: .choice([
                    Choice(
                        word: "customerSatisfaction", stated: .integer(1), title: "Customer satisfaction",
                        korean: "고객 만족"),
                    Choice(
                        word: "serviceIssue", stated: .integer(3), title: "Service issue or outage",
                        korean: "서비스 문제나 중단"),
                    Choice(word: "other", stated: .integer(2), title: "Other reason", korean: "기타"),
                    Choice(word: "undeclared", stated: .integer(0), title: "Undeclared", korean: "밝히지 않음"),
                ]), title: "Cause for Apple", korean: "Apple에 알리는 사유",
                meaning: "For a moved charge at the App Store, Apple's `extendReasonCode` as a word.")
        case .storefronts:
            Rule(
                value: .countries(upTo: 200), title: "Storefronts", korean: "스토어프런트",
                meaning:
                    "For all subscribers, the storefronts as codes of three letters, such as `KOR`; all without it.")
        case .request:
            Rule(
                value: .request, title: "Apple's request", korean: "Apple 요청",
                meaning:
                    "For a purchase that your server has described, the body of Apple's Advanced Commerce API, such as "
                    + "`{\"refundType\": \"FULL\", …}`, without a `requestReferenceId`, which is the action's identifier."
            )
        }
    }

    /// The value of a request in the form that the ledger keeps; nil for one that the field does not accept.
    ///
    /// - Parameter given: Nil for a value that the request leaves out.
    func checked(_ given: JSONValue?, at endpoint: StoreActionRule.Endpoint) -> JSONValue? {
        switch (rule.value, given) {
        case (.flag, nil): .bool(false)
        case (.flag, .bool(let flag)?): .bool(flag)
        case (.choice(let choices), nil): choices.first.map { .string($0.word) }
        case (.choice(let choices), .string(let word)?):
            choices.first { $0.word.hasSameBytes(as: word) }.map { .string($0.word) }
        case (.number(let range), .number(let number)?):
            Int(number.text).flatMap { value in
                range.contains(value) && value <= endpoint.maximumDays ?? value ? .integer(value) : nil
            }
        case (.countries, nil): .array([])
        case (.countries(let limit), .array(let codes)?):
            // Apple refuses an empty list (InvalidEmptyStorefrontCountryCodeListError).
            codes.count <= limit && !codes.isEmpty && codes.allSatisfy(Self.isCountry) ? .array(codes) : nil
        case (.request, nil): .object([:])
        case (.request, .object(let request)?): Self.isWithoutReference(request) ? .object(request) : nil
        default: nil
        }
    }

    private static func isWithoutReference(_ request: JSONObject) -> Bool {
        switch request["requestInfo"] {
        case nil: true
        case .object(let information)?: information["requestReferenceId"] == nil
        default: false
        }
    }

    private static func isCountry(_ code: JSONValue) -> Bool {
        guard case .string(let text) = code else { return false }
        return text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }

    /// The rule of the values at an endpoint, as the end of a sentence.
    func expected(at endpoint: StoreActionRule.Endpoint) -> String {
        switch rule.value {
        case .flag: "true or false"
        case .choice(let choices): "one of \(choices.map(\.word).joined(separator: ", "))"
        case .number(let range): "a number from \(range.lowerBound) to \(endpoint.maximumDays ?? range.upperBound)"
        case .countries(let limit): "1 to \(limit) codes of countries in three capital letters"
        case .request: "an object with Apple's request, without a requestReferenceId"
        }
    }

    /// The value in the request to the store of a checked choice.
    ///
    /// - Throws: `BrokenInvariant` for a value that was not checked.
    package func stated(in terms: JSONObject) throws(BrokenInvariant) -> JSONValue {
        guard case .choice(let choices) = rule.value, let word = terms.text(rawValue),
            let choice = choices.first(where: { $0.word.hasSameBytes(as: word) })
        else { throw BrokenInvariant("the terms of a store action are checked", rawValue) }
        return choice.stated
    }
}

/// The error of a request for an action. Nothing was asked of a store.
package enum StoreActionError: RuledError, Equatable {
    /// The store lets no server do it, or this purchase does not allow it.
    case notPossible(store: PurchaseStore, StoreAction.Kind)
    case notOfSubscription
    /// The store has told no order of the transaction.
    case orderMissing
    /// The service has no key for the store.
    case keyMissing(store: PurchaseStore)
    /// Several stores, or apps, may be meant.
    case ambiguous
    case termsInvalid(String)
    /// Another action has the identifier.
    case differs
    /// An action of the kind for the same object has other terms.
    case underWay(String)
    /// A recent action of the kind, whose effect adds up.
    case repeated(String, at: Timestamp)
    case unknown
    /// The caller, or the same person, has asked for the action.
    case ownApproval
    /// An API key that names no person, and so approves nothing.
    case personMissing
    /// Nobody can tell if an attempt was performed.
    case uncertain(PurchaseStore)
    /// An attempt ended with a fault of the service.
    case failed
    /// Nobody is to decide about the action any more.
    case decided(StoreAction.State)

    package var rule: ErrorRule {
        switch self {
        case .notPossible(let store, let kind):
            ErrorRule(
                "storeActionNotPossible", .unprocessable,
                "\(store.company) lets no server do \"\(kind.rawValue)\" for this purchase."
                    + (store.refundAddress.map { " For money, send the customer to \($0)." } ?? ""),
                korean: "\(store.company)에서 이 구매에 허용하지 않는 작업입니다.")
        case .notOfSubscription:
            ErrorRule(
                "storeActionNotOfSubscription", .unprocessable,
                "The transaction is not of a subscription that renews. Ask for a refund of its order instead.",
                korean: "자동 갱신 구독의 거래가 아닙니다. 대신 주문을 환불하세요.")
        case .orderMissing:
            ErrorRule(
                "storeActionOrderMissing", .unprocessable,
                "The store has told no order of this transaction, so nothing was paid that it could pay back.",
                korean: "스토어가 이 거래의 주문을 알린 적이 없어 환불할 금액이 없습니다.")
        case .keyMissing(let store):
            ErrorRule(
                "storeActionKeyMissing", .unprocessable, isOfOperator: true,
                "This process has no key with which it could ask \(store.nameInSentence). Set "
                    + "`\(store == .appStore ? "app-store-key" : "google-service-account")`; a command names the running service with --server.",
                korean: "\(store.name)에 요청할 키가 이 프로세스에 없습니다. 키를 설정하거나 --server로 실행 중인 서비스를 지정하세요.")
        case .ambiguous:
            ErrorRule(
                "storeActionAmbiguous", .conflict,
                "Several apps or origins may be meant. Name one with `app` and `origin`.",
                korean: "여러 앱이나 출처에 해당합니다. app과 origin을 지정하세요.")
        case .termsInvalid(let detail):
            ErrorRule(
                "storeActionTermsInvalid", .badRequest, hasReason: true, detail,
                korean: "이 작업에 맞지 않는 값입니다.")
        case .differs:
            ErrorRule(
                "storeActionDiffers", .conflict,
                "Another action has this identifier. Repeat the same request, or use a new UUID.",
                korean: "다른 작업의 식별자입니다. 같은 요청을 반복하거나 새 UUID를 쓰세요.")
        case .underWay(let identifier):
            ErrorRule(
                "storeActionUnderWay", .conflict,
                "The action \(identifier) for the same purchase is under way or done, with other terms.",
                korean: "같은 구매에 대한 작업 \(identifier)이(가) 다른 조건으로 진행 중이거나 끝났습니다.")
        case .repeated(let identifier, let moment):
            ErrorRule(
                "storeActionRepeated", .conflict,
                "The action \(identifier) did the same at \(moment.rfc3339), and another one adds to it. If you want both, repeat the "
                    + "request with `isAdditional` (`--additional`).",
                korean:
                    "작업 \(identifier)이(가) \(moment.rfc3339)에 같은 일을 이미 했습니다. 더하려면 isAdditional(--additional)로 다시 요청하세요.")
        case .unknown:
            ErrorRule(
                "storeActionUnknown", .notFound, "No action has this identifier.", korean: "이 식별자의 작업이 없습니다.")
        case .ownApproval:
            ErrorRule(
                "storeActionOwnApproval", .conflict,
                "A second person must approve the action: another member of the team, or the API key of another person.",
                korean: "다른 팀원이나 다른 사람의 API 키가 작업을 승인해야 합니다.")
        case .personMissing:
            ErrorRule(
                "storeActionPersonMissing", .conflict,
                "The API key names no person, so it approves nothing. Approve at the console, or with the key of a person: "
                    + "`till keys make NAME --scope stores --person PERSON`.",
                korean:
                    "누구의 키인지 알 수 없어 승인할 수 없습니다. 콘솔에서 승인하거나 사람의 키(till keys make 이름 --scope stores --person 사람)를 쓰세요.")
        case .uncertain(let store):
            ErrorRule(
                "storeActionUncertain", .badGateway,
                "An attempt had no answer, so nobody can tell if it was performed. Look at the purchase at \(store.nameInSentence) before you "
                    + "ask again.",
                korean: "응답을 받지 못해 요청이 처리되었는지 알 수 없습니다. 다시 요청하기 전에 \(store.name)에서 구매를 확인하세요.")
        case .failed:
            ErrorRule(
                "storeActionFailed", .badGateway, isOfOperator: true,
                "An attempt ended with a fault of the service, whose log has the reason. The service tries again for three days.",
                korean: "서비스 오류로 요청을 마치지 못했습니다. 원인은 서비스 로그에 있습니다. 서비스가 3일 동안 다시 시도합니다.")
        case .decided(let state):
            ErrorRule(
                "storeActionDecided", .conflict,
                "Nobody is to decide about the action any more: it is \(state.rawValue).",
                korean: "이미 결정되었거나 스토어에 요청한 작업이어서 더 이상 결정할 수 없습니다.")
        }
    }
}
