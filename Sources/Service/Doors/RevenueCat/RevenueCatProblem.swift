import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// An error of Till in the protocol's form.
package struct RevenueCatProblem: DoorProblem, Hashable {
    /// The status of an error for which the SDK must send the request again.
    static let statusForRetry = 503
    /// The status of a permanently refused proof, and of an ignored error.
    private static let badRequest = 400

    package private(set) var status = Self.statusForRetry
    package let number: RevenueCatErrorNumber
    package let message: String
    /// The seconds before a retry, as text; nil if unknown.
    package private(set) var retryAfter: String?
    private(set) var attributeErrors: [AttributeFailure] = []

    init(status: Int = Self.statusForRetry, number: RevenueCatErrorNumber, message: String) {
        (self.status, self.number, self.message) = (status, number, message)
    }

    /// The answer to attributes of which some cannot be recorded. The others are.
    init(refusing errors: [AttributeFailure]) {
        self.init(status: Self.badRequest, number: .attributesInvalid, message: "Some attributes are invalid.")
        attributeErrors = errors
    }

    package init(_ problem: Problem, at endpoint: RevenueCatEndpoint) {
        let rule = RevenueCatErrorRule(code: problem.code)
        number = rule.number
        message = problem.detail
        retryAfter = problem.headers[.retryAfter]
        switch endpoint.consequence {
        case .ends where !rule.safety.isPermanent: status = max(problem.status, Self.statusForRetry)
        case .ignores: status = min(problem.status, Self.badRequest)
        case .ends, .reports: status = Self.status(of: problem, rule)
        }
    }

    /// The real service refuses a proof with the status 400.
    private static func status(of problem: Problem, _ rule: RevenueCatErrorRule) -> Int {
        problem.status < 500 && rule.number == .invalidReceipt && rule.safety.isPermanent ? badRequest : problem.status
    }

    package var json: JSONValue {
        .object([
            "code": .integer(number.rawValue), "message": .string(message),
            "attribute_errors": attributeErrors.isEmpty ? nil : attributeErrors.json,
        ])
    }

    /// The problem is noted where it is converted.
    var code: String? { nil }

    package func response() -> Response {
        DoorErrors.response(json, status: HTTPResponse.Status(code: status), retryAfter: retryAfter)
    }
}

/// Converts each error at the protocol's endpoints. A status below 500 would make the SDK finish a transaction.
package struct RevenueCatErrorMiddleware: RouterMiddleware {
    package init() {}

    package func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let endpoint = RevenueCatEndpoint(method: request.method, path: request.path) else {
            return try await next(request, context)
        }
        return await DoorErrors.converted(request, context, next) { RevenueCatProblem($0, at: endpoint).response() }
    }
}

/// The rule for an error of Till at an endpoint that the SDK asks only once more after a status from 500.
package struct RevenueCatErrorRule: Hashable, Sendable {
    /// The reason why nothing is lost.
    package enum Safety: String, CaseIterable, Sendable {
        /// The store has not signed the proof, so nobody has paid for it.
        case notSigned
        /// The proof is of no purchase.
        case noPurchase
        /// The ledger has the purchase, and its owner keeps it.
        case keptByOwner
        /// The customer has the goods, by an earlier back end.
        case deliveredBefore
        /// The SDK keeps the transaction, and sends it at the next start of the app.
        case sentAgain
        /// The same, until the operator has corrected the configuration.
        case sentAgainUntilConfigured
        /// The same, until the customer of the purchase has logged in.
        case sentAgainUntilLogIn
        /// The use cases of this door have no such error. If one occurs, the SDK keeps the transaction.
        case doesNotOccur

        /// True if the refusal is permanent. Only then the SDK may finish the transaction.
        package var isPermanent: Bool {
            switch self {
            case .notSigned, .noPurchase, .keptByOwner, .deliveredBefore: true
            case .sentAgain, .sentAgainUntilConfigured, .sentAgainUntilLogIn, .doesNotOccur: false
            }
        }
    }

    package let number: RevenueCatErrorNumber
    package let safety: Safety
}

extension RevenueCatErrorRule {
    /// The rule for a code of Till. With a code outside the table, such as that of a full disk, the transaction is sent again.
    package init(code: String) {
        self = Self.byCode[code] ?? RevenueCatErrorRule(number: .internalError, safety: .sentAgain)
    }

    /// True if no later event can change the refusal with a code of Till.
    static func isPermanent(_ code: String) -> Bool { RevenueCatErrorRule(code: code).safety.isPermanent }

    /// The rules by Till's error code. Only these have numbers of their own.
    package static let byCode: [String: RevenueCatErrorRule] = {
        var rules: [String: RevenueCatErrorRule] = [:]
        func add(_ number: RevenueCatErrorNumber, _ safety: Safety, _ codes: String...) {
            for code in codes { rules[code] = RevenueCatErrorRule(number: number, safety: safety) }
        }
        // Proofs that the store has not signed, or that somebody has changed.
        add(
            .invalidReceipt, .notSigned, "encodingInvalid", "containerInvalid", "tooManyCertificates",
            "algorithmNotAllowed", "signerCertificateMissing", "chainShape", "appleExtensionMissing",
            "signatureInvalid")
        add(.invalidReceipt, .noPurchase, "notRedeemable")
        add(.cannotTransferPurchase, .keptByOwner, "ownedByAnotherUser")
        add(.invalidReceipt, .deliveredBefore, "purchaseConsumed")

        // A later transfer may be allowed. The other user may not have redeemed the purchase yet.
        add(.cannotTransferPurchase, .sentAgain, "transferTooSoon")
        add(.cannotTransferPurchase, .sentAgainUntilLogIn, "appAccountTokenMismatch")

        // Genuine purchases may be among them: after a correction, a new proof or a new version of Till redeems them.
        add(
            .invalidReceipt, .sentAgainUntilConfigured, "chainUntrusted", "appKeyMissing", "originNotAccepted",
            "bundleIdentifierMismatch", "environmentMismatch", "productUnknown")
        add(
            .invalidReceipt, .sentAgain, "chainOutsideValidity", "transactionConflict", "tooLarge", "tooManyPurchases",
            "payloadInvalid", "staticTestPurchase", "purchaseFormRetired", "purchaseKindUnsupported", "signedInFuture",
            "certificateRevoked", "revocationUnavailable")
        add(.invalidReceipt, .doesNotOccur, "innerProofInvalid", "deviceMismatch", "noNotification")

        // Callers.
        add(
            .invalidAPIKey, .sentAgainUntilConfigured, "unauthenticated", "keyInvalid", "keyRequired",
            "publicKeyRequired", "scopeMissing", "appForbidden", "appRequired")
        add(.invalidAuthenticationToken, .doesNotOccur, "tokenInvalid", "tokenExpired", "tokenRequired")
        add(.invalidUserIdentifier, .sentAgainUntilLogIn, "userInvalid")
        add(.invalidUserIdentifier, .sentAgain, "userNotFound")
        // The door of cordova-plugin-purchase logs customers in while it validates a proof.
        add(.aliasFailed, .sentAgain, "customerTooLarge")

        // Requests.
        add(
            .badRequest, .sentAgain, "notFound", "methodNotAllowed", "httpError", "headInvalid", "bodyInvalid",
            "bodyTooLarge", "parameterInvalid")
        add(.badRequest, .sentAgainUntilConfigured, "featureOff")
        add(.requestInProgress, .doesNotOccur, "idempotencyKeyInUse")
        add(.badRequest, .doesNotOccur, "idempotencyKeyInvalid", "idempotencyKeyReused")

        // The App Store, and the signatures of offers.
        add(
            .storeProblem, .sentAgain, "appStoreUnreachable", "appStoreRefused", "appStoreAnswerInvalid",
            "appStoreCancelled", "subscriptionStateUnknown")
        add(.invalidAppleSubscriptionKey, .sentAgainUntilConfigured, "appStoreKeyInvalid", "signingFailed")
        add(.subscriptionNotFound, .doesNotOccur, "subscriptionNotFound")

        // Google Play. It may not know a token yet in the first seconds of a purchase.
        add(.invalidReceipt, .noPurchase, "googlePlayTokenEnded")
        add(.invalidReceipt, .sentAgain, "googlePlayTokenUnknown")
        add(.paymentNotComplete, .sentAgain, "purchasePending", "purchaseNotOwned")
        add(
            .googlePlayCredentials, .sentAgainUntilConfigured, "serviceAccountMissing", "googlePlayAccountRefused",
            "googleServiceAccountInvalid")
        add(.googlePlayPackageName, .sentAgainUntilConfigured, "googlePlayOtherApp")
        add(.googlePlayQuota, .sentAgain, "googlePlayLimited")
        add(
            .googlePlayProblem, .sentAgain, "googlePlayUnreachable", "googlePlayFailed", "googlePlayRefused",
            "googlePlayAnswerInvalid", "googlePlayStateInvalid", "googlePlayCancelled")
        return rules
    }()
}

/// The protocol's number of an error.
package enum RevenueCatErrorNumber: Int, CaseIterable, Sendable {
    case storeProblem = 7101
    case cannotTransferPurchase = 7102
    case invalidReceipt = 7103
    case googlePlayCredentials = 7107
    case internalError = 7110
    case invalidAuthenticationToken = 7224
    case invalidAPIKey = 7225
    case badRequest = 7226
    case googlePlayQuota = 7229
    case googlePlayPackageName = 7230
    case googlePlayProblem = 7231
    case notEligibleForOffer = 7232
    case invalidAppleSubscriptionKey = 7234
    case aliasFailed = 7255
    case invalidUserIdentifier = 7256
    case subscriptionNotFound = 7259
    case attributesInvalid = 7263
    case requestInProgress = 7638
    case paymentNotComplete = 7651
    case productMissingInReceipt = 7712
}
