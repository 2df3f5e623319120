import Proofs

/// The answers of endpoints that the SDK asks for features that Till does not have.
package enum RevenueCatStub {
    /// The answer of attribution, events, diagnostics and attributes.
    package static let accepted: JSONValue = .object([:])
    /// The answer of `GET /v1/subscribers/{user}/virtual_currencies`.
    package static let virtualCurrencies: JSONValue = .object(["virtual_currencies": .object([:])])
    /// The answer of `GET /v1/subscribers/{user}/health_report_availability`.
    package static let healthReportAvailability: JSONValue = .object(["report_logs": .bool(false)])

    /// The answer of `POST /v1/subscribers/{user}/restore/eligibility`.
    package static func restoreEligibility(isAllowed: Bool) -> JSONValue {
        .object(["is_purchase_allowed_by_restore_behavior": .bool(isAllowed)])
    }
}
