import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Vocabulary

/// Routes for the support team: find users and purchases, explain items, and assign unclaimed purchases.
struct SupportRoutes: OperationGroup {
    static let tag = OperationTag(
        "Support", "Answers for the team about users, purchases and orders.",
        [
            .searchUsers, .findTransaction, .tellStory, .explainItem, .listUnclaimed, .assignUnclaimed,
        ])
    let parts: ServiceParts

    private var orders: OrderLookup { OrderLookup(service: service, clients: stores.orders) }

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.searchUsers) { request, _ in try await users(request) }
        group.on(.findTransaction) { request, context in try await purchases(request, context) }
        group.on(.tellStory) { request, context in
            try await story(of: try subjects.user(request, context, ofAnyIssuer: true), request, context)
        }
        group.on(.explainItem) { request, context in
            let user = try subjects.user(request, context, ofAnyIssuer: true)
            let item = Item(
                collection: try context.parameters.text("collection"), number: try Self.number(context))
            let explanation = try await service.limited(to: context).explanation(
                of: item, for: user, with: till.storeActions)
            let unknown = try await subjects.unknown(user, to: context, in: service.ledger)
            let json = try explanation.json()
            return JSONAnswer.response(bytes: try unknown?.json(beside: json) ?? json)
        }
        group.on(.listUnclaimed) { request, context in try await unclaimed(request, context) }
        group.on(.assignUnclaimed) { request, context in try await assign(request, context) }
    }

    private static func number(_ context: ServiceContext) throws -> Int {
        guard let number = Int(try context.parameters.text("number")), number >= 0 else { throw Problem.pathUnknown }
        return number
    }

    private func users(_ request: Request) async throws -> Response {
        guard let text = try request.query("search"), !text.isEmpty else {
            throw Problem.parameter("search", "a part of a user's name, an account token or an e-mail address")
        }
        let page = try RequestedPage(request)
        let found = try await service.users(
            searchedBy: text, after: try page.position { RecordPosition($0) }, limit: page.size)
        return try List(found.users, nextCursor: found.next.map { RequestedPage.cursor(after: $0.description) })
            .answer()
    }

    private func purchases(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let named = try context.parameters.text("transaction", upTo: GooglePlayPurchase.maximumTokenSize)
        let (app, service) = (try RequestedApps.name(of: request, context), service.limited(to: context))
        let identifier = try await service.identifier(searchedBy: named)
        let purchases = try await service.purchases(ofTransaction: identifier).filter {
            app?.hasSameBytes(as: $0.app ?? "") ?? true
        }
        let unclaimed = try await service.unclaimedPurchases(
            ofTransaction: identifier, in: app, after: nil, limit: 100)
        guard !purchases.isEmpty || !unclaimed.isEmpty else {
            if let order = OrderIdentifier(identifier), let found = try await orders.purchases(of: order, in: app) {
                return try found.answer(naming: try await service.ledger.apiKeyNames())
            }
            throw Problem(
                status: .notFound, code: "transactionUnknown",
                detail: "No transaction, original transaction or order has this identifier."
                    + (OrderIdentifier(identifier) != nil && orders.clients.isEmpty
                        ? " The service has no key of the App Store (app-store-key), so it cannot look up order numbers."
                        : ""))
        }
        let waiting = unclaimed.purchases(named: [identifier])
        let charges =
            purchases.compactMap { $0.charge(named: named)?.transactionIdentifier }
            + waiting.filter { $0.isCharge(named: named) }.map(\.transactionIdentifier)
        let found = PurchaseLookup(purchases: purchases, unclaimed: waiting, charges: charges)
        return try found.answer(naming: try await service.ledger.apiKeyNames())
    }

    private func story(of user: User, _ request: Request, _ context: ServiceContext) async throws -> Response {
        let (page, service) = (try RequestedPage(request), service.limited(to: context))
        let keys = try await service.ledger.apiKeyNames()
        let part = StoryPart(month: try request.queriedMonth("month"), kind: try request.query("kind"))
        return try await page.answer(
            naming: keys, at: \.position,
            ifEmpty: { try await subjects.unknown(user, to: context, in: service.ledger) }
        ) { position, limit in
            try await service.story(of: user, part, before: position, limit: limit)
        }
    }

    private func unclaimed(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let (page, service) = (try RequestedPage(request), service.limited(to: context))
        let (named, app) = (try request.query("search"), try RequestedApps.name(of: request, context))
        let (product, day) = (try request.query("product"), try request.queriedDay("day"))
        guard product == nil && day == nil else {
            guard named == nil else { throw Problem.parameter("search", "left out beside product and day") }
            let last = try page.position { UnclaimedPurchase.TimePosition($0) }
            let found = try await service.ledger.read {
                try $0.newestUnclaimed(ofProduct: product, in: app, statedOn: day, before: last, limit: page.size)
            }
            return try List(found.purchases, nextCursor: found.next.map { RequestedPage.cursor(after: $0.description) })
                .answer()
        }
        var search = named
        if let named { search = try await service.identifier(searchedBy: named) }
        return try await page.answer(at: \.position) { [search] last, limit in
            try await service.unclaimedPurchases(ofTransaction: search, in: app, after: last, limit: limit)
        }
    }

    private func assign(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let purchase = try NamedPurchase(request, context)
        let body = try await JSONBody(request, context, of: .assignUnclaimed)
        let user = try subjects.user(namedIn: body)
        let caller = try context.requiredCaller
        let result = try await door.assign(
            unclaimed: purchase.identifier, origin: purchase.origin, in: purchase.app, seeing: caller.limitingApp,
            to: user, reason: try Reason.read(body), by: caller.name)
        return try Assignment(transactionId: purchase.identifier, user: UserName(user), result: result).answer()
    }
}

extension APIOperation {
    static let searchUsers = APIOperation(
        // A user belongs to no app.
        .get, "/v1/users", for: .backEnd(.support),
        "searchUsers",
        "Finds users by a part of their name, in any case and script, or by their account token, e-mail address, phone number or display name",
        parameters: [
            .query(
                "search",
                "A part of a name, or a whole account token, e-mail address, phone number or display name. Those of accounts and of the attributes `$email`, `$phoneNumber` and `$displayName` are compared without regard to the case of A to Z; nobody may have verified them. A day with a product or an amount (`2026-11-03 4.99`) finds at most 50 users who have bought it then, the day before or the day after in UTC.",
                .text(length: 1...256), isRequired: true,
                example: "ali")
        ],
        answers: [.page("The users whom the text identifies first, then the newest.", of: KnownUser.self)])

    static let findTransaction = APIOperation(
        .get, "/v1/transactions/{transaction}", for: .backEnd(.support), isPerApp: true,
        "findTransaction", "The owner of a transaction or an order, and all that was stated about the purchase",
        parameters: [
            .path(
                "transaction",
                "A transaction, an original transaction, an order number of a receipt, or a purchase token of Google Play, which the answer does not repeat. The App Store is asked about its order numbers; those of Google Play are recorded with the purchases. An order number is found in any case, with spaces, a `#` or other dashes, and at Google Play without `GPA.` and with the number of any renewal.",
                .text(length: 1...512), example: "2000000000000001"), .app,
        ],
        answers: [.json("The purchases that the transaction belongs to.", PurchaseLookup.self)],
        or: [.badGateway])

    static let tellStory = APIOperation(
        .get, "/v1/users/{user}/story", for: .backEnd(.support), isPerApp: true,
        "tellStory", "Lists the events of a user, newest first",
        parameters: [
            .query("month", "A month in UTC, for only its entries.", .text(length: 7...7), example: "2027-03"),
            .query("kind", "A kind of entries, for only these.", .one(of: StoryKind.self)),
        ],
        answers: [
            .page("Statements of the stores, and actions of the user and the team.", of: StoryEntry.self).aboutUser
        ])

    static let explainItem = APIOperation(
        .get, "/v1/users/{user}/items/{collection}/{number}/explanation", for: .backEnd(.support), isPerApp: true,
        "explainItem", "Explains why a user owns an item or does not",
        parameters: [
            .path("collection", "The collection of the item.", .text(length: 1...256), example: "sprout"),
            .path("number", "The number of the item.", .integer(in: 0 ... .max), example: .integer(1)),
        ],
        answers: [.json("The reason, and the remedy.", ItemExplanation.self).aboutUser])

    static let listUnclaimed = APIOperation(
        .get, "/v1/unclaimed", for: .backEnd(.support), isPerApp: true,
        "listUnclaimed", "Lists the purchases that nobody has redeemed",
        parameters: [
            .query(
                "search",
                "The identifier of a transaction or an original transaction, the order number of a subscription at Google Play, or a purchase token.",
                .text(length: 1...512)),
            .query("product", "Only purchases of this product, the newest statement first. A page may have none."),
            .query("day", "Only purchases last stated on this day in UTC, the newest statement first.", .day()),
            .app,
        ],
        answers: [
            .page(
                "The purchases in the order of their transactions, or the newest first with `product` or `day`.",
                of: UnclaimedPurchase.self)
        ])

    static let assignUnclaimed = APIOperation(
        .post, "/v1/unclaimed/{transaction}/assignment", for: .backEnd(.grant), isPerApp: true,
        "assignUnclaimed", "Assigns an unclaimed purchase to a user, as if the user had redeemed it",
        parameters: [
            .path(
                "transaction", "The identifier of a transaction or an original transaction.", .text(length: 1...256),
                example: "2000000000000001"), .origin, .app,
        ],
        body: owner,
        answers: [.json("The user owns the purchase.", Assignment.self)],
        or: [.conflict, .refused])

    /// The body that names the owner whom the team chooses.
    static let owner = HTTPSupport.RequestBody.json([
        "user": .text("The user's name.", length: 1...768),
        "issuer": .text("The issuer of the user's tokens; absent for a user of the back end.").nullable.optional,
        "reason": .text("The reason, in the team's own words.", length: 1...500),
    ]).described("The user and the reason.")
}

extension NameIndex {
    private static var refreshInterval: Duration { .seconds(60) }
    private static var retries: ClosedRange<Duration> { .seconds(5)...refreshInterval }
    /// The number of refreshes from one rebuild to the next: an hour.
    private static var refreshesOfRebuild: Int { 60 }

    /// The task that keeps an index in use up to date. If it fails, the next search reads the names.
    ///
    /// - Parameter isReadAtStart: True to read the names when the service starts, so that the first search is as fast as the others.
    package nonisolated func upkeep(isReadAtStart: Bool, logger: Logger) -> Companion {
        let work = RepeatedWork(
            "names of users not read", Rhythm(every: Self.refreshInterval, retry: Self.retries), logger: logger)
        return work.companion(from: 0) { count in
            if count == 0 {
                if isReadAtStart { try await self.rebuild() }
            } else {
                try await self.keepUp(isRebuild: count.isMultiple(of: Self.refreshesOfRebuild))
            }
            count += 1
            return true
        }
    }
}

/// The search for the purchases of an order, whose number no proof states: the App Store leads from it to transactions.
struct OrderLookup: Sendable {
    let service: EntitlementService
    let clients: [AppStoreServerClient]

    /// - Parameter app: The bundle identifier of the only app whose orders are looked up; nil for all apps.
    /// - Returns: Nil if no App Store knows the order.
    /// - Throws: `ReconciliationError` if no App Store knows the order and one failed to answer.
    func purchases(of order: OrderIdentifier, in app: String?) async throws -> PurchaseLookup? {
        let signed = try await signedTransactions(of: order, in: app)
        return signed.isEmpty ? nil : try await purchases(of: order, in: app, stating: signed)
    }

    /// The signed transactions of an order; empty if no App Store knows it.
    fileprivate func signedTransactions(of order: OrderIdentifier, in app: String?) async throws -> [String] {
        var failure: ReconciliationError?
        for client in clients where app?.hasSameBytes(as: client.key.bundleIdentifier) ?? true {
            do {
                let signed = try await client.lookUpOrderId(order).transactions
                if !signed.isEmpty { return signed }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return []
    }

    private func purchases(
        of order: OrderIdentifier,
        in app: String?,
        stating signed: [String]
    ) async throws -> PurchaseLookup {
        let service = service.limited(to: app)
        var known: [KnownPurchase] = []
        var unclaimed: [UnclaimedPurchase] = []
        var unrecorded: [UnrecordedTransaction] = []
        var named: [String] = []
        for proof in signed {
            let (stated, origin) = try await verified(Array(proof.utf8), of: app)
            named.append(stated.transactionId)
            let purchases = try await service.purchases(ofTransaction: stated.originalTransactionId).filter {
                $0.status.origin == origin
                    && $0.status.originalTransactionIdentifier.hasSameBytes(as: stated.originalTransactionId)
            }
            let parked = try await service.unclaimedPurchases(
                ofTransaction: stated.originalTransactionId, after: nil, limit: 100
            ).filter { $0.origin == origin && $0.app.hasSameBytes(as: stated.bundleId) }
            known += purchases.filter { !known.contains($0) }
            unclaimed += parked.filter { !unclaimed.contains($0) }
            let recorded =
                purchases.flatMap(\.transactions).map(\.transactionIdentifier) + parked.map(\.transactionIdentifier)
            if !recorded.contains(where: { $0.hasSameBytes(as: stated.transactionId) }) {
                unrecorded.append(UnrecordedTransaction(stated: stated, origin: origin))
            }
        }
        let waiting = unclaimed.purchases(named: named)
        let charges =
            known.compactMap { $0.charge(among: named)?.transactionIdentifier }
            + waiting.filter { $0.isCharge(among: named) }.map(\.transactionIdentifier)
        return PurchaseLookup(
            purchases: known, unclaimed: waiting, charges: charges, orderId: order.text, unrecorded: unrecorded)
    }

    fileprivate func verified(_ proof: [UInt8], of app: String? = nil) async throws -> (
        JWSTransactionDecodedPayload, Origin
    ) {
        do {
            let verified = try await BlockingWork.process(proof.count) { try service.verify(proof, of: app) }
            guard case .transaction(let transaction) = verified.content else {
                throw ReconciliationError.answerInvalid
            }
            return (transaction, verified.origin)
        } catch let error as RedemptionError {
            throw ReconciliationError.refusedByService(code: error.code)
        }
    }
}

extension EntitlementService {
    /// The transactions of an order, with their original ones; empty if the text is no order, or if no App Store knows it.
    ///
    /// - Throws: `ReconciliationError` if no App Store knows the order and one failed to answer.
    package func transactions(ofOrder text: String, asking clients: [AppStoreServerClient]) async throws
        -> [(transaction: String, original: String)]
    {
        guard let order = OrderIdentifier(text) else { return [] }
        let lookup = OrderLookup(service: self, clients: clients)
        var found: [(transaction: String, original: String)] = []
        for proof in try await lookup.signedTransactions(of: order, in: nil) {
            let stated = try await lookup.verified(Array(proof.utf8)).0
            found.append((stated.transactionId, stated.originalTransactionId))
        }
        return found
    }

    /// The original transactions of an order; empty if the text is no order, or if no App Store knows it.
    ///
    /// - Throws: `ReconciliationError` if no App Store knows the order and one failed to answer.
    package func originalTransactions(ofOrder text: String, asking clients: [AppStoreServerClient]) async throws
        -> [String]
    {
        var identifiers: [ByteKey] = []
        for (_, original) in try await transactions(ofOrder: text, asking: clients) {
            let identifier = ByteKey(original)
            if !identifiers.contains(identifier) { identifiers.append(identifier) }
        }
        return identifiers.map(\.text)
    }
}

extension KnownUser: AnswerObject, Listed {
    package static let listName = "users"
    package static let answerFields = AnswerFields<Self>("A user in the ledger.", named: "KnownUser") {
        $0.field("user") { UserName($0.user) }
        $0.field(
            "appAccountToken", "The account token that the user's purchases may contain.",
            \.appAccountToken.lowercasedString)
        $0.field("firstSeenAt", \.firstSeenAt)
    }
}

struct PurchaseLookup: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "The purchases of a transaction or an order.", named: "PurchaseLookup"
    ) {
        $0.field("purchases", \.purchases)
        $0.field("unclaimed", "Each purchase that nobody has redeemed once, with its renewals.", \.unclaimed)
        $0.field(
            "charges",
            "The transaction of each purchase that the identifier names; of a whole purchase the newest one, and none of an order that is not recorded.",
            \.charges)
        $0.field(
            "orderId", "The order that the App Store was asked about; absent if the identifier is a transaction.",
            \.orderId)
        $0.field(
            "unrecorded",
            "The transactions of the order that the App Store knows and nobody has redeemed here; absent without an order.",
            \.unrecorded)
    }

    /// The redeemed purchases. There are several if several origins use the identifier.
    let purchases: [KnownPurchase]
    let unclaimed: [UnclaimedPurchase]
    let charges: [String]
    var orderId: String?
    var unrecorded: [UnrecordedTransaction]?
}

extension KnownPurchase: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A redeemed purchase, with the statements about it.", named: "KnownPurchase"
    ) {
        $0.field("owner", "The owner; absent if the user was erased.") { $0.owner.map { UserName($0) } }
        $0.field(
            "ownerErased",
            "True if the owner was erased. `PUT /v1/transactions/{transaction}/owner` moves the purchase."
        ) { $0.owner == nil }
        $0.field("ownerErasedAt", "The time of the erasure.") { $0.erasure?.happenedAt }
        $0.field("ownerErasedBy", "The caller: `key` and the identifier of an API key, or a member of the team.") {
            $0.erasure?.actor.description
        }
        $0.field("originalTransactionId", \.status.originalTransactionIdentifier)
        $0.field("origin", \.status.origin)
        $0.field("productId", "The product of the last transaction.", \.status.productIdentifier)
        $0.field("state", .purchaseState(), \.status.state.rawValue)
        $0.field("since", \.status.since)
        $0.field("until", \.status.until)
        $0.field("renews", "Absent if the store has not stated it.", \.status.renews)
        $0.field("pausedUntil", "The end of the pause.", \.status.pausedUntil)
        $0.field("cancelledBy", .canceler, \.status.ending?.canceler)
        $0.field("expirationReason", \.status.expirationReason?.rawValue)
        $0.field("items", \.items)
        $0.field("transactions", "The transactions, newest first.", \.transactions)
        $0.field("notifications", "The notifications, newest first, at most 200.", \.notifications)
    }
}

extension StatedNotification: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A notification of a store about a purchase.", named: "AppStoreNotification"
    ) {
        $0.field("notificationUUID", \.notificationUUID)
        $0.field("origin", \.origin)
        $0.field("type", "The type, in the store's words.", \.type)
        $0.field("subtype", \.subtype)
        $0.field("transactionId", \.transactionIdentifier)
        $0.field("originalTransactionId", \.originalTransactionIdentifier)
        $0.field("signedAt", \.signedAt)
        $0.field("receivedAt", \.receivedAt)
        $0.field("outcome", .one(of: ["granted", "revoked", "recorded", "parked"]), \.outcome.rawValue)
        $0.field("content", "The decoded notification, without the proofs inside it.") {
            $0.content.flatMap(JSONContent.init(json:))
        }
    }
}

extension UnclaimedPurchase: AnswerObject, Listed {
    package static let listName = "purchases"
    package static let answerFields = AnswerFields<Self>(
        "A purchase that nobody has redeemed.", named: "UnclaimedPurchase"
    ) {
        $0.field("transactionId", \.transactionIdentifier)
        $0.field("originalTransactionId", \.originalTransactionIdentifier)
        $0.field("origin", \.origin)
        $0.field("bundleId", "The bundle identifier of the app.", \.app)
        $0.field("productId", \.productIdentifier)
        $0.field("purchaseDate", \.purchaseDate)
        $0.field("statedAt", \.statedAt)
        $0.field("revocationDate", \.revocationDate)
        $0.field("appAccountToken", "An account token that no user has.", \.appAccountToken?.lowercasedString)
        $0.field("item", \.item)
        $0.field("facts", .transactionFacts, \.stated.facts.content)
    }
}

struct UnrecordedTransaction: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "A transaction of an order that the App Store knows, and that nobody has redeemed here.",
        named: "UnrecordedTransaction"
    ) {
        $0.field("transactionId", \.stated.transactionId)
        $0.field("originalTransactionId", \.stated.originalTransactionId)
        $0.field("origin", "Who vouches for it, and where it was bought.", \.origin)
        $0.field("bundleId", "The app.", \.stated.bundleId)
        $0.field("productId", \.stated.productId)
        $0.field("purchaseDate", \.stated.purchaseDate)
        $0.field("revocationDate", \.stated.revocationDate)
        $0.field("appAccountToken") { $0.stated.facts.text(.appAccountToken) }
    }

    let stated: JWSTransactionDecodedPayload
    let origin: Origin
}

struct Assignment: AnswerObject {
    static let answerFields = AnswerFields<Self>(
        "An unclaimed purchase that was assigned to a user.", named: "Assignment"
    ) {
        $0.field("transactionId", \.transactionId)
        $0.field("user", \.user)
        $0.field("result", .one(of: ["granted", "alreadyRedeemed", "revoked"]), \.result.rawValue)
    }

    let transactionId: String
    let user: UserName
    let result: Redemption.Result
}

extension ItemExplanation: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The reason why a user owns an item or does not.", named: "Explanation"
    ) {
        $0.field("item", \.item)
        $0.field("isOwned", \.isOwned)
        $0.field("cause", \.cause)
        $0.field("text", "The reason in a sentence or two.", \.sentence)
        $0.field("remedy", "The remedy.", \.remedy)
        $0.field("since", \.since)
        $0.field("until", \.until)
        $0.field("reference", "The transaction, or the grant.", \.reference)
        $0.field("origin", \.origin)
        $0.field("otherOwner", "The owner of the purchase that the user could not redeem.") {
            $0.otherOwner.map { UserName($0) }
        }
    }
}

extension ItemExplanation.Cause: AnswerValue {}

extension StoryEntry: AnswerObject, Listed {
    package static let listName = "entries"
    package static let answerFields = AnswerFields<Self>("An entry of a user's story.", named: "StoryEntry") {
        $0.field("happenedAt", \.happenedAt)
        $0.field("kind", "`notification`, or an event of the audit log.") {
            $0.event?.event.rawValue ?? "notification"
        }
        $0.field("text", "The entry in a sentence.", \.sentence)
        $0.field("actor", "`user`, `App Store`, `Google Play`, `till`, or `key` and the identifier of an API key.") {
            $0.event?.actor.description ?? ($0.notification?.origin.store ?? .appStore).name
        }
        $0.keyName(
            "actorName",
            note: "The name of the API key; absent for another actor, and if the service does not have the key.",
            \.event?.actor.keyIdentifier)
        $0.field("subject", "The event's subject, such as a product, an item or a balance.", \.event?.subject)
        $0.field("reference", "The event's reference, such as a transaction, a grant or a spending.") {
            $0.event?.reference ?? $0.notification?.transactionIdentifier
        }
        $0.field("origin") { $0.event?.origin ?? $0.notification?.origin }
        $0.field("reason", "The event's reason, such as the team's words or the code of a refusal.", \.event?.reason)
        $0.field("cause", "The cause of a refusal.", \.refusal?.cause)
        $0.field("remedy", "The remedy of a refusal.", \.refusal?.remedy)
        $0.field("otherOwner", "The owner of the purchase that the user could not redeem.", \.otherOwner)
        $0.field("notification", \.notification)
    }

    private var event: AuditEntry? {
        if case .event(let event, _, _) = content { event } else { nil }
    }

    private var notification: StatedNotification? {
        if case .notification(let notification) = content { notification } else { nil }
    }

    private var otherOwner: UserName? {
        if case .event(_, _, let owner?) = content { UserName(owner) } else { nil }
    }

    private var refusal: RefusalRemedy? {
        event.flatMap { $0.event == .refused ? $0.reason : nil }.flatMap { RefusalRemedy(code: $0) }
    }
}
