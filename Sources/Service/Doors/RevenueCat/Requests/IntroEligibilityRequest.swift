import HTTPSupport

/// The body of `POST /v1/subscribers/{user}/intro_eligibility`.
///
/// The receipt beside the products is not read. The ledger has the customer's purchases.
package struct IntroEligibilityRequest: Hashable, Sendable {
    /// The maximum number of products in one request.
    package static let maximumCount = 1000

    package let productIdentifiers: [String]

    package init(_ body: [UInt8]) throws(Problem) {
        productIdentifiers = try RequestMembers(body).texts("product_identifiers", atMost: Self.maximumCount)
    }
}
