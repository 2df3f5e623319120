import Features
import Ledger

extension [LedgerFeature] {
    /// All features with tables of their own.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the service; nil for a command, which creates no tables for features.
    ///   - usesConsole: True for a command that adds people to the team.
    static func all(of configuration: ServeConfiguration? = nil, usesConsole: Bool = false) -> [LedgerFeature] {
        func uses(_ setting: KeyPath<ServeConfiguration, Bool>) -> Bool { configuration?[keyPath: setting] ?? false }
        return [
            .entitlements,
            .keptProofs.used(if: uses(\.keepsProofs)),
            .attributes,
            .accounts.used(if: uses(\.hasAccounts)),
            .accountMail.used(if: uses(\.sendsMail)),
            .profiles.used(if: uses(\.hasProfiles) || uses(\.servesSeedApp)),
            .seedApp.used(if: uses(\.servesSeedApp)),
            .webhooks.used(if: uses(\.hasWebhooks)),
            .catalogAdministration.used(if: uses(\.administersCatalog)),
            .figures.used(if: uses(\.hasFigures)),
            .team.used(if: usesConsole || uses(\.hasConsole)),
        ]
    }
}
