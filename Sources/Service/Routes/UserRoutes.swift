import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// Routes for one user: redeem proofs, and read items, rights, subscriptions, transactions and the account token. A back end
/// names the user in the path. An app's user is named by its token. Both share the code.
struct UserRoutes: OperationGroup {
    static let tag = OperationTag(
        "Users", "Proofs of purchase redeemed for a user, and the user's possessions.",
        [
            .readUser, .readMe, .makeUserAccountToken, .makeOwnAccountToken, .setUserAccountToken, .listUserItems,
            .listOwnItems, .listUserRights, .listOwnRights, .listUserSubscriptions, .listOwnSubscriptions,
            .listUserTransactions, .listOwnTransactions, .redeemUserTransaction, .redeemOwnTransaction,
            .redeemUserReceipt,
            .redeemOwnReceipt,
        ])
    let parts: ServiceParts
    /// The answers that apps ask for at every launch.
    private let items = UserAnswers<UserAnswer>(upTo: 32 << 20) { $0.answer.size }
    private let rights = UserAnswers<UserAnswer>(upTo: 16 << 20) { $0.answer.size }

    /// The answer about the items or the rights of a user.
    private struct UserAnswer: Sendable {
        let answer: CacheableAnswer
        /// The JSON of an answer about a user whom the ledger does not know. Such an answer is not kept.
        let unknown: [UInt8]?

        init(_ json: [UInt8], isKnown: Bool) {
            answer = CacheableAnswer(json, type: "application/json")
            unknown = isKnown ? nil : json
        }
    }

    private func response(_ made: UserAnswer, about user: User, to request: Request, _ context: ServiceContext)
        async throws -> Response
    {
        var answer = made.answer
        if let json = made.unknown, let unknown = try await subjects.unknown(user, to: context, in: service.ledger) {
            answer = CacheableAnswer(try unknown.json(beside: json), type: "application/json")
        }
        var headers = HTTPFields()
        headers.reserveForAnswer()
        headers[.cacheControl] = "private, no-cache"
        return answer.response(to: request, headers: headers)
    }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.setUserAccountToken) { request, context in
            try await setAccountToken(of: try subjects.user(request, context), request, context)
        }
        group.on(.readUser, .readMe) { request, context in
            let user = try subjects.user(request, context)
            guard let account = try await service.account(of: user) else {
                throw try await subjects.notFound(user, by: context, in: service.ledger)
            }
            return try AppAccountToken(token: account.appAccountToken).answer()
        }
        group.on(.makeUserAccountToken, .makeOwnAccountToken) { request, context in
            let user = try subjects.user(request, context)
            return try AppAccountToken(token: try await service.appAccountToken(of: user)).answer()
        }
        group.on(.listUserItems, .listOwnItems) { request, context in
            let user = try subjects.user(request, context)
            let made = try await service.limited(to: context).answer(aboutItemsOf: user, keptIn: items) {
                // An item has fewer bytes, unless its names are long.
                UserAnswer(try ["items": $0].json(reserving: 384 * ($0.count + 1)), isKnown: $1)
            }
            return try await response(made, about: user, to: request, context)
        }
        group.on(.listUserRights, .listOwnRights) { request, context in
            let user = try subjects.user(request, context)
            let app = try RequestedApps.name(of: request, context)
            let made = try await service.limited(to: context).answer(
                aboutRightsOf: user, in: app, keptIn: rights
            ) {
                UserAnswer(try ["rights": $0.filter(\.isActive)].json(), isKnown: $1)
            }
            return try await response(made, about: user, to: request, context)
        }
        group.on(.listUserSubscriptions, .listOwnSubscriptions) { request, context in
            let user = try subjects.user(request, context)
            let subscriptions = try await service.limited(to: context).subscriptions(of: user)
            let unknown =
                subscriptions.isEmpty ? try await subjects.unknown(user, to: context, in: service.ledger) : nil
            return try List(subscriptions, of: unknown).answer()
        }
        group.on(.listUserTransactions, .listOwnTransactions) { request, context in
            // The names of keys are the team's.
            let keys = try context.requiredCaller.isBackEnd ? await service.ledger.apiKeyNames() : [:]
            let (user, app) = (try subjects.user(request, context), try RequestedApps.name(of: request, context))
            let (service, store): (_, PurchaseStore?) = (service.limited(to: context), try request.query("store"))
            return try await RequestedPage(request).answer(
                naming: keys, at: \.sequence,
                ifEmpty: { try await subjects.unknown(user, to: context, in: service.ledger) }
            ) { before, limit in
                try await service.transactions(of: user, in: app, from: store, before: before, limit: limit)
            }
        }
        group.on(.redeemUserReceipt, .redeemOwnReceipt) { request, context in
            try await redeem(request, context, fields: ["receipt"], for: try subjects.user(request, context)) {
                body throws(Problem) in try body.proof("receipt")
            }
        }
        group.on(.redeemUserTransaction, .redeemOwnTransaction) { request, context in
            try await redeem(
                request, context, fields: TransactionProof.fields, for: try subjects.user(request, context),
                TransactionProof.proof(in:))
        }
    }

    /// - Parameter proof: Returns the proof of a body.
    private func redeem(
        _ request: Request,
        _ context: ServiceContext,
        fields: [String],
        for user: User,
        _ proof: (JSONBody) throws(Problem) -> [UInt8]
    ) async throws -> Response {
        let caller = try context.requiredCaller
        let newcomers = context.newcomers(for: request)
        let body = try await JSONBody(
            request, context, fields: fields, upTo: JSONBody.sizeWithProof)
        let proof = try proof(body)
        let network = context.appNetwork(of: request)
        return try await subjects.idempotentRequests.answer(
            request, from: caller, about: user, body: body.bytes, admits: { try $0.admits($1, about: $2, newcomers) }
        ) { pending in
            let keeping = pending.map { pending -> RedemptionRequest.Keeping in
                (pending.key, { pending.answer(try $0.json()) })
            }
            let sent = RedemptionRequest(
                proof, for: user, by: caller.actor, of: caller.app, seeing: caller.limitingApp, at: network,
                newcomers: newcomers, keeping: keeping)
            switch try await door.redeem(sent) {
            case .kept(let earlier): return .replayed(earlier)
            case .decided(let decided):
                let json = try decided.redemption.json()
                return pending.map { .kept($0.answer(json)) } ?? .new(json)
            }
        }
    }

    private func setAccountToken(
        of user: User,
        _ request: Request,
        _ context: ServiceContext
    ) async throws -> Response {
        let body = try await JSONBody(request, context, of: .setUserAccountToken)
        guard let token = UUID(uuidString: try body.text("appAccountToken")), !token.isPlaceholder else {
            throw JSONBody.invalid("The field /appAccountToken must be a UUID of the user's own, not of zeros.")
        }
        switch try await service.setAppAccountToken(
            token, of: user, isCorrection: try body.flag("isCorrection"))
        {
        case .set: return try AppAccountToken(token: token).answer()
        case .hasAnother:
            throw Problem(
                status: .conflict, code: "appAccountTokenSet",
                detail:
                    "The user has another account token, which purchases may contain. Read that token and use it, or add "
                    + "\"isCorrection\": true.")
        case .ofAnotherUser:
            throw Problem(
                status: .conflict, code: "appAccountTokenTaken",
                detail:
                    "Another user has this account token. Create a new UUID for each user, or add \"isCorrection\": true "
                    + "to take it from that user.")
        }
    }
}

/// The proof of a transaction in the body of a request: a signed transaction, or a signed purchase or a purchase token of Google Play.
enum TransactionProof {
    /// The fields of each form. The first one identifies it.
    private static let forms = [
        ["signedTransaction"], ["purchase", "signature"], ["purchaseToken", "packageName", "productId"],
    ]

    static let fields = forms.flatMap(\.self)

    static func proof(in body: JSONBody) throws(Problem) -> [UInt8] {
        let stated = forms.filter { form in form.contains { body.object[$0] != nil } }
        guard stated.count < 2 else {
            throw JSONBody.invalid(
                "The body has two proofs. Send /signedTransaction, or /purchase and /signature, or /purchaseToken.")
        }
        switch stated.first?.first {
        case "purchase": return try body.signedPurchase().json.compactBytes
        case "purchaseToken": return try body.googlePlayToken().json.compactBytes
        default: return try body.proof("signedTransaction")
        }
    }
}

struct AppAccountToken: AnswerObject {
    static let answerFields = AnswerFields<Self>("A user.", named: "Account") {
        $0.field(
            "appAccountToken",
            "The token that the app sets on its purchases, in lowercase; absent if none was made.", \.token)
    }

    let token: UUID?
}

extension PurchaseStatus: AnswerObject, Listed {
    package static let listName = "subscriptions"
    package static let answerFields = AnswerFields<Self>(
        "A subscription with its current state.", named: "UserSubscription"
    ) {
        $0.field("originalTransactionId", "The purchase.", \.originalTransactionIdentifier)
        $0.field("origin", \.origin)
        $0.field("productId", "The product of the last period.", \.productIdentifier)
        $0.field(
            "state",
            .one(
                of: [
                    "trial", "introductory", "active", "willNotRenew", "gracePeriod", "billingRetry", "paused",
                    "expired", "revoked", "upgraded",
                ], "The state. The user owns nothing by it in `billingRetry` and later states."), \.state.rawValue)
        $0.field("since", "The start of the latest run of periods without a gap.", \.since)
        $0.field("until", "The end of the last period, or of its grace period.", \.until)
        $0.field(
            "renews",
            "Absent if the store has not stated it. False for a commitment that the customer lets end, though its next periods follow.",
            \.renews)
        $0.field("renewsAt", "The date of the next charge.", \.nextPeriod?.beginsAt)
        $0.field("nextProductId", "The product of the next period.", \.nextProductIdentifier)
        $0.field(
            "nextBasePlanId", "The base plan of the next period at Google Play.", \.nextPeriod?.basePlanIdentifier)
        $0.field(
            "nextPrice", "The price of the next period, in milliunits of the currency.",
            \.nextPeriod?.price?.milliunits)
        $0.field("nextCurrency", "Its ISO 4217 code.", \.nextPeriod?.price?.currency)
        $0.field(
            "pausedUntil", "The end of the pause; absent if it is not paused, or without a stated end.", \.pausedUntil)
        $0.field("cancelledBy", .canceler, \.ending?.canceler)
        $0.field(
            "expirationReason", "The reason for the end; absent if the store has stated none.", \.expirationReason)
    }
}

extension ExpirationReason: AnswerValue {}

extension RedeemedTransaction: AnswerObject, Listed {
    package static let listName = "transactions"
    package static let answerFields = AnswerFields<Self>("A redeemed transaction.", named: "Transaction") {
        $0.field("bundleId", "The bundle identifier of the app that sold it.", \.app)
        $0.field("transactionId", "The transaction's identifier.", \.transactionIdentifier)
        $0.field(
            "originalTransactionId", "The identifier of the original transaction.", \.originalTransactionIdentifier)
        $0.field("productId", "The product.", \.productIdentifier)
        $0.field("quantity", .integer(in: 1 ... .max), \.quantity)
        $0.field("origin", \.origin)
        $0.field("purchaseDate", "The time of the purchase.", \.purchaseDate)
        $0.field("redeemedAt", "The time of the redemption.", \.redeemedAt)
        $0.field(
            "expiresDate", "The end of the purchased period; absent for a purchase without an end.", \.expiresAt)
        $0.field(
            "revocationDate", "The time of the store's refund or revocation; absent if there was none.",
            \.revocationDate)
        $0.field(
            "revocationReason",
            "The reason in Apple's numbers: 1 for a problem with the app, 0 for another reason.", \.revocationReason)
        $0.field("revocation", \.revocation)
        $0.field("facts", .transactionFacts, \.facts.content)
    }
}

extension APIOperation {
    static let readUser = APIOperation(
        .get, "/v1/users/{user}", for: .backEnd(.read), isPerApp: true,
        "readUser", "Returns the user's account token if it was made",
        answers: [.json("The user.", AppAccountToken.self)])

    static let readMe = readUser.own("readMe", "Returns the caller's account token if it was made", usesReserve: true)

    static let makeUserAccountToken = APIOperation(
        .put, "/v1/users/{user}/account-token", for: .backEnd(.redeem), isPerApp: true,
        "makeUserAccountToken", "Returns the user's account token, and makes it and the user if need be",
        answers: [.json("The user.", AppAccountToken.self)])

    static let makeOwnAccountToken = makeUserAccountToken.own(
        "makeOwnAccountToken", "Returns the caller's account token, and makes it if need be")

    static let setUserAccountToken = APIOperation(
        // Purchases of every app may have the token.
        .put, "/v1/users/{user}", for: .backEnd(.redeem),
        "setUserAccountToken", "Sets an account token that the back end has generated",
        body: .json([
            "appAccountToken": .uuid("A UUID that no other user has."),
            "isCorrection": .flag(
                "True to set the token in any case: a former token of the user still leads to the user, and the token of another user is taken from that user."
            ).with(["default": .bool(false)]).optional,
        ]).described("An account token."),
        answers: [.json("The user.", AppAccountToken.self)],
        or: [.conflict])

    static let listUserItems = APIOperation(
        .get, "/v1/users/{user}/items", for: .backEnd(.read), isPerApp: true,
        "listUserItems", "Lists the items of the user",
        parameters: [.ifNoneMatch, .position],
        answers: [
            .list("The items of a user, including those that everybody owns, in order.", "items", of: .ownedItem)
                .aboutUser
        ])

    static let listOwnItems = listUserItems.own("listOwnItems", "Lists the items of the caller", usesReserve: true)

    static let listUserRights = APIOperation(
        .get, "/v1/users/{user}/rights", for: .backEnd(.read), isPerApp: true,
        "listUserRights", "Lists the rights that the user has",
        parameters: [.app, .ifNoneMatch, .position],
        answers: [.list("The rights, in the order of the catalog.", "rights", of: .userRight).aboutUser])

    static let listOwnRights = listUserRights.own(
        "listOwnRights", "Lists the rights that the caller has", usesReserve: true)

    static let listUserSubscriptions = APIOperation(
        .get, "/v1/users/{user}/subscriptions", for: .backEnd(.read), isPerApp: true,
        "listUserSubscriptions", "Lists the user's subscriptions with their current state",
        parameters: [.position],
        answers: [
            .list("The subscriptions, in the order of their first purchases.", of: PurchaseStatus.self).aboutUser
        ])

    static let listOwnSubscriptions = listUserSubscriptions.own(
        "listOwnSubscriptions", "Lists the caller's subscriptions with their current state", usesReserve: true)

    static let listUserTransactions = APIOperation(
        .get, "/v1/users/{user}/transactions", for: .backEnd(.read), isPerApp: true,
        "listUserTransactions", "Lists the redeemed transactions, newest first",
        parameters: [
            .app, .query("store", "Only purchases at one store, local ones included.", .one(of: PurchaseStore.self)),
            .position,
        ],
        answers: [.page("A page of transactions, newest first.", of: RedeemedTransaction.self).aboutUser])

    static let listOwnTransactions = listUserTransactions.own("listOwnTransactions", usesReserve: true)

    static let redeemUserTransaction = APIOperation(
        .post, "/v1/users/{user}/transactions", for: .backEnd(.redeem), isPerApp: true,
        "redeemUserTransaction", "Redeems a signed transaction, or a purchase of Google Play",
        parameters: [.idempotencyKey],
        body: .json([
            "signedTransaction": .text(
                "The signed transaction (JWS), as StoreKit gives it, or a receipt of Unity IAP."
            ).example("eyJhbGciOiJFUzI1NiJ9.e30.MEUCIQ").optional,
            "purchase": .text(
                "The signed text of a purchase of Google Play (`getOriginalJson()`), to the byte, instead of a signed transaction."
            )
            .optional,
            "signature": .text("The signature of that purchase (`getSignature()`), in base64.").optional,
            "purchaseToken": .text(
                "The token of a purchase of Google Play (`getPurchaseToken()`), about which the service asks Google Play, instead of both."
            ).optional,
            "packageName": .text("The app of that token; absent if the service asks about one app.").optional,
            "productId": .text("The product of that token, as a hint. Google Play states the products.").optional,
        ]).described("A proof of purchase: `signedTransaction`, `purchase` and `signature`, or `purchaseToken`."),
        answers: [.json("The outcome.", Redemption.self).with(.position)], or: [.badGateway])

    static let redeemOwnTransaction = redeemUserTransaction.own("redeemOwnTransaction", usesReserve: true)

    static let redeemUserReceipt = APIOperation(
        .post, "/v1/users/{user}/receipts", for: .backEnd(.redeem), isPerApp: true,
        "redeemUserReceipt", "Redeems an app receipt",
        parameters: [.idempotencyKey],
        body: .json(["receipt": .text("The app receipt, in base64, or a receipt of Unity IAP.")]).described(
            "A proof of purchase."),
        answers: [.json("The outcome.", Redemption.self).with(.position)])

    static let redeemOwnReceipt = redeemUserReceipt.own("redeemOwnReceipt", usesReserve: true)
}

extension Origin: AnswerValue {
    package static let schema = Schema.one(of: Origin.self, "The origin of the purchase.")
}

extension UserName: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A user's name and its issuer.", named: "UserName", isClosed: true
    ) {
        $0.field("issuer", "The issuer; empty for a user of the back end.", \.issuer)
        $0.field("name", ("The name." as Schema).example("alice"), \.name)
    }
}

extension Redemption: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The result of a redemption.", named: "Redemption") {
        $0.field("outcome", "The outcome of the proof as a whole.", \.outcome)
        $0.field("transactions", "The transactions in the proof's order.", \.transactions)
        $0.field("items", "The items that the user owns now.", \.items)
    }
}

extension Redemption.Outcome: AnswerValue {}

extension Redemption.Result: AnswerValue {}

extension Redemption.Line: AnswerObject {
    package static let answerFields = AnswerFields<Self>("The result of one transaction.") {
        $0.field("transactionId", "The transaction's identifier.", \.transactionId)
        $0.field("productId", "The product.", \.productId)
        $0.field("result", "The outcome of the transaction.", \.result)
        $0.field("mayFinish", "True if the device may finish the transaction.", \.mayFinish)
    }
}

extension Schema {
    static func purchaseState(_ description: String? = nil) -> Schema {
        one(of: PurchaseState.allCases.filter { $0 != .unclaimed }.map(\.rawValue), named: "PurchaseState", description)
    }

    static let canceler = one(
        of: ExpirationReason.allCases.compactMap(\.canceler), named: "Canceler",
        "Who or what has canceled; absent if nobody has, or if the store has not stated it.")

    private static let source = one(
        of: ["purchase", "grant", "rule"], named: "ItemSource",
        "The source: a purchase (of several, the one that ends last), a grant by the team, or the catalog's rule that everybody owns the item."
    )

    static let ownedItem = Schema.object("An item of a user, with its period and its source.", named: "OwnedItem")
        .fields([
            "collection": .text(),
            "number": .integer(in: 0 ... .max),
        ]).covered("item", since: "The start of the current period of ownership without a gap.", until: "ownership")

    static let userRight = Schema.object(
        "A right that a user has, with its period and its source. Of several sources, the one that ends last.",
        named: "UserRight"
    ).fields([
        "name": .text("The name of the right.").example("premium"),
        "collection": .text("The collection of the item that gives the right."),
        "number": .integer("The number of the item that gives the right.", in: 0 ... .max),
    ]).covered("right", since: "The start of the right without a gap.", until: "right")

    /// The object with the period and the source of what a user has.
    private func covered(_ thing: String, since: String, until: String) -> Schema {
        fields([
            "source": Self.source,
            "state": .purchaseState("The state of the purchase; `owned` for another source.").example("owned"),
            "since": .time("\(since) Absent for a rule.").optional,
            "until": .time("The end of the \(until); absent without an end.").optional,
            "renews": .flag("Absent if the store has not stated whether the subscription renews.").optional,
            "productId": .text("The product of a purchase.").example("com.memolease.sesac1.sprout1").optional,
            "transactionId": .text("The transaction that gives the \(thing).").example("2000000123456789").optional,
            "originalTransactionId": .text("The purchase.").optional,
            "origin": Origin.schema.optional,
            "grant": .text("The identifier of a grant.").optional,
        ])
    }

    static let transactionFacts = facts(
        TransactionFact.self, named: "TransactionFacts",
        "The facts that the store has stated, in the words of the App Store. A fact that it has not stated is absent.")
    static let renewalFacts = facts(
        RenewalFact.self, named: "RenewalFacts",
        "The facts that the store has last stated about a renewal, in the words of the App Store. A fact that it has not stated is absent."
    )

    /// Notes on facts, where they say more than the meaning in the table.
    private static let factNotes = [
        "additionalTransactionReason": "`SEAT_ADDITION`; absent if the transaction is the only one of its period.",
        "advancedCommerceInfo": "`advancedCommerceInfo`, as it was signed.",
        "appAccountToken": "The account token of the purchase.",
        "appTransactionId": "The customer of the app, as Apple numbers it.",
        "autoRenewProductId": "The product of the next period.",
        "autoRenewStatus": "1 if the subscription renews, 0 if the running period is the last one.",
        "billingPlanType": "`BILLED_UPFRONT` or `MONTHLY`.",
        "cancelSurveyReason":
            "Google's word, such as `CANCEL_SURVEY_REASON_COST_RELATED`; absent if the customer gave none.",
        "cancelTime": "The moment at which the customer has canceled at Google Play.",
        "canceledBy": "`user`, `system` (Google Play), `developer` or `replacement`.",
        "commitmentInfo": "`commitmentInfo`, as it was signed.",
        "consentDeadlineTime":
            "The moment at which Google Play cancels the subscription unless the customer consents to the step-up of the price.",
        "currency": "ISO 4217.",
        "eligibleWinBackOfferIds": "The win-back offers that the customer may use.",
        "environment": "`Production`, `Sandbox`, `Xcode` or `LocalTesting`.",
        "expirationIntent":
            "1 cancelled, 2 billing error, 3 no consent to a price increase, 4 product not available, 5 other.",
        "expiresDate": "The end that the store states.",
        "hasOneTimeCode":
            "True for a promotion code of Google Play that this customer alone could use. Google does not state the code.",
        "inAppOwnershipType": "`PURCHASED`, `FAMILY_SHARED` or `ASSIGNED`, a seat that another customer has paid for.",
        "installmentDetails": "`installmentDetails` of the plan, as Google Play has stated it.",
        "isInBillingRetryPeriod": "True while the store tries to charge again.",
        "isInIntroOfferPeriod": "True in an introductory offer, as an app receipt states it.",
        "isRental": "True for a product that is rented at Google Play until `expiresDate`, and not bought.",
        "isTrialPeriod": "True in a free trial, as an app receipt states it.",
        "isUpgraded": "True if the customer has changed to a higher level since.",
        "itemId": "The product's number in the App Store.",
        "multiSeatInfo": "`multiSeatInfo`, as it was signed: the seats and their prices.",
        "offerDiscountType": "`FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT` or `ONE_TIME`.",
        "offerIdentifier": "The offer, as App Store Connect names it.",
        "offerPeriod": "ISO 8601, such as `P1M`.",
        "offerTags": "The tags that the team has given to the offer, and to its base plan or purchase option.",
        "offerType": "1 introductory, 2 promotional, 3 offer code, 4 win-back.",
        "pointsDetails": "`pointsDetails` of the order, as Google Play has stated it.",
        "preorderReleaseTime": "The moment at which the pre-order was released and charged, by Google Play.",
        "previousOriginalTransactionId":
            "The original transaction of the subscription before it was migrated, or moved into or out of a bundle.",
        "price": "Milliunits of the currency: the price of the whole quantity, or of one seat on average.",
        "priceIncreaseStatus": "0 if the customer has not responded, 1 after consent.",
        "productId": "The product of this period.",
        "recentSubscriptionStartDate": "The start of the latest run of periods without a gap of 60 days.",
        "refundReason": "`CHARGEBACK` or `OTHER`; absent for a partial refund.",
        "renewalBillingPlanType": "`BILLED_UPFRONT` or `MONTHLY`.",
        "renewalDate": "The date of the next renewal.",
        "renewalPrice": "Milliunits of the currency, of one seat on average.",
        "revocationType": "`REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE` or `ASSIGNMENT_REVOKE`.",
        "salesChannel": "`IN_APP`, `PC_EMULATOR`, `NATIVE_PC`, `PLAY_STORE` or `OUTSIDE_PLAY_STORE`.",
        "signedDate":
            "The date of the last signed transaction; absent if app receipts alone have stated the facts.",
        "storefront": "ISO 3166-1, three letters.",
        "storefrontId": "The storefront's number.",
        "transactionReason": "`PURCHASE` or `RENEWAL`.",
        "type": "`Consumable`, `Non-Consumable`, `Auto-Renewable Subscription` or `Non-Renewing Subscription`.",
        "voidedReason":
            "0 other, 1 remorse, 2 not received, 3 defective, 4 accidental, 5 fraud, 6 friendly fraud, 7 chargeback, 8 not acknowledged.",
        "voidedSource": "0 the customer, 1 the developer, 2 Google.",
        "webOrderLineItemId": "The number of the period in the App Store.",
    ]

    /// The facts of a table of Apple's fields.
    private static func facts<Fact: StatedFact>(_ table: Fact.Type, named name: String, _ description: String) -> Schema
    {
        let fields = table.allCases.map { fact in
            let meaning = fact.field.meaning
            let note = factNotes[fact.rawValue] ?? meaning.prefix(1).uppercased() + meaning.dropFirst() + "."
            let schema: Schema =
                switch fact.field.kind {
                case .text, .token: .text(note)
                case .integer: .integer(note)
                case .bool: .flag(note)
                case .date: .time(note)
                case .texts: .array(of: .text(), note)
                case .object: .anyObject.described(note)
                }
            return (fact.rawValue, schema.optional)
        }
        return .object(description, named: name).fields(fields)
    }
}

extension Item {
    var json: JSONValue {
        .object(["collection": .string(collection), "number": .integer(number)])
    }
}

/// An item of a user. Each launch of an app reads all of them, so the members are written one by one, in the order of their
/// names, without a list of fields (`AnswerFields`).
extension OwnedItem: AnswerValue {
    package static var schema: Schema { .ownedItem }

    package func write(to json: inout AnswerJSON) {
        json.append("{")
        writeMembers(to: &json)
        json.append("}")
    }

    fileprivate func writeMembers(to json: inout AnswerJSON) {
        func text(_ name: StaticString, _ text: String?) {
            guard let text else { return }
            json.append(name)
            json.string(text)
        }
        func time(_ name: StaticString, _ moment: Timestamp?) {
            guard let moment else { return }
            json.append(name)
            json.string(moment)
        }
        let purchase = purchase
        text("\"collection\":", item.collection)
        if case .grant(let identifier) = source { text(",\"grant\":", identifier) }
        json.append(",\"number\":")
        json.append(item.number)
        if let purchase {
            text(",\"origin\":", purchase.origin.rawValue)
            json.append(",\"originalTransactionId\":")
            json.string(purchase.original)
            text(",\"productId\":", purchase.productIdentifier)
        }
        if let renews { json.append(renews ? ",\"renews\":true" : ",\"renews\":false") }
        time(",\"since\":", since)
        text(",\"source\":", sourceName)
        text(",\"state\":", state.rawValue)
        if let purchase {
            json.append(",\"transactionId\":")
            json.string(purchase.period.identifier)
        }
        time(",\"until\":", until)
    }

    private var sourceName: String {
        switch source {
        case .purchase: "purchase"
        case .grant: "grant"
        case .rule: "rule"
        }
    }
}

/// The item with the right's name.
extension UserRight: AnswerValue {
    package static var schema: Schema { .userRight }

    package func write(to json: inout AnswerJSON) {
        json.append("{\"name\":")
        json.string(name)
        json.append(",")
        item.writeMembers(to: &json)
        json.append("}")
    }
}
