import AppStore
import ArgumentParser
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Vocabulary

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Add, test, change and remove the webhooks of back ends, and send messages again.",
        discussion: """
            A running service needs the setting webhooks, and a key with the scope `webhooks`. Without --server, receivers with \
            private addresses need TILL_WEBHOOK_PRIVATE_ADDRESSES=true.
            """,
        subcommands: [
            WebhooksList.self, WebhooksAdd.self, WebhooksChange.self, WebhooksSecret.self, WebhooksRemove.self,
            WebhooksTest.self, WebhooksMessages.self, WebhooksResend.self,
        ],
        defaultSubcommand: WebhooksList.self)
}

private struct Webhook: Decodable, Listed, Sendable {
    static let listName = "webhooks"

    let webhookId: String
    let url: String
    let format: String
    let hasAuthorization: Bool
    let app: String?
    let types: [String]?
    let createdAt: String
    /// Present only after the creation.
    let secret: String?

    /// The messages that it receives, in words.
    var filter: String {
        "messages of \(types?.joined(separator: ", ") ?? "all types") about \(app ?? "all apps")"
    }
}

protocol WebhookCaller: ServiceCaller {}

extension WebhookCaller {
    var features: [LedgerFeature] { [.webhooks] }

    var need: ConfigurationNeed { .none }
}

struct WebhookArgument: ParsableArguments {
    @Argument(help: "The webhook, as `till webhooks` names it.")
    var webhook: String

    /// - Parameter resource: The path below that of the webhook, such as `/test`.
    func path(_ resource: String = "") -> String { "/v1/webhooks/\(HTTPServiceConnection.segment(webhook))\(resource)" }
}

/// The value of the header `Authorization`, which the command line does not show to others.
private enum WebhookAuthorizationVariable {
    static let name = "TILL_WEBHOOK_AUTHORIZATION"
    static let help: ArgumentHelp =
        "Each message has the header Authorization, with the value of $TILL_WEBHOOK_AUTHORIZATION."

    static var value: String {
        get throws(ValidationError) {
            guard let value = ProcessInfo.variable(name) else {
                throw ValidationError("--authorization needs a value in \(name).")
            }
            return value
        }
    }
}

struct WebhooksList: WebhookCaller {
    static let configuration = CommandConfiguration(
        "list", "List the webhooks, oldest first.", examples: "till webhooks")

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let webhooks: List<Answered<Webhook>> = try await get("/v1/webhooks")
        terminal.table(
            ["WEBHOOK", "ADDRESS", "FORMAT", "APP", "TYPES", "AUTHORIZATION", "ADDED"],
            webhooks.elements.map {
                [
                    $0.webhookId, $0.url, $0.format, $0.app ?? "all", $0.types?.joined(separator: ", ") ?? "all",
                    $0.hasAuthorization ? "set" : nil, $0.createdAt,
                ]
            }, orElse: "There is no webhook.")
        try terminal.json(webhooks)
    }
}

struct WebhooksAdd: WebhookCaller {
    static let configuration = CommandConfiguration(
        "add", "Add a webhook, which receives a signed message about each later change, and print its secret.",
        examples: """
            till webhooks add https://hooks.example.com/till
            till webhooks add https://hooks.example.com/till --format cloudevents
            till webhooks add https://hooks.example.com/till \\
              --message-type purchase.refunded --message-type subscription.expiring
            """)

    @Argument(help: "The address of the receiver.")
    var url: String

    @Option(
        help: "The format (of the messages, which never changes: cloudevents, revenuecat, slack or standard).")
    var format: WebhookFormat = .standard

    @Option(name: .customLong("bundle-id"), help: .bundleIdentifier("default: all apps"))
    var app: String?

    @Option(name: .customLong("message-type"), help: "Only messages of this type. The option can be repeated.")
    var types: [String] = []

    @Flag(help: WebhookAuthorizationVariable.help)
    var authorization = false

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let request: Report = [
            "url": url, "format": format.rawValue,
            "authorization": authorization ? try WebhookAuthorizationVariable.value : nil, "app": app,
            "types": types.nonEmpty,
        ]
        let added: Answered<Webhook> = try await post("/v1/webhooks", request)
        terminal.line("Added \(added.webhookId) for \(added.filter).")
        if let secret = added.secret { terminal.line("Secret: \(secret)") }
        try terminal.json(added)
        // A running service has webhooks on, or has refused the request.
        guard call.service.server == nil else { return }
        let kept = try await LedgerPlace.file(common.dataDirectory.ledgerFile).keptConfiguration()
        if kept?.isOfService != true {
            terminal.note(
                "No service has run over this ledger, so nothing is sent. Start one with till serve --webhooks.")
        } else if kept?.sendsWebhooks != true {
            terminal.note(
                "The service that ran last sends nothing to webhooks. Restart it with the setting webhooks (--webhooks)."
            )
        }
    }
}

extension WebhookFormat: ExpressibleByArgument {}

struct WebhooksChange: WebhookCaller {
    static let configuration = CommandConfiguration(
        "change", "Change the address, the messages or the header Authorization of a webhook.",
        """
        The changes are also for waiting messages. Another app gives the webhook a new secret at once, and removes the header \
        Authorization unless --authorization sets it.
        """,
        examples: """
            till webhooks change wh_4c2f8c6e --url https://hooks.example.com/new
            till webhooks change wh_4c2f8c6e --message-type purchase.refunded --all-apps
            till webhooks change wh_4c2f8c6e --no-authorization
            """)

    @OptionGroup var webhook: WebhookArgument

    @Option(help: "The address (of the receiver, the new one).")
    var url: String?

    @Option(name: .customLong("bundle-id"), help: .bundleIdentifier("whose events alone are sent"))
    var app: String?

    @Flag(help: "Send the events of all apps.")
    var allApps = false

    @Option(name: .customLong("message-type"), help: "Only messages of this type. The option can be repeated.")
    var types: [String] = []

    @Flag(help: "Send messages of all types.")
    var allTypes = false

    @Flag(inversion: .prefixedNo, help: WebhookAuthorizationVariable.help)
    var authorization: Bool?

    @OptionGroup var call: CallOptions

    private var changesMessages: Bool { app != nil || allApps || !types.isEmpty || allTypes }

    func validate() throws {
        try require(
            url != nil || authorization != nil || changesMessages,
            "Name a change, such as --url, --message-type, --bundle-id or --authorization.")
        try require(app == nil || !allApps, "Name --bundle-id or --all-apps, not both.")
        try require(types.isEmpty || !allTypes, "Name --message-type or --all-types, not both.")
    }

    func perform() async throws {
        let app = allApps ? JSONContent.null : app.map { .string($0) }
        let types = allTypes ? JSONContent.null : types.nonEmpty.map { .array($0.map { .string($0) }) }
        let value = try authorization.map { $0 ? JSONContent.string(try WebhookAuthorizationVariable.value) : .null }
        let request: Report = ["url": url, "app": app, "types": types, "authorization": value]
        let path = webhook.path()
        let changed: Answered<Webhook> = try await withClient { try await $0.patch(path, request) }
        terminal.line("\(changed.webhookId) sends \(changed.filter) to \(changed.url).")
        terminal.line(
            changed.hasAuthorization ? "The header Authorization is set." : "There is no header Authorization.")
        try terminal.json(changed)
    }
}

struct WebhooksSecret: WebhookCaller {
    static let configuration = CommandConfiguration(
        "secret", "Print the secret that signs the messages of a webhook, or replace it.",
        examples: """
            till webhooks secret wh_4c2f8c6e
            till webhooks secret wh_4c2f8c6e --rotate --overlap 3600
            """)

    @OptionGroup var webhook: WebhookArgument

    @Flag(name: .customLong("rotate"), help: "Replace the secret.")
    var replace = false

    @Option(
        help: .value(
            "seconds", "With --rotate, the time for which the old secret still signs: 0 to 604800 (default: 86400)."))
    var overlap: Int64?

    @OptionGroup var call: CallOptions

    func validate() throws {
        try require(overlap == nil || replace, "--overlap needs --rotate.")
        try require(
            WebhookService.overlap.contains(overlap ?? 0),
            "--overlap must be a number from 0 to \(WebhookService.overlap.upperBound).")
    }

    func perform() async throws {
        struct Secrets: Decodable, Sendable {
            let secret: String
            let previousSecret: String?
            let previousSecretEndsAt: String?
            let authorization: String?
        }
        let path = webhook.path("/secret")
        let request = ["previousSecretSeconds": overlap ?? WebhookService.standardOverlap]
        let secrets: Answered<Secrets> = try await replace ? post(path, request) : get(path)
        terminal.line("Secret: \(secrets.secret)")
        if let previous = secrets.previousSecret, let end = secrets.previousSecretEndsAt {
            terminal.line("Previous secret: \(previous), which signs until \(end)")
        }
        if let authorization = secrets.authorization { terminal.line("Authorization: \(authorization)") }
        try terminal.json(secrets)
    }
}

struct WebhooksRemove: WebhookCaller {
    static let configuration = CommandConfiguration(
        "remove", "Remove a webhook. Its waiting messages are not sent, and its messages are deleted.",
        examples: "till webhooks remove wh_4c2f8c6e")

    @OptionGroup var webhook: WebhookArgument

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let _: NoContent = try await delete(webhook.path())
        try terminal.result("Removed: \(webhook.webhook)", ["removed": webhook.webhook])
    }
}

struct WebhooksTest: WebhookCaller {
    static let configuration = CommandConfiguration(
        "test", "Send a signed test message to a webhook, and print the receiver's answer.",
        "The status is 1 unless the receiver answers with a status from 200 to 299. Nothing is recorded.",
        examples: "till webhooks test wh_4c2f8c6e")

    @OptionGroup var webhook: WebhookArgument

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let attempt: Answered<WebhookAttempt> = try await post(webhook.path("/test"))
        try terminal.result("The test message was sent: \(attempt.result)", attempt)
        guard attempt.isDelivery else { throw ExitCode(1) }
    }
}

/// The shown part of an attempt to send a message.
private struct WebhookAttempt: Decodable, Sendable {
    let status: Int?
    let error: String?

    /// The status, or the reason of a missing answer.
    var result: String { status.map { "status \($0)" } ?? error ?? "-" }

    var isDelivery: Bool { (200...299).contains(status ?? 0) }
}

struct WebhooksMessages: WebhookCaller, UserCaller {
    static let configuration = CommandConfiguration(
        "messages", "List the messages to a webhook, newest first, with their last attempts.",
        """
        A message is pending, delivered or failed. --json also prints the content of each message, and the beginning of the receiver's \
        answer.
        """,
        examples: """
            till webhooks messages wh_4c2f8c6e --state failed
            till webhooks messages wh_4c2f8c6e --user alice --json
            """)

    @OptionGroup var webhook: WebhookArgument

    @Option(help: "Only those in this state.")
    var state: WebhookDelivery.State?

    @Option(help: .user)
    var user: User?

    @OptionGroup var list: ListLimit

    @OptionGroup var userCall: UserCallOptions

    private struct Message: Decodable, Listed, Sendable {
        /// A message in Till's format.
        struct Own: Decodable, Sendable {
            struct Content: Decodable, Sendable {
                let user: UserName
            }

            let type: String
            let timestamp: String
            let data: Content
        }

        static let listName = "deliveries"

        let messageId: String
        let state: String
        let attempts: Int
        let lastAttempt: WebhookAttempt?
        let message: Own?
        let revenueCatMessage: JSONContent?
    }

    func validate() throws {
        try require(state == nil || user == nil, "Name --state or --user, not both.")
        try require(userCall.issuer == nil || user != nil, "--issuer needs --user.")
    }

    func perform() async throws {
        let messages: [Answered<Message>] = try await elements(
            of: webhook.path("/deliveries"),
            [("state", state?.rawValue), ("user", user?.name), ("issuer", userCall.issuer)], upTo: list)
        try terminal.list(
            ["MESSAGE", "TYPE", "CUSTOMER", "STATE", "ATTEMPTS", "LAST ATTEMPT"], messages, orElse: "No message."
        ) { message in
            let event = message.revenueCatMessage?["event"]
            return [
                message.messageId, message.message?.type ?? event?["type"]?.text,
                message.message?.data.user.name ?? event?["app_user_id"]?.text, message.state,
                String(message.attempts), message.lastAttempt?.result,
            ]
        }
    }
}

extension WebhookDelivery.State: ExpressibleByArgument {}

struct WebhooksResend: WebhookCaller, UserCaller {
    static let configuration = CommandConfiguration(
        "resend", "Send messages to a webhook again: one, those that were given up, those of a period, or a user's.",
        "Receivers recognize a repetition by the header webhook-id. A running service sends the messages.",
        examples: """
            till webhooks resend wh_4c2f8c6e --failed
            till webhooks resend wh_4c2f8c6e --user alice
            till webhooks resend wh_4c2f8c6e --from 2027-03-01T00:00:00Z \\
              --to 2027-03-02T00:00:00Z
            """)

    @OptionGroup var webhook: WebhookArgument

    @Argument(help: "The only message, as `till webhooks messages` names it.")
    var message: String?

    @Flag(help: "The messages that were given up, the oldest 1000.")
    var failed = false

    @Option(help: .value("date", "The beginning of the period (\(Moment.form); at most 10000 messages)."))
    var from: Moment?

    @Option(help: .value("date", "The end of the period (\(Moment.form))."))
    var to: Moment?

    @Option(help: .user)
    var user: User?

    @OptionGroup var userCall: UserCallOptions

    func validate() throws {
        let choices = [message != nil, failed, from != nil || to != nil, user != nil]
        try require(
            choices.count { $0 } == 1, "Name one of a message, --failed, --from with --to, and --user.")
        try require((from == nil) == (to == nil), "--from and --to need each other.")
        try require(userCall.issuer == nil || user != nil, "--issuer needs --user.")
    }

    func perform() async throws {
        if let message { return try await resend(message) }
        struct Replay: Decodable, Sendable {
            let replayed: Int
            let continuesAt: String?
        }
        let request: Report = [
            "from": from?.time.rfc3339, "until": to?.time.rfc3339, "user": user?.name, "issuer": userCall.issuer,
        ]
        let replay: Answered<Replay> = try await post(webhook.path("/deliveries/replay"), request)
        terminal.line("\(counted(replay.replayed, "message")) will be sent again.")
        if let start = replay.continuesAt {
            terminal.line("There may be more: continue with --from \(start).")
        } else if replay.replayed == WebhookService.changedAtOnce {
            terminal.line("There may be more. Repeat it.")
        }
        try terminal.json(replay)
    }

    private func resend(_ message: String) async throws {
        let delivery: JSONContent = try await post(
            webhook.path("/deliveries/\(HTTPServiceConnection.segment(message))/replay"))
        try terminal.result("The message will be sent again.", delivery)
    }
}
