import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// Routes for one user: redeem proofs, and read items, rights, subscriptions, transactions and the account token. A back end
/// names the user in the path. An app's user is named by its token. Both share the code.
struct UserRoutes: Sendable {
    let door: RedemptionDoor
    let idempotentRequests: IdempotentRequests
    let subjects: Subjects
    /// The answers that apps ask for at every launch.
    private let items = UserAnswers<UserAnswer>(upTo: 32 << 20) { $0.answer.size }
    private let rights = UserAnswers<UserAnswer>(upTo: 16 << 20) { $0.answer.size }

    private var service: EntitlementService { door.entitlements }

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
        return answer.response(to: request, headers: [.cacheControl: "private, no-cache"])
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
        group.on(.listUserItems, .listMeItems) { request, context in
            let user = try subjects.user(request, context)
            let made = try await service.limited(to: context).answer(aboutItemsOf: user, keptIn: items) {
                UserAnswer(try ["items": $0].json(), isKnown: $1)
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
        group.on(.listUserTransactions, .listMeTransactions) { request, context in
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
        group.on(.redeemUserReceipt, .redeemMeReceipt) { request, context in
            try await redeem(request, context, fields: ["receipt"], for: try subjects.user(request, context)) {
                body throws(Problem) in try body.proof("receipt")
            }
        }
        group.on(.redeemUserTransaction, .redeemMeTransaction) { request, context in
            try await redeem(
                request, context, fields: TransactionProof.fields, for: try subjects.user(request, context),
                TransactionProof.proof(in:))
        }
    }

    /// - Parameters:
    ///   - fields: The fields of the body.
    ///   - proof: Returns the proof of a body.
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
        return try await idempotentRequests.answer(
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
