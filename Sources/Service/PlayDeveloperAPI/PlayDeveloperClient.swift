import Foundation
import HTTPSupport
import Proofs

/// A client of the Play Developer API for one app, for the methods that the service needs.
package struct PlayDeveloperClient: Sendable {
    /// The kinds of purchases, which the API answers for at different paths.
    package enum Kind: Sendable {
        case subscription, product
    }

    /// The time that a caller has for an answer.
    package struct Patience: Sendable {
        /// The longest time of one request.
        let answer: Duration
        /// The waits before further attempts, while Google Play limits the rate of requests or fails.
        let delays: [Duration]
        /// The longest time that the client waits because Google Play asks for it, in seconds.
        let longestWait: Int

        package init(answer: Duration, delays: [Duration], longestWait: Int = 60) {
            (self.answer, self.delays, self.longestWait) = (answer, delays, longestWait)
        }

        /// One attempt. The next one is in the ledger.
        static let attempt = Patience(answer: .seconds(30), delays: [])
        package static let schedule = Patience(
            answer: .seconds(30), delays: [.seconds(1), .seconds(4), .seconds(16)])
        /// A person waits, behind the service's own limit on the time of a request.
        package static let person = Patience(answer: .seconds(5), delays: [.milliseconds(250)], longestWait: 1)
    }

    package static let googleURL = URL(string: "https://androidpublisher.googleapis.com") ?? URL(filePath: "/")
    /// The age up to which the API lists voided purchases, in days. The API looks back 30.
    private static let voidedDays: Int64 = 29

    package let url: URL
    package let packageName: String
    /// `google`, or `localPlay`.
    package let realm: Realm
    /// The e-mail address of the service account.
    package let account: String
    private let clock: any WallClock
    private let tokens: PlayAccessTokens

    /// - Parameters:
    ///   - clock: The clock of the service, which dates the statements.
    ///   - tokenClock: The clock by which access tokens are valid; nil for the same. That of a local Play is the machine's, even if the
    ///     Play's own was advanced.
    package init(
        account: GoogleServiceAccount, url: URL = googleURL, packageName: String, realm: Realm = .google,
        clock: any WallClock = SystemClock(), tokenClock: (any WallClock)? = nil
    ) {
        (self.url, self.packageName, self.realm, self.clock) = (url, packageName, realm, clock)
        self.account = account.email
        tokens = PlayAccessTokens(account, clock: tokenClock ?? clock)
    }

    /// Asks for the state of a purchase token, for the orders whose dates and prices are not known, and for the terms of rentals.
    ///
    /// - Parameters:
    ///   - kind: Nil to ask for both kinds.
    ///   - names: The ledger's names of tokens, by which the statement identifies the purchases.
    ///   - originalToken: The first token of the chain of replaced purchases; nil for the token itself.
    ///   - lines: The lines of the chain in the ledger.
    ///   - priced: The orders of the charges whose prices the ledger has, and that have not changed. They are asked for again only once
    ///     the purchase has ended, because that may be a refund.
    package func statement(
        about token: String, as kind: Kind? = nil, named names: PurchaseTokenNames, originalToken: String? = nil,
        lines: GooglePlayLines = GooglePlayLines(), pricedOrders priced: Set<String> = [],
        within patience: Patience = .person
    ) async throws(PlayDeveloperError) -> GooglePlayStatement {
        // The answer may be older than its arrival, and never newer than what it states.
        let askedAt = clock.now()
        let answer = try await answer(about: token, as: kind, within: patience)
        func moment(_ orders: [GooglePlayOrder], _ rentals: [GooglePlayRental] = []) -> GooglePlayAnswer.Moment {
            .init(
                realm: realm, askedAt: askedAt, named: names, originalToken: originalToken, orders: orders,
                lines: lines, rentals: rentals)
        }
        var orders: [GooglePlayOrder] = []
        var rentals: [GooglePlayRental] = []
        for product in answer.rentedProducts(after: moment([])) {
            rentals += try await self.rentals(of: product, within: patience)
        }
        for order in answer.orders(after: moment([]), knowing: priced) {
            if let order = try await self.order(order, within: patience) { orders.append(order) }
        }
        return answer.statement(moment(orders, rentals))
    }

    /// Asks the catalog of the app for the rentals of a product (`monetization.onetimeproducts.get`).
    ///
    /// - Returns: None if Google Play does not have the product any more, or does not show it to the account.
    private func rentals(
        of product: String, within patience: Patience
    ) async throws(PlayDeveloperError) -> [GooglePlayRental] {
        let bytes: [UInt8]
        do {
            bytes = try await send(
                .get, "oneTimeProducts/\(escaped(product))", isAboutToken: false, within: patience,
                upTo: GooglePlayRental.maximumSize)
        } catch {
            switch error {
            case .accountRefused, .refused: return []
            default: throw error
            }
        }
        do { return try GooglePlayRental.all(bytes, of: product) } catch {
            throw .answerInvalid(reason: error.detail)
        }
    }

    private func answer(
        about token: String, as kind: Kind?, within patience: Patience
    ) async throws(PlayDeveloperError) -> GooglePlayAnswer {
        guard let kind else {
            let first: PlayDeveloperError
            do { return try await answer(about: token, as: .subscription, within: patience) } catch {
                guard error == .tokenUnknown || error == .tokenEnded else { throw error }
                first = error
            }
            do { return try await answer(about: token, as: .product, within: patience) } catch .tokenUnknown {
                throw first
            }
        }
        let path = kind == .subscription ? "subscriptionsv2" : "productsv2"
        let bytes = try await send(
            .get, "purchases/\(path)/tokens/\(try escaped(token: token))", within: patience,
            upTo: GooglePlayAnswer.maximumSize)
        do {
            switch kind {
            case .subscription: return try GooglePlayAnswer(subscription: bytes, about: token, of: packageName)
            case .product: return try GooglePlayAnswer(product: bytes, about: token, of: packageName)
            }
        } catch {
            throw .answerInvalid(reason: error.detail)
        }
    }

    /// Asks for an order.
    ///
    /// - Returns: Nil if Google Play does not know the order, refuses the question about it, or does not show orders to the account. The
    ///   purchase is then told without it.
    package func order(
        _ identifier: String, within patience: Patience = .person
    ) async throws(PlayDeveloperError) -> GooglePlayOrder? {
        let bytes: [UInt8]
        do {
            bytes = try await send(
                .get, "orders/\(escaped(identifier))", within: patience, upTo: GooglePlayAnswer.maximumSize)
        } catch {
            switch error {
            case .accountRefused, .tokenUnknown, .tokenEnded, .notThisApp, .stateInvalid, .refused: return nil
            default: throw error
            }
        }
        do { return try GooglePlayOrder(bytes, identifier: identifier) } catch {
            throw .answerInvalid(reason: error.detail)
        }
    }

    /// Answers a question about a payment that the customer's bank disputes (`orders.reviewrefund`). Google Play ignores all answers but
    /// the first one.
    package func review(
        order identifier: String, _ body: JSONObject, within patience: Patience
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .post, "orders/\(escaped(identifier)):reviewrefund", body: body, isAboutToken: false, within: patience,
            upTo: GooglePlayAnswer.maximumSize)
    }

    /// The largest number of orders in one question. Google Play takes 1,000, but a proxy may not take such a long address.
    package static let maximumOrders = 100

    /// Asks for several orders at once.
    ///
    /// - Returns: Nil if Google Play answers about none of them: "If any order ID is not found or does not match the provided package, the
    ///   entire request will fail" (orders.batchget, `orderIds`).
    package func orders(
        _ identifiers: [String], within patience: Patience
    ) async throws(PlayDeveloperError) -> [GooglePlayOrder]? {
        let bytes: [UInt8]
        do {
            bytes = try await send(
                .get, "orders:batchGet", identifiers.map { ("orderIds", $0) }, isAboutToken: false, within: patience,
                upTo: GooglePlayOrder.maximumListSize)
        } catch {
            switch error {
            case .accountRefused: return []
            case .refused, .answerInvalid: return nil
            default: throw error
            }
        }
        do { return try GooglePlayOrder.all(bytes, among: Set(identifiers)) } catch {
            throw .answerInvalid(reason: error.detail)
        }
    }

    /// Acknowledges a purchase, which Google Play refunds otherwise.
    ///
    /// - Parameter product: A product of the purchase.
    /// - Throws: `stateInvalid` for a purchase that is acknowledged already, pending or refunded.
    package func acknowledge(
        _ token: String, of product: String, as kind: Kind, within patience: Patience = .schedule
    ) async throws(PlayDeveloperError) {
        let path = kind == .subscription ? "subscriptions" : "products"
        _ = try await send(
            .post, "purchases/\(path)/\(escaped(product))/tokens/\(try escaped(token: token)):acknowledge",
            within: patience, upTo: GooglePlayAnswer.maximumSize)
    }

    /// Consumes a purchase of a one-time product, so that the customer can buy it again. That acknowledges it, too.
    ///
    /// - Throws: `stateInvalid` for a purchase that is consumed already, pending or refunded.
    package func consume(
        _ token: String, of product: String, within patience: Patience = .schedule
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .post, "purchases/products/\(escaped(product))/tokens/\(try escaped(token: token)):consume",
            within: patience, upTo: GooglePlayAnswer.maximumSize)
    }

    /// Asks for a page of voided purchases of one-time products and subscriptions, the oldest first.
    ///
    /// - Parameters:
    ///   - start: The earliest date at which Google Play has seen them; nil for the last 30 days.
    ///   - pageToken: The token of the page; nil for the first one.
    package func voidedPurchases(
        since start: Timestamp?, pageToken: String? = nil, within patience: Patience = .schedule
    ) async throws(PlayDeveloperError) -> VoidedGooglePlayPurchases {
        var query = [("type", "1"), ("includeQuantityBasedPartialRefund", "true"), ("maxResults", "1000")]
        if let pageToken { query.append(("token", pageToken)) }
        var starting = query
        if let start, pageToken == nil, start > clock.now().adding(days: -Self.voidedDays) {
            starting.append(("startTime", String(start.millisecondsSince1970)))
        }
        var bytes: [UInt8]
        do {
            bytes = try await send(
                .get, "purchases/voidedpurchases", starting, within: patience,
                upTo: VoidedGooglePlayPurchases.maximumSize)
        } catch .refused(400, "invalidValue") where starting.count > query.count {
            // The clocks differ, such as that of a local Play that is moved by hand.
            bytes = try await send(
                .get, "purchases/voidedpurchases", query, within: patience, upTo: VoidedGooglePlayPurchases.maximumSize)
        }
        do { return try VoidedGooglePlayPurchases(bytes) } catch { throw .answerInvalid(reason: error.detail) }
    }
}

extension PlayDeveloperClient {
    /// The reasons of Google's errors that decide.
    private static let otherPackage = "purchaseTokenDoesNotMatchPackageName"
    private static let invalidState = "invalidPurchaseState"
    private static let permissionDenied = "permissionDenied"
    private static let applicationNotFound = "applicationNotFound"
    private static let malformed: Set = ["invalid", "purchaseTokenDoesNotMatchProductId"]
    private static let quota: Set = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
    ]

    /// - Parameters:
    ///   - body: The body of a `POST`; nil for one without.
    ///   - isAboutToken: True if the request is about a purchase token. Errors about another thing say nothing about a token.
    /// - Returns: The body of the answer.
    func send(
        _ method: OutgoingRequest.Method, _ path: String, _ query: [(name: String, value: String)] = [],
        body: JSONObject? = [:], isAboutToken: Bool = true, within patience: Patience, upTo maximumSize: Int
    ) async throws(PlayDeveloperError) -> [UInt8] {
        var components = URLComponents()
        if !query.isEmpty { components.queryItems = query.map { URLQueryItem(name: $0.name, value: $0.value) } }
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        let root = "androidpublisher/v3/applications/\(escaped(packageName))"
        let address = "\(url.absoluteString.trimmingSuffix("/"))/\(root)/\(path)\(components.string ?? "")"
        var delays = patience.delays[...]
        while true {
            do {
                return try await attempt(
                    method, address, body, isAboutToken: isAboutToken, within: patience.answer, upTo: maximumSize)
            } catch {
                guard let wait = error.wait(upTo: patience.longestWait), let delay = delays.popFirst() else {
                    throw error
                }
                do { try await Task.sleep(for: max(delay, wait)) } catch { throw .cancelled }
            }
        }
    }

    private func attempt(
        _ method: OutgoingRequest.Method, _ address: String, _ body: JSONObject?, isAboutToken: Bool,
        within limit: Duration,
        upTo maximumSize: Int
    ) async throws(PlayDeveloperError) -> [UInt8] {
        var refused: String?
        while true {
            let token = try await tokens.token(insteadOf: refused, within: limit)
            var request = OutgoingRequest(method, address)
            if method == .post, let body {
                request = OutgoingRequest(
                    .post, address, type: "application/json", body: JSONValue.object(body).compactBytes)
            }
            request.add("Authorization", "Bearer \(token)")
            let answer = try await PlayConnection.answer(to: request, within: limit, upTo: maximumSize)
            if (200...299).contains(answer.status) { return answer.body }
            let error = Self.error(answer, isAboutToken: isAboutToken)
            // Google Play may end a token early. Another one helps against nothing else.
            guard answer.status == 401, refused == nil,
                error != .accountRefused(status: 401, reason: Self.permissionDenied)
            else { throw error }
            refused = token
        }
    }

    private static func error(_ answer: PlayConnection.Answer, isAboutToken: Bool) -> PlayDeveloperError {
        let reason = reason(answer)
        switch (answer.status, reason) {
        case (403, let reason?) where quota.contains(reason): return .limited(seconds: answer.retryAfter)
        case (401, _), (403, _): return .accountRefused(status: answer.status, reason: reason)
        case (404, applicationNotFound): return .accountRefused(status: 404, reason: reason)
        case (let status, let reason?) where !isAboutToken && [400, 404, 410].contains(status):
            return .refused(status: status, reason: location(answer).map { "\(reason) \($0)" } ?? reason)
        // Another server may not know the path. That says nothing about the token.
        case (404, _?): return .tokenUnknown
        case (410, _?): return .tokenEnded
        case (404, nil), (410, nil): return .answerInvalid(reason: "It has the status \(answer.status).")
        case (400, otherPackage): return .notThisApp
        case (400, invalidState): return .stateInvalid
        case (400, let reason?) where malformed.contains(reason): return .tokenUnknown
        case (429, _): return .limited(seconds: answer.retryAfter)
        case (409, _), (500...599, _): return .failed(status: answer.status)
        case (400...499, _): return .refused(status: answer.status, reason: reason)
        default: return .answerInvalid(reason: "It has the status \(answer.status).")
        }
    }

    /// Google's word for an error; nil if the answer has none.
    private static func reason(_ answer: PlayConnection.Answer) -> String? {
        guard case .object(let error)? = answer.object?["error"] else { return nil }
        if case .array(let errors)? = error["errors"], case .object(let first)? = errors.first,
            let reason = first["reason"].flatMap(PlayConnection.word)
        {
            return reason
        }
        return error["status"].flatMap(PlayConnection.word)
    }

    /// The path of the field that Google refuses, such as `userTaxAddress.regionCode`; nil if the answer names none.
    private static func location(_ answer: PlayConnection.Answer) -> String? {
        guard case .object(let error)? = answer.object?["error"], case .array(let errors)? = error["errors"],
            case .object(let first)? = errors.first, let text = first.text("location"), text.utf8.count <= 256
        else { return nil }
        let names = text.split(separator: ".").compactMap { PlayConnection.word(.string(String($0))) }
        return names.isEmpty ? nil : names.joined(separator: ".")
    }

    /// A text as a segment of a path.
    func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// - Throws: `tokenUnknown` for a text that is no token, and for the steps of a path (RFC 3986 section 5.2.4), which no escape keeps from
    ///   naming another method.
    private func escaped(token: String) throws(PlayDeveloperError) -> String {
        guard (try? GooglePlayToken(purchaseToken: token)) != nil, token != ".", token != ".." else {
            throw .tokenUnknown
        }
        return escaped(token)
    }
}

extension PlayDeveloperError {
    /// The time before another attempt; nil if the same request would fail again, or if Google Play asks for a longer time.
    fileprivate func wait(upTo maximum: Int) -> Duration? {
        switch self {
        case .limited(let seconds): seconds ?? 0 <= maximum ? .seconds(max(0, seconds ?? 0)) : nil
        case .failed, .unreachable: .zero
        case .tokenUnknown, .tokenEnded, .notThisApp, .stateInvalid, .accountRefused, .refused, .answerInvalid,
            .cancelled:
            nil
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> Substring {
        var text = self[...]
        while text.last == suffix { text.removeLast() }
        return text
    }
}

/// External transactions: sales outside Google's billing, which the server reports.
extension PlayDeveloperClient {
    private static let maximumAnswerSize = 64 * 1024

    /// Reports a transaction (`externaltransactions.createexternaltransaction`).
    ///
    /// - Throws: `failed` with the status 409 if Google Play has a transaction with the identifier.
    package func report(
        externalTransaction identifier: String, _ body: JSONObject, within patience: Patience
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .post, "externalTransactions", [("externalTransactionId", identifier)], body: body, isAboutToken: false,
            within: patience, upTo: Self.maximumAnswerSize)
    }

    /// Reports a refund (`externaltransactions.refundexternaltransaction`).
    package func refund(
        externalTransaction identifier: String, _ body: JSONObject, within patience: Patience
    ) async throws(PlayDeveloperError) {
        _ = try await send(
            .post, "externalTransactions/\(escaped(identifier)):refund", body: body, isAboutToken: false,
            within: patience, upTo: Self.maximumAnswerSize)
    }

    /// The amounts of an external transaction at Google Play after refunds.
    package struct ExternalTransactionState: Sendable {
        package let isCanceled: Bool
        /// The amount before tax that is left, in millionths; nil if the answer has none.
        package let preTaxMicros: Int64?
    }

    /// Asks for a transaction (`externaltransactions.getexternaltransaction`).
    package func externalTransaction(
        _ identifier: String, within patience: Patience = .schedule
    ) async throws(PlayDeveloperError) -> ExternalTransactionState {
        let bytes = try await send(
            .get, "externalTransactions/\(escaped(identifier))", isAboutToken: false, within: patience,
            upTo: Self.maximumAnswerSize)
        guard case .object(let answer)? = try? JSONParser.parse(bytes) else { throw .answerInvalid(reason: nil) }
        var micros: Int64?
        if case .object(let amount)? = answer["currentPreTaxAmount"], let text = amount.text("priceMicros") {
            micros = Int64(text)
        }
        return ExternalTransactionState(
            isCanceled: answer["transactionState"] == "TRANSACTION_CANCELED", preTaxMicros: micros)
    }
}

/// Actions that the team asks Google Play for.
extension PlayDeveloperClient {
    /// One attempt: nobody knows if one without an answer was performed. The next one asks before.
    static let action = Patience(answer: .seconds(10), delays: [], longestWait: 0)

    /// Pays an order back (`orders.refund`). "The request body must be empty."
    ///
    /// - Throws: `refused` for an order that is refunded already, or older than three years.
    func refund(order identifier: String, revoking isRevoking: Bool) async throws(PlayDeveloperError) {
        _ = try await send(
            .post, "orders/\(escaped(identifier)):refund", [("revoke", String(isRevoking))], body: nil,
            isAboutToken: false, within: Self.action, upTo: Self.maximumAnswerSize)
    }

    /// Calls a method of a subscription (`purchases.subscriptionsv2`).
    ///
    /// - Parameter method: `cancel`, `defer` or `revoke`.
    /// - Returns: The answer, which is empty for some methods.
    func call(
        _ method: String, ofSubscription token: String, _ body: JSONObject
    ) async throws(PlayDeveloperError) -> JSONObject {
        let bytes = try await send(
            .post, "purchases/subscriptionsv2/tokens/\(try escaped(token: token)):\(method)", body: body,
            isAboutToken: false, within: Self.action, upTo: Self.maximumAnswerSize)
        guard !bytes.isEmpty else { return [:] }
        guard case .object(let answer)? = try? JSONParser.parse(bytes) else { throw .answerInvalid(reason: nil) }
        return answer
    }

    /// The facts of a subscription by which a call that may have been performed is found out (`purchases.subscriptionsv2.get`).
    struct SubscriptionFacts: Sendable, Equatable {
        /// The version, without which Google Play moves no charge.
        let etag: String?
        let state: String
        /// The end and the last order of the item of a product; nil without one.
        let expiryTime: Timestamp?
        let order: String?
    }

    func facts(
        ofSubscription token: String, item productId: String
    ) async throws(PlayDeveloperError) -> SubscriptionFacts {
        let bytes = try await send(
            .get, "purchases/subscriptionsv2/tokens/\(try escaped(token: token))", within: Self.action,
            upTo: GooglePlayAnswer.maximumSize)
        guard case .object(let answer)? = try? JSONParser.parse(bytes), let state = answer.text("subscriptionState"),
            case .array(let items)? = answer["lineItems"]
        else { throw .answerInvalid(reason: nil) }
        let objects = items.compactMap { if case .object(let item) = $0 { item } else { nil } as JSONObject? }
        let item = objects.first { $0.text("productId")?.hasSameBytes(as: productId) ?? false }
        return SubscriptionFacts(
            etag: answer.text("etag"), state: state,
            expiryTime: item?.text("expiryTime").flatMap { Timestamp(internetDateTime: $0) },
            order: item?.text("latestSuccessfulOrderId"))
    }
}
