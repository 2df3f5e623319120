import AppStore
import ArgumentParser

/// `till store reset`
struct StoreReset: Command {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Clear the sales, the clock and the settings.",
        discussion: """
            The store keeps the keys, the products and the address of notifications. Services keep their grants.

            Example:
              till store reset
            """)

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let result = try common.directoryOfStore.store().reset()
        terminal.line("Cleared \(Self.sentence(result)). The keys and the products stay.")
        try terminal.json(["cleared": result])
    }

    /// `3 sales, 5 notifications, the clock and the settings`.
    static func sentence(_ result: ResetResult) -> String {
        var parts = [count(result.sales, "sale"), count(result.notifications, "notification")]
        if result.clock { parts.append("the clock") }
        if result.settings { parts.append("the settings") }
        return parts.dropLast().joined(separator: ", ") + " and " + (parts.last ?? "")
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
