import HTTPSupport

/// The body of `POST /v1/offers`.
///
/// The receipt beside the offers is not read. The catalog has the offers.
package struct OfferRequest: Hashable, Sendable {
    /// An offer to sign.
    package struct Offer: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String
        /// Nil if the app does not state it.
        package let subscriptionGroup: String?

        package init(identifier: String, productIdentifier: String, subscriptionGroup: String? = nil) {
            self.identifier = identifier
            self.productIdentifier = productIdentifier
            self.subscriptionGroup = subscriptionGroup
        }
    }

    /// The maximum number of offers in one request.
    package static let maximumCount = 100

    package let user: String
    package let offers: [Offer]

    package init(_ body: [UInt8]) throws(Problem) {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        var offers: [Offer] = []
        for offer in try members.objects("generate_offers", atMost: Self.maximumCount) {
            offers.append(
                Offer(
                    identifier: try offer.text("offer_id"), productIdentifier: try offer.text("product_id"),
                    subscriptionGroup: try offer.optionalText("subscription_group")))
        }
        guard !offers.isEmpty else { throw members.wrong("generate_offers", "an array of at least one offer") }
        self.offers = offers
    }
}
