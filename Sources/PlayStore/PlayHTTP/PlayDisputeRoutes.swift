import HTTPSupport
import Hummingbird
import Proofs

/// A review of a refund as the sandbox and the commands show it.
package struct PlayDisputeResource: Codable, Sendable {
    package let orderId: String
    package let packageName: String
    package let pendingRefundToken: String
    /// The end of the time in which the developer answers, and the moment of the decision.
    package let deadline: String
    /// `open`, `answered`, `refunded` or `kept`.
    package let state: String
    /// The preference in the first answer: `DECLINE`, `APPROVE` or `NEUTRAL`.
    package let refundPreference: String?

    package init(_ review: RefundReview) {
        (orderId, packageName) = (review.orderId, review.packageName)
        (pendingRefundToken, deadline) = (review.pendingRefundToken, review.deadline.rfc3339)
        (state, refundPreference) = (review.state.rawValue, review.answer?.refundPreference)
    }
}

/// Payments that banks dispute.
extension PlaySandboxRoutes {
    private struct NewDispute: Decodable {
        let orderId: String
    }

    func addDisputes(to group: RouterGroup<ServiceContext>) {
        group.post { request, context in
            let orderId = try await body(request, context, NewDispute.self, ["orderId"]).orderId
            return try await answer(.created) { PlayDisputeResource(try $0.dispute(order: orderId)) }
        }
        group.get { _, _ in
            try await answer { ["disputes": try $0.reviews().map { PlayDisputeResource($0) }] }
        }
    }
}
