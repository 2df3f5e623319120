import Proofs

/// An error of the Play Developer API, with Google's statuses, reasons and sentences.
package struct PublisherError: Error, Equatable {
    /// The part of a request that an error is about.
    enum Location: String {
        case parameter
        case header
    }

    package private(set) var status: Int
    package let reason: String
    let domain: String
    package let message: String
    /// The name of the parameter or header that is wrong; nil if no single one is.
    package private(set) var location: String?
    private(set) var locationType = Location.parameter
    /// The code of `google.rpc`, which only the gateway before the API sends.
    private(set) var code: String?

    private init(
        _ status: Int, _ reason: String, _ message: String, domain: String = "androidpublisher",
        at location: String? = nil
    ) {
        (self.status, self.reason, self.domain, self.message, self.location) = (
            status, reason, domain, message, location
        )
    }

    /// The body of the answer.
    var json: [UInt8] {
        let detail = JSONValue.object([
            "message": .string(message), "domain": .string(domain), "reason": .string(reason),
            "location": location.map { .string($0) },
            "locationType": location == nil ? nil : .string(locationType.rawValue),
        ])
        return JSONValue.object([
            "error": .object([
                "code": .integer(status), "message": .string(message), "errors": .array([detail]),
                "status": code.map { .string($0) },
            ])
        ]).compactBytes
    }
}

/// The errors that a fault on demand names.
extension PublisherError {
    /// The errors that Google documents, or that its users have met, by their reasons.
    package static let documented = [
        unauthenticated, insufficientScope, permissionDenied, projectNotLinked, userInsufficientPermission,
        invalidToken,
        tokenOfOtherProduct, tokenOfOtherPackage, invalidPurchaseState, deferralInvalid, notFound("The resource"),
        tokenNotFound, applicationNotFound("com.example.app"), concurrentUpdate, tokenNoLongerValid,
        subscriptionNoLongerAvailable, limitExceeded("rateLimitExceeded"), limitExceeded("quotaExceeded"),
        limitExceeded("dailyLimitExceeded"), internalError,
        PublisherError(500, "internalError", "Internal error encountered.", domain: "global"),
    ]

    /// The error with another status, such as 503 for a back end that is overloaded.
    package func with(status: Int) -> PublisherError {
        var error = self
        error.status = status
        return error
    }

    private static let projectNotLinked = PublisherError(
        403, "projectNotLinked",
        "The project id used to call the Google Play Developer API has not been linked in the Google Play Developer Console."
    )

    private static let userInsufficientPermission = PublisherError(
        403, "userInsufficientPermission",
        "The current user has insufficient permissions to perform the requested operation.")

    private static let subscriptionNoLongerAvailable = PublisherError(
        410, "subscriptionPurchaseNoLongerAvailable",
        "The subscription purchase is no longer available for query because it has been expired for too long.",
        at: "token")

    private static func limitExceeded(_ reason: String) -> PublisherError {
        PublisherError(429, reason, "Quota exceeded. Repeat the request later.", domain: "usageLimits")
    }
}

/// The errors of the gateway: authentication, scopes and paths.
extension PublisherError {
    static let unauthenticated: PublisherError = {
        var error = PublisherError(
            401, "authError",
            "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
                + "authentication credential.", domain: "global", at: "Authorization")
        (error.locationType, error.code) = (.header, "UNAUTHENTICATED")
        return error
    }()

    static let insufficientScope: PublisherError = {
        var error = PublisherError(
            403, "insufficientPermissions", "Request had insufficient authentication scopes.", domain: "global")
        error.code = "PERMISSION_DENIED"
        return error
    }()

    static let pathUnknown = PublisherError(404, "notFound", "Not Found", domain: "global")

    static let malformed = PublisherError(
        400, "parseError", "Invalid JSON payload received. The body does not have the form of this method.",
        domain: "global")

    static let tooLarge = PublisherError(413, "uploadTooLarge", "The request is too large.", domain: "global")

    static let internalError = PublisherError(500, "backendError", "Internal error encountered.", domain: "global")
}

/// The errors of the API.
extension PublisherError {
    /// The account may not do this for this app. It is a 401 at Google, too.
    static let permissionDenied = PublisherError(
        401, "permissionDenied", "The current user has insufficient permissions to perform the requested operation.")

    static func applicationNotFound(_ name: String) -> PublisherError {
        PublisherError(404, "applicationNotFound", "Package not found: \(name.prefix(150)).")
    }

    static func notFound(_ what: String) -> PublisherError { PublisherError(404, "notFound", "\(what) was not found.") }

    static func required(_ parameter: String) -> PublisherError {
        PublisherError(400, "required", "Required parameter: \(parameter)", domain: "global", at: parameter)
    }

    static func invalidValue(_ parameter: String, _ reason: String) -> PublisherError {
        PublisherError(
            400, "invalidValue", "Invalid value for \(parameter): \(reason)", domain: "global", at: parameter)
    }

    /// A text that is no purchase token.
    static let invalidToken = PublisherError(400, "invalid", "Invalid Value", domain: "global", at: "token")

    static let tokenNotFound = PublisherError(
        404, "purchaseTokenNotFound", "The purchase token was not found.", domain: "global", at: "token")

    static let tokenNoLongerValid = PublisherError(
        410, "purchaseTokenNoLongerValid", "The purchase token is no longer valid.", at: "token")

    static let concurrentUpdate = PublisherError(
        409, "concurrentUpdate", "The purchase has changed meanwhile. Read it again, and repeat the request.")

    static let deferralInvalid = PublisherError(
        400, "subscriptionDeferInvalidTime", "A renewal is deferred by a day to a year.")

    /// A request that is not possible in the present state of a resource.
    static func failedPrecondition(_ message: String) -> PublisherError {
        var error = PublisherError(400, "failedPrecondition", message, domain: "global")
        error.code = "FAILED_PRECONDITION"
        return error
    }

    static func alreadyExists(_ what: String) -> PublisherError {
        PublisherError(409, "alreadyExists", "\(what) exists already.")
    }

    static let tokenOfOtherProduct = PublisherError(
        400, "purchaseTokenDoesNotMatchProductId", "The purchase token does not match the product ID.", at: "token")

    static let tokenOfOtherPackage = PublisherError(
        400, "purchaseTokenDoesNotMatchPackageName", "The purchase token does not match the package name.", at: "token")

    static let invalidPurchaseState = PublisherError(
        400, "invalidPurchaseState", "The purchase is not in a valid state to perform the desired operation.",
        at: "token")
}
