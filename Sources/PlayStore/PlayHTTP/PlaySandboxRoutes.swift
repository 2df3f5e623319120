import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// A purchase as the sandbox and the commands show it.
package struct PlayPurchaseResource: Codable, Sendable {
    package let number: Int64
    package let account: String
    package let packageName: String
    package let productId: String
    package let quantity: Int
    /// `pending`, `purchased` or `canceled`.
    package let state: String
    package let isAcknowledged: Bool
    package let isConsumed: Bool
    package let orderId: String?
    package let purchaseToken: String
    /// The moment at which the purchase is refunded unless it is acknowledged.
    package let acknowledgementDeadline: String?
    /// The purchase as an app gets it, and as it sends it to its server.
    package let signedPurchase: SignedPurchase
}

extension PlayBooks {
    /// A purchase with its signature.
    package func resource(_ purchase: OneTimePurchase) throws -> PlayPurchaseResource {
        try PlayPurchaseResource(
            number: purchase.number, account: purchase.account, packageName: purchase.terms.packageName,
            productId: purchase.terms.productId, quantity: purchase.quantity, state: purchase.state.rawValue,
            isAcknowledged: purchase.isAcknowledged, isConsumed: purchase.isConsumed, orderId: purchase.orderId,
            purchaseToken: purchase.token, acknowledgementDeadline: purchase.acknowledgementDeadline?.rfc3339,
            signedPurchase: signed(purchase))
    }
}

/// A subscription as the sandbox and the commands show it.
package struct PlaySubscriptionResource: Codable, Sendable {
    package let number: Int64
    package let account: String
    package let packageName: String
    package let productId: String
    package let basePlanId: String
    /// `pending`, `active`, `inGracePeriod`, `onHold`, `paused`, `canceled`, `expired` or `pendingPurchaseCanceled`.
    package let state: String
    package let isAcknowledged: Bool
    package let expiryTime: String
    /// The order of the latest period.
    package let orderId: String?
    package let purchaseToken: String
    package let acknowledgementDeadline: String?
    package let signedPurchase: SignedPurchase
}

extension PlayBooks {
    /// A subscription with its signature.
    package func resource(_ purchase: RecurringPurchase) throws -> PlaySubscriptionResource {
        try PlaySubscriptionResource(
            number: purchase.number, account: purchase.account, packageName: purchase.terms.packageName,
            productId: purchase.terms.productId, basePlanId: purchase.terms.basePlanId, state: purchase.state.rawValue,
            isAcknowledged: purchase.isAcknowledged, expiryTime: purchase.expiryTime.rfc3339,
            orderId: purchase.periods.last?.orderId, purchaseToken: purchase.token,
            acknowledgementDeadline: purchase.acknowledgementDeadline?.rfc3339, signedPurchase: signed(purchase))
    }
}

/// The sandbox API: actions of the customer, of Google and of time.
struct PlaySandboxRoutes: Sendable {
    /// A class, because the compiler crashes on a wide value in an async closure.
    private final class Purchase: Decodable, Sendable {
        let packageName: String
        let productId: String
        let account: String
        let quantity: Int?
        let purchaseOptionId: String?
        let regionCode: String?
        let obfuscatedAccountId: String?
        let obfuscatedProfileId: String?
        let isTest: Bool?
        let isPending: Bool?
        /// An offer of the purchase option, or of a subscription's base plan, which `purchaseOptionId` names.
        let offerId: String?
        /// The number of the subscription that a subscription replaces.
        let replaces: Int64?
        let replacementMode: ReplacementMode?

        static let fields = [
            "packageName", "productId", "account", "quantity", "purchaseOptionId", "regionCode", "obfuscatedAccountId",
            "obfuscatedProfileId", "isTest", "isPending", "offerId",
        ]
        static let subscriptionFields = fields + ["replaces", "replacementMode"]

        var order: PlayPurchaseOrder {
            var order = PlayPurchaseOrder(packageName: packageName, productId: productId, account: account)
            order.quantity = quantity ?? 1
            (order.purchaseOptionId, order.regionCode) = (purchaseOptionId, regionCode)
            order.obfuscatedAccountId = obfuscatedAccountId
            order.obfuscatedProfileId = obfuscatedProfileId
            (order.isTest, order.isPending) = (isTest ?? false, isPending ?? false)
            (order.replacedNumber, order.replacementMode) = (replaces, replacementMode)
            return order
        }
    }

    private struct Refund: Decodable {
        /// Nil for all that is left.
        let quantity: Int?
        let isRevoking: Bool?
        let source: VoidedPurchase.Source?
        let reason: VoidedPurchase.Reason?

        static let fields = ["quantity", "isRevoking", "source", "reason"]
    }

    private struct Advance: Decodable {
        let by: String
    }

    private struct NewAccount: Decodable {
        let packageNames: [String]?
    }

    let play: GooglePlay

    func add(to group: RouterGroup<ServiceContext>) {
        addPurchases(to: group.group("sandbox/v1/purchases"))
        addSubscriptions(to: group.group("sandbox/v1/subscriptions"))
        addNotifications(to: group.group("sandbox/v1/notifications"))
        addFaults(to: group.group("sandbox/v1"))
        let sandbox = group.group("sandbox/v1")
        sandbox.get("time") { _, _ in try await answer { ["now": $0.now.rfc3339] } }
        sandbox.post("time") { request, context in
            let text = try await body(request, context, Advance.self, ["by"]).by
            guard let step = TimeStep(text) else {
                throw JSONBody.invalid("The field /by has to be \(TimeStep.form).")
            }
            // Due events happen before the answer.
            return try await BlockingWork.run { [play] in
                _ = try play.perform { try $0.advance(step) }
                return try JSONAnswer.response(["now": try play.perform(\.now.rfc3339)])
            }
        }
        sandbox.get("methods") { _, _ in
            try JSONAnswer.response(["methods": PublisherMethod.all.map(\.identifier)])
        }
        sandbox.get("apps/:package") { _, context in
            let packageName = try context.parameters.text("package")
            return try await answer { try Self.app(packageName, $0) }
        }
        sandbox.put("apps/:package") { _, context in
            let packageName = try context.parameters.text("package")
            guard PackageName.isValid(packageName) else {
                throw JSONBody.invalid("\"\(packageName)\" is not a package name, such as com.example.app.")
            }
            return try await answer { books in
                try books.addApp(packageName)
                return try Self.app(packageName, books)
            }
        }
        sandbox.post("service-accounts") { request, context in
            let names = try await body(request, context, NewAccount.self, ["packageNames"]).packageNames
            guard let url = URL(string: "http://\(request.head.authority ?? "")") else {
                throw JSONBody.invalid("The request names no host.")
            }
            return try await answer { try $0.makeServiceAccount(at: url, for: names) }
        }
        addDisputes(to: sandbox.group("disputes"))
        sandbox.post("reset") { _, _ in try await answer { ["purchases": try $0.reset()] } }
    }

    /// The purchases by their numbers in the list.
    private func addPurchases(to group: RouterGroup<ServiceContext>) {
        group.post { request, context in
            let body = try await body(request, context, Purchase.self, Purchase.fields)
            return try await answer(.created) { try $0.resource(try $0.buy(body.order, offerId: body.offerId)) }
        }
        group.get { request, _ in
            let account = try request.query("account")
            return try await answer { books in
                ["purchases": try books.purchases(of: account).map { try books.resource($0) }]
            }
        }
        onNumber(.get, "", group) { try $0.resource(try $0.purchase($1)) }
        onNumber(.post, "/complete", group) { try $0.resource(try $0.complete($1)) }
        onNumber(.post, "/cancel", group) { try $0.resource(try $0.cancel($1)) }
        group.post(":number/refund") { request, context in
            let number = try context.parameters.require("number", as: Int64.self)
            let refund = try await body(request, context, Refund.self, Refund.fields)
            return try await answer { books in
                try books.resource(
                    try books.refund(
                        number, quantity: refund.quantity, isRevoking: refund.isRevoking ?? true,
                        source: refund.source ?? .user, reason: refund.reason ?? .other))
            }
        }
    }

    /// The subscriptions by their numbers in the list.
    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        group.post { request, context in
            let body = try await body(request, context, Purchase.self, Purchase.subscriptionFields)
            return try await answer(.created) { try $0.resource(try $0.subscribe(body.order, offerId: body.offerId)) }
        }
        group.get { request, _ in
            let account = try request.query("account")
            return try await answer { books in
                ["subscriptions": try books.subscriptions(of: account).map { try books.resource($0) }]
            }
        }
        onNumber(.get, "", group) { try $0.resource(try $0.subscription($1)) }
        for action in SubscriptionAction.allCases where action != .pause {
            onNumber(.post, "/\(action.rawValue)", group) { try $0.resource(try $0.perform(action, on: $1)) }
        }
        group.post(":number/pause") { request, context in
            let number = try context.parameters.require("number", as: Int64.self)
            let length = try await body(request, context, Pause.self, ["length"]).length
            return try await answer { try $0.resource(try $0.perform(.pause, on: number, pauseLength: length)) }
        }
    }

    private struct Pause: Decodable {
        let length: SubscriptionPeriod?
    }

    private struct Push: Decodable {
        /// Nil to notify nobody.
        let endpoint: String?
        let audience: String?
        let email: String?
    }

    private struct Sent: Encodable {
        let messageId: String
        let notification: DeveloperNotification
        let attempts: Int
        let isDue: Bool
    }

    private struct TestNotification: Decodable {
        let packageName: String
    }

    private func addNotifications(to group: RouterGroup<ServiceContext>) {
        group.get { _, _ in
            try await answer { books in
                let notifications = try books.notifications().map {
                    Sent(
                        messageId: String($0.number), notification: $0.notification, attempts: $0.attempts,
                        isDue: $0.nextAttempt != nil)
                }
                return ["notifications": notifications]
            }
        }
        group.put("push") { request, context in
            let body = try await body(request, context, Push.self, ["endpoint", "audience", "email"])
            var settings: PushSettings?
            if let endpoint = body.endpoint {
                guard let url = URL(string: endpoint), ["http", "https"].contains(url.scheme), url.host() != nil else {
                    throw JSONBody.invalid("The field /endpoint has to be an HTTP or HTTPS address.")
                }
                settings = PushSettings(endpoint: url)
                settings?.audience = body.audience
                settings?.email = body.email ?? PushSettings.standardEmail
            }
            return try await answer { [settings] books in
                try books.set(settings)
                return ["endpoint": body.endpoint]
            }
        }
        group.post("test") { request, context in
            let packageName = try await body(request, context, TestNotification.self, ["packageName"]).packageName
            return try await answer(.created) { books in
                try books.sendTestNotification(of: packageName)
                return ["packageName": packageName]
            }
        }
    }

    private static func app(_ packageName: String, _ books: PlayBooks) throws -> [String: String] {
        ["packageName": packageName, "licensingKey": try books.licensingKey(of: packageName)]
    }

    /// Adds a route about a purchase, a subscription or a notification by its number in the list.
    func onNumber(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        _ body: @escaping @Sendable (PlayBooks, Int64) throws -> some Encodable & SendableMetatype
    ) {
        group.on(RouterPath(":number\(path)"), method: method) { _, context in
            let number = try context.parameters.require("number", as: Int64.self)
            return try await answer { try body($0, number) }
        }
    }

    func answer(
        _ status: HTTPResponse.Status = .ok,
        _ body: @escaping @Sendable (PlayBooks) throws -> some Encodable
    ) async throws -> Response {
        let bytes = try await BlockingWork.run { [play] in
            try play.perform { try JSONAnswer.encode(try body($0)) }
        }
        return JSONAnswer.response(bytes: bytes, status: status)
    }

    /// The body of a request. An empty one is an object without fields.
    ///
    /// - Throws: `Problem`, `bodyInvalid`.
    func body<Body: Decodable>(
        _ request: Request, _ context: ServiceContext, _ type: Body.Type, _ fields: [String]
    ) async throws -> Body {
        let bytes = try await SandboxBody.collect(request, context)
        _ = try await JSONBody(bytes: bytes, fields: fields)
        do { return try CheckedJSON.decode(type, from: bytes) } catch {
            throw JSONBody.invalid(
                "A field of the body is missing or has a wrong value. The fields are \(fields.joined(separator: ", "))."
            )
        }
    }
}
