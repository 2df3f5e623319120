import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Proofs

/// A client of the App Store Server API, for the endpoints that the service needs. The service verifies the signed content of
/// each answer.
package struct AppStoreServerClient: Sendable {
    /// The largest answer, in bytes. Twenty signed notifications are a third of it.
    private static let maximumAnswer = 1 << 20

    package let url: URL
    /// The key, which names the app that the client asks about.
    package let key: AppStoreServerKey
    let clock: any WallClock

    /// The time that a caller has for an answer.
    struct TimeLimits: Sendable {
        fileprivate let answer: Duration
        /// The longest wait, in all, while the App Store limits the rate of requests, in seconds.
        fileprivate let rateLimit: Int64

        static let schedule = TimeLimits(answer: .seconds(30), rateLimit: 120)
        /// A person waits, behind the service's own limit on the time of a request.
        static let person = TimeLimits(answer: .seconds(10), rateLimit: 0)
        /// One attempt: nobody knows if one without an answer was performed. The next one asks before.
        static let action = person
    }

    private struct Refusal: Decodable {
        let errorCode: Int64
    }

    package struct NotificationHistory: Decodable {
        package struct Item: Decodable {
            package let signedPayload: String
        }

        package let paginationToken: String?
        fileprivate let hasMore: Bool
        package let notificationHistory: [Item]

        /// The token of the next page; nil for the last page.
        var next: String? { hasMore ? paginationToken : nil }
    }

    struct TransactionHistory: Decodable {
        fileprivate let revision: String?
        fileprivate let hasMore: Bool
        let signedTransactions: [String]

        /// The revision of the next page; nil for the last page.
        var next: String? { hasMore ? revision : nil }
    }

    struct SubscriptionStatuses: Decodable {
        struct Group: Decodable {
            let lastTransactions: [LastTransaction]
        }

        struct LastTransaction: Decodable {
            let signedTransactionInfo: String?
            let signedRenewalInfo: String?
        }

        let data: [Group]
    }

    package struct OrderLookup: Decodable {
        private let status: Int
        private let signedTransactions: [String]?

        /// The signed transactions of the order; empty if the App Store does not know it for this app.
        package var transactions: [String] { status == 0 ? signedTransactions ?? [] : [] }
    }

    /// The consumption information of a purchase for which a customer requests a refund.
    struct ConsumptionRequest: Encodable {
        let customerConsented: Bool
        let deliveryStatus: DeliveryStatus
        let sampleContentProvided: Bool
        let refundPreference: RefundPreference?
        /// In thousandths of a percent; nil to state none.
        let consumptionPercentage: Int?
    }

    /// `POST /inApps/v1/notifications/history`
    package func notificationHistory(
        from start: Timestamp,
        until end: Timestamp,
        paginationToken: String?
    ) async throws(ReconciliationError) -> NotificationHistory {
        let page: NotificationHistory = try await decoded(
            .post, "/inApps/v1/notifications/history", ("paginationToken", paginationToken),
            ["startDate": start, "endDate": end])
        guard !page.hasMore || page.paginationToken != nil else { throw .answerInvalid }
        return page
    }

    /// `GET /inApps/v2/history/{transactionId}`
    func transactionHistory(
        of transactionIdentifier: String,
        revision: String?
    ) async throws(ReconciliationError) -> TransactionHistory {
        let page: TransactionHistory = try await decoded(
            .get, "/inApps/v2/history/\(escaped(transactionIdentifier))", ("revision", revision))
        guard !page.hasMore || page.revision != nil else { throw .answerInvalid }
        return page
    }

    /// `GET /inApps/v1/subscriptions/{transactionId}`
    func subscriptionStatuses(
        of transactionIdentifier: String, within limits: TimeLimits
    ) async throws(ReconciliationError) -> SubscriptionStatuses {
        try await decoded(.get, "/inApps/v1/subscriptions/\(escaped(transactionIdentifier))", within: limits)
    }

    /// `GET /inApps/v1/lookup/{orderId}`
    func lookUpOrderId(_ order: OrderIdentifier) async throws(ReconciliationError) -> OrderLookup {
        try await decoded(.get, "/inApps/v1/lookup/\(order.text)", within: .person)
    }

    /// The answer of an endpoint of the Advanced Commerce API.
    struct CommerceAnswer: Decodable, Sendable {
        let signedTransactionInfo: String
        /// Nil for a one-time charge.
        let signedRenewalInfo: String?
    }

    /// `POST /advancedCommerce/v1/…/{transactionId}`
    func advancedCommerce(
        _ path: String, of transactionIdentifier: String, _ body: JSONObject
    ) async throws(ReconciliationError) -> CommerceAnswer {
        let request = OutgoingRequest(
            .post, "\(url.absoluteString)\(path)/\(escaped(transactionIdentifier))", type: "application/json",
            body: JSONValue.object(body).compactBytes)
        let answer = try await send(request, within: .person)
        guard let answer = try? JSONDecoder().decode(CommerceAnswer.self, from: answer) else { throw .answerInvalid }
        return answer
    }

    /// `PUT /inApps/v2/transactions/consumption/{transactionId}`
    func sendConsumptionInformation(
        _ consumption: ConsumptionRequest,
        of transactionIdentifier: String
    ) async throws(ReconciliationError) {
        let path = "/inApps/v2/transactions/consumption/\(escaped(transactionIdentifier))"
        _ = try await send(request(.put, path, nil, consumption), within: .schedule)
    }

    /// `PUT /externalPurchase/v1/reports`
    ///
    /// - Returns: The mistakes that Apple finds in the report, at least one; nil if it is accepted.
    package func sendExternalPurchaseReport(
        _ report: JSONObject
    ) async throws(ReconciliationError) -> [ExternalPurchaseReport.Refusal.Mistake]? {
        let path = "/externalPurchase/v1/reports"
        let request = OutgoingRequest(
            .put, url.absoluteString + path, type: "application/json", body: JSONValue.object(report).compactBytes)
        let (status, body) = try await exchange(request, within: .schedule)
        if (200...299).contains(status) { return nil }
        // Only this status is about the report ("Send External Purchase Report"), and only if it names mistakes. Without any, nothing
        // tells that the report is wrong: a proxy, or another version of the API, may have answered.
        guard status == 400, case .object(let answer)? = try? JSONParser.parse(Array(body)) else {
            throw .refused(status: status, code: nil)
        }
        guard let mistakes = ExternalPurchaseReport.Refusal.Mistake.all(in: answer["errors"]).nonEmpty else {
            let code: Int64? = if case .number(let number)? = answer["errorCode"] { number.int64 } else { nil }
            throw .refused(status: status, code: code)
        }
        return mistakes
    }

    /// `GET /externalPurchase/v1/reports/{requestIdentifier}`
    ///
    /// - Returns: The accepted report; nil if Apple has none of the identifier, which it answers with 400.
    func externalPurchaseReport(
        _ requestIdentifier: String
    ) async throws(ReconciliationError) -> JSONObject? {
        let path = "/externalPurchase/v1/reports/\(requestIdentifier)"
        let (status, body) = try await exchange(request(.get, path, nil, nil), within: .schedule)
        if status == 400 { return nil }
        guard (200...299).contains(status) else { throw .refused(status: status, code: nil) }
        guard case .object(let report)? = try? JSONParser.parse(Array(body)) else { throw .answerInvalid }
        return report
    }

    /// The status of an extension of all subscribers (`MassExtendRenewalDateStatusResponse`).
    struct ExtensionStatus: Decodable, Sendable {
        let complete: Bool?
        private let completeDate: Int64?
        private let succeededCount: Int64?
        private let failedCount: Int64?

        var json: JSONObject {
            [
                "complete": complete.map { .bool($0) }, "completeDate": completeDate.map { .integer($0) },
                "succeededCount": succeededCount.map { .integer($0) }, "failedCount": failedCount.map { .integer($0) },
            ]
        }
    }

    /// `PUT /inApps/v1/subscriptions/extend/{originalTransactionId}`
    func extendRenewalDate(by action: StoreAction) async throws -> JSONObject {
        let path = "/inApps/v1/subscriptions/extend/\(escaped(action.key.identifier))"
        let answer = try await answer(to: .put, path, try Self.extending(by: action))
        // "A Boolean value that indicates whether the subscription-renewal-date extension succeeded" (`success`).
        guard answer["success"] == .bool(true) else { throw ReconciliationError.answerInvalid }
        return answer
    }

    /// `POST /inApps/v1/subscriptions/extend/mass`
    func extendRenewalDates(by action: StoreAction) async throws -> JSONObject {
        var body = try Self.extending(by: action)
        _ = body.add("productId", .string(action.key.identifier))
        if case .array(let codes)? = action.terms[StoreActionField.storefronts.rawValue], !codes.isEmpty {
            _ = body.add("storefrontCountryCodes", .array(codes))
        }
        return try await answer(to: .post, "/inApps/v1/subscriptions/extend/mass", body)
    }

    private static func extending(by action: StoreAction) throws -> JSONObject {
        [
            "extendByDays": .integer(try action.days),
            "extendReasonCode": try StoreActionField.cause.stated(in: action.terms),
            "requestIdentifier": .string(action.identifier),
        ]
    }

    private func answer(
        to method: OutgoingRequest.Method, _ path: String, _ body: JSONObject
    ) async throws(ReconciliationError) -> JSONObject {
        let request = OutgoingRequest(
            method, url.absoluteString + path, type: "application/json", body: JSONValue.object(body).compactBytes)
        let bytes = try await send(request, within: .action)
        guard case .object(let answer)? = try? JSONParser.parse(Array(bytes)) else { throw .answerInvalid }
        return answer
    }

    /// `GET /inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}`
    ///
    /// - Returns: Nil if the App Store has no such request (`StatusRequestNotFoundError`).
    func extensionStatus(of action: StoreAction) async throws(ReconciliationError) -> ExtensionStatus? {
        let product = action.key.identifier.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(charactersIn: "-._~").union(.alphanumerics))
        let path = "/inApps/v1/subscriptions/extend/mass/\(product ?? "")/\(action.identifier)"
        do {
            return try await decoded(.get, path, within: .action)
        } catch .refused(404, 4_040_009) {
            return nil
        }
    }

    /// The identifier as a segment of a path. Those of the ledger have digits only.
    private func escaped(_ transactionIdentifier: String) -> String {
        transactionIdentifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// - Parameters:
    ///   - query: The only query parameter, with its value; nil for none.
    ///   - body: An object; nil for a request without a body.
    private func request(
        _ method: OutgoingRequest.Method,
        _ path: String,
        _ query: (name: String, value: String?)?,
        _ body: (any Encodable)?
    ) throws(ReconciliationError) -> OutgoingRequest {
        var components = URLComponents()
        if let query, let value = query.value { components.queryItems = [URLQueryItem(name: query.name, value: value)] }
        // The App Store reads a plus sign as a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        let address = url.absoluteString + path + (components.string ?? "")
        guard let body else { return OutgoingRequest(method, address) }
        guard let bytes = try? JSONEncoder().encode(body) else { throw .answerInvalid }
        return OutgoingRequest(method, address, type: "application/json", body: Array(bytes))
    }

    private func decoded<Answer: Decodable>(
        _ method: OutgoingRequest.Method,
        _ path: String,
        _ query: (name: String, value: String?)? = nil,
        _ body: (any Encodable)? = nil,
        within limits: TimeLimits = .schedule
    ) async throws(ReconciliationError) -> Answer {
        let answer = try await send(request(method, path, query, body), within: limits)
        guard let answer = try? JSONDecoder().decode(Answer.self, from: answer) else { throw .answerInvalid }
        return answer
    }

    /// Sends a request, and returns the body of a success.
    private func send(
        _ request: OutgoingRequest,
        within limits: TimeLimits
    ) async throws(ReconciliationError) -> Data {
        let (status, body) = try await exchange(request, within: limits)
        guard (200...299).contains(status) else {
            throw .refused(status: status, code: (try? JSONDecoder().decode(Refusal.self, from: body))?.errorCode)
        }
        return body
    }

    /// Sends a request, and retries within the time limit while the App Store answers with 429.
    private func exchange(
        _ request: OutgoingRequest,
        within limits: TimeLimits
    ) async throws(ReconciliationError) -> (status: Int, body: Data) {
        var waited: Int64 = 0
        while true {
            let answer = try await answer(to: request, within: limits.answer)
            let status = answer.status
            if status == 401, let seconds = Self.secondsAhead(of: answer.header("Date"), at: clock.now()),
                !(-AppStoreServerKey.tokenAge...AppStoreServerKey.tokenAge).contains(seconds)
            {
                throw .clockWrong(secondsAhead: seconds)
            }
            guard status == 429, waited < limits.rateLimit else { return (status, Data(answer.body)) }
            let seconds = min(max(1, secondsUntil(answer.header("Retry-After"))), limits.rateLimit - waited)
            waited += seconds
            do { try await Task.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
        }
    }

    /// - Parameter retryAfter: A moment in milliseconds since 1970 (App Store Server API, "Identifying rate limits").
    private func secondsUntil(_ retryAfter: String?) -> Int64 {
        guard let moment = retryAfter.flatMap({ Int64($0) }) else { return 1 }
        let (milliseconds, isOverflow) = moment.subtractingReportingOverflow(clock.now().millisecondsSince1970)
        return isOverflow ? 1 : milliseconds / 1000 + 1
    }

    /// The seconds that a clock is ahead of the `Date` of an answer (RFC 9110 section 5.6.7); nil if it is no date.
    package static func secondsAhead(of date: String?, at now: Timestamp) -> Int64? {
        let parts = (date ?? "").split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z").map {
            now.secondsSince1970 - $0.secondsSince1970
        }
    }

    private func answer(
        to request: OutgoingRequest,
        within limit: Duration
    ) async throws(ReconciliationError) -> OutgoingAnswer {
        do {
            var request = request
            request.add("Authorization", "Bearer \(try key.token(at: clock.now()))")
            return try await OutgoingClient.toStores.send(
                request, OutgoingLimits(answer: limit, body: .whole(upTo: Self.maximumAnswer)))
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw .unreachable(host: url.host() ?? "?")
        }
    }
}

extension OutgoingClient {
    /// The client for the APIs of stores.
    static let toStores = OutgoingClient(connectionsPerHost: 8)
}

/// A team's key for the App Store Server API (App Store Connect, "In-App Purchase key").
package struct AppStoreServerKey: Sendable {
    package let keyIdentifier: String
    package let issuerIdentifier: String
    package let bundleIdentifier: String
    private let privateKey: PrivateKey

    /// - Parameter privateKey: The content of the `.p8` file, in PEM.
    /// - Throws: `ReconciliationError`, `keyInvalid`.
    package init(
        privateKey: String,
        keyIdentifier: String,
        issuerIdentifier: String,
        bundleIdentifier: String
    ) throws(ReconciliationError) {
        self.keyIdentifier = keyIdentifier
        self.issuerIdentifier = issuerIdentifier
        self.bundleIdentifier = bundleIdentifier
        guard let key = try? PrivateKey(pem: privateKey), key.publicKey.kind == .ellipticCurve(.p256) else {
            throw .keyInvalid
        }
        self.privateKey = key
    }

    /// The age of a new token, in seconds. Apple refuses a token whose `iat` is in the future by Apple's clock.
    static let tokenAge: Int64 = 30

    /// A token that is valid for five minutes (App Store Server API, "Generating JSON Web Tokens for API requests").
    package func token(at now: Timestamp) throws -> String {
        try signed(["exp": .integer(now.secondsSince1970 + 300)], for: "appstoreconnect-v1", at: now)
    }

    /// Signs a request that the App Store gets by way of a customer's device (StoreKit, "Generating JWS to sign App Store requests").
    ///
    /// - Parameter audience: The feature, such as `promotional-offer`.
    func sign(_ claims: JSONObject, for audience: String, at now: Timestamp) throws -> String {
        var claims = claims
        _ = claims.add("nonce", .string(UUID().uuidString.lowercased()))
        return try signed(claims, for: audience, at: now)
    }

    /// A JWT with the claims that all have.
    private func signed(_ others: JSONObject, for audience: String, at now: Timestamp) throws -> String {
        let header = JSONValue.object(["alg": "ES256", "kid": .string(keyIdentifier), "typ": "JWT"])
        var object: JSONObject = [
            "iss": .string(issuerIdentifier), "iat": .integer(now.secondsSince1970 - Self.tokenAge),
            "aud": .string(audience), "bid": .string(bundleIdentifier),
        ]
        for member in others.members { _ = object.add(member.key, member.value) }
        let claims = JSONValue.object(object)
        let signed = [header, claims].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try privateKey.signES256(Array(signed.utf8))
        return signed + "." + Base64.encode(signature, .urlSafe)
    }

    /// Signs a promotional offer (Apple, "Generating a signature for promotional offers").
    ///
    /// - Parameter applicationUsername: The account token of the purchase, or an empty string.
    package func sign(
        offer: String,
        of product: String,
        applicationUsername: String,
        nonce: UUID,
        at moment: Timestamp
    ) throws -> PromotionalOfferSignature {
        func signature(_ text: String) -> PromotionalOfferSignature {
            PromotionalOfferSignature(keyIdentifier: keyIdentifier, nonce: nonce, timestamp: moment, signature: text)
        }
        let message = signature("").message(
            bundleIdentifier: bundleIdentifier, productIdentifier: product, offerIdentifier: offer,
            applicationUsername: applicationUsername)
        return signature(Base64.encode(try privateKey.signECDSA(Array(message.utf8))))
    }

    /// The client of an App Store.
    ///
    /// - Parameter clock: The clock for the dates of tokens.
    package func client(at url: URL, clock: any WallClock = SystemClock()) -> AppStoreServerClient {
        AppStoreServerClient(url: url, key: self, clock: clock)
    }
}

/// An order number on a customer's receipt of the App Store, such as MK5TTTVWJH.
struct OrderIdentifier: Sendable {
    let text: String

    /// - Returns: Nil for a text of another form. Digits alone are a transaction.
    init?(_ text: String) {
        guard let order = OrderNumber(text), order.store == .appStore else { return nil }
        self.text = order.text
    }
}

extension UInt8 {
    /// True for `a` to `z`, `A` to `Z`, and `0` to `9`.
    var isASCIILetterOrDigit: Bool {
        (0x61...0x7A).contains(self | 0x20) || (0x30...0x39).contains(self)
    }
}

extension Origin {
    /// The address of Apple's App Store Server API for this origin; nil for any other.
    package var appStoreServerURL: URL? {
        switch self {
        case .appleProduction: URL(string: "https://api.storekit.apple.com")
        case .appleSandbox: URL(string: "https://api.storekit-sandbox.apple.com")
        default: nil
        }
    }
}
