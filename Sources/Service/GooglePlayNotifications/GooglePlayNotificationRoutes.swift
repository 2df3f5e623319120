import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

extension APIOperation {
    static let googlePlay = [receivePlayNotification]

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
        never: [.forbidden, .notFound, .tooManyRequests])
}

/// The route to which Pub/Sub pushes the notifications of Google Play.
///
/// The identity token of the request is verified before the body is read. Any status but success lets Pub/Sub push the message again,
/// for a week.
struct GooglePlayNotificationRoutes: Sendable {
    let notifications: GooglePlayNotifications
    let metrics: ServiceMetrics

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.receivePlayNotification) { request, context in
            do {
                guard let credential = AuthenticationMiddleware.credential(of: request) else {
                    throw Problem(
                        status: .unauthorized, code: "unauthenticated",
                        detail: "Let the subscription of Pub/Sub authenticate its pushes with a service account.")
                }
                try await notifications.tokens.verify(credential)
                let body = try await RequestBytes.collect(request, context, upTo: PubSubMessage.maximumSize)
                let received = try await notifications.receive(try Self.message(body), logger: context.logger)
                metrics.count(.notifications, received.outcome.rawValue, code: received.code ?? "")
                context.logger.log(
                    level: received.outcome == .duplicate ? .debug : .info, "notification",
                    metadata: ["outcome": "\(received.outcome.rawValue)", "type": "\(received.type)"])
                return try NotificationReceipt(outcome: received.outcome).answer()
            } catch {
                metrics.count(.notifications, "refused", code: Problem.code(of: error))
                throw error
            }
        }
    }

    private static func message(_ body: [UInt8]) throws(Problem) -> PubSubMessage {
        do { return try PubSubMessage(json: body) } catch { throw JSONBody.invalid(error.message) }
    }
}
