import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Vocabulary

/// The routes of the protocol of cordova-plugin-purchase (`store.validator`).
struct CordovaRoutes: RouteSource {
    let services: DoorServices

    var pathMiddleware: [PathMiddleware.Entry] {
        [.post, .options].map { ($0, CordovaMiddleware.path, CordovaMiddleware()) }
    }

    func add(to router: Router<ServiceContext>) {
        let path = RouterPath(CordovaMiddleware.path)
        let open = router.group().add(middleware: CordovaMiddleware())
        // A web view asks before the request, and sends no key.
        open.on(path, method: .options) { _, _ in Response(status: .noContent) }
        let recognised = services.recognised(open.group().add(middleware: CordovaKeyMiddleware()))
        recognised.for(.publicApp, usesReserve: true).on(path, method: .post) { request, context in
            let body = try await RequestBytes.collect(request, context, upTo: CordovaRequest.maximumBodySize)
            let sent = try await BlockingWork.process(body.count) { try CordovaRequest(body) }
            let caller = try context.requiredCaller
            let answer = try await services.limited(to: caller)
                .answer(to: sent, from: caller, context.newcomers(for: request))
            return JSONAnswer.response(bytes: JSONAnswer.encode(answer))
        }
    }
}

/// Accepts an app's public key in the query (`?apiKey=appl_…`), because `store.validator` can be an address alone.
///
/// Proxies log addresses. So a back end's key in the query is refused, whether it is valid or not.
struct CordovaKeyMiddleware: RouterMiddleware {
    static let parameter = "apiKey"

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let key = try request.query(Self.parameter), !key.isEmpty else { return try await next(request, context) }
        guard APIKeys.isPublicKey(key) else {
            throw Problem(
                status: .forbidden, code: "publicKeyRequired",
                detail: "The query parameter \(Self.parameter) takes only the public key of an app. If this is the key "
                    + "of a back end, revoke it: addresses are logged. "
                    + "`till keys make --public --bundle-id BUNDLE-ID` makes a public key.")
        }
        guard request.headers[.authorization] == nil else { return try await next(request, context) }
        var head = request.head
        head.headerFields[.authorization] = "Bearer \(key)"
        return try await next(Request(head: head, body: request.body), context)
    }
}

/// Converts each error of a validation into the plugin's form, and lets web views read every answer.
package struct CordovaMiddleware: RouterMiddleware {
    package static let path = "/v1/validators/cordova"

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        var response = await DoorErrors.converted(request, context, next) { CordovaRefusal.response(to: $0) }
        CrossOrigin.allow(&response, for: request)
        return response
    }
}

/// The header fields that let an app's web view read the answers (CORS, Fetch Standard section 3.3).
///
/// Web views of apps have origins such as `null`, `file://`, `ionic://localhost` and `http://localhost`. Every origin is allowed:
/// a request has no cookie, its key is public, and its proof alone decides about the answer. Credentials are not allowed.
enum CrossOrigin {
    /// The maximum length of the requested header names, in bytes.
    private static let maximumLength = 1024
    /// The header fields that the plugin sends.
    private static let names = "Accept, Authorization, Content-Type"
    /// The longest time for which a web view may keep the permission, in seconds.
    private static let maximumAge = "86400"

    /// Adds the fields to the answer to a request.
    static func allow(_ response: inout Response, for request: Request) {
        response.headers[.accessControlAllowOrigin] = "*"
        guard request.method == .options else { return }
        response.headers[.accessControlAllowMethods] = "POST"
        response.headers[.accessControlAllowHeaders] = requestedNames(request) ?? names
        response.headers[.accessControlMaxAge] = maximumAge
        response.headers[.vary] = "Access-Control-Request-Headers"
    }

    /// The header names that the web view asks for, because the app may add fields (`store.validator.headers`).
    private static func requestedNames(_ request: Request) -> String? {
        guard let names = request.headers[.accessControlRequestHeaders], (1...maximumLength).contains(names.utf8.count),
            names.split(separator: ",").allSatisfy({ HTTPField.Name(String($0.drop { $0 == " " })) != nil })
        else { return nil }
        return names
    }
}

/// The account tokens (`appAccountToken`) that the plugin gives the purchases of a customer.
///
/// Anybody can compute them, and anybody can choose an id whose token is that of another id. So they are compared, and never
/// recorded as a customer's.
package enum UsernameTokens {
    /// The tokens that follow from an id. The plugin uses the second with `store.obfuscator = "disabled"`.
    ///
    /// It hashes characters above ASCII in a way of its own, so that Till derives no token from them.
    package static func tokens(of username: String) -> [UUID] {
        [username.utf8.allSatisfy { $0 < 0x80 } ? hashed(username) : nil, UUID(uuidString: username)].compactMap(\.self)
    }

    /// The token that follows from an id for Google Play, unless the app sets `store.obfuscator`.
    static func digest(of username: String) -> UUID? {
        guard username.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return MD5.digest(of: Array(username.utf8)).flatMap { UUID(digits: $0.hexadecimal) }
    }

    /// The token of a purchase. Google Play states any text of the app, such as the digits of a token.
    static func token(of purchase: ProvenPurchase) -> UUID? {
        purchase.appAccountToken ?? purchase.facts.text(.obfuscatedAccountId).flatMap { token($0) }
    }

    /// The token in a request (`obfuscatedUsername`): a UUID, or its digits; nil for another text.
    package static func token(_ text: String) -> UUID? {
        text.utf8.count == 32 ? UUID(digits: text) : UUID(uuidString: text)
    }

    /// The MD5 of an id with the version 3 and a variant of RFC 9562.
    private static func hashed(_ username: String) -> UUID? {
        guard var digest = MD5.digest(of: Array(username.utf8)) else { return nil }
        digest[6] = 0x30 | digest[6] & 0x0F
        digest[8] = 0x80 | digest[8] & 0x0F
        return UUID(digits: digest.hexadecimal)
    }
}

extension UUID {
    /// - Parameter digits: The hexadecimal digits, without hyphens.
    init?(digits: String) {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        self.init(uuidString: text)
    }
}

/// A refusal in the plugin's form (`ErrorPayload`).
///
/// The plugin caches an answer with the status 200 for two minutes, and reports any other status to the app as a failed
/// communication. In both cases it keeps the transaction, and the App Store delivers it again.
package enum CordovaRefusal {
    /// The plugin's number of an error (`ErrorCode`).
    package enum Number: Int, CaseIterable, Sendable {
        case communication = 6_777_014
        case verificationFailed = 6_777_017
    }

    /// The plugin's form, with the status of the problem for people who read the body.
    package static func json(of problem: Problem) -> JSONValue {
        // No later event can change a permanent refusal.
        let isPermanent = RevenueCatErrorRule.isPermanent(problem.code)
        let number: Number = isPermanent ? .verificationFailed : .communication
        return .object([
            "ok": .bool(false), "status": .integer(problem.status), "code": .integer(number.rawValue),
            "message": .string(problem.detail), "data": .object(["latest_receipt": .bool(true)]),
        ])
    }

    /// The reason to refuse an authentic proof whose transactions were presented to the ledger; nil for a success.
    ///
    /// After a success, the plugin finishes every transaction of its receipt. So a success follows only if none of them can be lost.
    ///
    /// - Parameters:
    ///   - lines: The results for the transactions of the proof.
    package static func reason(_ lines: [Redemption.Line], types: [ByteKey: ProductType]) -> RedemptionError? {
        let refused = lines.filter { !$0.mayFinish }
        let temporary = refused.filter { !RevenueCatErrorRule.isPermanent($0.result.rawValue) }
        let reason =
            refused.count == lines.count
            ? temporary.first ?? refused.first : temporary.first { !types.canReturn($0.productId) }
        return reason.map { .purchaseRefused($0.result) }
    }

    package static func response(to problem: Problem) -> Response {
        DoorErrors.response(
            json(of: problem),
            status: RevenueCatErrorRule.isPermanent(problem.code) ? .ok : .serviceUnavailable,
            retryAfter: problem.headers[.retryAfter])
    }
}
