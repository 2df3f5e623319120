import Catalog
import Entitlements
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs

/// The use case of pushed notifications: Google Play is asked for the state of the purchase, and what it states is applied. The
/// notification itself is never believed.
///
/// A message that was received before changes nothing. Messages may arrive in any order, because the last statement counts, and it is
/// always that of now.
package struct GooglePlayNotifications: Sendable {
    /// The type of data that is no notification of Google Play.
    private static let unreadableType = "UNREADABLE"
    /// The age up to which a notification is pushed again if Google Play does not know its purchase, in seconds. Google does not say how
    /// soon after the notification it answers for a new token.
    private static let newTokenSeconds: Int64 = 10 * 60

    let tokens: PushTokens
    private let service: EntitlementService
    private let apps: GooglePlayApps
    /// The owner of the purchases: Google Play, or a local one.
    private let realm: Realm
    private let onVoided: @Sendable () -> Void
    /// The limit on lines about notifications: Pub/Sub may push many that have one fault.
    private let lines = LogLimit()

    /// - Parameters:
    ///   - tokens: The identity tokens of the subscription that pushes.
    ///   - apps: The apps that the service may ask about.
    ///   - onVoided: Called after a notification of a voided purchase. The list of voided purchases has it.
    package init(
        tokens: PushTokens, service: EntitlementService, apps: GooglePlayApps,
        onVoided: @escaping @Sendable () -> Void = {}
    ) {
        (self.tokens, self.service, self.apps, self.onVoided) = (tokens, service, apps, onVoided)
        realm = apps.first?.client.realm ?? .google
    }

    /// Asks about the purchase of a notification, and stores the notification with the outcome.
    ///
    /// - Throws: An error that a repetition of the message may mend: `PlayDeveloperError`, `Problem` for a new token that Google Play does
    ///   not know yet, `StorageFault`. Nothing is then stored.
    func receive(_ message: PubSubMessage, logger: Logger) async throws -> NotificationReceipt.Received {
        let notification: GooglePlayNotification
        do { notification = try GooglePlayNotification(json: message.data) } catch {
            logger.log(
                level: lines.level(.error, of: Self.unreadableCode, in: logger),
                "the data of a push is no notification of Google Play", metadata: ["reason": "\(error.message)"])
            let record = NotificationRecord(
                app: service.apps.first.bundleIdentifier, origin: origin(isTest: false),
                notificationUUID: message.identifier, type: Self.unreadableType, subtype: nil,
                signedAt: message.publishedAt ?? service.clock.now(), proofDigest: digest(of: message))
            return (try await service.store(record), Self.unreadableType, Self.unreadableCode)
        }
        let app = apps[package: notification.packageName]
        let record = { (origin: Origin) in
            NotificationRecord(
                app: app?.purchases.app.bundleIdentifier ?? service.apps.first.bundleIdentifier, origin: origin,
                notificationUUID: message.identifier, type: notification.type, subtype: notification.subtype,
                signedAt: notification.eventTime, proofDigest: digest(of: message), content: notification.content)
        }
        if let origin = try await knownOrigin(of: message) {
            return (try await service.store(record(origin)), notification.type, nil)
        }
        guard let app else {
            logger.log(
                level: lines.level(.error, of: Self.unknownAppCode, in: logger),
                "a notification of Google Play is about an app without a service account",
                metadata: ["package": "\(notification.packageName)"])
            return (try await service.store(record(origin(isTest: false))), notification.type, Self.unknownAppCode)
        }
        guard let token = notification.purchaseToken else {
            if notification.kind == .pendingRefundReview {
                try await store(reviewIn: notification, of: message, in: app, logger: logger)
            }
            return (try await service.store(record(origin(isTest: false))), notification.type, nil)
        }
        do {
            let outcomes = try await app.refresh(
                token, isVoided: notification.kind == .voidedPurchase, notifiedBy: record, within: .person)
            if notification.kind == .voidedPurchase { onVoided() }
            return (outcomes.strongest, notification.type, nil)
        } catch let error as PlayDeveloperError where error.isOfToken {
            if error == .tokenUnknown, try await isNew(token, of: notification, in: app) {
                throw Problem(
                    status: .serviceUnavailable, code: error.code,
                    detail: "Google Play does not know the new purchase token yet. Push the message again.",
                    couldSucceedLater: true)
            }
            // A repetition would get the same answer for a week.
            logger.log(
                level: lines.level(.notice, of: error.code, in: logger),
                "Google Play does not know the purchase of a notification",
                metadata: ["code": "\(error.code)", "type": "\(notification.type)"])
            if notification.kind == .voidedPurchase { onVoided() }
            return (try await service.store(record(origin(isTest: false))), notification.type, error.code)
        }
    }

    /// Stores the question about a disputed payment before its notification, so that all questions are answered whose notifications are
    /// known.
    private func store(
        reviewIn notification: GooglePlayNotification, of message: PubSubMessage, in app: GooglePlayApp, logger: Logger
    ) async throws {
        guard let order = notification.orderId, let token = notification.pendingRefundToken else {
            return logger.log(
                level: lines.level(.error, of: Self.unreadableCode, in: logger),
                "a question of Google Play about a disputed payment has no readable order or token, so nobody answers it",
                metadata: ["message": "\(message.identifier)"])
        }
        try await app.purchases.record(
            reviewOf: order, token, notifiedAs: message.identifier, from: origin(isTest: false),
            at: notification.eventTime)
    }

    /// True if the purchase may be so new that Google Play does not answer for it yet.
    private func isNew(
        _ token: String, of notification: GooglePlayNotification, in app: GooglePlayApp
    ) async throws -> Bool {
        guard notification.kind != .voidedPurchase,
            notification.eventTime.adding(seconds: Self.newTokenSeconds) > service.clock.now()
        else { return false }
        return try await app.purchases.purchase(of: token) == nil
    }

    private static let unreadableCode = "bodyInvalid"
    private static let unknownAppCode = "bundleIdentifierMismatch"

    private func origin(isTest: Bool) -> Origin { Origin(googlePlay: realm, isTest: isTest) }

    private func digest(of message: PubSubMessage) -> [UInt8] { DigestAlgorithm.sha256.digest(of: message.data) }

    /// The origin under which a message is stored; nil for a new one. Only the answer of Google Play says if a purchase is a test.
    private func knownOrigin(of message: PubSubMessage) async throws -> Origin? {
        let origins = [origin(isTest: false), origin(isTest: true)]
        return try await service.ledger.read { transaction in
            try origins.first { try transaction.notification(message.identifier, of: $0) != nil }
        }
    }
}

extension [NotificationOutcome] {
    /// The outcome of a notification about several products: what has changed most. `recorded` for none.
    var strongest: NotificationOutcome {
        [.revoked, .granted, .parked, .duplicate].first(where: contains) ?? .recorded
    }
}

extension APIOperation {
    static let receivePlayNotification = APIOperation(
        .post, "/v1/notifications/google", for: .identified, usesReserve: true, ignoresUnknownParameters: true,
        "receivePlayNotification", "Receives real-time developer notifications of Google Play, which Pub/Sub pushes",
        details:
            "The service asks the Play Developer API for the state. What no repetition can change is answered with success.",
        body: .json(
            .object("A message of Pub/Sub.").fields([
                "message": .object("The message: `messageId`, and the notification in base64 (`data`)."),
                "subscription": .text(),
            ])),
        answers: [
            .json("The notification is stored, and the state of its purchase applied.", NotificationReceipt.self)
        ],
        or: [.refused],
        never: [.forbidden, .tooManyRequests])
}

/// The route to which Pub/Sub pushes the notifications of Google Play.
///
/// The identity token of the request is verified before the body is read. Any status but success lets Pub/Sub push the message again,
/// for a week.
struct GooglePlayNotificationRoutes: OperationGroup {
    static let tag = OperationTag(
        "Notifications of Google Play", "The address to which Google Play's notifications are pushed.",
        [.receivePlayNotification])
    static let optional = [OptionalOperations(option: "--google-notifications-audience URL", operations: operations)]
    let parts: ServiceParts
    private let notifications: GooglePlayNotifications

    init?(parts: ServiceParts) {
        guard let notifications = parts.stores.playNotifications else { return nil }
        (self.parts, self.notifications) = (parts, notifications)
    }

    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.receivePlayNotification) { request, context in
            try await NotificationReceipt.answer(context, counting: settings.metrics) {
                guard let credential = AuthenticationMiddleware.credential(of: request) else {
                    throw Problem(
                        status: .unauthorized, code: "unauthenticated",
                        detail: "Let the subscription of Pub/Sub authenticate its pushes with a service account.")
                }
                try await notifications.tokens.verify(credential)
                let body = try await RequestBytes.collect(request, context, upTo: PubSubMessage.maximumSize)
                return try await notifications.receive(try Self.message(body), logger: context.logger)
            }
        }
    }

    private static func message(_ body: [UInt8]) throws(Problem) -> PubSubMessage {
        do { return try PubSubMessage(json: body) } catch { throw JSONBody.invalid(error.message) }
    }
}
