import GRDB
import HTTPSupport
import Proofs

/// A payment that the customer's bank disputes, and what the developer says about it.
package struct RefundReview: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable, CaseIterable {
        case open
        /// The developer has answered, and the decision follows at the deadline.
        case answered
        case refunded
        /// The payment stays.
        case kept
    }

    package static let answerHours: Int64 = 24

    package let orderId: String
    package let packageName: String
    package let pendingRefundToken: String
    package let deadline: Timestamp
    package private(set) var state = State.open
    /// The first answer. Later ones are ignored.
    package private(set) var answer: RefundReviewRequest?

    package init(orderId: String, packageName: String, pendingRefundToken: String, at now: Timestamp) {
        (self.orderId, self.packageName, self.pendingRefundToken) = (orderId, packageName, pendingRefundToken)
        deadline = now.adding(seconds: Self.answerHours * 3600)
    }

    /// The moment of the decision; nil after it.
    var dueTime: Timestamp? { [.open, .answered].contains(state) ? deadline : nil }

    /// Takes an answer of the developer.
    ///
    /// - Throws: `PublisherError` for a token of another review, a wrong field, or an answer that is late.
    package mutating func take(_ request: RefundReviewRequest) throws(PublisherError) {
        guard let token = request.pendingRefundToken, !token.isEmpty else { throw .required("pendingRefundToken") }
        try request.check()
        guard token.hasSameBytes(as: pendingRefundToken) else {
            throw .invalidValue("pendingRefundToken", "it is not that of the order.")
        }
        guard answer == nil else { return }
        guard state == .open else { throw .failedPrecondition("The review has ended.") }
        (answer, state) = (request, .answered)
    }

    /// Decides at the deadline. Only a developer who declines the refund keeps the payment.
    ///
    /// - Returns: True if the payment is refunded.
    package mutating func decide() -> Bool {
        state = answer?.preference == .decline ? .kept : .refunded
        return state == .refunded
    }
}

extension RefundReviewRequest {
    /// The limits that Google documents.
    private static let percentages: ClosedRange<Int32> = 0...100_000
    private static let maximumEvents = 1000
    private static let descriptionLength = 5000

    fileprivate func check() throws(PublisherError) {
        guard let refundPreference else { throw .required("refundPreference") }
        guard preference != nil else {
            throw .invalidValue(
                "refundPreference", "\(refundPreference.prefix(64)) is none of DECLINE, APPROVE and NEUTRAL.")
        }
        guard sampleContentProvided != nil else { throw .required("sampleContentProvided") }
        guard Self.percentages.contains(consumptionPercentageMilliunits ?? 0) else {
            throw .invalidValue("consumptionPercentageMilliunits", "0 to \(Self.percentages.upperBound).")
        }
        let events = consumptionUsageEvents ?? []
        guard events.count <= Self.maximumEvents else {
            throw .invalidValue("consumptionUsageEvents", "at most \(Self.maximumEvents).")
        }
        for event in events {
            let field = "consumptionUsageEvents"
            guard (event.consumptionItemDescription ?? "").count <= Self.descriptionLength else {
                throw .invalidValue(
                    "\(field).consumptionItemDescription", "at most \(Self.descriptionLength) characters.")
            }
            guard event.location == nil || event.location?.regionCode != nil else {
                throw .required("\(field).location.regionCode")
            }
            for (name, text) in [
                ("obfuscatedAccountId", event.obfuscatedAccountId), ("obfuscatedProfileId", event.obfuscatedProfileId),
            ] where (text ?? "").count > GooglePlay.maximumObfuscatedLength {
                throw .invalidValue("\(field).\(name)", "at most \(GooglePlay.maximumObfuscatedLength) characters.")
            }
        }
    }
}

/// The reviews of refunds: a bank disputes a payment, the developer answers, and the Play decides.
extension PlayBooks {
    /// Opens a review of an order, and asks the developer.
    ///
    /// - Throws: `PlayError` for an order that is unknown, refunded, or was reviewed before.
    package func dispute(order orderId: String) throws -> RefundReview {
        guard let ordered = try ordered(orderId) else { throw PlayError.purchaseNotFound(orderId) }
        let books = try of(ordered.account)
        guard !ordered.isRefunded(orderId), try review(order: orderId) == nil else {
            throw PlayError.invalidAction("The order \(orderId.prefix(64)) was refunded or reviewed already.")
        }
        let review = RefundReview(
            orderId: orderId, packageName: ordered.packageName,
            pendingRefundToken: Base64.encode(randomness.bytes(48), .urlSafe), at: books.now)
        try keep(review, of: ordered.account)
        let (accountId, profileId) = ordered.obfuscatedIdentifiers
        try notify(review.packageName, of: ordered.account, at: books.now) {
            $0.pendingRefundReviewNotification = .init(
                version: DeveloperNotification.version, pendingRefundToken: review.pendingRefundToken, orderId: orderId,
                refundReason: VoidedPurchase.Reason.chargeback.rawValue, obfuscatedAccountId: accountId,
                obfuscatedProfileId: profileId)
        }
        return review
    }

    /// `orders.reviewrefund`.
    func review(_ request: RefundReviewRequest, ofOrder orderId: String, in packageName: String) throws {
        let account = try ordered(orderId, in: packageName).account
        guard var review = try review(order: orderId) else {
            throw PublisherError.invalidValue("pendingRefundToken", "no refund of the order is pending.")
        }
        try review.take(request)
        try keep(review, of: account)
    }

    /// Decides a review whose deadline has come.
    func decide(_ review: RefundReview) throws {
        var review = review
        let ordered = try ordered(review.orderId, in: review.packageName)
        if review.decide() {
            switch ordered {
            case .purchase(var purchase) where purchase.refundableQuantity > 0:
                try refund(
                    &purchase,
                    .init(
                        time: review.deadline, quantity: purchase.refundableQuantity, isRevoking: true, source: .google,
                        reason: .chargeback))
            case .period(let purchase) where !purchase.isRefunded(review.orderId):
                try refund(
                    review.orderId, of: purchase, isRevoking: true, source: .google, reason: .chargeback,
                    at: review.deadline)
            case .purchase, .period: break
            }
        }
        try keep(review, of: ordered.account)
    }

    /// The review of an order; nil for none.
    package func review(order orderId: String) throws -> RefundReview? {
        try database.record("SELECT record FROM refund_review WHERE order_id = \(orderId)")
    }

    /// The review whose deadline came first.
    ///
    /// - Parameter account: The account with its own clock; nil for all that follow the Play's.
    func firstDueReview(of account: String?) throws -> RefundReview? {
        try database.record(
            """
            SELECT record FROM refund_review WHERE due_at <= \(now) AND \(ClockRecords.follows(account))
            ORDER BY due_at, order_id LIMIT 1
            """)
    }

    /// The reviews, newest first.
    package func reviews(limit: Int = 1000) throws -> [RefundReview] {
        try database.records("SELECT record FROM refund_review ORDER BY rowid DESC LIMIT \(limit)")
    }

    private func keep(_ review: RefundReview, of account: String) throws {
        try database.insert(
            [
                "order_id": review.orderId, "account": account, "due_at": review.dueTime,
                "record": try LocalRecord.text(review),
            ], into: "refund_review", replacing: "order_id")
    }
}

extension PlayBooks.Ordered {
    fileprivate func isRefunded(_ orderId: String) -> Bool {
        switch self {
        case .purchase(let purchase): purchase.refundableQuantity == 0
        case .period(let purchase): purchase.isRefunded(orderId)
        }
    }

    fileprivate var obfuscatedIdentifiers: (account: String?, profile: String?) {
        switch self {
        case .purchase(let purchase): purchase.obfuscatedIdentifiers
        case .period(let purchase): purchase.obfuscatedIdentifiers
        }
    }
}
