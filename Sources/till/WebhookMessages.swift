import AppStore
import ArgumentParser
import Features
import HTTPSupport
import Proofs
import Service

struct WebhooksTest: WebhookCaller {
    static let configuration = CommandConfiguration(
        "test", "Send a signed test message to a webhook, and print the receiver's answer.",
        "The status is 1 unless the receiver answers with a status from 200 to 299. Nothing is recorded.",
        examples: "till webhooks test wh_4c2f8c6e")

    @OptionGroup var webhook: WebhookArgument

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let path = webhook.path("/test")
        let attempt: Answered<WebhookAttempt> = try await withClient { try await $0.post(path, Report()) }
        terminal.line("The test message was sent: \(attempt.result)")
        try terminal.json(attempt)
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

struct WebhooksMessages: WebhookCaller {
    static let configuration = CommandConfiguration(
        "messages", "List the messages to a webhook, newest first, with their last attempts.",
        "--json also prints the content of each message, and the beginning of the receiver's answer.",
        examples: """
            till webhooks messages wh_4c2f8c6e --state failed
            till webhooks messages wh_4c2f8c6e --user alice --json
            """)

    @OptionGroup var webhook: WebhookArgument

    @Option(help: "Only messages in this state: pending, delivered or failed.")
    var state: WebhookDelivery.State?

    @Option(help: "Only messages about this user.")
    var user: User?

    @OptionGroup var list: ListLimit

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    /// The shown part of a message.
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
        try require(issued.issuer == nil || user != nil, "--issuer needs --user.")
    }

    func perform() async throws {
        let messages: [Answered<Message>] = try await elements(
            of: webhook.path("/deliveries"),
            [("state", state?.rawValue), ("user", user?.name), ("issuer", issued.issuer)], upTo: list)
        terminal.table(
            ["MESSAGE", "TYPE", "CUSTOMER", "STATE", "ATTEMPTS", "LAST ATTEMPT"],
            messages.map { message in
                let event = message.revenueCatMessage?["event"]
                return [
                    message.messageId, message.message?.type ?? event?["type"]?.text,
                    message.message?.data.user.name ?? event?["app_user_id"]?.text, message.state,
                    String(message.attempts), message.lastAttempt?.result,
                ]
            }, orElse: "No message.")
        try terminal.json(List(messages))
    }
}

extension WebhookDelivery.State: ExpressibleByArgument {}

struct WebhooksResend: WebhookCaller {
    static let configuration = CommandConfiguration(
        "resend", "Send messages to a webhook again: one, those that were given up, those of a period, or a user's.",
        "Receivers recognize a repetition by the header webhook-id. A running service sends the messages.",
        examples: """
            till webhooks resend wh_4c2f8c6e --failed
            till webhooks resend wh_4c2f8c6e --user alice
            till webhooks resend wh_4c2f8c6e --from 2027-03-01T00:00:00Z \\
              --until 2027-03-02T00:00:00Z
            """)

    @OptionGroup var webhook: WebhookArgument

    @Argument(help: "The only message, as `till webhooks messages` names it.")
    var message: String?

    @Flag(help: "The messages that were given up, the oldest 1000.")
    var failed = false

    @Option(help: ArgumentHelp("All messages from this time, at most 10000.", valueName: "date"))
    var from: String?

    @Option(help: ArgumentHelp("The end of the time.", valueName: "date"))
    var until: String?

    @Option(help: "The latest messages about this user.")
    var user: User?

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    func validate() throws {
        let choices = [message != nil, failed, from != nil || until != nil, user != nil]
        try require(
            choices.count { $0 } == 1, "Name one of a message, --failed, --from with --until, and --user.")
        try require((from == nil) == (until == nil), "--from and --until need each other.")
        try require(issued.issuer == nil || user != nil, "--issuer needs --user.")
    }

    func perform() async throws {
        if let message { return try await resend(message) }
        struct Replay: Decodable, Sendable {
            let replayed: Int
            let continuesAt: String?
        }
        let path = webhook.path("/deliveries/replay")
        let request: Report = ["from": from, "until": until, "user": user?.name, "issuer": issued.issuer]
        let replay: Answered<Replay> = try await withClient { try await $0.post(path, request) }
        terminal.line("\(replay.replayed) message\(replay.replayed == 1 ? "" : "s") will be sent again.")
        if let start = replay.continuesAt {
            terminal.line("There may be more: continue with --from \(start).")
        } else if replay.replayed == WebhookService.changedAtOnce {
            terminal.line("There may be more. Repeat it.")
        }
        try terminal.json(replay)
    }

    private func resend(_ message: String) async throws {
        let path = webhook.path("/deliveries/\(HTTPServiceConnection.segment(message))/replay")
        let delivery: JSONContent = try await withClient { try await $0.post(path, Report()) }
        terminal.line("The message will be sent again.")
        try terminal.json(delivery)
    }
}
