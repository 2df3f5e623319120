import Features
import HTTPSupport
import Proofs
import Vocabulary

extension APIOperation {
    static let webhooks = [
        listWebhooks, addWebhook, getWebhook, moveWebhook, removeWebhook, getWebhookSecret, replaceWebhookSecret,
        setWebhookAuthorization, testWebhook, listWebhookDeliveries, replayWebhookDeliveries, replayWebhookDelivery,
    ]

    static let listWebhooks = APIOperation(
        .get, "/v1/webhooks", for: .backEnd(.webhooks), isPerApp: true,
        "listWebhooks", "Lists the webhooks",
        answers: [.list("The webhooks, oldest first.", of: ListedWebhook.self)])

    static let addWebhook = APIOperation(
        .post, "/v1/webhooks", for: .backEnd(.webhooks), isPerApp: true,
        "addWebhook", "Creates a webhook for future events",
        body: .json([
            "url": url,
            "format": .one(of: WebhookFormat.self, "The format of the messages, which never changes.", default: .till)
                .optional,
            "authorization": authorization.optional,
        ]),
        answers: [.json("The webhook, with its secret.", ListedWebhook.self, status: 201)],
        or: [.conflict, .refused])

    static let getWebhook = APIOperation(
        .get, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "getWebhook", "Returns a webhook",
        answers: [.json("The webhook.", ListedWebhook.self)])

    static let moveWebhook = APIOperation(
        .patch, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "moveWebhook", "Changes the address, also for waiting messages",
        body: .json(["url": url]),
        answers: [.json("The webhook.", ListedWebhook.self)],
        or: [.refused])

    static let removeWebhook = APIOperation(
        .delete, "/v1/webhooks/{webhook}", for: .backEnd(.webhooks), isPerApp: true,
        "removeWebhook", "Deletes a webhook and its waiting messages",
        answers: [.empty("The webhook is deleted.")])

    static let getWebhookSecret = APIOperation(
        .get, "/v1/webhooks/{webhook}/secret", for: .backEnd(.webhooks), isPerApp: true,
        "getWebhookSecret", "Returns the secrets of a webhook",
        answers: [.json("The secret, and the previous one while it is valid.", WebhookSecrets.self)])

    static let replaceWebhookSecret = APIOperation(
        .post, "/v1/webhooks/{webhook}/secret", for: .backEnd(.webhooks), isPerApp: true,
        "replaceWebhookSecret", "Replaces the signing secret of a webhook",
        body: .json(
            .object().fields(["previousSecretSeconds": previousSecretSeconds.optional]).closed, isRequired: false),
        answers: [.json("Both secrets.", WebhookSecrets.self)],
        or: [.conflict])

    static let setWebhookAuthorization = APIOperation(
        .put, "/v1/webhooks/{webhook}/authorization", for: .backEnd(.webhooks), isPerApp: true,
        "setWebhookAuthorization", "Sets or removes the header Authorization of a webhook's messages",
        body: .json(["authorization": authorization]),
        answers: [.json("The webhook.", ListedWebhook.self)])

    static let testWebhook = APIOperation(
        .post, "/v1/webhooks/{webhook}/test", for: .backEnd(.webhooks), isPerApp: true,
        "testWebhook", "Sends a signed test message once, which reports no change",
        answers: [.json("The receiver's answer. Nothing is recorded.", WebhookDelivery.Attempt.self)])

    static let listWebhookDeliveries = APIOperation(
        .get, "/v1/webhooks/{webhook}/deliveries", for: .backEnd(.webhooks), isPerApp: true,
        "listWebhookDeliveries", "Lists the deliveries, newest first",
        parameters: [
            .query("state", "Only deliveries in this state.", .one(of: WebhookDelivery.State.self)),
            .query("user", "Only deliveries about this user, in any state.", .text(upTo: User.maximumCustomerLength)),
            .issuer,
        ],
        answers: [.page("A page of deliveries.", of: ListedDelivery.self)])

    static let replayWebhookDeliveries = APIOperation(
        .post, "/v1/webhooks/{webhook}/deliveries/replay", for: .backEnd(.webhooks), isPerApp: true,
        "replayWebhookDeliveries", "Replays the failed messages, or those of a period or about a user",
        details: """
            Without a body, the failed messages are replayed, oldest first, a thousand per request. With `from` and `until`, all \
            messages of the period are, ten thousand per request. With `user`, the latest messages about the user are.
            """,
        body: .json(
            .object().fields([
                "from": .anyTime("The first moment of the period.").nullable.optional,
                "until": .anyTime("The first moment after the period.").nullable.optional,
                "user": .text("The user's name.", length: 1...User.maximumCustomerLength).nullable.optional,
                "issuer": .text("The issuer of the user's tokens; absent for a user of the back end.").nullable
                    .optional,
            ]).closed, isRequired: false),
        answers: [.json("The number of replayed messages.", WebhookReplay.self)])

    static let replayWebhookDelivery = APIOperation(
        .post, "/v1/webhooks/{webhook}/deliveries/{message}/replay", for: .backEnd(.webhooks), isPerApp: true,
        "replayWebhookDelivery", "Replays a message in any state",
        answers: [.json("The delivery.", ListedDelivery.self)])

    /// The message that the service sends to the address of a webhook.
    static let change = APIOperation(
        .post, "", for: .anybody, "change", "Receives a message at the webhook (Standard Webhooks)",
        parameters: [
            .header("webhook-id", "The identifier of the message, the same for every attempt.", isRequired: true),
            .header("webhook-timestamp", "The time of the attempt, in seconds since 1970.", isRequired: true),
            .header(
                "webhook-signature",
                "`v1,` and an HMAC-SHA256 in base64 over identifier, timestamp and body, separated by dots. One signature for each valid secret, separated by spaces.",
                isRequired: true),
            .header("authorization", "The value that the team has set for the webhook."),
        ],
        body: .json(.either(WebhookMessage.schema, .revenueCatMessage)),
        answers: [
            .empty("The message has arrived. After any other status, the service retries.", status: Answer.anySuccess)
        ],
        never: Set(SharedAnswer.allCases))

    private static let url = Schema.text(
        "The address of the receiver. It must use https, and a public address unless private ones are allowed (`webhook-private-addresses`).",
        upTo: WebhookURL.maximumLength
    ).with(["format": "uri", "pattern": "^https?://[!-~]+$"])
    private static let authorization = Schema.text(
        "The header `Authorization` of each message, which the receiver compares. It is a secret.",
        length: 1...WebhookAuthorization.maximumLength
    ).with(["pattern": "^[!-~]([ -~]*[!-~])?$"]).nullable
    private static let previousSecretSeconds = Schema.integer(
        "The time for which messages are also signed with the previous secret. With 0 the previous secret ends now.",
        in: 0...604_800, default: 86_400)
}

extension WebhookMessage: AnswerObject {
    package static let answerFields = AnswerFields<Self>(
        "A message to a back end.", named: "WebhookMessage", isClosed: true
    ) {
        $0.field("type", \.type)
        $0.field("timestamp", .time("The time of the event."), \.timestamp)
        $0.field("data", "The content of the event.", \.data)
    }
}

extension WebhookMessage.Kind: AnswerValue {}

extension WebhookMessage.Content: AnswerObject {
    package static let answerFields = AnswerFields<Self>(isClosed: true) {
        $0.field("user", "The user of the event.", \.user)
        $0.field(
            "number",
            .integer(
                "The number of the entry in the user's audit log. A greater number is later.", in: 1 ... .max), \.number
        )
        $0.field("actor", "`user`, `App Store`, `Google Play`, `till`, or `key` and an API key's identifier.", \.actor)
        $0.field(
            "actorName", "The name of the API key; absent for another actor, and if the service does not have the key.",
            \.actorName)
        $0.field("origin", \.origin)
        $0.field("transactionId", "For a purchase that was granted or revoked.", \.transactionId)
        $0.field(
            "originalTransactionId", "For a purchase that has another owner now, with all its transactions.",
            \.originalTransactionId)
        $0.field("productId", \.productId)
        $0.field("grantId", "For an item that was granted without a purchase.", \.grantId)
        $0.field("item", \.item)
        $0.field("reason", "The reason, in the team's own words.", \.reason)
    }
}

extension Schema {
    private static let milliseconds = integer().with(["format": "int64"])
    private static let price = number.nullable
    private static func reason(_ others: String...) -> Schema {
        .one(
            of: [
                "UNSUBSCRIBE", "BILLING_ERROR", "PRICE_INCREASE", "DEVELOPER_INITIATED", "CUSTOMER_SUPPORT", "UNKNOWN",
            ]
                + others)
    }

    static let revenueCatMessage = Schema.object(
        "A message to a back end in RevenueCat's format.", named: "RevenueCatMessage"
    ).fields([
        "api_version": .one(of: ["1.0"]),
        "event": .object("The event. RevenueCat documents its members.").fields([
            "aliases": .array(
                of: .text(), "The first ids of the customer, the present one first.", count: 0...10
            ).optional,
            "has_more_aliases": .flag(
                "True if the customer has more ids than the message lists; absent otherwise."
            ).optional,
            "app_id": .text("The bundle identifier of the app; absent for a grant.").nullable.optional,
            "app_user_id": .text().nullable.optional,
            "auto_resume_at_ms": milliseconds.nullable.optional,
            "cancel_reason": reason().optional,
            "commission_percentage": null.optional,
            "country_code": .text().nullable.optional,
            "currency": .text().nullable.optional,
            "entitlement_id": null.optional,
            "entitlement_ids": .array(
                of: .text(), "The rights that the product or the item gives; null if it gives none."
            ).nullable.optional,
            "environment": .one(of: ["PRODUCTION", "SANDBOX"]),
            "event_timestamp_ms": milliseconds,
            "expiration_at_ms": milliseconds.described("The end of access; null for no end.")
                .nullable.optional,
            "expiration_reason": reason("SUBSCRIPTION_PAUSED").optional,
            "grace_period_expiration_at_ms": milliseconds.nullable.optional,
            "id": .text("The identifier of the message, the same for every attempt."),
            "is_family_share": .flag().optional,
            "is_trial_conversion": .flag().optional,
            "metadata": null.optional,
            "new_product_id": .text().nullable.optional,
            "offer_code": .text().nullable.optional,
            "original_app_user_id": .text().nullable.optional,
            "original_transaction_id": .text().nullable.optional,
            "period_type": .one(of: ["TRIAL", "INTRO", "NORMAL", "PROMOTIONAL", "PREPAID"]).optional,
            "presented_offering_id": null.optional,
            "price": price.described("The amount in US dollars; null in another currency.").optional,
            "price_in_purchased_currency": price.optional,
            "product_id": .text("At Google Play, a subscription has its base plan: `garden.plus:monthly`.").optional,
            "purchased_at_ms": milliseconds.nullable.optional,
            "renewal_number": integer().nullable.optional,
            "store": .one(of: ["APP_STORE", "PLAY_STORE", "PROMOTIONAL"]),
            "subscriber_attributes": .object("Always empty.").optional,
            "takehome_percentage": null.optional,
            "tax_percentage": null.optional,
            "transaction_id": .text().optional,
            "transferred_from": .array(of: .text()).optional,
            "transferred_to": .array(of: .text()).optional,
            "type": .one(of: [
                "INITIAL_PURCHASE", "RENEWAL", "NON_RENEWING_PURCHASE", "CANCELLATION", "UNCANCELLATION",
                "BILLING_ISSUE", "EXPIRATION", "PRODUCT_CHANGE", "REFUND_REVERSED", "SUBSCRIPTION_PAUSED",
                "TRANSFER",
            ]),
        ]).closed,
    ]).closed
}
