import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// A purchase as the sandbox and the commands show it.
package struct PlayPurchaseResource: AnswerObject, Listed, Codable, Sendable {
    package static let listName = "purchases"
    package static let answerFields = AnswerFields<Self>("A purchase of a one-time product.", named: "Purchase") {
        $0.field("number", "The number in the list.", \.number)
        $0.field("account", "The customer's account.", \.account)
        $0.field("packageName", "The app.", \.packageName)
        $0.field("productId", "The product.", \.productId)
        $0.field("productIds", "All products of the order, the first one first; absent for one.", \.productIds)
        $0.field("quantity", "The number of units.", \.quantity)
        $0.field("state", .one(of: OneTimePurchase.State.self, "The state."), \.state)
        $0.field("isAcknowledged", "True if the app or its server has acknowledged it.", \.isAcknowledged)
        $0.field("isConsumed", "True if the product can be bought again.", \.isConsumed)
        $0.field("releaseTime", .time("The moment at which a pre-order is charged; absent afterwards."), \.releaseTime)
        $0.field("rentalEnd", .time("The end of a rental; absent for another purchase."), \.rentalEnd)
        $0.field("orderId", "The order; absent for a pending payment and a promotion code.", \.orderId)
        $0.field("purchaseToken", "The purchase token.", \.purchaseToken)
        $0.field(
            "acknowledgementDeadline", .time("The moment at which it is refunded unless it is acknowledged."),
            \.acknowledgementDeadline)
        $0.field("signedPurchase", \.signedPurchase)
    }

    package let number: Int64
    package let account: String
    package let packageName: String
    package let productId: String
    package let productIds: [String]?
    package let quantity: Int
    /// `pending`, `purchased` or `canceled`.
    package let state: String
    package let isAcknowledged: Bool
    package let isConsumed: Bool
    package let releaseTime: String?
    package let rentalEnd: String?
    package let orderId: String?
    package let purchaseToken: String
    package let acknowledgementDeadline: String?
    package let signedPurchase: SignedPurchase
}

extension PlayBooks {
    package func resource(_ purchase: OneTimePurchase) throws -> PlayPurchaseResource {
        try PlayPurchaseResource(
            number: purchase.number, account: purchase.account, packageName: purchase.terms.packageName,
            productId: purchase.terms.productId,
            productIds: purchase.items.count == 1 ? nil : purchase.items.map(\.productId),
            quantity: purchase.quantity, state: purchase.state.rawValue,
            isAcknowledged: purchase.isAcknowledged, isConsumed: purchase.isConsumed,
            releaseTime: purchase.releaseTime?.rfc3339, rentalEnd: purchase.rentalEnd?.rfc3339,
            orderId: purchase.orderId, purchaseToken: purchase.token,
            acknowledgementDeadline: purchase.acknowledgementDeadline?.rfc3339, signedPurchase: signed(purchase))
    }
}

/// An add-on of a subscription as the sandbox and the commands show it.
package struct PlayAddOnResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self>("An add-on of a subscription.", named: "AddOn") {
        $0.field("productId", "The subscription.", \.productId)
        $0.field("basePlanId", "The base plan.", \.basePlanId)
        $0.field("expiryTime", .time("The end of the access."), \.expiryTime)
        $0.field("isRemoved", "True if it leaves at the end of its period.", \.isRemoved)
    }

    package let productId: String
    package let basePlanId: String
    package let expiryTime: String
    package let isRemoved: Bool

    init(_ item: RecurringPurchase.Item) {
        (productId, basePlanId) = (item.terms.productId, item.terms.basePlanId)
        (expiryTime, isRemoved) = (item.expiryTime.rfc3339, item.isRemoved)
    }
}

/// A subscription as the sandbox and the commands show it.
package struct PlaySubscriptionResource: AnswerObject, Listed, Codable, Sendable {
    package static let listName = "subscriptions"
    package static let answerFields = AnswerFields<Self>("A purchase of a subscription.", named: "Subscription") {
        $0.field("number", "The number in the list.", \.number)
        $0.field("account", "The customer's account.", \.account)
        $0.field("packageName", "The app.", \.packageName)
        $0.field("productId", "The subscription.", \.productId)
        $0.field("basePlanId", "The base plan.", \.basePlanId)
        $0.field("addOns", "The subscriptions besides the base item; absent for none.", \.addOns)
        $0.field("state", .one(of: RecurringPurchase.State.self, "The state."), \.state)
        $0.field("isAcknowledged", "True if the app or its server has acknowledged it.", \.isAcknowledged)
        $0.field("expiryTime", .time("The end of the access."), \.expiryTime)
        $0.field("orderId", "The order of the latest period; absent for a pending payment.", \.orderId)
        $0.field("purchaseToken", "The purchase token.", \.purchaseToken)
        $0.field(
            "acknowledgementDeadline", .time("The moment at which it is revoked unless it is acknowledged."),
            \.acknowledgementDeadline)
        $0.field("signedPurchase", \.signedPurchase)
    }

    package let number: Int64
    package let account: String
    package let packageName: String
    package let productId: String
    package let basePlanId: String
    package let addOns: [PlayAddOnResource]?
    /// `pending`, `active`, `inGracePeriod`, `onHold`, `paused`, `canceled`, `expired` or `pendingPurchaseCanceled`.
    package let state: String
    package let isAcknowledged: Bool
    package let expiryTime: String
    package let orderId: String?
    package let purchaseToken: String
    package let acknowledgementDeadline: String?
    package let signedPurchase: SignedPurchase
}

extension PlayBooks {
    package func resource(_ purchase: RecurringPurchase) throws -> PlaySubscriptionResource {
        try PlaySubscriptionResource(
            number: purchase.number, account: purchase.account, packageName: purchase.terms.packageName,
            productId: purchase.terms.productId, basePlanId: purchase.terms.basePlanId,
            addOns: purchase.addOns.isEmpty ? nil : purchase.addOns.map { PlayAddOnResource($0) },
            state: purchase.state.rawValue,
            isAcknowledged: purchase.isAcknowledged, expiryTime: purchase.expiryTime.rfc3339,
            orderId: purchase.periods.last?.orderId, purchaseToken: purchase.token,
            acknowledgementDeadline: purchase.acknowledgementDeadline?.rfc3339, signedPurchase: signed(purchase))
    }
}

extension SignedPurchase: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "The purchase as an app gets it, and as it sends it to its server.", named: "SignedPurchase"
    ) {
        $0.field("purchase", "`INAPP_PURCHASE_DATA`.") { String(decoding: $0.data, as: UTF8.self) }
        $0.field("signature", "`INAPP_DATA_SIGNATURE`, in base64.") { String(decoding: $0.signature, as: UTF8.self) }
    }
}

/// A notification in the outbox.
struct PlayNotificationResource: AnswerObject, Listed {
    static let listName = "notifications"
    static let answerFields = AnswerFields<Self>("A notification.", named: "Notification") {
        $0.field("messageId", "The number of the message.", \.messageId)
        $0.field(
            "notification",
            Schema.anyObject.described("Google's `DeveloperNotification`.")
                .with(["additionalProperties": .bool(true)]), \.notification)
        $0.field("attempts", "The number of attempts to push it.", \.attempts)
        $0.field("isDue", "True if it is still to be pushed.", \.isDue)
    }

    private let messageId: String
    private let notification: JSONContent
    private let attempts: Int
    private let isDue: Bool

    init(_ queued: QueuedNotification) throws {
        messageId = String(queued.number)
        notification = try JSONContent(answer: try JSONAnswer.encode(queued.notification))
        (attempts, isDue) = (queued.attempts, queued.nextAttempt != nil)
    }
}

/// The sandbox API: actions of the customer, of Google and of time.
struct PlaySandboxRoutes: Sendable {
    let play: GooglePlay
    /// Deletes the named Play; nil if the Play has no name.
    let delete: (@Sendable () -> Void)?

    func add(to group: RouterGroup<ServiceContext>) {
        addPurchases(to: group)
        addSubscriptions(to: group)
        addNotifications(to: group)
        addFaults(to: group)
        addDisputes(to: group)
        addExternalSales(to: group)
        addTime(to: group)
        addApps(to: group)
        group.on(.reset) { _, _ in try await answer { try ["purchases": try $0.reset()].json() } }
        group.addDeletion(delete)
    }

    private func addTime(to group: RouterGroup<ServiceContext>) {
        group.on(.readTime) { request, _ in
            let account = try request.query("account")
            return try await answer { books in
                try ClockAnswer(
                    now: try books.time(of: account), accounts: account == nil ? try books.accountTimes() : nil
                ).json()
            }
        }
        group.on(.advanceTime) { request, context in
            let body = try await SandboxBody.decode(request, context, as: TimeAdvanceRequest.self)
            let (step, account) = (try body.step(), body.account)
            return try await answer { books in
                let (now, events) = try books.advance(step, of: account)
                return try ClockAnswer(now: now, events: events).json()
            }
        }
    }

    private func addApps(to group: RouterGroup<ServiceContext>) {
        group.on(.listMethods) { _, _ in
            try ["methods": PublisherMethod.all.map(\.identifier)].answer()
        }
        group.on(.readApp) { _, context in
            let packageName = try context.parameters.text("package")
            return try await answer { try Self.app(packageName, $0) }
        }
        group.on(.addApp) { _, context in
            let packageName = try context.parameters.text("package")
            guard PackageName.isValid(packageName) else {
                throw JSONBody.invalid("\"\(packageName)\" is not a package name, such as com.example.app.")
            }
            return try await answer { books in
                try books.addApp(packageName)
                return try Self.app(packageName, books)
            }
        }
        group.on(.makeServiceAccount) { request, context in
            let names = try await SandboxBody.decode(request, context, as: ServiceAccountRequest.self).packageNames
            guard let url = URL(string: "http://\(request.head.authority ?? "")") else {
                throw JSONBody.invalid("The request names no host.")
            }
            let json = try await BlockingWork.run { [play] in
                try play.accounts.perform { try $0.makeServiceAccount(at: url, for: names).json() }
            }
            return JSONAnswer.response(bytes: json)
        }
    }

    /// The purchases by their numbers in the list.
    private func addPurchases(to group: RouterGroup<ServiceContext>) {
        group.on(.buy) { request, context in
            let body = try await SandboxBody.decode(request, context, as: PlayPurchaseRequest.self)
            return try await answer(.created) { try $0.resource(try $0.buy(body.order, offerId: body.offerId)).json() }
        }
        group.on(.listPurchases) { request, _ in
            let account = try request.query("account")
            return try await answer { books in
                try List(try books.purchases(of: account).map { try books.resource($0) }).json()
            }
        }
        onNumber(.readPurchase, group) { try $0.resource(try $0.purchase($1)) }
        onNumber(.completePurchase, group) { try $0.resource(try $0.complete($1)) }
        onNumber(.cancelPurchase, group) { try $0.resource(try $0.cancel($1)) }
        group.on(.refundPurchase) { request, context in
            let number = try context.parameters.require("number", as: Int64.self)
            let refund = try await SandboxBody.decode(request, context, as: PlayRefundRequest.self)
            return try await answer { books in
                try books.resource(
                    try books.refund(
                        number, quantity: refund.quantity, isRevoking: refund.isRevoking ?? true,
                        source: refund.source ?? .user, reason: refund.reason ?? .other)
                ).json()
            }
        }
    }

    /// The subscriptions by their numbers in the list.
    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        group.on(.subscribe) { request, context in
            let body = try await SandboxBody.decode(request, context, as: PlaySubscriptionRequest.self)
            return try await answer(.created) {
                try $0.resource(try $0.subscribe(body.order, offerId: body.purchase.offerId)).json()
            }
        }
        group.on(.listSubscriptions) { request, _ in
            let account = try request.query("account")
            return try await answer { books in
                try List(try books.subscriptions(of: account).map { try books.resource($0) }).json()
            }
        }
        onNumber(.readSubscription, group) { try $0.resource(try $0.subscription($1)) }
        for (action, operation) in APIOperation.subscriptionActions {
            group.on(operation) { request, context in
                let number = try context.parameters.require("number", as: Int64.self)
                let length =
                    action == .pause
                    ? try await SandboxBody.decode(request, context, as: PauseRequest.self).length : nil
                let survey =
                    action == .cancel
                    ? try await SandboxBody.decode(request, context, as: CancellationRequest.self).survey : nil
                return try await answer {
                    try $0.resource(try $0.perform(action, on: number, pauseLength: length, survey: survey)).json()
                }
            }
        }
    }

    private func addNotifications(to group: RouterGroup<ServiceContext>) {
        group.on(.listNotifications) { _, _ in
            try await answer { try List(try $0.notifications().map { try PlayNotificationResource($0) }).json() }
        }
        group.on(.setReceiver) { request, context in
            let body = try await SandboxBody.decode(request, context, as: PushRequest.self)
            let settings = try body.settings()
            return try await answer { books in
                try books.set(settings)
                return try ["endpoint": settings?.endpoint.absoluteString].json()
            }
        }
        group.on(.sendTestNotification) { request, context in
            let packageName = try await SandboxBody.decode(request, context, as: TestNotificationRequest.self)
                .packageName
            return try await answer(.created) { books in
                try books.sendTestNotification(of: packageName)
                return try ["packageName": packageName].json()
            }
        }
    }

    private static func app(_ packageName: String, _ books: PlayBooks) throws -> [UInt8] {
        try ["packageName": packageName, "licensingKey": try books.licensingKey(of: packageName)].json()
    }

    /// Adds a route about a purchase, a subscription or a notification by its number in the list.
    func onNumber(
        _ operation: APIOperation,
        _ group: RouterGroup<ServiceContext>,
        _ body: @escaping @Sendable (PlayBooks, Int64) throws -> some AnswerValue
    ) {
        group.on(operation) { _, context in
            let number = try context.parameters.require("number", as: Int64.self)
            return try await answer { try body($0, number).json() }
        }
    }

    func answer(
        _ status: HTTPResponse.Status = .ok, _ json: @escaping @Sendable (PlayBooks) throws -> [UInt8]
    ) async throws -> Response {
        JSONAnswer.response(
            bytes: try await BlockingWork.run { [play] in try play.perform { try json($0) } }, status: status)
    }
}
