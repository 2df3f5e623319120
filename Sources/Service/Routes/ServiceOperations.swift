import HTTPSupport
import Proofs
import Vocabulary

extension OpenAPIDocument {
    /// The description of this service, composed on first use.
    package static let composed: Result<OpenAPIDocument, any Error> = Result {
        try OpenAPIDocument(
            title: "Till", "Verifies proofs of in-app purchases and grants the items to users.",
            codes: SharedAnswer.codes(explainedIn: PackageResources.Errors_md), operations: APIOperation.all,
            pathParameters: [
                "user": [
                    .path("user", "The user's name.", .text(length: 1...User.maximumCustomerLength), example: "alice")
                        .shared(as: "user")
                ],
                "product": [
                    .path("product", "The product's identifier.", example: "com.memolease.sesac1.sprout1")
                        .shared(as: "product")
                ],
                "balance": [.path("balance", "The balance's name.", example: "seeds").shared(as: "balance")],
                "grant": [
                    .path("grant", "The grant's identifier.", example: "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")
                ],
                "webhook": [.path("webhook", "The webhook's identifier.").shared(as: "webhook")],
                "message": [.path("message", "The message's identifier (`messageId`).")],
            ],
            webhooks: ["change": .change])
    }
}

extension Parameter {
    static let app = query(
        "app", "The bundle identifier of an app, for a service that sells several.", .text(length: 1...155)
    ).shared(as: "app")
    static let origin = query(
        "origin", "The origin of the transaction, if two origins use the same identifier.", .one(of: Origin.self)
    ).shared(as: "origin")
}

extension APIOperation {
    /// The operations of all routes, also of those that a service leaves out.
    package static let all = [
        service, accounts, attributes, balances, catalogAdministration, comparison, events, exports, figures, grants,
        externalTransactions, googlePlay, products, profiles, seedApp, support, userData, users, webhooks,
    ].flatMap(\.self)

    private static let service = [
        readErrors, readDescription, isLive, isReady, readMetrics, receiveNotification, verifyProof,
    ]

    static let readErrors = APIOperation(
        .get, "/errors", for: .anybody, usesReserve: true,
        "readErrors", "Lists every error code, with its cause and remedy",
        parameters: [.ifNoneMatch],
        answers: [.content("The page.", ["text/markdown": .text()])])

    static let readDescription = APIOperation(
        .get, "/openapi.json", for: .anybody, usesReserve: true,
        "readDescription", "Returns this document",
        parameters: [.ifNoneMatch],
        answers: [.json("OpenAPI 3.1.", .anyObject)])

    static let isLive = APIOperation(
        .get, "/health/live", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isLive", "Checks that the process runs",
        answers: [.empty("It does.")])

    static let isReady = APIOperation(
        .get, "/health/ready", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isReady", "Checks that the ledger can be read",
        answers: [.empty("It does.")],
        or: [.failed, .unavailable])

    static let readMetrics = APIOperation(
        .get, "/metrics", for: .backEnd(.metrics), ignoresUnknownParameters: true,
        "readMetrics", "Returns the metrics for Prometheus",
        answers: [.content("The metrics in Prometheus's text format.", ["text/plain": .text()])],
        never: [.notFound, .tooManyRequests])

    static let receiveNotification = APIOperation(
        .post, "/v1/notifications/apple", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "receiveNotification", "Receives App Store Server Notifications V2",
        body: .json(
            .object("A notification.").fields(["signedPayload": .text("The notification as Apple signs it (JWS).")])),
        answers: [.json("The notification is stored and applied.", NotificationReceipt.self)],
        or: [.refused])

    static let verifyProof = APIOperation(
        .post, "/v1/proofs/verify", for: .backEnd(.read), isPerApp: true,
        "verifyProof", "Verifies a proof without redeeming it",
        body: .json([
            "proof": .text(
                "An app receipt in base64, a JWS of Apple's, a receipt of Unity IAP with one of them, or the JSON text of a signed purchase or "
                    + "of a purchase token of Google Play, about which the service asks.")
        ]).described("A proof of purchase."),
        answers: [.json("The proof is valid.", ProofResource.self)],
        or: [.refused, .conflict, .badGateway],
        never: [.notFound])
}
