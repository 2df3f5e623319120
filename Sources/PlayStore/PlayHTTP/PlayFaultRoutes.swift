import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

extension CallFault: AnswerObject {
    package static let answerFields = AnswerFields<Self>("A fault of the next calls.", named: "Fault") {
        $0.field("reason", "The reason of a documented error.", \.reason)
        $0.field("method", "Google's identifier of the method; absent for each.", \.method)
        $0.field("token", "The purchase token of the calls; absent for any.", \.token)
        $0.field("status", "The status; absent for that which Google documents.", \.status)
        $0.field("isAfterwards", "True if the call does its work, and only its answer is lost.", \.isAfterwards)
        $0.field("calls", "The number of calls that still fail.", \.calls)
    }
}

struct FaultsAnswer: AnswerObject {
    static let answerFields = AnswerFields<Self>("The faults on demand.", named: "Faults") {
        $0.field("calls", "The faults of calls, in the order in which they were added.", \.calls)
        $0.field("notifications", "The faults of the next notifications, one for each.", \.notifications)
    }

    private let calls: [CallFault]
    private let notifications: [String]

    init(_ books: PlayBooks) throws {
        calls = try books.callFaults()
        notifications = try books.notificationFaults().map(\.name)
    }
}

/// Faults on demand: errors of the next calls of the Play Developer API, and disturbed notifications.
extension PlaySandboxRoutes {
    func addFaults(to group: RouterGroup<ServiceContext>) {
        group.on(.listFaults) { _, _ in try await answer { try FaultsAnswer($0).json() } }
        group.on(.addFault) { request, context in
            let body = try await SandboxBody.decode(request, context, as: CallFaultRequest.self)
            return try await answer(.created) { books in
                try books.add(body.fault)
                return try FaultsAnswer(books).json()
            }
        }
        group.on(.clearFaults) { _, _ in
            try await answer { books in
                try books.clearFaults()
                return try FaultsAnswer(books).json()
            }
        }
        group.on(.addNotificationFaults) { request, context in
            let faults = try await SandboxBody.decode(request, context, as: NotificationFaultsRequest.self)
                .notificationFaults()
            return try await answer(.created) { books in
                try books.add(faults)
                return try FaultsAnswer(books).json()
            }
        }
        onNumber(.replay, group) { books, number in
            try books.replay(number)
            return ["messageId": String(number)]
        }
    }
}

/// A review of a refund as the sandbox and the commands show it.
package struct PlayDisputeResource: AnswerObject, Listed, Codable, Sendable {
    package static let listName = "disputes"
    package static let answerFields = AnswerFields<Self>(
        "A payment that the customer's bank disputes.", named: "Dispute"
    ) {
        $0.field("orderId", "The order.", \.orderId)
        $0.field("packageName", "The app.", \.packageName)
        $0.field("pendingRefundToken", "The token with which the developer answers.", \.pendingRefundToken)
        $0.field("deadline", .time("The end of the time to answer, and the moment of the decision."), \.deadline)
        $0.field("state", .one(of: RefundReview.State.self, "The state."), \.state)
        $0.field(
            "refundPreference", "The preference in the first answer: `DECLINE`, `APPROVE` or `NEUTRAL`.",
            \.refundPreference)
    }

    package let orderId: String
    package let packageName: String
    package let pendingRefundToken: String
    /// The end of the time in which the developer answers, and the moment of the decision.
    package let deadline: String
    package let state: String
    package let refundPreference: String?

    package init(_ review: RefundReview) {
        (orderId, packageName) = (review.orderId, review.packageName)
        (pendingRefundToken, deadline) = (review.pendingRefundToken, review.deadline.rfc3339)
        (state, refundPreference) = (review.state.rawValue, review.answer?.refundPreference)
    }
}

/// Payments that banks dispute.
extension PlaySandboxRoutes {
    func addDisputes(to group: RouterGroup<ServiceContext>) {
        group.on(.dispute) { request, context in
            let orderId = try await SandboxBody.decode(request, context, as: DisputeRequest.self).orderId
            return try await answer(.created) { try PlayDisputeResource(try $0.dispute(order: orderId)).json() }
        }
        group.on(.listDisputes) { _, _ in
            try await answer { try List(try $0.reviews().map { PlayDisputeResource($0) }).json() }
        }
    }
}
