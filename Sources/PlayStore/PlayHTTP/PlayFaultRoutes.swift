import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// Faults on demand: errors of the next calls of the Play Developer API, and disturbed notifications.
extension PlaySandboxRoutes {
    /// A class, because the compiler crashes on a wide value in an async closure.
    private final class NewCallFault: Decodable, Sendable {
        let reason: String
        let method: String?
        let token: String?
        let status: Int?
        let calls: Int?
        let isAfterwards: Bool?

        static let fields = ["reason", "method", "token", "status", "calls", "isAfterwards"]

        var fault: CallFault {
            var fault = CallFault(reason: reason)
            (fault.method, fault.token, fault.status) = (method, token, status)
            (fault.calls, fault.isAfterwards) = (calls ?? 1, isAfterwards ?? false)
            return fault
        }
    }

    private struct NewNotificationFaults: Decodable {
        let faults: [String]
    }

    private struct Faults: Encodable {
        let calls: [CallFault]
        let notifications: [String]

        init(_ books: PlayBooks) throws {
            calls = try books.callFaults()
            notifications = try books.notificationFaults().map(\.name)
        }
    }

    func addFaults(to group: RouterGroup<ServiceContext>) {
        group.get("faults") { _, _ in try await answer { try Faults($0) } }
        group.post("faults") { request, context in
            let body = try await body(request, context, NewCallFault.self, NewCallFault.fields)
            return try await answer(.created) { books in
                try books.add(body.fault)
                return try Faults(books)
            }
        }
        group.delete("faults") { _, _ in
            try await answer { books in
                try books.clearFaults()
                return try Faults(books)
            }
        }
        group.post("notifications/faults") { request, context in
            let faults = try SandboxBody.faults(
                named: try await body(request, context, NewNotificationFaults.self, ["faults"]).faults)
            return try await answer(.created) { books in
                try books.add(faults)
                return try Faults(books)
            }
        }
        onNumber(.post, "/replay", group.group("notifications")) { books, number in
            try books.replay(number)
            return ["messageId": String(number)]
        }
    }
}

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
