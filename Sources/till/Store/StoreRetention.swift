import AppStore
import ArgumentParser

struct StoreRetention: Command {
    static let configuration = CommandConfiguration(
        "retention", "Ask your server for a retention message, as when a customer may cancel.",
        """
        Sends a signed realtime request to the address that your server has set with PUT /inApps/v1/messaging/realtime/url. Prints \
        the answer, and the message that the customer sees.
        """,
        examples: """
            till store retention 2000000123456789
            till store retention 2000000123456789 --locale ko-KR
            """)

    @Argument(help: ArgumentHelp("The identifier of any transaction of the subscription.", valueName: "transaction"))
    var transactionIdentifier: String

    @Option(help: "The customer's locale, such as en-US (default: that of the settings).")
    var locale: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.directoryOfStore.store()
        let exchange = try await store.requestRetentionMessage(for: transactionIdentifier, locale: locale)
        let answer = exchange.status.map(String.init) ?? exchange.result
        terminal.line("\(exchange.url) answered \(answer) after \(exchange.milliseconds) ms.")
        if let refusal = exchange.refusal { terminal.line("The answer is not used. \(refusal)") }
        terminal.line(
            "The customer sees \(exchange.shown)" + (exchange.messageIdentifier.map { " \($0)" } ?? "") + ".")
        try terminal.json(exchange)
    }
}
